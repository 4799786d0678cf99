"""Columns with few values as normal scores, so that no single column has gaps and only associations make clusters.

Every level becomes an interval of the normal distribution, with as much of it as the level has of the rows, and the
value of a row is drawn within the interval of its level. By itself such a
column is a bell curve, whatever its levels are; what it has in common with other columns remains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.utils.extmath import randomized_svd

SOME_ROWS = 2000  # from which the order of levels is learnt
MOST_AXES = 10
NEARLY = 0.7  # of the best axis
LEAST = 1e-12  # probability, so that no value is infinite
STEADY = 10  # rows of a level at which its place counts half


def normal_scores(codes: np.ndarray, shares: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """A normal value within the interval of each row's level, shape (n,).

    codes are levels from the lowest interval to the highest, −1 for unknown, which may be any value; shares, shape
    (levels,), are the probabilities of the intervals; draws are uniform between 0 and 1.
    """
    below = np.cumsum(shares) - shares
    place = np.where(codes < 0, draws, below[codes] + shares[codes] * draws)
    return ndtri(np.clip(place, LEAST, 1 - LEAST))


def row_draws(rows: np.ndarray, columns: Sequence[str]) -> np.ndarray:
    """Uniform numbers that depend on the content of each row only, shape (n, columns).

    The same row always gets the same numbers, wherever it stands in a table; equal rows get different ones.
    """
    keys = pd.util.hash_pandas_object(pd.DataFrame(np.ascontiguousarray(rows)), index=False)
    keys = keys.to_numpy() + keys.groupby(keys).cumcount().to_numpy(dtype=np.uint64)
    names = pd.util.hash_array(np.array(columns, dtype=object), categorize=False)
    mixed = [pd.util.hash_array(keys ^ name) >> np.uint64(11) for name in names]
    return (np.column_stack(mixed) + 0.5) / 2.0**53


def leading_axes(features: np.ndarray) -> np.ndarray:
    """The rows on the leading axes of a factor analysis of mixed data, shape (n, axes).

    features, shape (n, m), are centred: numbers with unit variance, a level as its indicator over the root of its
    share.
    """
    left, strengths, _ = randomized_svd(features, min(MOST_AXES, *features.shape), random_state=0)
    return left * strengths


def ordered_levels(codes: np.ndarray, axes: np.ndarray, count: int) -> np.ndarray:
    """The levels of a category, shape (levels,), in their order on the leading axis that tells them apart best.

    Columns that share an axis get orders that agree, so that their association is kept. Levels with few rows are near
    the middle.
    """
    rows = np.bincount(codes, minlength=count)
    means = np.eye(count)[codes].T @ axes / np.maximum(rows, 1)[:, None]
    strength = rows @ means**2
    best = np.argmax(strength >= NEARLY * strength.max())  # the first of those that are nearly as good
    return np.argsort(means[:, best] * rows / (rows + STEADY), kind="stable")
