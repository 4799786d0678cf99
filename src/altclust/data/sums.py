"""Sums over all rows in one pass, for centring, the row space and the given clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from scipy.linalg import block_diag

from ..base.backend import LARGEST_SINGLE, Array, like
from ..base.errors import InputError
from ..base.validation import LARGEST, column_name, warn_of_constant
from .rows import Rows


class Moments(NamedTuple):
    """Number of rows, mean (d,), scatter XᵀX of the centred rows (d, d), and sums per given cluster.

    With the one-hot columns Y of all given clusterings, `sums` is YᵀX (c, d) and `pairs` is YᵀY (c, c);
    `sizes` are the numbers of columns of the clusterings.
    """

    n: int
    mean: Array
    scatter: Array
    sums: Array
    pairs: Array
    sizes: list[int]

    @classmethod
    def of(cls, rows: Rows, shift: Array, sizes: list[int], names: Sequence[str] | None = None) -> Moments:
        """Compute the moments in one pass; refuses values that are not finite or too large.

        shift is a row near the others, subtracted for numerical accuracy; names are the column names for messages.
        """
        total, scatter, sums, pairs = rows.total(_moments, shift, sizes)
        if not np.isfinite(scatter).all():
            (bad,) = rows.total(_not_finite)
            column = int(np.argmax(bad))
            if bad[column]:
                raise InputError(
                    f"has NaN or infinity in column {column_name(names, column)} "
                    f"({int(bad[column])} of {rows.n} rows): fill it in (sklearn.impute) or leave those rows out.",
                    argument="X",
                )
        spread = float(np.sqrt(np.max(np.diag(scatter)) / rows.n)) if np.isfinite(scatter).all() else np.inf
        if spread > LARGEST:
            raise InputError("has values whose powers overflow: rescale the columns to unit variance.", argument="X")
        if not scatter.any():
            raise InputError(f"has {rows.n} equal rows, so there are no clusters: check how it was read.", argument="X")
        if spread < 1 / LARGEST:
            problem = f"varies by less than {1 / LARGEST:g}: rescale the columns to unit variance."
            raise InputError(problem, argument="X")
        off = total / rows.n
        warn_of_constant(names, np.diag(scatter) == 0)
        scatter = scatter - rows.n * np.outer(off, off)
        sums = sums - np.diag(pairs)[:, None] * off
        return cls(rows.n, shift + off, scatter, sums, pairs, sizes)

    def check_single(self, dtype: np.dtype) -> None:
        """Refuse float32 rows whose powers overflow or underflow in single precision."""
        spread = float(np.sqrt(np.max(np.diag(self.scatter)) / self.n))
        if dtype == np.float32 and not 1 / LARGEST_SINGLE <= spread <= LARGEST_SINGLE:
            raise InputError(
                f"X has float32 entries with spread {spread:.2g}, whose powers overflow or underflow: pass float64, "
                "or rescale it (sklearn's StandardScaler)."
            )

    def effects(self, tables: Sequence[Array | None] | None = None) -> list[Array]:
        """The effect of each given cluster on a centred row, shape (c, d): a regression on all one-hot columns.

        For measurements, tables has the features of each code, on which rows are regressed instead.
        """
        blocks = [
            np.eye(len(c)) if t is None else t for c, t in zip(self.counts, _all(tables, self.counts), strict=True)
        ]
        centring = block_diag(*(T - (c / c.sum()) @ T for T, c in zip(blocks, self.counts, strict=True)))
        inner = np.linalg.pinv(centring.T @ self.pairs @ centring, hermitian=True)
        joint = centring @ inner @ centring.T @ self.sums
        return np.split(joint, np.cumsum(self.sizes)[:-1])

    def without(self, effects: list[Array]) -> Array:
        """The scatter of the centred rows minus their effects, shape (d, d)."""
        E = np.vstack(effects)
        cross = self.sums.T @ E
        return self.scatter - cross - cross.T + E.T @ self.pairs @ E

    @property
    def counts(self) -> list[Array]:
        """The sizes of the clusters of each given clustering."""
        return np.split(np.diag(self.pairs), np.cumsum(self.sizes)[:-1]) if self.sizes else []


def _moments(X: Any, codes: Any, shift: Array, sizes: list[int]) -> tuple[Any, Any, Any, Any]:
    X = _without_masks(X)
    xp = array_namespace(X)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = X - like(shift, X)
    if xp.isdtype(rows.dtype, "real floating") and rows.dtype != xp.float64:
        rows = xp.astype(rows, xp.float64)  # sums of squares of many float32 lose precision
    Y = xp.concat([rows[:, :0], *(one_hot(codes[:, g], size, rows) for g, size in enumerate(sizes))], axis=1)
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported afterwards, with a remedy
        return xp.sum(rows, axis=0), rows.T @ rows, Y.T @ rows, Y.T @ Y


def check_block(X: Any) -> None:
    """Refuse new rows that are not finite or too large."""
    X = _without_masks(X)
    xp = array_namespace(X)
    if not bool(xp.all(xp.isfinite(X))):
        raise InputError("X has NaN or infinity: fill it in (sklearn.impute) or leave those rows out.")
    most = min(LARGEST, float(xp.finfo(X.dtype).max) / 1e6)
    if not bool(xp.all(xp.abs(X) <= most)):
        problem = f"has values beyond {most:g}, whose powers overflow: check the units of these rows."
        raise InputError(problem, argument="X")


def _not_finite(X: Any, codes: Any) -> tuple[Any]:
    xp = array_namespace(X)
    return (xp.sum(xp.astype(~xp.isfinite(X), xp.float64), axis=0),)


def one_hot(codes: Any, size: int, model: Any) -> Any:
    """Indicator columns of codes, shape (b, size), in model's library and dtype; rows of unknown codes are zero."""
    xp = array_namespace(model)
    kinds = xp.arange(size, dtype=codes.dtype, device=device(model))
    return xp.astype(codes[:, None] == kinds[None, :], model.dtype)


