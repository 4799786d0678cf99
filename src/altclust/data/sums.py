"""Sums over all rows in one pass: what is given adds to each row; and the checks of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from scipy.linalg import block_diag

from ..base.backend import Array, like
from ..base.errors import InputError
from ..base.given import Levels
from ..base.validation import LARGEST, check_rows, column_name, column_names, warn_of_constant
from .rows import ArrayRows, Rows


def centred_table(estimator: Any, X: Any) -> tuple[Array, Array]:
    """A table that scikit-learn accepts, checked as in `given_effects` and minus its column means; and the means."""
    table = np.asarray(check_rows(estimator, X, reset=True), dtype=np.float64)
    mean = column_means(table)
    given_effects(ArrayRows(table), mean, column_names(estimator))
    return table - mean, mean


def new_table(estimator: Any, X: Any, reset: bool = False) -> Array:
    """Finite rows for an estimator, in the columns of its fit (or of its first, with reset), shape (n, d)."""
    table = np.asarray(check_rows(estimator, X, reset=reset), dtype=np.float64)
    check_block(table)
    return table


def column_means(table: Array) -> Array:
    """The mean of each column, exact where it is constant; values that are too large are refused later."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(table.max(axis=0) == table.min(axis=0), table[0], table.mean(axis=0))


def given_effects(rows: Rows, shift: Array, names: Sequence[str] | None = None) -> list[Array]:
    """The effect (size + 1, d) of each code of every given column on a row, from all rows in one pass.

    The last row, of unknown codes, is zero. The shift, a row near the others, is subtracted for numerical accuracy.
    Values that are not finite or too large are refused.
    """
    levels = rows.given.levels
    total, squares, sums, pairs = rows.total(_sums, shift, [(one.size, one.table) for one in levels])
    _check(rows, shift, squares, names)
    off = total / rows.n
    blocks = [np.eye(one.size) if one.table is None else _with_known(one.table) for one in levels]
    ends = np.cumsum([0, *(block.shape[1] for block in blocks)])
    parts = [slice(a, b) for a, b in pairwise(ends)]
    centred = block_diag(*(_centring(pairs[p, p], one) for p, one in zip(parts, levels, strict=True)))
    explained = np.zeros((len(sums), rows.d))
    if levels:
        known = np.concatenate([_known(pairs[p, p], one) for p, one in zip(parts, levels, strict=True)])
        inner = np.linalg.pinv(centred.T @ pairs @ centred, hermitian=True)
        explained = centred @ inner @ centred.T @ (sums - known[:, None] * off)
    return [np.vstack([block @ explained[p], np.zeros(rows.d)]) for block, p in zip(blocks, parts, strict=True)]


def _with_known(table: Array) -> Array:
    """The features of known codes, and a column of ones."""
    return np.column_stack([table, np.ones(len(table))])


def _known(pairs: Array, levels: Levels) -> Array:
    """The sum of each column over its known rows."""
    return np.diag(pairs) if levels.table is None else pairs[:, -1]


def _centring(pairs: Array, levels: Levels) -> Array:
    """The matrix that subtracts from every column its mean over the rows that are known; pairs is YᵀY."""
    sums = _known(pairs, levels)
    if levels.table is None:
        return np.eye(levels.size) - np.ones((levels.size, 1)) * (sums / max(sums.sum(), 1.0))
    centring = np.eye(len(pairs))[:, :-1]
    centring[-1] = -sums[:-1] / max(sums[-1], 1.0)
    return centring


def _check(rows: Rows, shift: Array, squares: Array, names: Sequence[str] | None) -> None:
    """Refuse rows that are not finite, too large, too small or all equal; warn of constant columns."""
    if not np.isfinite(squares).all():
        missing, infinite = rows.total(_not_finite)
        column = int(np.argmax(missing + infinite > 0))
        if missing[column] or infinite[column]:
            raise InputError(
                f"has {'NaN' if missing[column] else 'infinity'} in column {column_name(names, column)} "
                f"({int(missing[column] + infinite[column])} of {rows.n} rows): fill it in (sklearn.impute) or leave "
                "those rows out.",
                argument="X",
            )
    spread = float(np.sqrt(np.max(squares) / rows.n)) if np.isfinite(squares).all() else np.inf
    if spread > LARGEST:
        problem = f"has values beyond {LARGEST:g}, whose powers overflow: rescale the columns to unit variance."
        raise InputError(problem, argument="X")
    if not squares.any() and not rows.total(_differences, shift)[0].any():
        raise InputError(f"has {rows.n} equal rows, so there are no clusters: check how it was read.", argument="X")
    if spread < 1 / LARGEST:
        problem = f"varies by less than {1 / LARGEST:g}, whose powers underflow: rescale the columns to unit variance."
        raise InputError(problem, argument="X")
    warn_of_constant(names, squares == 0)


def _sums(X: Any, codes: Any, shift: Array, levels: list[tuple[int, Array | None]]) -> tuple[Any, Any, Any, Any]:
    """Sums of the rows, of their squares, YᵀX and YᵀY, for the columns Y of what is given."""
    X = _without_masks(X)
    xp = array_namespace(X)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = X - like(shift, X)
    if xp.isdtype(rows.dtype, "real floating") and rows.dtype != xp.float64:
        rows = xp.astype(rows, xp.float64)  # sums of squares of many float32 lose precision
    columns = [
        one_hot(codes[:, g], size, rows) if table is None else looked_up(_with_known(table), codes[:, g], rows)
        for g, (size, table) in enumerate(levels)
    ]
    Y = xp.concat([rows[:, :0], *columns], axis=1)
    with np.errstate(over="ignore", invalid="ignore"):  # overflow is reported afterwards, with a remedy
        return xp.sum(rows, axis=0), xp.sum(rows * rows, axis=0), Y.T @ rows, Y.T @ Y


def looked_up(table: Array, codes: Any, model: Any) -> Any:
    """The row of the table for each code, zero for −1, in model's library and dtype."""
    xp = array_namespace(model)
    full = like(np.vstack([table, np.zeros(table.shape[1])]), model)
    return xp.take(full, codes % len(full), axis=0)


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


def _differences(X: Any, codes: Any, shift: Array) -> tuple[Any]:
    """The sum of the differences from a row, whose squares may be rounded to zero."""
    xp = array_namespace(X)
    return (xp.sum(xp.abs(X - like(shift, X)), axis=0),)


def _not_finite(X: Any, codes: Any) -> tuple[Any, Any]:
    """The numbers of NaN and of infinities in each column."""
    xp = array_namespace(X)
    return tuple(xp.sum(xp.astype(found, xp.float64), axis=0) for found in (xp.isnan(X), xp.isinf(X)))


def one_hot(codes: Any, size: int, model: Any) -> Any:
    """Indicator columns of codes, shape (b, size), in model's library and dtype; rows of unknown codes are zero."""
    xp = array_namespace(model)
    kinds = xp.arange(size, dtype=codes.dtype, device=device(model))
    return xp.astype(codes[:, None] == kinds[None, :], model.dtype)


def _without_masks(X: Any) -> Any:
    """The block as a plain array. Masked cells are refused: it may have them though the Dask array does not say so."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if np.ma.is_masked(X):
        raise InputError(f"has {np.ma.count_masked(X)} masked cell(s) in a block: fill them in.", argument="X")
    return X.data
