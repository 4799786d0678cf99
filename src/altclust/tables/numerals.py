"""Numbers that are written as text: with thousands separators, decimal commas, currencies and per cent signs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

MOSTLY = 0.9  # share of numbers from which a column counts as numeric
CURRENCY = r"[$€£¥₹]|US\$|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|CAD|AUD|NZD|BRL|MXN|ZAR"
NUMERAL = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<before>{CURRENCY})?\s*(?P<core>[-+−]?[\d.,][\d.,'’\s]*(?:[eE][+-]?\d+)?)"
    rf"\s*(?P<after>{CURRENCY}|%)?"
)
COMMA_THOUSANDS = frozenset(("$", "US$", "USD", "£", "GBP"))  # where a comma is never decimal
GROUPS = re.compile(r"(?<=\d)['’\s](?=\d{3}(?!\d))")  # 1 234 567 and 1'234'567
POINT_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.]\d{3}")
HUNDREDS = re.compile(r"[+-]?[1-9]\d\d")
EXPONENT = r"([eE][+-]?\d+)?"
READINGS = {  # of a number, by its decimal mark: no number below 1,000 has a thousands separator
    ".": re.compile(rf"[+-]?(?=[.]?\d)(\d*|[1-9]\d{{0,2}}(,\d{{3}})+)([.]\d*)?{EXPONENT}"),
    ",": re.compile(rf"[+-]?(?=[,]?\d)(\d*|[1-9]\d{{0,2}}([.]\d{{3}})+)(,\d*)?{EXPONENT}"),
}


@dataclass(frozen=True)
class Numerals:
    """The numbers that the cells of a column spell."""

    values: np.ndarray  # shape (n,), NaN where a cell is missing or not a number
    foreign: list[str]  # cells that are neither missing nor numbers
    unit: str = ""  # "money", "percent" or ""
    decimal: str = "."  # the decimal mark, "." or ","
    example: str = ""  # how the first cell with a comma or a unit, or the first date with its year last, was read
    doubt: str = ""  # why another decimal mark is as likely, with two cells; "" if there is no doubt
    order: str = ""  # of dates that end with the year: "day first" or "month first"


def read_numerals(text: pd.Series, decimal: str | None = None) -> Numerals | None:
    """The numbers that cells spell (None where missing); None where most are not numbers.

    All are read with one decimal mark, by default the one with which all cells are numbers.
    """
    codes, cells = pd.factorize(text)
    rows = np.bincount(codes[codes >= 0], minlength=len(cells))
    plain = np.array(pd.to_numeric(cells, errors="coerce"), dtype=float)
    strange = np.flatnonzero(np.isnan(plain))
    if len(cells) == 0 or (len(strange) == 0 and decimal != ","):
        return Numerals(_take(plain, codes), [], doubt="" if decimal else _doubt_of_points(cells))
    if len(strange) and not any(NUMERAL.fullmatch(str(cells[i]).strip("() \t")) for i in strange):
        # no other way of writing numbers: the usual case of a column of words
        mostly = rows[strange].sum() <= (1 - MOSTLY) * rows.sum()
        return Numerals(_take(plain, codes), [str(cells[i]) for i in strange]) if mostly else None
    parts = [_parts(str(cell)) for cell in cells]
    cores = [part[0] for part in parts]
    fits = {mark: np.array([bool(form.fullmatch(core)) for core in cores]) for mark, form in READINGS.items()}
    either = fits["."] | fits[","] | ~np.isnan(plain)
    if rows[~either].sum() > (1 - MOSTLY) * rows.sum():
        return None
    units = {part[1] for part, known in zip(parts, either, strict=True) if known and part[1]}
    doubt = ""
    if decimal is None:
        decimal, doubt = _decimal(cells, cores, fits, units)
    values = np.array([_value(core, decimal) if ok else np.nan for core, ok in zip(cores, fits[decimal], strict=True)])
    values = np.where(np.isnan(values) & ~fits[","], plain, values)  # "inf" and "1e400"
    unit = "percent" if units == {"%"} else "money" if units and "%" not in units else ""
    marked = [i for i, part in enumerate(parts) if ("," in part[0] or part[1]) and not np.isnan(values[i])]
    example = f"{str(cells[marked[0]]).strip()!r} is {values[marked[0]]:.15g}" if marked else ""
    foreign = [str(cell) for cell, value in zip(cells, values, strict=True) if np.isnan(value)]
    return Numerals(_take(values, codes), foreign, unit, decimal, example, doubt)


def is_numeral(cell: str) -> bool:
    """Whether a cell is a number with one of the decimal marks."""
    return any(form.fullmatch(_parts(cell)[0]) for form in READINGS.values())


def _take(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    found = np.append(values, np.nan)[codes]
    return np.where(np.isfinite(found), found, np.nan)


def _parts(cell: str) -> tuple[str, str]:
    """The digits and marks of a cell, and its unit; the cell itself where it is no number."""
    cell = cell.strip()
    in_brackets = cell.startswith("(") and cell.endswith(")")  # a negative amount
    found = NUMERAL.fullmatch(cell[1:-1].strip() if in_brackets else cell)
    if found is None or (found["before"] and found["after"]):
        return cell, ""
    sign = "-" if in_brackets else found["sign"]
    core = GROUPS.sub("", found["core"].strip())
    return (sign + core).replace("−", "-"), found["before"] or found["after"] or ""


def _decimal(cells: pd.Index, cores: list[str], fits: dict[str, np.ndarray], units: set[str]) -> tuple[str, str]:
    """The decimal mark with which all cells are numbers, and why that is in doubt."""
    only_point, only_comma = fits["."] & ~fits[","], fits[","] & ~fits["."]
    if only_point.any() and only_comma.any():
        one, other = (str(cells[np.argmax(only)]).strip() for only in (only_point, only_comma))
        return ".", f"{one!r} has a decimal point and {other!r} a decimal comma"
    if only_comma.any():
        return ",", ""
    both = [i for i in np.flatnonzero(fits["."]) if fits[","][i] and ("," in cores[i] or "." in cores[i])]
    commas = [i for i in both if "," in cores[i]]
    if only_point.any() or not both or (commas and units and units <= COMMA_THOUSANDS):
        return ".", ""
    whole = [abs(float(core)) for core in cores if re.fullmatch(r"[+-]?\d+", core)]
    below = bool(whole) and 100 <= max(whole) < 1000  # numbers below 1,000 have no mark: it separates thousands
    if len(commas) == len(both) and below:
        return ".", ""
    if not commas and (not units or "%" in units):
        return ".", _doubt_of_points(cores)
    if not commas and (below or units <= COMMA_THOUSANDS):
        return ("," if below else "."), ""  # no amount of money has three decimals beside one of some hundreds
    commas = commas or both
    pair = [commas[0], next((i for i in both if i not in commas), commas[-1])]
    told = [
        f"{str(cells[i]).strip()!r} is {_value(cores[i], '.'):.15g} or {_value(cores[i], ','):.15g}"
        for i in dict.fromkeys(pair)
    ]
    return ".", ", ".join(told)


def _doubt_of_points(cells: Iterable[object]) -> str:
    """Why points may separate thousands in cells that are all numbers with decimal points."""
    dotted = whole = ""
    for cell in (str(cell).strip() for cell in cells):
        if "." in cell:
            if not POINT_THOUSANDS.fullmatch(cell):
                return ""
            dotted = dotted or cell
        elif not whole and HUNDREDS.fullmatch(cell):
            whole = cell
    if not dotted or not whole:
        return ""
    return f"{dotted!r} beside {whole!r} is {_value(dotted, '.'):.15g} or {_value(dotted, ','):.15g}"


def _value(core: str, decimal: str) -> float:
    core = core.replace("." if decimal == "," else ",", "")
    return float(core.replace(",", "."))
