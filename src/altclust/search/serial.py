"""Rows that depend on their order: whether consecutive rows are more alike than others, and for how many rows.

Time series and neighbouring places are such rows. A random half of them holds the neighbours of the other half, so that
anything is found again; halves are blocks of consecutive rows then.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from ..base.backend import Array
from ..core.embedding import joint_codes
from ..core.feature_weights import between_shares
from ..core.metrics import one_hot

SORTED = 0.9  # rank correlation of a column with the order of the rows, from which the table is sorted by it
ALIKE = 0.2  # rank correlation of consecutive rows, below which their order does not matter
SHUFFLES = 99  # all of which consecutive rows have to beat


def block_length(X: Array, groups: np.ndarray, labels: np.ndarray) -> int:
    """How many consecutive rows make a block that hardly depends on the next; 0 if rows do not depend on their order.

    The statistic is the rank correlation of a row with the next one: the mean over the columns, weighted by how much
    they differ between the clusters, compared with that of shuffled rows. Means within clusters are subtracted, and a
    smooth function of columns by which the table is sorted: a sorted table is not a series.

    Parameters
    ----------
    X : array, shape (n, d)
        Rows in the order of the table.
    groups : int array, shape (n,)
        The given cluster of each row.
    labels : int array, shape (n,)
        The clusters that were found.
    """
    ranks = rankdata(X, axis=0)
    weights, within = between_shares(ranks, labels), joint_codes([groups, labels], len(X))
    order = _scaled(_without_means(np.arange(len(X), dtype=float)[:, None], groups))
    series = _scaled(_without_means(ranks, groups))
    keys = np.abs(np.mean(series * order, axis=0)) > SORTED
    rest = _scaled(_without(_without_means(ranks, within), series[:, keys])) * np.sqrt(np.where(keys, 0.0, weights))
    rng = np.random.default_rng(0)  # its own, so that the halves do not depend on this test
    shuffled = [_alike(rest[rng.permutation(len(rest))], 1) for _ in range(SHUFFLES)]
    if _alike(rest, 1) < max(ALIKE, *shuffled):
        return 0
    series = series * np.sqrt(weights)
    lags = range(1, len(X) // 2)
    return 2 * next((lag for lag in lags if _alike(series, lag) <= max(shuffled)), len(X) // 2)


def block_split(n: int, length: int, rng: np.random.Generator) -> np.ndarray:
    """Half of the blocks of consecutive rows; there are at least two of them."""
    count = max(2, n // length)
    chosen = rng.permutation(count)[: count // 2]
    return np.isin(np.arange(n) * count // n, chosen)


def _alike(rows: Array, lag: int) -> float:
    """The correlation of a row with that so many rows later; columns count by their variance."""
    total = float(np.sum(rows**2))
    return float(np.sum(rows[lag:] * rows[:-lag])) / total if total > 0 else 0.0


def _without_means(rows: Array, groups: np.ndarray) -> Array:
    """The rows minus the means of their groups."""
    member = one_hot(groups)
    return rows - member @ (member.T @ rows / member.sum(axis=0)[:, None])


def _without(rows: Array, keys: Array) -> Array:
    """The rows minus a cubic function of the keys."""
    smooth = np.column_stack([np.ones(len(rows)), keys, keys**2, keys**3])
    return rows - smooth @ np.linalg.lstsq(smooth, rows, rcond=None)[0]


def _scaled(rows: Array) -> Array:
    spread = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
