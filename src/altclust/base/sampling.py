"""Random samples of rows."""

from __future__ import annotations

import numpy as np

from .backend import Array

DIGITS = 1e6  # over the largest entry of a column: differences by rounding do not show
MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)  # odd factors of splitmix64


def sample_rows(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Sorted indices of `most` of n rows, drawn without replacement; all n indices if n <= most."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def mixed_order(X: Array) -> tuple[np.ndarray, np.ndarray, int]:
    """The rows and the columns in an order that looks random but follows from their values alone, and a seed.

    None of them depends on the order in which rows and columns come, so that what is drawn with them is a property of
    the table. Equal rows are told apart by counting them.

    Parameters
    ----------
    X : array, shape (n, d)
        Centred rows.

    Returns
    -------
    rows : int array, shape (n,)
    columns : int array, shape (d,)
    seed : int
    """
    largest = np.abs(X).max(axis=0, initial=0.0)
    cells = np.rint(X * (DIGITS / np.where(largest > 0, largest, 1.0))).astype(np.int64).view(np.uint64)
    cells = _mixed(cells)
    columns = np.argsort(cells.sum(axis=0, dtype=np.uint64), kind="stable")
    keys = _mixed(cells.sum(axis=1, dtype=np.uint64))
    first = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[first], prepend=~keys[first[:1]]))
    number = np.empty(len(X), dtype=np.uint64)
    number[first] = np.arange(len(X)) - np.repeat(starts, np.diff(starts, append=len(X)))
    keys = _mixed(keys + number)
    return np.argsort(keys, kind="stable"), columns, int(keys.sum(dtype=np.uint64) >> np.uint64(33))


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers of 64 bits as others that look random."""
    numbers = (numbers + MIX[0]) * MIX[1]
    numbers = (numbers ^ (numbers >> np.uint64(31))) * MIX[0]
    return numbers ^ (numbers >> np.uint64(29))
