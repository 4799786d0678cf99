"""Witnesses of a view: columns that had no part in the clustering, and that nevertheless differ between its clusters.

A column that follows the given clusters says nothing about a view: so the labels are permuted within given clusters. A
witness says what clusters may mean, not that they exist: any half of one cloud differs in a column that is correlated
with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types
from scipy.stats import rankdata

from ..base.backend import Array
from ..base.errors import one_line
from ..base.given import Given
from ..base.sampling import sample_rows
from ..core.embedding import as_clusterings, joint_codes
from ..core.metrics import one_hot
from .null_rows import FEW_VALUES

LEVEL = 0.05
DRAWS = 1999  # permutations; more for many columns, so that their correction allows a significant one
MOST_DRAWS = 20_000
MOST_ROWS = 2000  # a sample is enough
MOST_VALUES = 30  # of a column of text; columns with more are names
AGREES = 0.3  # Cramér's V, or η, from which a column agrees with clusters: a medium effect
EMPTY_CELLS = "empty cells of "  # how the names of columns begin that say which cells are missing
LONGEST = 80  # characters of a name or a value


@dataclass(frozen=True)
class Witness:
    """A column that was not used and that differs between the clusters of a view.

    Attributes
    ----------
    column : str
    p_value : float
        Probability of such a difference if the column had nothing to do with the clusters beyond the given ones,
        corrected for the number of columns that were tested (Holm).
    effect : float
        Within the given clusters: Cramér's V of a column of categories, η² of the ranks of a column of numbers.
    sentence : str
        Such as "Also differs in sex, which was not used: 91 % against 19 % female."
    """

    column: str
    p_value: float
    effect: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def find_witnesses(
    labels: np.ndarray, others: pd.DataFrame, given: Given | None = None, *, rng: np.random.Generator
) -> tuple[Witness, ...]:
    """Test columns that were not used against the clusters of a view.

    The statistic of a column, χ² for categories and the between-cluster scatter of ranks for numbers and dates, is
    compared with that of labels permuted within the given clusters; p is never below 1 / (draws + 1).

    Parameters
    ----------
    labels : int array, shape (n,)
    others : DataFrame, n rows
        Numbers, dates, or categories with at most 30 values; all else is left out, and so are row numbers.
    given : Given, optional
    rng : Generator

    Returns
    -------
    tuple of Witness
        Those that are significant at level 0.05 after Holm's correction, and whose V is at least 0.3 or whose η² is at
        least 0.09; the smallest p-value first.
    """
    rows = sample_rows(len(labels), MOST_ROWS, rng)
    codes = np.unique(np.asarray(labels)[rows], return_inverse=True)[1].ravel()
    cells = joint_codes([] if given is None else as_clusterings(given.take(rows)), len(rows))
    tested = [
        _tested(one_line(str(name), LONGEST), others.iloc[rows, j], codes, cells)
        for j, name in enumerate(others.columns)
        if not _are_row_numbers(others.iloc[:, j])
    ]
    columns = [column for column in tested if column is not None]
    if not columns or codes.max() == 0:
        return ()
    draws = min(max(DRAWS, 2 * int(len(columns) / LEVEL)), MOST_DRAWS)
    p_values = holm(_p_values(codes, cells, columns, draws, rng))
    found = [
        Witness(column.name, float(p), column.effect, column.sentence)
        for column, p in zip(columns, p_values, strict=True)
        if p <= LEVEL and column.effect >= (AGREES if column.categories else AGREES**2)
    ]
    return tuple(sorted(found, key=lambda witness: (witness.p_value, -witness.effect)))


def holm(p_values: Array) -> Array:
    """Holm's correction: the probabilities, corrected for their number."""
    order = np.argsort(p_values)
    corrected = np.empty(len(p_values))
    corrected[order] = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(corrected, 1.0)


class _Tested(NamedTuple):
    """A column as features whose sums over clusters make the statistic.

    `features` has shape (n, m): indicators or ranks minus their means within the given clusters, 0 where a cell is
    missing. `weights` has shape (m, k): the statistic is the sum of the squared sums times these.
    """

    name: str
    features: Array
    weights: Array
    effect: float
    categories: bool
    sentence: str

    def statistic(self, sums: Array) -> float:
        return float(np.sum(self.weights * sums**2))


