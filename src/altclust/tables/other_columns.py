"""The columns of a table that had no part in a clustering, in a form that can be tested against it."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from ..search.witnesses import EMPTY_CELLS
from .readable import readable
from .recipe import Recipe
from .values import NO_ANSWER


def other_columns(frame: pd.DataFrame, used: Collection[str]) -> pd.DataFrame | None:
    """Numbers, dates and text with few values, without the columns that were used; None if there are none.

    Parameters
    ----------
    frame : DataFrame
        The table.
    used : collection of str
        Columns that were given, clustered or left out by somebody, or name rows.
    """
    found = readable(frame.drop(columns=list(used), errors="ignore"))
    return found if found.shape[1] else None


def empty_cells(frame: pd.DataFrame, recipe: Recipe) -> pd.DataFrame:
    """Which cells of the clustered columns are missing, as "empty" or "filled": a column for those empty together.

    Parameters
    ----------
    frame : DataFrame
        The table.
    recipe : Recipe
        How its columns are read.
    """
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
