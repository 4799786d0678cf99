"""Columns that say what another column says: near copies, codes and their names, and the parts of a date.

Two numbers are near copies if their ranks are correlated, as a price with and without tax or a size and its logarithm.
Two columns with few values are, if each predicts the other, as a code and its name. Year, month, day, weekday and the
like are parts of a date that is in the table as well. Cells that are missing in the same rows are one fact, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from ..base.years import times_of
from .column_types import MEASURED, ROWS_EACH, TypedColumn
from .normal_scores import SOME_ROWS
from .values import NO_ANSWER, labels

ALIKE = 0.98  # correlation of ranks, and share of what one column leaves open that the other predicts
SAME_PAIRS = 0.8  # agreement of two columns on which rows are equal, from 1 to -1, below which neither tells the other
FEWEST = 20  # rows from which columns can be compared
MOST_COLUMNS = 1000  # that are compared with each other
MOST_VALUES = 200  # of a column that is compared by its values
ORDER = "given", "used", "chosen", "other"
PARTS: dict[str, Callable[[pd.DatetimeIndex], pd.Index]] = {
    "year": lambda times: times.year,
    "quarter": lambda times: times.quarter,
    "month": lambda times: times.month,
    "week": lambda times: times.isocalendar().week,
    "day": lambda times: times.day,
    "weekday": lambda times: times.day_of_week,
    "day of the year": lambda times: times.day_of_year,
    "hour": lambda times: times.hour,
}


def near_copies(frame: pd.DataFrame, typed: Mapping[str, TypedColumn], parts: Mapping[str, str]) -> dict[str, str]:
    """The columns that are near copies of others, and of which.

    parts says what part a column has: "given" and "used" columns may have copies among those that are "used", of which
    dates, and then those that come first in the table, are kept; all may have copies among "other" columns. "Chosen"
    columns are no copies, and have none among those that are used.
    """
    if len(frame) < FEWEST or len(parts) > MOST_COLUMNS:
        return {}
    rng, n = np.random.default_rng(0), len(frame)
    rows = np.sort(rng.choice(n, SOME_ROWS, replace=False)) if n > SOME_ROWS else np.arange(n)
    names = sorted(parts, key=lambda name: (ORDER.index(parts[name]), typed[name].kind != "date"))
    columns = [_Compared(frame[name].iloc[rows], typed[name], rows) for name in names]
    numbers, values = _alike_in_ranks(columns, len(rows)), _alike_in_pairs(columns, len(rows), rng)
    originals: list[int] = []
    found: dict[str, str] = {}
    for i, name in enumerate(names):
        near = (j for j in originals if numbers[i, j] or (values[i, j] and columns[i].tells(columns[j])))
        dates = ((j, columns[i].part_of(columns[j])) for j in originals)
        whys = (f"a near copy of {names[j]}" for j in near), (f"the {part} of {names[j]}" for j, part in dates if part)
        why = next(chain(*whys), "") if parts[name] in ("used", "other") else ""
        if why:
            found[name] = why
        elif parts[name] != "other":
            originals.append(i)
    return found


def empty_together(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """The columns whose cells are missing in the same rows as those of an earlier column, and that column."""
    first: dict[str, Codes] = {}
    found = {}
    for name in names:
        missing = Codes.of(labels(frame[name]).isna())
        earlier = next((one for one, its in first.items() if missing.tells(its)), None)
        if earlier is None:
            first[name] = missing
        else:
            found[name] = earlier
    return found


class _Compared:
    """A column in the forms in which it is compared: ranks, codes of its values, parts of its dates."""

    def __init__(self, cells: pd.Series, typed: TypedColumn, rows: np.ndarray) -> None:
        self.measured = typed.kind in (*MEASURED, "identifier")
        self.numbers = None if typed.numerals is None else typed.numerals.values[rows]
        few = 2 <= typed.distinct <= min(MOST_VALUES, len(rows) / ROWS_EACH)
        self.codes = Codes.of(labels(cells).fillna(NO_ANSWER)) if few else None
        dates = self.numbers if typed.kind == "date" else None
        self.parts = {} if dates is None else {name: (values, Codes.of(values)) for name, values in _parts(dates)}

    def tells(self, other: _Compared) -> bool:
        """Whether one is a code and the other its name: of two numbers, only the ranks count."""
        if self.codes is None or other.codes is None or (self.measured and other.measured):
            return False
        return self.codes.tells(other.codes)

    def part_of(self, other: _Compared) -> str:
        """The part of the dates of the other column that this column is; "" if none."""
        for name, (values, codes) in other.parts.items():
            same = self.numbers is not None and np.mean(self.numbers == values) > ALIKE
            if same or (self.codes is not None and self.codes.tells(codes)):  # these values, or names of them
                return name
        return ""


class Codes(NamedTuple):
    """The values of a column as codes 0, 1, …, shape (n,), and the number of rows of each."""

    codes: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, values: Any) -> Codes:
        """Of any values, none of which is missing."""
        codes = pd.factorize(values)[0]
        return cls(codes, np.bincount(codes))

    def tells(self, other: Codes) -> bool:
        """Whether the value of either column tells that of the other in nearly all rows that are not the commonest."""
        n, most = len(self.codes), [int(sizes.max()) for sizes in (self.sizes, other.sizes)]
        if abs(most[0] - most[1]) > (1 - ALIKE) * n or max(most) == n:
            return False
        pairs = np.bincount(self.codes * len(other.sizes) + other.codes, minlength=len(self.sizes) * len(other.sizes))
        table = pairs.reshape(len(self.sizes), -1)
        told = (table.max(axis=0).sum() - most[0]) / (n - most[0]), (table.max(axis=1).sum() - most[1]) / (n - most[1])
        return bool(min(told) > ALIKE)


def _alike_in_ranks(columns: Sequence[_Compared], n: int) -> np.ndarray:
    """Which pairs of columns of numbers have correlated ranks, shape (d, d)."""
    ranks = np.zeros((len(columns), n), dtype=np.float32)
    for row, column in zip(ranks, columns, strict=True):
        numbers = np.full(n, np.nan) if column.numbers is None or not column.measured else column.numbers
        there = ~np.isnan(numbers)
        if there.any():
            row[there] = rankdata(numbers[there])
            row[there] -= row[there].mean()
    ranks /= np.maximum(np.linalg.norm(ranks, axis=1, keepdims=True), 1e-9)
    return np.abs(ranks @ ranks.T) > ALIKE


def _alike_in_pairs(columns: Sequence[_Compared], n: int, rng: np.random.Generator) -> np.ndarray:
    """Which pairs of columns agree on whether two rows have the same value, shape (d, d): no others can be copies."""
    one, other = rng.integers(0, n, (2, SOME_ROWS))
    same = np.zeros((len(columns), SOME_ROWS), dtype=np.float32)
    for row, column in zip(same, columns, strict=True):
        if column.codes is not None:
            row[:] = 2.0 * (column.codes.codes[one] == column.codes.codes[other]) - 1
    return same @ same.T > SAME_PAIRS * SOME_ROWS


def _parts(years: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The parts of dates that are not the same in all rows; −1 where a date is missing."""
    times = times_of(years)
    for name, of in PARTS.items():
        values = np.where(times.isna(), -1, of(times)).astype(int)
        if len(np.unique(values[values >= 0])) > 1:
            yield name, values