def _all(tables: Sequence[Array | None] | None, counts: list[Array]) -> Sequence[Array | None]:
    return [None] * len(counts) if tables is None else tables


def indicator_tables(counts: list[Array], scaling: str, features: Sequence[Array | None] | None = None) -> list[Array]:
    """`core.problem.indicators` by code instead of by row: shape (c + 1, c − 1), the last row is for unknown labels.

    counts holds the sizes of the clusters of each given clustering; an empty cluster has a column of zeros. features
    holds the features of the codes of measurements, shape (c, m), and None for clusterings.
    """
    tables: list[Array] = []
    for sizes, A in zip(counts, _all(features, counts), strict=True):
        if A is not None:
            A = A - sizes @ A / max(sizes.sum(), 1)
            largest = np.sqrt(max(np.linalg.eigvalsh((A.T * sizes) @ A)[-1], 0.0)) or 1.0
            tables.append(np.vstack([A / largest if scaling == "balanced" else A, np.zeros(A.shape[1])]))
            continue
        if not np.sum(sizes):  # no label is known
            tables.append(np.zeros((len(sizes) + 1, 0)))
            continue
        T = np.diag(1 / np.sqrt(np.maximum(sizes, 1))) if scaling == "balanced" else np.eye(len(sizes))
        T[sizes == 0] = 0.0
        # only ŶŶᵀ matters, and centring reduced its rank by one
        left, singular, _ = np.linalg.svd(T - sizes @ T / sizes.sum())
        wide = singular > 1e-9 * singular[0]
        tables.append(np.vstack([left[:, wide] * singular[wide], np.zeros(np.sum(wide))]))
    return tables


def _without_masks(X: Any) -> Any:
    """The block as a plain array. Masked cells are refused: it may have them though the Dask array does not say so."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if np.ma.is_masked(X):
        raise InputError(f"has {np.ma.count_masked(X)} masked cell(s) in a block: fill them in.", argument="X")
    return X.data
