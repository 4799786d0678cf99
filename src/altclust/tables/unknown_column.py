"""A name that is no column of a table: the column that was probably meant, or those that there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from ..base.errors import one_line

NAMED = 6  # columns that a sentence names
LONGEST = 200  # characters of each
COMPARED = 5000  # columns that are compared with a name


def remedy(name: str, columns: Iterable[str]) -> str:
    """What to write in place of a name that is no column."""
    names = list(map(str, columns))
    lower = {one.lower(): one for one in reversed(names)}  # the first of those that differ in capitals only
    near = difflib.get_close_matches(name.lower(), lower, 1)
    if near:
        return f"did you mean {lower[near[0]]!r}?"
    if len(names) <= NAMED:
        return f"the columns are {few([*map(repr, names)])}."
    matcher = difflib.SequenceMatcher(b=name.lower())

    def likeness(one: str) -> tuple[bool, float]:
        matcher.set_seq1(one.lower())
        return name.lower().strip("*") in one.lower(), matcher.ratio()

    nearest = sorted(names[:COMPARED], key=likeness, reverse=True)[:NAMED]
    return f"the nearest of {len(names)} columns are {few([*map(repr, nearest)])}."


def few(things: list[str]) -> str:
    """The first of the things in a sentence, and how many more there are."""
    more = f" and {len(things) - NAMED} more" if len(things) > NAMED else ""
    return ", ".join(one_line(thing, LONGEST) or "(no name)" for thing in things[:NAMED]) + more
