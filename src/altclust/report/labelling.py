"""Labels of any kind as named codes, and the cross table of two of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.given import Given
from ..base.known import as_numbers, is_measured, is_unknown, read_given
from ..base.years import times_of
from .sentences import text

MOST_LEVELS = 30  # in a legend or a table; smaller clusters are put together
BANDS = 5  # into which a measurement is cut


@dataclass(frozen=True)
class Labelling:
    """One clustering of the rows."""

    name: str
    levels: list[str]  # the names of its clusters
    codes: np.ndarray  # shape (n,): the cluster of every row; −1 is unknown
    others: int = 0  # number of clusters that the last level puts together; 0 where every cluster has its own
    measured: Given | None = None  # of a measurement, whose levels are bands of its values
    values: np.ndarray | None = None  # of a measurement, shape (n,)
    is_date: bool = False  # whether these are years of dates

    @property
    def sizes(self) -> np.ndarray:
        """Rows in each cluster."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))

    @property
    def unknown(self) -> int:
        """Rows without a cluster."""
        return int(np.sum(self.codes < 0))


def as_frame(table: Any) -> pd.DataFrame:
    """A pandas frame from frames, series, dicts, arrays or nested lists."""
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "to_dicts"):  # polars frame
        return pd.DataFrame(table.to_dict(as_series=False))
    if hasattr(table, "to_list"):  # pandas or polars series
        return pd.DataFrame({table.name or 0: table.to_list()})
    if isinstance(table, dict):
        return pd.DataFrame(table)
    array = np.asarray(table) if hasattr(table, "__array__") else np.array(table, dtype=object)
    frame = pd.DataFrame(array.reshape(len(array), -1))
    return frame.infer_objects() if array.dtype == object else frame


def check_length(argument: str, found: int, n: int) -> None:
    """Refuse an argument without one entry per row."""
    if found != n:
        raise InputError(f"has {found} rows but X has {n}: pass one for each row of X.", argument=argument)


def given_labellings(given: Any, n: int, dates: Collection[str] = ()) -> list[Labelling]:
    """The given clusterings, one labelling per column; dates are the columns of years with decimals."""
    if given is None:
        return []
    frame = as_frame(given)
    check_length("given", len(frame), n)
    names = [_name(frame, j) for j in range(frame.shape[1])]
    return [_encode(name, frame.iloc[:, j], name in dates) for j, name in enumerate(names)]


def _name(frame: pd.DataFrame, j: int) -> str:
    """The name of a column; "given" where columns are only numbered."""
    if isinstance(frame.columns[j], str):
        return text(frame.columns[j])
    return "given" if frame.shape[1] == 1 else f"given {j + 1}"


def bands(values: np.ndarray, dates: bool = False) -> tuple[np.ndarray, list[str]]:
    """Bands of a measurement with equally many rows: the band of each row, −1 where unknown, and their names."""
    known = ~np.isnan(values)
    edges = np.unique(np.quantile(values[known], np.linspace(0, 1, BANDS + 1)))
    codes = np.where(known, np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2), -1)
    names = times_of(edges).strftime("%Y-%m-%d") if dates else [f"{edge:.4g}" for edge in edges]
    return codes, [f"{low} to {high}" for low, high in pairwise(names)]


def _encode(name: str, column: pd.Series, is_date: bool) -> Labelling:
    numbers = as_numbers(column)
    if numbers is not None and is_measured(numbers):
        codes, levels = bands(numbers, is_date)
        measured = read_given(numbers, len(numbers))
        return Labelling(name, levels, codes, measured=measured, values=numbers, is_date=is_date)
    codes, levels = pd.factorize(column)
    try:
        order = sorted(range(len(levels)), key=lambda i: levels[i])
    except TypeError:  # strings and numbers have no common order
        order = list(range(len(levels)))
    order = [i for i in order if not is_unknown(levels[i])]
    place = np.full(len(levels) + 1, -1)  # the last entry is for the code −1
    place[order] = np.arange(len(order))
    return Labelling(name, [text(levels[i]) for i in order], place[codes])


def alternative_labelling(name: str, labels: Any, n: int, n_clusters: int, names: dict[int, str] | None) -> Labelling:
    """The new clustering; clusters without a name are numbered."""
    codes = np.asarray(labels).astype(np.int64)
    check_length("labels", len(codes), n)
    names = names or {}
    count = max(n_clusters, int(codes.max()) + 1)
    return Labelling(text(name), [text(names.get(i) or f"cluster {i}") for i in range(count)], codes)


def collapse(labelling: Labelling) -> Labelling:
    """The largest clusters, and all others as one."""
    others = len(labelling.levels) - MOST_LEVELS + 1
    if others <= 1:
        return labelling
    largest = np.sort(np.argsort(-labelling.sizes, kind="stable")[: MOST_LEVELS - 1])
    place = np.full(len(labelling.levels) + 1, MOST_LEVELS - 1)
    place[largest] = np.arange(MOST_LEVELS - 1)
    place[-1] = -1
    levels = [labelling.levels[i] for i in largest] + [f"{others:,} others"]
    return replace(labelling, levels=levels, codes=place[labelling.codes], others=others)


def cross(rows: Labelling, columns: Labelling) -> np.ndarray:
    """The number of rows in each pair of clusters; the last row and column count unknown rows."""
    counts = np.zeros((len(rows.levels) + 1, len(columns.levels) + 1), dtype=int)
    np.add.at(counts, (rows.codes, columns.codes), 1)  # the code −1 is the last
    return counts
