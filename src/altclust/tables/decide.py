"""Which columns of a table are clustered, and how: every decision as a sentence, with the argument that changes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
from scipy.stats import skew

from ..base.errors import InputError, short_repr
from .column_types import FEW, LEVELLED, MOST_ASKED, TypedColumn, as_option, column_type
from .copies import empty_together, near_copies
from .numerals import Numerals
from .recipe import AS_ASKED, COPY, LEFT_OUT, Column, Decision, Listed, Recipe
from .scores import SOME_ROWS, leading_axes, ordered_levels
from .unknown_column import NAMED, few, remedy
from .values import NO_ANSWER

MOST_MISSING = 0.5  # share of missing numbers, beyond which a column is left out
SKEWED = 2.0  # skewness from which logarithms are proposed
MOST_FEATURES = 1000  # that the order of categories is learnt from


def learn_recipe(
    frame: pd.DataFrame,
    *,
    known: Collection[str] | Mapping[str, str] = (),
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    encode: bool = True,
    impute: bool = True,
    log: str | Sequence[str] = (),
    decimal: str | None = None,
    standardise: bool = True,
) -> Recipe:
    """Decide how the columns of a table are used.

    Parameters
    ----------
    frame : DataFrame
    known : collection of str, or dict of str to str
        Columns that are not features: what is given, or what each of them is used as, such as row names.
    columns : sequence of str
        Those to use, by name or pattern such as ``gene_*``; if empty, all that are measurements or have few values.
    drop : sequence of str
        Those not to use, by name or pattern.
    types : dict of str to str, optional
        The types of columns, by name or pattern, such as ``{"zip": "category"}``; see
        `altclust.tables.column_types.TYPES`. Default: by the rules told there.
    encode : bool
        Whether columns with few values (categories, yes/no, ratings) are used. They become normal scores: by itself
        none of them shows clusters, only their associations with other columns do.
    impute : bool
        Whether missing numbers are replaced by the median; otherwise they are an error. Missing categories are a
        level of their own, in one of several columns that are empty together.
    log : "auto", or sequence of str
        Columns whose logarithms are taken, by name or pattern; "auto" takes those of skewed positive numbers.
    decimal : "." or ",", optional
        The decimal mark of numbers that are written as text. Default: for each column, the one with which all of its
        cells are numbers; a column that can be read in two ways is an error.
    standardise : bool
        Whether every column gets unit variance.

    Examples
    --------
    >>> import pandas as pd
    >>> from altclust.tables import learn_recipe
    >>> frame = pd.DataFrame({"age": ["31", "42", "25", "58"], "city": ["Graz", "Wien", "Graz", "Graz"]})
    >>> recipe = learn_recipe(frame)
    >>> recipe.apply(frame).columns.tolist()
    ['age', 'city']
    >>> recipe.table["type"].tolist()
    ['number', 'category']
    """
    if decimal not in (None, ".", ","):
        raise InputError('is not a decimal mark: pass "." or ",".', argument="decimal", value=decimal)
    asked = _matching(frame, columns, "columns")
    dropped = _matching(frame, drop, "drop")
    wanted = {name: kind for pattern, kind in (types or {}).items() for name in _matching(frame, [pattern], "types")}
    logs = [] if log == "auto" else [log] if isinstance(log, str) else log
    logged = _matching(frame, logs, "log")
    roles = known if isinstance(known, Mapping) else dict.fromkeys(known, "given")
    typed, reasons = {}, {}
    for name in map(str, frame.columns):
        found = column_type(frame[name], wanted=wanted.get(name), decimal=decimal)
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
        reasons[name] = reason or _why_not(name, found, name in asked or name in wanted, encode, impute)
    chosen = {*asked, *wanted, *logs}
    parts = {name: "chosen" if name in chosen else "used" for name in typed if not reasons[name]}
    parts |= {name: "given" for name in typed if roles.get(name) == "given"}
    for name, reason in reasons.items():
        if reason not in ("", AS_ASKED) and typed[name].kind != "identifier":
            parts[name] = "other"
    copies = near_copies(frame, typed, parts)
    words = [name for name in typed if not reasons[name] and name not in copies and typed[name].numerals is None]
    together = empty_together(frame, [name for name in words if typed[name].missing])
    copies |= {name: f"constant, and empty with {one}" for name, one in together.items() if typed[name].distinct == 1}
    notes, used, levels = _Notes(together=together), [], {}
    for name, found in typed.items():
        if name in copies:
            notes.count_once(name, found, copies[name])
            continue
        if reasons[name]:
            told = name not in roles and not (asked and name not in asked)
            notes.leave_out(name, found, roles.get(name, LEFT_OUT), reasons[name], told)
            continue
        column, codes = _column(frame[name], found, name in logged, log == "auto", standardise, notes)
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
    return Recipe(tuple(used), tuple(notes.decisions(standardise)), tuple(notes.listing))


@dataclass
class _Notes:
    """What is decided, column by column; `decisions` puts it into sentences."""

    numbers: list[str] = field(default_factory=list)
    few: list[str] = field(default_factory=list)
    out: dict[str, str] = field(default_factory=dict)
    copies: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    skewed: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    listing: list[Listed] = field(default_factory=list)
    together: dict[str, str] = field(default_factory=dict)  # columns that are empty in the same rows as another

    def leave_out(self, name: str, typed: TypedColumn, use: str, reason: str, told: bool) -> None:
        self.listing.append(Listed(name, typed.kind, use, reason))
        if told:
            self.out[name] = reason

    def count_once(self, name: str, typed: TypedColumn, why: str) -> None:
        self.listing.append(Listed(name, typed.kind, COPY, why))
        self.copies.append(f"{name} ({why})")

    def take(self, name: str, typed: TypedColumn, found: Numerals | None, log: bool) -> None:
        use = "normal scores" if typed.levels else "logarithms" if log else "numbers"
        with_other = f", empty together with {self.together[name]}" if name in self.together else ""
        self.listing.append(Listed(name, typed.kind, use, typed.why + with_other))
        if typed.levels:
            self.few.append(f"{name} ({typed.kind}, {typed.distinct} values)")
        else:
            self.numbers.append(name if typed.kind == "number" else f"{name} ({typed.kind})")
        if found is None:
            if typed.missing and name not in self.together:
                others = [one for one, first in self.together.items() if first == name]
                also = f" (together with {few(others)})" if others else ""
                self.unanswered.append(f"{typed.missing} in {name}{also}")
            return
        if typed.missing:
            self.filled.append(f"{typed.missing} in {name}")
        if found.example:
            (self.dates if typed.kind == "date" else self.read).append(f"{name} ({found.example})")
        if found.foreign:
            self.foreign.append(f"{name} ({found.foreign[0]!r})")

    def decisions(self, standardise: bool) -> list[Decision]:
        scaled = "Standardised: every column has unit variance."
        if not standardise:
            scaled = "Not standardised: columns with large numbers weigh most."
        out = [f"{name or '(no name)'} ({reason})" for name, reason in self.out.items()]
        said = [
            ("Used as numbers", self.numbers, "drop"),
            ("Used by their associations with other columns", self.few, "encode"),
            ("Left out", out, "columns"),
            ("Counted once with another column", self.copies, "columns"),
            ("Numbers read from text", self.read, "decimal"),
            ("Dates read from text", self.dates, "types"),
            ("Cells that are not numbers count as missing", self.foreign, "types"),
            ("Missing cells are replaced by the median", self.filled, "impute"),
            ("Missing cells are a level of their own", self.unanswered, "drop"),
            ("Logarithms are taken", self.logged, "log"),
            ("Skewed, so that logarithms may show more", self.skewed, "log"),
        ]
        told = [Decision(f"{start}: {few(things)}.", argument) for start, things, argument in said if things]
        return [*told, Decision(scaled, "standardise")]


def _matching(frame: pd.DataFrame, patterns: Sequence[str], argument: str) -> list[str]:
    """The columns that match, in the order of the table."""
    found = set()
    for pattern in patterns:
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


def _why_not(name: str, typed: TypedColumn, asked: bool, encode: bool, impute: bool) -> str:
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
    if not encode and not asked and typed.levels:
        return f"only {typed.distinct} values"
    found = typed.numerals
    if found is None:
        return ""
    if found.doubt:
        raise InputError(f"is needed to read column {name!r}, where {found.doubt}.", argument="decimal")
    share = typed.missing / len(found.values)
    if share > MOST_MISSING and not asked:
        return f"{share:.0%} missing"
    if typed.missing and not impute:
        raise InputError(f"Column {name!r} has {typed.missing} missing cells: fill them in, drop it, or impute them.")
    return ""


def _column(
    cells: pd.Series, typed: TypedColumn, log: bool, auto: bool, standardise: bool, notes: _Notes
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
        notes.take(name, typed, found, log=False)
        codes = column.read(cells)
        shares = np.bincount(codes[codes >= 0], minlength=len(levels)) / np.sum(codes >= 0)
        return replace(column, shares=tuple(map(float, shares))), codes
    assert found is not None
    there = found.values[~np.isnan(found.values)]
    tall = _is_skewed(there)
    log = log or (auto and tall)
    if log and there.min() <= 0:
        problem = f"cannot be taken: the column has values such as {there.min():g}, and 0 has no logarithm."
        raise InputError(problem, argument="log", value=name)
    if log:
        notes.logged.append(name)
    elif tall:
        notes.skewed.append(name)
    notes.take(name, typed, found, log)
    column = replace(column, fill=float(np.median(there)), log=log)
    values = column.measure(column.read(cells))
    if not standardise:
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
