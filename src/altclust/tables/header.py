"""Column names in the first row of sheets and text files, where there are any."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..base.errors import short_repr
from ..files.npy import BadFile
from .numerals import is_numeral
from .values import labels


def with_header(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The first row as names, unless it is a row of values; and notes about names that the file does not have."""
    if len(cells) == 0:
        raise BadFile("has no rows.")
    first = labels(cells.iloc[0])
    numbers = np.array([name is not None and is_numeral(name) for name in first], dtype=bool)
    if numbers.any() and _is_row(cells, first, numbers):
        names = [f"column_{j}" for j in range(1, cells.shape[1] + 1)]
        return cells.set_axis(names, axis=1), [
            "The first line has numbers in place of names: it is read as a row, and the columns are numbered."
        ]
    names = ["" if pd.isna(name) else str(name) for name in cells.iloc[0]]
    empty = names.index("") if "" in names else None
    given = [f"unnamed_{j}" for j, name in enumerate(names) if not name and j != empty]
    notes = [f"Columns without a name are called {', '.join(given[:6])}{' …' * (len(given) > 6)}."] if given else []
    if numbers.any():
        such = short_repr(names[int(np.argmax(numbers))])
        notes.append(f"Names in the first line are numbers, such as {such}: if it is a row, add a line of names above.")
    names = [name or (f"unnamed_{j}" if j != empty else "") for j, name in enumerate(names)]
    return cells.iloc[1:].reset_index(drop=True).set_axis(names, axis=1), notes


def _is_row(cells: pd.DataFrame, first: pd.Series, numbers: np.ndarray) -> bool:
    """Whether a first line with some numbers is a row of values.

    It is if it has only numbers, if one of its words comes again below, or if at least half of it are numbers that are
    no names. Names may be years and the like: whole numbers in equal steps.
    """
    if numbers.all():
        return True
    below = cells.iloc[1:]
    if any(below.iloc[:, j].eq(cells.iat[0, j]).any() for j in np.flatnonzero(~numbers & first.notna().to_numpy())):
        return True
    values = pd.to_numeric(first[numbers].str.replace(",", "."), errors="coerce").to_numpy(dtype=float)
    steps = np.unique(np.diff(values))
    are_names = np.all(values == np.round(values)) and len(steps) <= 1 and np.all(steps > 0)
    return bool(2 * numbers.sum() >= len(first) and not are_names)
