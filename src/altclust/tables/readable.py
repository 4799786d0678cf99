"""The columns that describe rows, in their own units: for reports, and as witnesses where they were not clustered."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pandas as pd

from ..base.years import times_of
from ..search.witnesses import EMPTY_CELLS
from .column_types import LEVELLED, MEASURED, column_type
from .recipe import Recipe
from .values import NO_ANSWER, labels

MOST_LEVELS = 30  # of a text column that describes rows


def readable(frame: pd.DataFrame, recipe: Recipe | None = None) -> pd.DataFrame:
    """The columns that describe rows: numbers, dates, and text of a few values; no identifiers, nothing else.

    A recipe says how columns are read, and which of them somebody left out; without one, that is found again.
    """
    wanted = {} if recipe is None else {listed.column: listed.type for listed in recipe.listing}
    used = {} if recipe is None else {column.name: column for column in recipe.columns}
    hidden = () if recipe is None else recipe.hidden
    columns: dict[str, Any] = {}
    for name, cells in frame.items():
        kind = wanted.get(str(name))
        if str(name) in hidden:
            continue
        if str(name) in used and kind in MEASURED:
            numbers = used[str(name)].numbers(cells)
            columns[str(name)] = times_of(numbers) if kind == "date" else numbers
            continue
        typed = column_type(cells, wanted=kind if kind in LEVELLED else None)
        if kind is None and typed.kind == "identifier":
            continue
        if typed.numerals is not None:
            numbers = typed.numerals.values
            columns[str(name)] = times_of(numbers) if typed.kind == "date" else numbers
        elif 1 < typed.distinct + (typed.missing > 0) <= MOST_LEVELS and typed.distinct:
            columns[str(name)] = labels(cells).fillna(NO_ANSWER).to_numpy()
    return pd.DataFrame(columns, index=frame.index)


def other_columns(frame: pd.DataFrame, used: Collection[str]) -> pd.DataFrame | None:
    """Numbers, dates and text with few values, without the columns that were used; None if there are none."""
    found = readable(frame.drop(columns=list(used), errors="ignore"))
    return found if found.shape[1] else None


def empty_cells(frame: pd.DataFrame, recipe: Recipe) -> pd.DataFrame:
    """Which cells of the clustered columns are missing, as "empty" or "filled": a column for those empty together."""
    clustered = {column.name for column in recipe.columns}
    found = readable(frame.loc[:, [str(name) in clustered for name in frame.columns]], recipe)
    missing = found.isna() | (found == NO_ANSWER)
    together: dict[bytes, list[str]] = {}
    for name, cells in missing.items():
        if cells.any():
            together.setdefault(cells.to_numpy().tobytes(), []).append(str(name))
    return pd.DataFrame(
        {
            EMPTY_CELLS + ", ".join(names): missing[names[0]].map({True: "empty", False: "filled"})
            for names in together.values()
        },
        index=frame.index,
    )
