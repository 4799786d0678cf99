"""Which columns of a table are clustered, and how: every decision as a sentence, with the argument that changes it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd

from ..base.errors import InputError, one_line, short_repr
from .recipe import Column, Decision, Recipe
from .values import is_text, labels, numbers

MOST_LEVELS = 12  # of a text column that is encoded without being asked for
MOST_ASKED = 200  # of one that was asked for
MOST_MISSING = 0.5  # share of missing cells, beyond which a column is left out
IDENTIFIER = re.compile(r"(.*[\W_])?(id|idx|index|key|uuid|row|rownum|row_?number)|unnamed: \d+|", re.IGNORECASE)
NAMED = 6  # columns that a sentence names
LONGEST = 200  # characters of each


def learn_recipe(
    frame: pd.DataFrame,
    *,
    known: Collection[str] = (),
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    encode: bool | None = None,
    impute: bool = True,
    standardise: bool = True,
) -> Recipe:
    """Decide how the columns of a table are used.

    Parameters
    ----------
    frame : DataFrame
    known : collection of str
        Columns that are not features: what is given, and row names.
    columns : sequence of str
        Those to use, by name or pattern such as ``gene_*``; if empty, all that are measurements.
    drop : sequence of str
        Those not to use, by name or pattern.
    categories : sequence of str
        Columns of numbers that are category codes.
    encode : bool, optional
        Whether columns with few values (text with up to 12, numbers with 2) are used as well. Default: only if most
        columns are such. One of them is a clustering by itself, and so clear that it hides all others.
    impute : bool
        Whether missing numbers are replaced by the median; otherwise they are an error.
    standardise : bool
        Whether every column gets unit variance.

    Examples
    --------
    >>> import pandas as pd
    >>> from altclust.tables import learn_recipe
    >>> frame = pd.DataFrame({"age": ["31", "42", "25", "58"], "city": ["Graz", "Wien", "Graz", "Graz"]})
    >>> learn_recipe(frame, encode=True).apply(frame).columns.tolist()
    ['age', 'city=Wien']
    """
    asked = _matching(frame, columns, "columns")
    excluded = {*known, *_matching(frame, drop, "drop")}
    coded = _matching(frame, categories, "categories")
    notes = _Notes()
    used = []
    for name in asked or frame.columns:
        if name in excluded:
            if name in asked and name not in known:
                notes.out[name] = "as asked"
            continue
        column = _column(frame[name], name in asked, name in coded, impute, standardise, notes)
        if column is not None:
            used.append(column)
    if not (len(notes.few) > len(used) - len(notes.few) if encode is None else encode):
        used = [column for column in used if column.name not in notes.few]
        notes.leave_few_out()
    dropped = [name for name in frame.columns if name in excluded and name not in known]
    notes.out |= {name: "as asked" for name in dropped if name not in notes.out}
    if not used:
        why = "; ".join(
            f"{short_repr(name)} is left out ({reason})" for name, reason in list(notes.out.items())[:NAMED]
        )
        raise InputError(f"No column can be clustered{': ' + why if why else ''}.")
    return Recipe(tuple(used), tuple(notes.decisions(standardise)))


class _Notes:
    """What is decided, column by column; `decisions` puts it into sentences."""

    def __init__(self) -> None:
        self.numbers: list[str] = []
        self.encoded: dict[str, int] = {}
        self.few: dict[str, int] = {}  # those with few values that were not asked for
        self.out: dict[str, str] = {}
        self.filled: dict[str, int] = {}
        self.commas: dict[str, str] = {}
        self.foreign: dict[str, str] = {}

    def note_commas(self, cells: pd.Series, values: np.ndarray) -> None:
        """How the first number with a comma was read."""
        if is_text(cells):
            found = np.flatnonzero(cells.astype(str).str.contains(",", regex=False) & ~np.isnan(values))
            if found.size:
                name = str(cells.name)
                self.commas[name] = f"{name} ({str(cells.iloc[found[0]]).strip()!r} is {values[found[0]]:.15g})"

    def leave_few_out(self) -> None:
        self.out |= {name: f"only {count} values" for name, count in self.few.items()}
        self.numbers = [name for name in self.numbers if name not in self.few]
        for noted in (self.encoded, self.filled, self.foreign, self.commas):
            for name in noted.keys() & self.few.keys():
                del noted[name]

    def decisions(self, standardise: bool) -> list[Decision]:
        said = []
        if self.numbers:
            said.append(Decision(f"Used as numbers: {_few(self.numbers)}.", "drop"))
        if self.encoded:
            values = [f"{name} ({count} values)" for name, count in self.encoded.items()]
            sentence = f"Used as categories, one feature per value: {_few(values)}."
            said.append(Decision(sentence, "encode"))
        if self.out:
            reasons = [f"{name or '(no name)'} ({reason})" for name, reason in self.out.items()]
            said.append(Decision(f"Left out: {_few(reasons)}.", "columns"))
        if self.commas:
            said.append(Decision(f"Numbers with commas: {_few([*self.commas.values()])}.", "drop"))
        if self.foreign:
            cells = [f"{name} ({cell!r})" for name, cell in self.foreign.items()]
            said.append(Decision(f"Cells that are not numbers count as missing: {_few(cells)}.", "impute"))
        if self.filled:
            counts = [f"{count} in {name}" for name, count in self.filled.items()]
            said.append(Decision(f"Missing cells are replaced by the median: {_few(counts)}.", "impute"))
        if standardise:
            return [*said, Decision("Standardised: every column has unit variance.", "standardise")]
        return [*said, Decision("Not standardised: columns with large numbers weigh most.", "standardise")]


def _few(things: list[str]) -> str:
    more = f" and {len(things) - NAMED} more" if len(things) > NAMED else ""
    return ", ".join(one_line(thing, LONGEST) or "(no name)" for thing in things[:NAMED]) + more


def _matching(frame: pd.DataFrame, patterns: Sequence[str], argument: str) -> list[str]:
    """The columns that match, in the order of the table."""
    found = set()
    for pattern in patterns:
        hits = [pattern] if pattern in frame.columns else [c for c in frame.columns if fnmatchcase(c, pattern)]
        if not hits:
            problem = f"is not a column: the columns are {_few([*map(repr, frame.columns)])}."
            raise InputError(problem, argument=argument, value=pattern)
        found.update(hits)
    return [name for name in frame.columns if name in found]


def _column(
    cells: pd.Series, asked: bool, coded: bool, impute: bool, standardise: bool, notes: _Notes
) -> Column | None:
    """How this column is used; None where it is not, with the reason in the notes."""
    name = str(cells.name)
    found = None if coded else numbers(cells)
    if found is not None:
        values, foreign = found
        reason = None if asked else _not_a_measure(name, values)
        there = values[~np.isnan(values)]
        if there.size == 0 or there.min() == there.max():
            reason = "empty" if there.size == 0 else "constant"
        if reason is None and np.isnan(values).any():
            if not impute:
                count = int(np.isnan(values).sum())
                raise InputError(f"Column {name!r} has {count} missing cells: fill them in, drop it, or impute them.")
            notes.filled[name] = int(np.isnan(values).sum())
            if foreign:
                notes.foreign[name] = foreign[0]
        if reason is None:
            notes.numbers.append(name)
            notes.note_commas(cells, values)
            if not asked and len(np.unique(there)) == 2:
                notes.few[name] = 2
            return Column.learn(cells, (), float(np.median(there)), standardise)
    elif not coded and not is_text(cells):
        reason = "dates"
    else:
        counts = labels(cells).value_counts()
        levels = tuple(sorted(map(str, counts.index)))
        most = MOST_ASKED if asked or coded else MOST_LEVELS
        if len(levels) < 2:
            reason = "constant" if levels else "empty"
        elif len(levels) > min(most, len(cells) / 2):
            reason = f"text with {len(levels)} values"
        else:
            notes.encoded[name] = len(levels)
            if not (asked or coded):
                notes.few[name] = len(levels)
            return Column.learn(cells, levels[1:] if len(levels) == 2 else levels, 0.0, standardise)
    notes.out[name] = reason
    return None


def _not_a_measure(name: str, values: np.ndarray) -> str | None:
    """Why a column of numbers is not a measurement; None if it is one."""
    if np.isnan(values).mean() > MOST_MISSING:
        return f"{np.isnan(values).mean():.0%} missing"
    whole = bool(np.all(values == np.round(values)))
    if whole and len(np.unique(values)) == len(values) > 2:
        in_a_row = values.max() - values.min() == len(values) - 1
        if in_a_row or IDENTIFIER.fullmatch(name.strip()):
            return "row numbers"
    return None
