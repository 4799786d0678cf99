"""Dates that are written as text, as years with decimals.

A date begins with its year (2026-11-16, 2026/9/3) or ends with it (21.09.2020, 9/30/1990); a time of day may follow.
Where the year is last, all cells together tell whether the day or the month is first; with points it is the day. A
column whose cells tell neither, or both, is not read as dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..base.years import YEAR
from .numerals import Numerals
from .values import is_text, labels

TIME = r"(?:[T ]\s*(\d{1,2}):(\d\d)(?::(\d\d(?:[.]\d+)?))?\s*([AaPp][Mm])?\s*(Z|[+-]\d\d:?\d\d)?)?"
YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){TIME}")
YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){TIME}")
ORDERS = "day first", "month first"
LOOKED_AT = 20  # different cells, none of which is a date in most columns of text
MONTHS = 12


def read_dates(cells: pd.Series, order: str = "", least: float = 0.0) -> Numerals | None:
    """Dates as years with decimals, NaN where a cell is not a date; None where less than this share of them are.

    The order of dates that end with the year, "day first" or "month first", is by default what all cells tell.
    """
    if pd.api.types.is_datetime64_any_dtype(cells.dtype):
        return Numerals(_years(cells), [])
    if not is_text(cells):
        return None
    codes, found = pd.factorize(labels(cells))
    texts = [str(cell).strip() for cell in found]
    if least > 0 and not any(map(is_date, texts[:LOOKED_AT])):
        return None
    order = order or date_order(texts)
    iso = [_iso(text, order) for text in texts]
    years = _years(pd.Series([*iso, None], dtype=object))[codes]  # the last for missing cells, whose code is -1
    if np.isfinite(years).sum() < least * (codes >= 0).sum():
        return None
    foreign = [text for text, one in zip(texts, iso, strict=True) if one is None]
    last = next((i for i, text in enumerate(texts) if YEAR_LAST.fullmatch(text) and iso[i]), None)
    example = "" if last is None else f"{texts[last]!r} is {str(iso[last])[:10]}"
    return Numerals(years, foreign, example=example, order="" if last is None else order)


def is_date(text: str) -> bool:
    """Whether a text has the form of a date."""
    return bool(YEAR_FIRST.fullmatch(text) or YEAR_LAST.fullmatch(text))


def date_order(texts: Iterable[str]) -> str:
    """Whether the day or the month is first in dates that end with the year; "" if that cannot be told."""
    parts = [found.groups() for found in map(YEAR_LAST.fullmatch, texts) if found]
    day = any(int(one) > MONTHS for one, *_ in parts)
    month = any(int(two) > MONTHS for _, _, two, *_ in parts)
    if day and month:
        return ""
    if month or (not day and any(mark != "." for _, mark, *_ in parts)):
        return ORDERS[1] if month else ""
    return ORDERS[0]


def _iso(text: str, order: str) -> str | None:
    """A date as in ISO 8601; None where the text is none."""
    found = YEAR_FIRST.fullmatch(text)
    if found:
        year, _, month, day, *time = found.groups()
    else:
        found = YEAR_LAST.fullmatch(text) if order else None
        if found is None:
            return None
        one, _, two, year, *time = found.groups()
        day, month = (one, two) if order == ORDERS[0] else (two, one)
    hour, minute, second, half, zone = time
    if hour is None:
        return f"{year}-{month:0>2}-{day:0>2}"
    hours = int(hour) % 12 + 12 * (half.lower() == "pm") if half else int(hour)
    return f"{year}-{month:0>2}-{day:0>2}T{hours:02d}:{minute}:{second or '00'}{zone or ''}"


def _years(times: pd.Series) -> np.ndarray:
    """Years with decimals; NaN where there is no such day."""
    form = None if pd.api.types.is_datetime64_any_dtype(times.dtype) else "ISO8601"
    found = pd.to_datetime(times, errors="coerce", utc=True, format=form)
    seconds = (found - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy(dtype=float)
    return 1970 + seconds / YEAR