def _tested(name: str, cells: pd.Series, codes: np.ndarray, given: np.ndarray) -> _Tested | None:
    """A column that can be tested; None for constant columns, names, row numbers and anything else."""
    kind = cells.dtype
    ordered = types.is_datetime64_any_dtype(kind) or types.is_integer_dtype(kind) or types.is_float_dtype(kind)
    if types.is_float_dtype(kind):
        cells = cells.where(np.isfinite(cells.to_numpy(dtype=float, na_value=np.nan)))
    known = cells.notna().to_numpy()
    values, kinds = pd.factorize(cells if ordered else cells.astype(str).where(known), sort=True)
    if len(kinds) < 2 or len(np.unique(codes[known])) < 2:
        return None
    categories = not ordered or len(kinds) < FEW_VALUES
    if not ordered and len(kinds) > min(MOST_VALUES, known.sum() // 2):
        return None
    member = one_hot(codes)
    sizes = np.maximum(known @ member, 1)
    if categories:
        indicators = np.eye(len(kinds))[np.maximum(values, 0)] * known[:, None]
        features = _within(indicators, known, given)
        weights = known.sum() / np.outer(indicators.sum(axis=0), sizes)
        scale = known.sum() * (min(len(kinds), member.shape[1]) - 1)
        said = _shares(name, kinds, indicators, member, sizes)
    else:
        ranks = np.zeros((len(codes), 1))
        ranks[known, 0] = rankdata(values[known])
        features = _within(ranks, known, given)
        weights = 1 / sizes[None]
        scale = float(np.sum(features**2)) or 1.0
        said = _middles(cells, codes)
    unused = "" if name.startswith(EMPTY_CELLS) else ", which was not used"
    column = _Tested(name, features, weights, 0.0, categories, f"Also differs in {name}{unused}: {said}.")
    share = min(column.statistic(features.T @ member) / scale, 1.0)
    return column._replace(effect=float(np.sqrt(share) if categories else share))


def _are_row_numbers(cells: pd.Series) -> bool:
    """Whether the values are whole numbers in a row, all different."""
    if not types.is_numeric_dtype(cells.dtype) or types.is_bool_dtype(cells.dtype) or not cells.is_unique:
        return False
    values = cells.to_numpy(dtype=float, na_value=np.nan)
    return bool(np.all(values == np.round(values)) and np.ptp(values) == len(values) - 1)


def _within(features: Array, known: np.ndarray, given: np.ndarray) -> Array:
    """The features minus their means within the given clusters; 0 where a cell is missing."""
    member = one_hot(given) * known[:, None]
    means = (member.T @ features) / np.maximum(member.sum(axis=0), 1)[:, None]
    return (features - means[given]) * known[:, None]


def _shares(name: str, kinds: Sequence, indicators: Array, member: Array, sizes: Array) -> str:
    """The value whose share differs most between clusters: "91 % against 19 % female"."""
    shares = (indicators.T @ member) / sizes
    most = int(np.argmax(np.ptp(shares, axis=1)))
    value, numeric = kinds[most], not isinstance(kinds[most], str)
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    low, high = (f"{100 * share:.0f} %" for share in (shares[most].min(), shares[most].max()))
    pair = f"{high} against {low}" if member.shape[1] == 2 else f"from {low} to {high}"
    shown = one_line(str(value), LONGEST)
    return f"{name} is {shown} for {pair}" if numeric else f"{pair} {shown}"


def _middles(cells: pd.Series, codes: np.ndarray) -> str:
    """The medians of the clusters, or the lowest and the highest."""
    medians = cells.groupby(codes).median().dropna()
    low, high = medians.min(), medians.max()
    if types.is_datetime64_any_dtype(cells.dtype):
        shown = [str(value.date()) for value in (low, high)]
    else:
        shown = [f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}" for value in (low, high)]
    return f"medians {shown[1]} against {shown[0]}" if codes.max() == 1 else f"medians from {shown[0]} to {shown[1]}"


def _p_values(
    codes: np.ndarray, cells: np.ndarray, columns: Sequence[_Tested], draws: int, rng: np.random.Generator
) -> Array:
    """The share of permutations whose statistic is at least that of the labels, for each column."""
    features = np.hstack([column.features for column in columns]).T
    edges = np.cumsum([column.features.shape[1] for column in columns])[:-1]
    weights = np.vstack([column.weights for column in columns])

    def statistics(labels: np.ndarray) -> Array:
        terms = np.sum(weights * (features @ one_hot(labels)) ** 2, axis=1)
        return np.add.reduceat(terms, [0, *edges])

    found = statistics(codes) * (1 - 1e-9)  # sums of the same numbers in another order count as equal
    in_order, permuted = np.argsort(cells, kind="stable"), np.empty_like(codes)
    larger = np.zeros(len(columns))
    for _ in range(draws):
        permuted[in_order] = codes[np.lexsort((rng.random(len(codes)), cells))]
        larger += statistics(permuted) >= found
    return (1 + larger) / (1 + draws)
