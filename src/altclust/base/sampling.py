"""Random samples of rows, and a table that does not depend on the order of its rows and columns."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .backend import Array
from .given import Given, Levels

BITS = 24  # of a typical cell, to which cells are rounded: the rounding of means does not show
REFINEMENTS = 2  # columns are told apart by the rows of their values, and rows by the columns
MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)  # odd factors of splitmix64


def sample_rows(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Sorted indices of `most` of n rows, drawn without replacement; all n indices if n <= most."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


class OwnOrder(NamedTuple):
    """A table in an order of rows and columns that looks random but follows from its values alone.

    The same table in another order gives the same cells and codes, bit by bit, and the same seed. `rows` and `columns`
    are the indices in this order, X the table in it, rounded; labels in `given` are numbered as they come.
    """

    rows: np.ndarray
    columns: np.ndarray
    seed: int
    X: Array
    given: Given


def own_order(X: Array, given: Given) -> OwnOrder:
    """The centred rows and the columns in their own order.

    Rows that are equal in all columns and in what is given are told apart by counting them.
    """
    unrounded, X = X, _rounded(X)
    levels = [one if one.table is None else replace(one, table=_rounded(one.table)) for one in given.levels]
    given = Given(np.asarray(given.codes), tuple(levels))
    size = np.abs(unrounded).max(initial=0.0) or 1.0  # in another unit the order is the same
    cells = _mixed(_rounded(unrounded / size).view(np.uint64))
    keys = _mixed(cells.sum(axis=1, dtype=np.uint64))
    for codes, one in zip(given.codes.T, given.levels, strict=True):
        keys = _mixed(keys + _of_given(codes, one, keys))
    for _ in range(REFINEMENTS):
        names = _mixed(_mixed(cells + keys[:, None]).sum(axis=0, dtype=np.uint64))
        keys = _mixed(keys + _mixed(cells + names).sum(axis=1, dtype=np.uint64))
    first = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[first], prepend=~keys[first[:1]]))
    number = np.empty(len(X), dtype=np.uint64)
    number[first] = np.arange(len(X)) - np.repeat(starts, np.diff(starts, append=len(X)))
    keys = _mixed(keys + number)
    rows, columns = np.argsort(keys, kind="stable"), np.argsort(names, kind="stable")
    moved = given.take(rows)
    columns_of = zip(moved.codes.T, moved.levels, strict=True)
    codes = [_numbered(one) if level.are_labels else one for one, level in columns_of]
    moved = Given(np.column_stack([Given.nothing(len(X)).codes, *codes]), moved.levels)
    return OwnOrder(rows, columns, int(keys.sum(dtype=np.uint64) >> np.uint64(33)), X[np.ix_(rows, columns)], moved)


def _of_given(codes: np.ndarray, levels: Levels, keys: np.ndarray) -> np.ndarray:
    """Numbers of what is given about rows with these keys: a label is the rows that have it, whatever its code."""
    if not levels.are_labels:
        features = np.nan_to_num(levels.of_codes(codes)).view(np.uint64)
        return _mixed(features + np.arange(features.shape[1], dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    sums = np.zeros(levels.size + 1, dtype=np.uint64)  # the last is that of unknown labels
    np.add.at(sums, codes, keys)
    return sums[codes]


def _rounded(X: Array) -> Array:
    """Cells rounded to so many bits of the typical one of their column, by a power of two."""
    X = np.ascontiguousarray(X, dtype=float)
    sizes = np.abs(X)
    typical = np.nanmedian(sizes, axis=0) if len(X) else np.ones(X.shape[1])
    typical = np.where(typical > 0, typical, np.nanmax(sizes, axis=0, initial=0.0))
    exponents = BITS - np.frexp(typical)[1]
    return np.ldexp(np.rint(np.ldexp(X, exponents)), -exponents) + 0.0  # there is no -0


def _numbered(codes: np.ndarray) -> np.ndarray:
    """Codes from 0 on in the order in which they come; -1 stays."""
    kinds, first, places = np.unique(codes, return_index=True, return_inverse=True)
    known = kinds >= 0
    numbers = np.full(len(kinds), -1)
    numbers[known] = np.argsort(np.argsort(first[known]))
    return numbers[places.ravel()]


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 64 bits as others that look random."""
    numbers = (numbers + MIX[0]) * MIX[1]
    numbers = (numbers ^ (numbers >> np.uint64(31))) * MIX[0]
    return numbers ^ (numbers >> np.uint64(29))
