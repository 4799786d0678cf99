"""Known columns: clusters as text, measurements as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from ..base.errors import InputError
from ..base.given import Levels
from ..base.known import Known, is_measured
from .column_types import ROWS_EACH, TypedColumn, as_option, column_type
from .identifiers import is_named
from .values import known_labels

LABELLED, MEASURED = ("category", "ordered", "yes/no"), ("number", "money", "percent")
MOST_LABELS = 100  # of a clustering that nobody confirmed


def known_columns(known: pd.DataFrame, types: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Labels of known clusterings as text, None where unknown; measurements as numbers, NaN where unknown.

    types are those of columns, by name or pattern: one that is a category is a clustering, whatever its values, and one
    that is a number is a measurement. Identifiers, and labels with more than 100 values, are refused without a type.
    """
    found = {}
    for name, cells in known.items():
        chosen = [kind for pattern, kind in (types or {}).items() if pattern == name or fnmatchcase(str(name), pattern)]
        kind = chosen[-1] if chosen else None
        typed = column_type(cells)
        if kind is None and _names_rows(typed, cells):
            raise InputError(_refusal(typed, f"is an identifier ({typed.why})", cells), argument="given", value=name)
        numbers = None if kind in LABELLED or typed.numerals is None else typed.numerals.values
        if kind in MEASURED and numbers is None:
            raise InputError(f"has the type {kind!r}, but is not a column of numbers.", argument="given", value=name)
        measured = numbers is not None and (kind in MEASURED or (not typed.levels and is_measured(numbers)))
        found[name] = pd.Series(numbers, index=known.index) if measured else known_labels(cells)
        if not measured and kind is None and MOST_LABELS < typed.distinct <= len(cells) / 2:
            problem = f"has {typed.distinct} different values, which are many for a clustering"
            raise InputError(_refusal(typed, problem, cells), argument="given", value=name)
    return pd.DataFrame(found, index=known.index)


def _names_rows(typed: TypedColumn, cells: pd.Series) -> bool:
    """Whether a column is an identifier by its name, or because few rows share its values."""
    shared = len(cells) >= ROWS_EACH * typed.distinct
    return typed.kind == "identifier" and (not shared or is_named(str(cells.name), again=True))


def _refusal(typed: TypedColumn, problem: str, cells: pd.Series) -> str:
    """A problem with a given column, and the type that confirms it."""
    kind, what = ("category", "a clustering") if 2 * typed.distinct <= len(cells) else ("number", "a measurement")
    if kind == "number" and typed.numerals is None:
        return f"{problem}: leave it out."
    option = as_option(str(cells.name), kind)
    return f"{problem}: leave it out, or confirm that it is {what} by its type {kind} ({option})."


def known_again(frame: pd.DataFrame, levels: Sequence[Levels]) -> pd.DataFrame | None:
    """The columns of another table that were given to a fit, as `known_columns` read them; None if one is missing."""
    if not levels or any(one.name not in frame.columns for one in levels):
        return None
    types = {one.name: "category" if one.kind == "labels" else "number" for one in levels}
    return known_columns(frame[[one.name for one in levels]], types)


def measured(known: pd.DataFrame | None) -> list[str]:
    """The names of the measurements among the columns of `known_columns`."""
    return [] if known is None else [str(n) for n, cells in known.items() if pd.api.types.is_float_dtype(cells)]


def as_known(known: pd.DataFrame | None) -> Any:
    """The columns of `known_columns` as `KDAC.fit` takes them."""
    names = measured(known)
    if known is None or not names:
        return known
    return [Known("measurement" if str(n) in names else "auto", cells, str(n)) for n, cells in known.items()]
