"""The columns that describe rows, in their own units, for reports."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .column_types import LEVELLED, MEASURED, column_type
from .dates import times_of
from .recipe import Recipe
from .values import NO_ANSWER, labels

MOST_LEVELS = 30  # of a text column that describes rows


def readable(frame: pd.DataFrame, recipe: Recipe | None = None) -> pd.DataFrame:
    """The columns that describe rows: numbers, dates, and text of a few values; no identifiers, nothing else.

    Parameters
    ----------
    frame : DataFrame
    recipe : Recipe, optional
        How its columns are read, and which of them somebody left out. Default: that is found again.
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
