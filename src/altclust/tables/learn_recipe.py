"""Which columns of a table are clustered, and how: every decision as a sentence, with the argument that changes it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import skew

from ..base.errors import InputError, short_repr, shown_name
from .column_types import FEW, LEVELLED, MOST_ASKED, TypedColumn, as_option, column_type
from .copies import empty_together, near_copies
from .normal_scores import SOME_ROWS, leading_axes, ordered_levels
from .recipe import AS_ASKED, COPY, LEFT_OUT, Column, Decision, Listed, Recipe
from .unknown_column import NAMED, few, remedy
from .values import NO_ANSWER

if TYPE_CHECKING:
    from .encoder import TableEncoder

MOST_MISSING = 0.5  # share of missing numbers, beyond which a column is left out
SKEWED = 2.0  # skewness from which logarithms are proposed
MOST_FEATURES = 1000  # that the order of categories is learnt from
SAID = {  # of some columns, and the parameter of `TableEncoder` that changes it
    "Used as numbers": "drop",
    "Used by their associations with other columns": "encode",
    "Left out": "columns",
    "Counted once with another column": "columns",
    "Numbers read from text": "decimal",
    "Dates read from text": "types",
    "Cells that are not numbers count as missing": "types",
    "Missing cells are replaced by the median": "impute",
    "Missing cells are a level of their own": "drop",
    "Logarithms are taken": "log",
    "Skewed, so that logarithms may show more": "log",
}


def learn_recipe(frame: pd.DataFrame, how: TableEncoder, known: Collection[str] | Mapping[str, str] = ()) -> Recipe:
    """Decide how the columns of a table are used.

    Known columns are not features: they are given, or a dict says what each is used as, such as row names.
    """
    if how.decimal not in (None, ".", ","):
        raise InputError('is not a decimal mark: pass "." or ",".', argument="decimal", value=how.decimal)
    asked = _matching(frame, how.columns, "columns")
    dropped = _matching(frame, how.drop, "drop")
    types = (how.types or {}).items()
    wanted = {name: kind for pattern, kind in types for name in _matching(frame, [pattern], "types")}
    logs = [] if how.log == "auto" else _patterns(how.log)
    logged = _matching(frame, logs, "log")
    roles = known if isinstance(known, Mapping) else dict.fromkeys(known, "given")
    typed, reasons = {}, {}
    for name in map(str, frame.columns):
        found = column_type(frame[name], wanted=wanted.get(name), decimal=how.decimal)
        reason = AS_ASKED if name in roles or name in dropped else ""
        if asked and name not in asked:
            reason = reason or "not among the columns to use"
        if name in logs and (reason or found.numerals is None):
            problem = f"has the type {found.kind}, and only numbers have logarithms: leave it out, or set its type."
            if reason:
                role = roles.get(name, LEFT_OUT)
                problem = f"is not clustered ({role}), so that its logarithms have no effect: leave it out."
            raise InputError(problem, argument="log", value=name)
        if name in asked and name not in wanted:
            found = _because_asked(found, len(frame))
        typed[name] = found
        reasons[name] = reason or _why_not(name, found, name in asked or name in wanted, how)
    chosen = {*asked, *wanted, *logs}
    parts = {name: "chosen" if name in chosen else "used" for name in typed if not reasons[name]}
    parts |= {name: "given" for name in typed if roles.get(name) == "given"}
    for name, reason in reasons.items():
        if reason not in ("", AS_ASKED) and (typed[name].kind != "identifier" or typed[name].distinct < len(frame)):
            parts[name] = "other"  # numbers that repeat may be a part of a date, such as the day of the year
    copies = near_copies(frame, typed, parts)
    words = [name for name in typed if not reasons[name] and name not in copies and typed[name].numerals is None]
    together = empty_together(frame, [name for name in words if typed[name].missing])
    copies |= {name: f"constant, and empty with {one}" for name, one in together.items() if typed[name].distinct == 1}
    notes, used, levels = _Notes(together), [], {}
    for name, found in typed.items():
        if name in copies:
            notes.listing.append(Listed(name, found.kind, COPY, copies[name]))
            notes.said["Counted once with another column"].append(f"{name} ({copies[name]})")
            continue
        if reasons[name]:
            notes.listing.append(Listed(name, found.kind, roles.get(name, LEFT_OUT), reasons[name]))
            if name not in roles and not (asked and name not in asked):
                notes.out[name] = reasons[name]
            continue
        column, codes = _column(frame[name], found, how, name in logged, notes)
        used.append(column)
        if codes is not None:
            levels[name] = codes
    if not used:
        why = "; ".join(
            f"{short_repr(name)} is left out ({reason})" for name, reason in list(notes.out.items())[:NAMED]
        )
        change = f" Set a type for one of them, such as {as_option(next(iter(notes.out)), 'category')}." if why else ""
        raise InputError(f"No column can be clustered{': ' + why if why else ''}.{change}")
    used = _with_order(used, levels, frame)
    return Recipe(tuple(used), tuple(notes.decisions(how.standardise)), tuple(notes.listing))


class _Notes:
    """What is decided, column by column; `decisions` puts it into sentences."""

    def __init__(self, together: dict[str, str]) -> None:
        self.said: defaultdict[str, list[str]] = defaultdict(list)  # by the keys of `SAID`
        self.out: dict[str, str] = {}  # columns that are left out, and why
        self.listing: list[Listed] = []
        self.together = together  # columns that are empty in the same rows as another

    def take(self, name: str, typed: TypedColumn, log: bool) -> None:
        said, found = self.said, typed.numerals
        use = "normal scores" if typed.levels else "logarithms" if log else "numbers"
        with_other = f", empty together with {self.together[name]}" if name in self.together else ""
        self.listing.append(Listed(name, typed.kind, use, typed.why + with_other))
        if typed.levels:
            said["Used by their associations with other columns"].append(
                f"{name} ({typed.kind}, {typed.distinct} values)"
            )
        else:
            said["Used as numbers"].append(name if typed.kind == "number" else f"{name} ({typed.kind})")
        if found is None:
            if typed.missing and name not in self.together:
                others = [one for one, first in self.together.items() if first == name]
                also = f" (together with {few(others)})" if others else ""
                said["Missing cells are a level of their own"].append(f"{typed.missing} in {name}{also}")
            return
        if typed.missing:
            said["Missing cells are replaced by the median"].append(f"{typed.missing} in {name}")
        if found.example:
            read = "Dates read from text" if typed.kind == "date" else "Numbers read from text"
            said[read].append(f"{name} ({found.example})")
        if found.foreign:
            said["Cells that are not numbers count as missing"].append(f"{name} ({found.foreign[0]!r})")

    def decisions(self, standardise: bool) -> list[Decision]:
        self.said["Left out"] = [f"{shown_name(name)} ({reason})" for name, reason in self.out.items()]
        scaled = "Standardised: every column has unit variance."
        if not standardise:
            scaled = "Not standardised: columns with large numbers weigh most."
        told = [Decision(f"{start}: {few(self.said[start])}.", by) for start, by in SAID.items() if self.said[start]]
        return [*told, Decision(scaled, "standardise")]


def _patterns(wanted: str | Sequence[str] | None) -> Sequence[str]:
    """One name or pattern, several, or none."""
    return [wanted] if isinstance(wanted, str) else wanted or []


def _matching(frame: pd.DataFrame, patterns: str | Sequence[str] | None, argument: str) -> list[str]:
    """The columns that match, in the order of the table."""
    found = set()
    for pattern in _patterns(patterns):
        hits = [pattern] if pattern in frame.columns else [c for c in frame.columns if fnmatchcase(c, pattern)]
        if not hits:
            problem = f"is not a column: {remedy(pattern, frame.columns)}"
            raise InputError(problem, argument=argument, value=pattern)
        found.update(hits)
    return [name for name in frame.columns if name in found]


def _because_asked(typed: TypedColumn, rows: int) -> TypedColumn:
    """A column that would be left out by its type, but was asked for by its name."""
    if typed.kind == "identifier" and typed.numerals is not None:
        return replace(typed, kind="number", why=AS_ASKED)
    if typed.kind in ("identifier", "text") and typed.distinct <= min(MOST_ASKED, rows / 2):
        return replace(typed, kind="category", why=AS_ASKED)
    return typed


def _why_not(name: str, typed: TypedColumn, asked: bool, how: TableEncoder) -> str:
    """Why a column is not used; "" if it is."""
    if typed.kind in ("identifier", "text"):
        return typed.why if typed.why != AS_ASKED else typed.kind
    if typed.distinct == 0:
        return "empty"
    if typed.kind in LEVELLED:
        if typed.distinct + (typed.missing > 0) < 2:
            return "constant"
        if typed.distinct > (MOST_ASKED if asked else FEW):
            return f"category with {typed.distinct} values"
    elif typed.distinct < 2:
        return "constant"
    if not how.encode and not asked and typed.levels:
        return f"only {typed.distinct} values"
    found = typed.numerals
    if found is None:
        return ""
    if found.doubt:
        raise InputError(f"is needed to read column {name!r}, where {found.doubt}.", argument="decimal")
    share = typed.missing / len(found.values)
    if share > MOST_MISSING and not asked:
        return f"{share:.0%} missing"
    if typed.missing and not how.impute:
        raise InputError(f"Column {name!r} has {typed.missing} missing cells: fill them in, drop it, or impute them.")
    return ""


def _column(
    cells: pd.Series, typed: TypedColumn, how: TableEncoder, log: bool, notes: _Notes
) -> tuple[Column, np.ndarray | None]:
    """How a column becomes a feature, and the places of its levels where it has few values."""
    name, found = str(cells.name), typed.numerals
    column = Column(name, typed.kind)
    if found is not None:
        column = replace(column, decimal=found.decimal, order=found.order)
    if typed.levels:
        unanswered = found is None and typed.missing and name not in notes.together
        levels = (*typed.levels, NO_ANSWER) if unanswered else typed.levels
        if found is not None:
            there = np.sort(found.values[~np.isnan(found.values)])
            column = replace(column, fill=float(there[len(there) // 2]))  # the upper median, which is a value
        column = replace(column, levels=levels)
        notes.take(name, typed, log=False)
        codes = column.read(cells)
        shares = np.bincount(codes[codes >= 0], minlength=len(levels)) / np.sum(codes >= 0)
        return replace(column, shares=tuple(map(float, shares))), codes
    assert found is not None
    there = found.values[~np.isnan(found.values)]
    tall = _is_skewed(there)
    log = log or (how.log == "auto" and tall)
    if log and there.min() <= 0:
        problem = f"cannot be taken: the column has values such as {there.min():g}, and 0 has no logarithm."
        raise InputError(problem, argument="log", value=name)
    if log or tall:
        notes.said["Logarithms are taken" if log else "Skewed, so that logarithms may show more"].append(name)
    notes.take(name, typed, log)
    column = replace(column, fill=float(np.median(there)), log=log)
    values = column.measure(column.read(cells))
    if not how.standardise:
        return column, None
    size = float(np.abs(values).max()) or 1.0  # its square may overflow
    spread = size * float((values / size).std())
    return replace(column, centre=size * float((values / size).mean()), scale=spread or 1.0), None


def _is_skewed(values: np.ndarray) -> bool:
    """Whether positive numbers have a long tail that logarithms shorten."""
    if len(values) < 8 or values.min() <= 0:
        return False
    before, after = skew(values / values.max()), skew(np.log(values))
    return bool(before > SKEWED and abs(after) < before / 2)


def _with_order(used: list[Column], levels: dict[str, np.ndarray], frame: pd.DataFrame) -> list[Column]:
    """The same columns, with the levels of categories in the order of their association with other columns."""
    if not any(column.kind in LEVELLED and len(column.levels) > 2 for column in used):
        return used
    rng, n = np.random.default_rng(0), len(frame)
    some = np.sort(rng.choice(n, SOME_ROWS, replace=False)) if n > SOME_ROWS else np.arange(n)
    features = np.column_stack([_block(column, levels.get(column.name), frame, some) for column in used])
    axes = leading_axes(features[:, rng.permutation(features.shape[1])[:MOST_FEATURES]])
    found = []
    for column in used:
        if column.kind in LEVELLED and len(column.levels) > 2:
            codes = levels[column.name][some]
            order = ordered_levels(codes[codes >= 0], axes[codes >= 0], len(column.levels))
            names, shares = (tuple(part[i] for i in order) for part in (column.levels, column.shares))
            column = replace(column, levels=names, shares=shares)
        found.append(column)
    return found


def _block(column: Column, codes: np.ndarray | None, frame: pd.DataFrame, some: np.ndarray) -> np.ndarray:
    """A column as centred features with equal say: unit variance, or a feature for each level."""
    if codes is None:
        values = column.measure(column.read(frame[column.name].iloc[some]))
        values = values / (np.abs(values).max() or 1.0)  # their squares may overflow
        return ((values - values.mean()) / (values.std() or 1.0))[:, None]
    one_hot = np.eye(len(column.levels) + 1)[codes[some], :-1]  # nothing for −1, which is unknown
    shares = one_hot.mean(axis=0)
    return (one_hot - shares) / np.sqrt(np.maximum(shares, 1 / len(some)))
