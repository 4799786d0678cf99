"""Engines: how the kernel K(XW) is applied to the data. An engine never imports a solver."""

from __future__ import annotations

from typing import Any

from ...base.backend import Array
from ...base.errors import InputError
from ...data.rows import Rows
from ..kernels import Gaussian
from ..problem import ExactEngine
from .dense import DenseEngine
from .family import FamilyEngine
from .tiles import TilesEngine

ENGINES: dict[str, type[DenseEngine] | type[TilesEngine]] = {"dense": DenseEngine, "tiles": TilesEngine}
KINDS = (*ENGINES, "lowrank")
DENSE_ROWS = 3000  # above, an exact fit is slow
BUFFERS = 3  # n x n arrays of the dense engine
STRIPS = 512e6  # bytes for the strips of other kernels than the Gaussian


def choose(rows: Rows, kind: str = "auto", memory_limit: float | None = None, low_rank: bool = True) -> tuple[str, str]:
    """Choose an engine for these rows; return its name and the reason.

    Parameters
    ----------
    rows : Rows
    kind : {"auto", "dense", "tiles", "lowrank"}
    memory_limit : float, optional
        Bytes that a fit may use in addition to the rows.
    low_rank : bool
        Whether the kernel has an approximation through landmarks.
    """
    n = rows.n
    if not low_rank and (kind == "lowrank" or rows.scattered):
        raise InputError('This kernel has no approximation of low rank: choose engine="tiles" and rows in memory.')
    if rows.scattered:
        if kind in ENGINES:
            raise InputError(f'engine="{kind}" needs the rows in one place, but X is a Dask array: use "lowrank".')
        return "lowrank", "the rows are spread over workers"
    needed = 8.0 * BUFFERS * n * n
    fits = memory_limit is None or needed <= memory_limit
    if kind == "dense" and not fits:
        raise InputError(
            f'engine="dense" needs {needed:.0f} bytes for {n} rows but memory_limit={memory_limit:.0f}: raise it, or '
            'choose engine="tiles" (exact) or "lowrank" (linear in the rows).'
        )
    if kind != "auto":
        return kind, "as asked"
    if n <= DENSE_ROWS and fits:
        return "dense", f"{n} x {n} kernel values fit in memory"
    if not low_rank:
        return "tiles", f"{n} rows are more than {DENSE_ROWS}, and the kernel has no low rank"
    if rows.d >= n:
        return "tiles", f"there are more columns ({rows.d}) than rows"
    return "lowrank", f"{n} rows are more than {DENSE_ROWS}" if fits else f"{needed:.0f} bytes would exceed the limit"


def make_engine(
    X: Array, kernel: Any, given: Array | None, kind: str = "dense", memory_limit: float | None = None
) -> ExactEngine:
    """An exact engine for rows in memory."""
    if not isinstance(kernel, Gaussian):
        memory = None if kind == "dense" else STRIPS if memory_limit is None else memory_limit
        return FamilyEngine(X, kernel, given, memory=memory)
    if kind == "tiles" and memory_limit is not None:
        return TilesEngine(X, kernel, given, memory=memory_limit)
    return ENGINES[kind](X, kernel, given)


__all__ = ["DENSE_ROWS", "ENGINES", "KINDS", "DenseEngine", "FamilyEngine", "TilesEngine", "choose", "make_engine"]
