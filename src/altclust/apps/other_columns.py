"""The columns of a table that had no part in a clustering, in a form that can be tested against it."""

from __future__ import annotations

import warnings
from collections.abc import Collection

import pandas as pd

from ..tables.values import MOSTLY, labels, numbers, readable


def other_columns(frame: pd.DataFrame, used: Collection[str]) -> pd.DataFrame | None:
    """Numbers, text with few values and dates, without the columns that were used; None if there are none.

    Parameters
    ----------
    frame : DataFrame
        The table.
    used : collection of str
        Columns that were given, clustered, or name rows.
    """
    rest = frame.drop(columns=list(used), errors="ignore")
    found = readable(rest)
    for name in rest.columns.difference(found.columns, sort=False):
        dates = _dates(rest[name])
        if dates is not None:
            found[str(name)] = dates
    return found if found.shape[1] else None


def _dates(column: pd.Series) -> pd.Series | None:
    """A column as dates, if most of its cells are dates in the order year, month, day."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    if numbers(column) is not None:
        return None
    text = labels(column)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dates = pd.to_datetime(text, errors="coerce", format="ISO8601", utc=True)
    return dates if dates.notna().sum() >= MOSTLY * max(text.notna().sum(), 1) else None
