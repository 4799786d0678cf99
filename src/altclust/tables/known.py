"""Known columns: clusters as text, measurements as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from ..base.errors import InputError
from ..base.known import Known, Levels, is_measured
from .column_types import ROWS_EACH, TypedColumn, column_type
from .identifiers import is_named
from .values import known_labels

LABELLED, MEASURED = ("category", "ordered", "yes/no"), ("number", "money", "percent")


def known_columns(known: pd.DataFrame, types: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Labels of known clusterings as text, None where unknown; measurements as numbers, NaN where unknown.

    Parameters
    ----------
    known : DataFrame
        One column for each clustering or measurement.
    types : dict of str to str, optional
        Types of columns, by name or pattern: one that is a category is a clustering, whatever its values, and one that
        is a number is a measurement.

    Examples
    --------
    >>> import pandas as pd
    >>> from altclust.tables.known import known_columns
    >>> known_columns(pd.DataFrame({"segment": [1, 2, 1, -1]}))["segment"].tolist()
    ['1', '2', '1', None]
    >>> known_columns(pd.DataFrame({"mass": ["2.5", "3"]}), {"mass": "number"})["mass"].tolist()
    [2.5, 3.0]
    """
    found = {}
    for name, cells in known.items():
        chosen = [kind for pattern, kind in (types or {}).items() if pattern == name or fnmatchcase(str(name), pattern)]
        kind = chosen[-1] if chosen else None
        typed = column_type(cells)
        if typed.kind == "identifier" and typed.numerals is not None and kind is None and _names_rows(typed, cells):
            problem = f"is an identifier ({typed.why}): leave it out, or set its type to number if it is a measurement."
            raise InputError(problem, argument="given", value=name)
        numbers = None if kind in LABELLED or typed.numerals is None else typed.numerals.values
        if kind in MEASURED and numbers is None:
            raise InputError(f"has the type {kind!r}, but is not a column of numbers.", argument="given", value=name)
        measured = numbers is not None and (kind in MEASURED or (not typed.levels and is_measured(numbers)))
        found[name] = pd.Series(numbers, index=known.index) if measured else known_labels(cells)
    return pd.DataFrame(found, index=known.index)


def _names_rows(typed: TypedColumn, cells: pd.Series) -> bool:
    """Whether an identifier is no clustering: few rows share its values, or its name says so."""
    return is_named(str(cells.name), again=True) or len(cells) < ROWS_EACH * typed.distinct


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
