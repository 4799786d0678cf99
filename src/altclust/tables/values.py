"""The cells of a column as text or as floats."""

from __future__ import annotations

import numpy as np
import pandas as pd

WORDS = "na n/a #n/a #na <na> null nan -nan 1.#ind -1.#ind 1.#qnan -1.#qnan"  # that pandas reads as missing
MISSING = frozenset(("", *WORDS.split(), "#n/a n/a", "-", "?", "."))  # in small or capital letters
MISSING_AS_WRITTEN = "None"  # pandas reads it as missing; "none" is an answer
NO_ANSWER = "(missing)"  # the level of missing cells


def is_text(column: pd.Series) -> bool:
    """Whether the column holds text, or values of several kinds."""
    plain = _plain(column)
    return not (pd.api.types.is_numeric_dtype(plain) or pd.api.types.is_datetime64_any_dtype(plain))


def as_float(column: pd.Series) -> np.ndarray | None:
    """A column of numbers as floats, NaN where missing or infinite; None for text and dates."""
    if not pd.api.types.is_numeric_dtype(_plain(column)) or pd.api.types.is_complex_dtype(_plain(column)):
        return None
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype if not column.hasnans else float)
    values = column.to_numpy(dtype=float, na_value=np.nan)
    return np.where(np.isfinite(values), values, np.nan)


def labels(column: pd.Series) -> pd.Series:
    """Every cell as text, None where it is missing."""
    text = column if isinstance(column.dtype, pd.StringDtype) else column.map(_text, na_action="ignore")
    text = text.astype(object)
    plain = text.astype(str).str.strip()
    return text.where(text.notna() & ~plain.str.lower().isin(MISSING) & (plain != MISSING_AS_WRITTEN), None)


def known_labels(column: pd.Series) -> pd.Series:
    """`labels` of a known clustering: −1 among whole numbers is unknown, as in many clusterers."""
    text = labels(column)
    whole = text.dropna().str.fullmatch(r"-?\d+(\.0)?").all()
    return text.where(~text.isin(["-1", "-1.0"]), None) if whole else text


def _plain(column: pd.Series) -> object:
    """The type of the cells, also where they are categories of pandas."""
    return column.cat.categories.dtype if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype


def _text(cell: object) -> str:
    return f"{cell:.15g}" if isinstance(cell, float | np.floating) else str(cell)
