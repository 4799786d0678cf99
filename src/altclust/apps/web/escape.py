"""Strings from tables, made harmless: shown as they are wherever Markdown or HTML would be understood."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

LONGEST = 60  # characters of a name in a chart
JOINER = "\u2060"  # takes no room; parts what would become an emoji or an arrow
PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
SYMBOLS = re.compile(r"(?<!\S)(<->|->|<-|--|>=|<=|~=)(?!\S)")


def for_markdown(text: Any) -> str:
    """Markdown that shows this text on one line, with nothing in it understood."""
    line = " ".join(str(text).split())
    line = SYMBOLS.sub(lambda found: found[0][0] + JOINER + found[0][1:], line)
    return PUNCTUATION.sub(r"\\\1", line).replace(r"\:", rf"\:{JOINER}")


def for_plotly(text: Any) -> str:
    """A short line for a chart, which understands a little HTML."""
    line = " ".join(str(text).split())
    return html.escape(line if len(line) <= LONGEST else line[: LONGEST - 1] + "…", quote=False)


def for_disk(name: Any) -> str:
    """The beginning of a file's name that every system takes and that leads to no other folder."""
    kept = re.sub(r"[^\w .()+-]+", "_", " ".join(str(name).split())).strip(" ._")
    return kept[:LONGEST].strip(" ._") or "table"


def paragraph(text: Any, size: str = "1rem") -> str:
    """HTML of one paragraph with this text."""
    return f'<p style="font-size: {size}; margin: 0; overflow-wrap: anywhere">{html.escape(str(text))}</p>'


def different(names: Iterable[str]) -> list[str]:
    """The names; where one comes again it gets a number."""
    found: list[str] = []
    for name in names:
        other, count = name, 1
        while other in found:
            count += 1
            other = f"{name} ({count})"
        found.append(other)
    return found
