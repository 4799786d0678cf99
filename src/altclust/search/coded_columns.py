"""The columns of a table as codes, by which clusters are compared with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.feature_selection import f_classif

from .null_rows import ATOM, FEW_VALUES
from .screening import LEADING

ROWS_PER_CELL = 10  # with fewer, a cross table agrees with anything


def most_telling(frame: pd.DataFrame, rows: np.ndarray, codes: np.ndarray) -> list[int]:
    """All columns, or those of a wide table that are no numbers or whose means differ most between the clusters."""
    if frame.shape[1] <= LEADING:
        return list(range(frame.shape[1]))
    numeric = np.array([types.is_numeric_dtype(kind) for kind in frame.dtypes])
    places = np.flatnonzero(numeric)
    values = np.nan_to_num(frame.iloc[rows, places].to_numpy(dtype=float))
    varied = np.flatnonzero(np.ptp(values, axis=0) > 0)
    telling = np.nan_to_num(f_classif(values[:, varied], codes)[0], posinf=np.inf)
    chosen = places[varied[np.argsort(-telling, kind="stable")[:LEADING]]]
    return np.sort(np.concatenate([chosen, np.flatnonzero(~numeric)])).tolist()


class CodedColumn(NamedTuple):
    """One column of the table.

    `place` is its number, `codes` are the ranks of its values, `kinds` the sorted values (None for text), `listed` is
    whether they can be compared one by one, and `few` whether it counts as few-valued: dates do, because a split of
    them tells when rows were recorded.
    """

    place: int
    name: str
    codes: np.ndarray
    kinds: np.ndarray | None
    listed: bool
    few: bool

    @property
    def levels(self) -> int:
        """The number of values."""
        return int(self.codes.max()) + 1


def coded_columns(frame: pd.DataFrame, names: list[str]) -> list[CodedColumn]:
    """The columns that have more than one value and are not identifiers."""
    groups: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        owner, equals, _ = name.partition("=")
        groups.setdefault(owner if equals and frame.iloc[:, j].nunique() <= 2 else name, []).append(j)
    found = []
    for name, places in groups.items():
        if len(places) > 1:
            together = np.unique(frame.iloc[:, places].to_numpy(), axis=0, return_inverse=True)[1]
            found.append(_column(places[0], name, together))
        else:
            found.append(_of_series(places[0], names[places[0]], frame.iloc[:, places[0]]))
    return [column for column in found if column is not None]


def _of_series(place: int, name: str, cells: pd.Series) -> CodedColumn | None:
    kind = cells.dtype
    ordered = types.is_datetime64_any_dtype(kind) or (types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind))
    if not ordered or types.is_complex_dtype(kind):
        return _column(place, name, pd.factorize(cells.astype(str))[0])
    codes, kinds = pd.factorize(cells, sort=True)
    if len(kinds) < FEW_VALUES:
        return _column(place, name, codes + 1)  # missing cells are one more value
    return _column(place, name, np.where(codes < 0, len(kinds) // 2, codes), np.asarray(kinds))


def _column(place: int, name: str, codes: np.ndarray, kinds: np.ndarray | None = None) -> CodedColumn | None:
    codes = np.unique(codes, return_inverse=True)[1].ravel() if kinds is None else codes
    counts = np.bincount(codes)
    listed = len(counts) <= len(codes) // ROWS_PER_CELL
    if len(counts) < 2 or not (listed or kinds is not None):
        return None
    dates = kinds is not None and types.is_datetime64_any_dtype(kinds)
    few = kinds is None or dates or len(counts) < FEW_VALUES or counts.max() > ATOM * len(codes)
    return CodedColumn(place, name, codes, kinds, kinds is None, bool(few))
