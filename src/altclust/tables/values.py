"""The cells of a column as numbers or as labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none", "-", "?", "."))
MOST_LEVELS = 30  # of a text column that describes rows
THOUSANDS = r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*"
MOSTLY = 0.9  # share of numbers from which a column counts as numeric


def is_text(column: pd.Series) -> bool:
    """Whether the column holds text, or values of several kinds."""
    plain = column.dtype
    if isinstance(plain, pd.CategoricalDtype):
        plain = plain.categories.dtype
    return not (pd.api.types.is_numeric_dtype(plain) or pd.api.types.is_datetime64_any_dtype(plain))


def labels(column: pd.Series) -> pd.Series:
    """Every cell as text, None where it is missing."""
    text = column.map(_text, na_action="ignore").astype(object)
    return text.where(text.notna() & ~text.astype(str).str.strip().str.lower().isin(MISSING), None)


def known_labels(column: pd.Series) -> pd.Series:
    """`labels` of a known clustering: −1 among whole numbers is unknown, as in many clusterers."""
    text = labels(column)
    whole = text.dropna().str.fullmatch(r"-?\d+(\.0)?").all()
    return text.where(~text.isin(["-1", "-1.0"]), None) if whole else text


def readable(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns that describe rows: numbers as numbers, text of a few values as text, nothing else."""
    columns: dict[str, Any] = {}
    for name, column in frame.items():
        found = numbers(column)
        if found is not None:
            columns[str(name)] = found[0]
        elif is_text(column) and 1 < (text := labels(column)).nunique() <= MOST_LEVELS:
            columns[str(name)] = text.to_numpy()
    return pd.DataFrame(columns, index=frame.index)


def _text(cell: object) -> str:
    return f"{cell:.15g}" if isinstance(cell, float | np.floating) else str(cell)


def numbers(column: pd.Series) -> tuple[np.ndarray, list[str]] | None:
    """A column as numbers, NaN where missing, and the cells that are not numbers; None where most are not.

    Commas are read where that makes all cells numbers: as thousands separators where every comma is before three
    digits, as decimal commas otherwise.
    """
    if pd.api.types.is_numeric_dtype(column.dtype):
        return _finite(column.to_numpy(dtype=float, na_value=np.nan)), []
    if not is_text(column):
        return None if pd.api.types.is_datetime64_any_dtype(column) else (_finite(column.astype(float).to_numpy()), [])
    values = _parsed(column)
    rest = np.flatnonzero(np.isnan(values))
    text = labels(column.iloc[rest])
    foreign = text.notna().to_numpy()
    if foreign.any():
        understood = _parsed(text.map(_without_commas(text[foreign]), na_action="ignore"))
        if not np.isnan(understood[foreign]).any():
            values[rest] = understood
            return _finite(values), []
    missing = len(rest) - foreign.sum()
    if foreign.sum() > (1 - MOSTLY) * (len(values) - missing):
        return None
    return _finite(values), text[foreign].tolist()


def _without_commas(cells: pd.Series) -> Callable[[str], str]:
    """The function that rewrites cells with commas, and perhaps points, with a decimal point only."""
    if cells.str.fullmatch(THOUSANDS).all():
        return lambda cell: cell.replace(",", "")
    return lambda cell: cell.replace(".", "").replace(",", ".") if cell.count(",") == 1 else cell


def _parsed(text: pd.Series) -> np.ndarray:
    cells = text.to_numpy(dtype=object, na_value=None)
    return np.array(pd.to_numeric(cells, errors="coerce"), dtype=float)


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)
