"""Column names in the first row of sheets and text files, where there are any."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..files.npy import BadFile
from .column_types import numbers_of


def with_header(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The first row as names, unless it has only numbers; and notes about names that the file does not have."""
    if len(cells) == 0:
        raise BadFile("has no rows.")
    first = cells.iloc[0]
    measured = numbers_of(first)
    if measured is not None and not np.isnan(measured.values).any():
        names = [f"column_{j}" for j in range(1, cells.shape[1] + 1)]
        return cells.set_axis(names, axis=1), [
            "The first line has only numbers: it is read as a row, and the columns are numbered."
        ]
    names = ["" if pd.isna(name) else str(name) for name in first]
    empty = names.index("") if "" in names else None
    given = [f"unnamed_{j}" for j, name in enumerate(names) if not name and j != empty]
    names = [name or (f"unnamed_{j}" if j != empty else "") for j, name in enumerate(names)]
    notes = [f"Columns without a name are called {', '.join(given[:6])}{' …' * (len(given) > 6)}."] if given else []
    return cells.iloc[1:].reset_index(drop=True).set_axis(names, axis=1), notes
