"""The type of each column, by rules that are told in one line each and can be overridden."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..base.errors import InputError, short_repr
from .dates import date_order, is_date, read_dates
from .identifiers import is_named, why_identifier
from .numerals import MOSTLY, Numerals, is_numeral, read_numerals
from .values import as_float, is_text, labels

TYPES = {  # and the rule by which a column gets it
    "number": "numbers with many different values",
    "ordered": "numbers with few different values, such as ratings and years",
    "category": "words or codes, each in several rows",
    "yes/no": "two values: yes and no, true and false, or 1 and 0",
    "date": "dates such as 2026-11-16, 21.09.2020 or 9/30/1990, counted in years",
    "money": "numbers with a currency",
    "percent": "numbers with a per cent sign",
    "identifier": "numbers or names of rows, such as row numbers, order numbers and subjects",
    "text": "many different texts",
}
MEASURED = ("number", "money", "percent", "date", "ordered")
LEVELLED = ("category", "yes/no")
FEW = 12  # most values of a column that counts as a rating or as a category
MOST_ASKED = 200  # of a category that was asked for
LONGEST = 40  # characters of a name in an option that is proposed
ROWS_EACH = 4  # mean number of rows per value, from which values count as few
YES_NO = ({"yes", "no"}, {"true", "false"}, {"y", "n"}, {"t", "f"}, {"0", "1"})
CODE = re.compile(
    r"(.*[\W_])?(zip|zip_?codes?|post_?codes?|postal(_?codes?)?|plz|phone|telephone|fax|iban|ean|isbn|sku)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TypedColumn:
    """A column with its type."""

    kind: str  # one of `TYPES`
    why: str  # the rule, in a few words
    numerals: Numerals | None  # the cells as numbers; None for categories and text
    levels: tuple[str, ...]  # the different values as text, in order; empty for numbers with many values
    missing: int  # number of missing cells
    distinct: int  # number of different values


def column_type(cells: pd.Series, *, wanted: str | None = None, decimal: str | None = None) -> TypedColumn:
    """The type of a column: the one that the user wanted, or by the rules of `TYPES`."""
    if wanted is not None:
        return _as_wanted(cells, wanted, decimal)
    dates = read_dates(cells, least=MOSTLY)
    if dates is not None:
        return _numeric("date", "dates", dates)
    found = numbers_of(cells, decimal)
    if found is None:
        return _words(cells)
    values = found.values[~np.isnan(found.values)]
    if found.unit:
        return _numeric(found.unit, "a currency" if found.unit == "money" else "a per cent sign", found)
    name = str(cells.name).strip()
    zeros = is_text(cells) and labels(cells).dropna().str.fullmatch(r"\s*0\d+\s*").any()  # such as 01067
    if zeros or (CODE.fullmatch(name) and np.all(values == np.round(values))):
        return replace(_words(cells), why="codes, not amounts")
    if np.array_equal(np.unique(values), [0.0, 1.0]):
        return replace(_words(cells), kind="yes/no", why="1 and 0")
    reason = "" if found.doubt else why_identifier(name, found.values, FEW)
    if reason:
        return replace(_numeric("identifier", reason, found), levels=())
    number = _numeric("number", "numbers", found)
    return replace(number, kind="ordered", why=f"numbers with {number.distinct} values") if number.levels else number


def as_option(name: str, kind: str) -> str:
    """The option of the command line that sets a type, as it is typed in a shell; a long name becomes a pattern."""
    if len(name) > LONGEST or not name.isprintable():
        name = re.sub(r"[^\w .,;:-]", "?", name[:LONGEST]) + "*"
    return f"--as {shlex.quote(f'{name}={kind}')}"


def numbers_of(cells: pd.Series, decimal: str | None = None) -> Numerals | None:
    """The cells as numbers; None where most are not."""
    typed = as_float(cells)
    if typed is not None:
        return Numerals(typed, [])
    return read_numerals(labels(cells), decimal) if is_text(cells) else None


def _as_wanted(cells: pd.Series, wanted: str, decimal: str | None) -> TypedColumn:
    if wanted not in TYPES:
        raise InputError(f"is not a type: choose one of {', '.join(TYPES)}.", argument="types", value=wanted)
    if wanted in ("category", "yes/no", "identifier", "text"):
        return replace(_words(cells), kind=wanted, why="as asked")
    found = read_dates(cells) if wanted == "date" else numbers_of(cells, decimal)
    if found is None or np.isnan(found.values).all():
        text = labels(cells).dropna()
        such = f" (such as {short_repr(text.iloc[0])})" if len(text) else ""
        what = "dates such as 2026-11-16 or 21.09.2020" if wanted == "date" else "numbers"
        problem = f"asks for {what} in column {str(cells.name)!r}, which has others{such}: choose another type."
        raise InputError(problem, argument="types", value=wanted)
    most = {"number": 0, "ordered": MOST_ASKED}.get(wanted, FEW)
    return _numeric(wanted, "as asked", found, most)


def _numeric(kind: str, why: str, found: Numerals, most: int = FEW) -> TypedColumn:
    there = found.values[~np.isnan(found.values)]
    different = np.unique(there)
    few = 2 <= len(different) <= most and (len(different) == 2 or len(different) * ROWS_EACH <= len(there))
    levels = tuple(f"{value:.15g}" for value in different) if few else ()
    return TypedColumn(kind, why, found, levels, int(np.isnan(found.values).sum()), len(different))


def _words(cells: pd.Series) -> TypedColumn:
    text = labels(cells)
    counts = text.value_counts()
    levels = tuple(sorted(map(str, counts.index)))
    missing, distinct = int(text.isna().sum()), len(levels)
    if {level.strip().lower() for level in levels} in YES_NO:
        kind, why = "yes/no", " and ".join(sorted(levels, reverse=True))
    elif distinct <= min(FEW, len(cells) / 2):
        kind, why = "category", f"{distinct} value{'s' * (distinct != 1)}"
    elif distinct == len(cells) - missing and is_named(str(cells.name)):
        kind, why = "identifier", "a name for every row"
    elif is_named(str(cells.name), again=True):
        kind, why = "identifier", f"an identifier with {distinct} values, by its name"
    else:
        kind, why = "text", f"text with {distinct} values{_nearly(text)}"
    return TypedColumn(kind, why, None, levels, missing, distinct)


def _nearly(text: pd.Series) -> str:
    """What keeps a column from being read as dates or numbers, where most cells are such; "" otherwise."""
    there = text.dropna()
    dates = [cell for cell in map(str, there) if is_date(cell.strip())]
    if len(dates) > len(there) / 2 and not date_order(dates):
        return f": dates such as {short_repr(dates[0])} do not tell which is the day and which the month"
    strange = there[[not is_numeral(str(cell)) for cell in there]]
    if not 0 < len(strange) < len(there) / 2:
        return ""
    return f": {len(strange)} of {len(there)} cells are not numbers, such as {short_repr(strange.iloc[0])}"
