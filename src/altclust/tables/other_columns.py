"""The columns of a table that had no part in a clustering, in a form that can be tested against it."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from .readable import readable


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
