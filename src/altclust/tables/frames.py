"""Data frames of other libraries: into pandas, and back with a column added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError, short_repr


def as_pandas(table: Any, fewest: int = 2, argument: str = "table") -> pd.DataFrame:
    """A pandas frame with unique names that are text, from pandas, polars, Arrow, a dict or an array."""
    if isinstance(table, pd.DataFrame):
        frame = table
    elif hasattr(table, "to_pydict"):  # Arrow
        frame = pd.DataFrame(table.to_pydict())
    elif hasattr(table, "to_dicts"):  # polars
        frame = pd.DataFrame(table.to_dict(as_series=False))
    elif isinstance(table, Mapping):
        frame = pd.DataFrame(dict(table))
    elif isinstance(table, np.ndarray) and table.ndim == 2:
        frame = pd.DataFrame(table, columns=[f"column_{j}" for j in range(1, table.shape[1] + 1)])
    else:
        problem = f"is a {type(table).__name__}: pass a data frame of pandas or polars, or an Arrow table."
        raise InputError(problem, argument=argument)
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise InputError(f"has two columns named {short_repr(twice[0])}: rename one.", argument=argument)
    if len(frame) < fewest:
        use = "a clustering needs at least 2" if fewest > 1 else "pass those to label"
        raise InputError(f"has {['no rows', '1 row'][len(frame)]}: {use}.", argument=argument)
    return frame


def with_column(table: Any, name: str, values: np.ndarray) -> Any:
    """The table with one more column, in its own library; a dict or an array becomes a pandas frame."""
    if hasattr(table, "append_column"):  # Arrow
        return table.append_column(name, [values])
    if hasattr(table, "with_columns"):  # polars
        return table.with_columns(type(table)({name: values}).to_series())
    frame = table if isinstance(table, pd.DataFrame) else as_pandas(table)
    return frame.assign(**{name: values})
