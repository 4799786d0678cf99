"""The columns that describe rows, in their own units, for reports."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .column_types import LEVELLED, column_type
from .recipe import Recipe
from .values import NO_ANSWER, labels

MOST_LEVELS = 30  # of a text column that describes rows


def readable(frame: pd.DataFrame, recipe: Recipe | None = None) -> pd.DataFrame:
    """The columns that describe rows: numbers as numbers, text of a few values as text, nothing else.

    Parameters
    ----------
    frame : DataFrame
    recipe : Recipe, optional
        The types and decimal marks of its columns. Default: they are found again.
    """
    wanted = {} if recipe is None else {listed.column: listed.type for listed in recipe.listing}
    decimals = {} if recipe is None else recipe.decimals
    columns: dict[str, Any] = {}
    for name, cells in frame.items():
        kind = wanted.get(str(name))
        typed = column_type(cells, wanted=kind if kind in LEVELLED else None, decimal=decimals.get(str(name)))
        if typed.numerals is not None:
            columns[str(name)] = typed.numerals.values
        elif 1 < typed.distinct + (typed.missing > 0) <= MOST_LEVELS and typed.distinct:
            columns[str(name)] = labels(cells).fillna(NO_ANSWER).to_numpy()
    return pd.DataFrame(columns, index=frame.index)
