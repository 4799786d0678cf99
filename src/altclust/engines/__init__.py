"""How K(XW) acts on the data. An engine never imports a solver."""

from __future__ import annotations

from ..kernels import Array, Gaussian
from ..problem import KernelEngine
from .dense import DenseEngine

ENGINES = {"dense": DenseEngine}


def choose(X: Array, kernel: Gaussian, engine: str = "auto") -> tuple[KernelEngine, str]:
    """The engine for these rows, and one sentence that says why."""
    if engine == "auto":
        return DenseEngine(X, kernel), f"dense: {len(X)} x {len(X)} kernel values in memory"
    return ENGINES[engine](X, kernel), f"{engine}: as asked"


__all__ = ["ENGINES", "DenseEngine", "choose"]
