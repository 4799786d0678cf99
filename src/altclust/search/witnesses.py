"""Witnesses of a view: columns that had no part in the clustering, and that nevertheless differ between its clusters.

A column that follows the given clusters says nothing about a view: so differences are those within given clusters. A
witness says what clusters may mean, not that they exist: any half of one cloud differs in a column that is correlated
with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from pandas.api import types
from scipy import stats

from ..base.backend import Array
from ..base.errors import LONGEST, one_line, shown_name
from ..base.given import Given
from ..base.sampling import sample_rows
from ..core.embedding import as_clusterings, joint_codes
from ..core.feature_weights import TELLING
from ..core.metrics import one_hot
from .coded_columns import ROWS_PER_CELL
from .heuristics import MOST_ROWS
from .null_rows import FEW_VALUES
from .verdict import LEVEL

EMPTY_CELLS = "empty cells of "  # how the names of columns begin that say which cells are missing


@dataclass(frozen=True)
class Witness:
    """A column that was not used and that differs between the clusters of a view.

    Attributes
    ----------
    column : str
    p_value : float
        Probability of such a difference if the column had nothing to do with the clusters beyond the given ones,
        corrected for the number of columns that were tested (Bonferroni).
    effect : float
        Within the given clusters: Cramér's V² of a column of categories, η² of the ranks of a column of numbers.
    sentence : str
        Such as "Also differs in sex, which these clusters do not use: 91 % against 19 % female."
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
    """Test columns that were not used against the clusters of a view: χ² for categories, F of ranks for others.

    Parameters
    ----------
    labels : int array, shape (n,)
    others : DataFrame, n rows
        Numbers, dates, or categories with at least 10 rows for each value; all else is left out, and so are row
        numbers.
    given : Given, optional
    rng : Generator

    Returns
    -------
    tuple of Witness
        Those that are significant at level 0.05 after correction, with a V² or η² of at least 0.1; the largest first.
    """
    rows = sample_rows(len(labels), MOST_ROWS, rng)
    codes = np.unique(np.asarray(labels)[rows], return_inverse=True)[1].ravel()
    cells = joint_codes([] if given is None else as_clusterings(given.take(rows)), len(rows))
    tested = [
        _tested(shown_name(name), others.iloc[rows, j], codes, cells)
        for j, name in enumerate(others.columns)
        if not _are_row_numbers(others.iloc[:, j])
    ]
    columns = [column for column in tested if column is not None]
    found = [replace(column, p_value=min(column.p_value * len(columns), 1.0)) for column in columns]
    telling = [column for column in found if column.p_value <= LEVEL and column.effect >= TELLING]
    return tuple(sorted(telling, key=lambda witness: -witness.effect))


def _tested(name: str, cells: pd.Series, codes: np.ndarray, given: np.ndarray) -> Witness | None:
    """A column with its own p-value; None for constant columns, names and anything else that cannot be tested."""
    kind = cells.dtype
    ordered = types.is_datetime64_any_dtype(kind) or types.is_integer_dtype(kind) or types.is_float_dtype(kind)
    if types.is_float_dtype(kind):
        cells = cells.where(np.isfinite(cells.to_numpy(dtype=float, na_value=np.nan)))
    known = cells.notna().to_numpy()
    cells, codes, given = cells[known], codes[known], given[known]
    values, kinds = pd.factorize(cells if ordered else cells.astype(str), sort=True)
    clusters, codes = np.unique(codes, return_inverse=True)
    n, k, m = len(cells), len(clusters), len(kinds)
    if min(k, m) < 2 or (not ordered and m > max(n // ROWS_PER_CELL, 2)):
        return None
    member = one_hot(codes)
    if not ordered or m < FEW_VALUES:
        indicators = one_hot(values)
        sums = member.T @ _within(indicators, given)
        chi2 = float(np.sum(n * sums**2 / np.outer(member.sum(axis=0), indicators.sum(axis=0))))
        effect, p_value = chi2 / (n * (min(k, m) - 1)), stats.chi2.sf(chi2, (k - 1) * (m - 1))
        said = _shares(name, kinds, indicators, member)
    else:
        ranks = _within(stats.rankdata(values)[:, None], given)[:, 0]
        total = float(np.sum(ranks**2)) or 1.0
        effect = min(float(np.sum((member.T @ ranks) ** 2 / member.sum(axis=0))) / total, 1.0)
        free = max(n - k - int(given.max()), 1)
        p_value = stats.f.sf(effect / (k - 1) / max((1 - effect) / free, 1e-12), k - 1, free)
        said = _middles(cells, codes)
    unused = "" if name.startswith(EMPTY_CELLS) else ", which these clusters do not use"
    return Witness(name, float(p_value), min(float(effect), 1.0), f"Also differs in {name}{unused}: {said}.")


def _are_row_numbers(cells: pd.Series) -> bool:
    """Whether the values are whole numbers in a row, all different."""
    if not types.is_numeric_dtype(cells.dtype) or types.is_bool_dtype(cells.dtype) or not cells.is_unique:
        return False
    values = cells.to_numpy(dtype=float, na_value=np.nan)
    return bool(np.all(values == np.round(values)) and np.ptp(values) == len(values) - 1)


def _within(features: Array, given: np.ndarray) -> Array:
    """The features minus their means within the given clusters."""
    member = one_hot(given)
    return features - (member.T @ features / np.maximum(member.sum(axis=0), 1)[:, None])[given]


def _shares(name: str, kinds: Sequence, indicators: Array, member: Array) -> str:
    """The value whose share differs most between clusters: "91 % against 19 % female"."""
    shares = (indicators.T @ member) / member.sum(axis=0)
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
