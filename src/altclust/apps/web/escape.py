"""Escaping: strings from tables are shown literally where Markdown or HTML is interpreted."""

from __future__ import annotations

import base64
import html
import re
import textwrap
from collections.abc import Iterable
from typing import Any

from ...base.errors import one_line

LONGEST, LONGEST_TITLE = 60, 200  # characters of a name in a chart, and of the title of an axis
JOINER = "\u2060"  # has no width; separates what would become an emoji or an arrow
PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
SYMBOLS = re.compile(r"(?<!\S)(<->|->|<-|--|>=|<=|~=)(?!\S)")


def for_markdown(text: Any) -> str:
    """Markdown that shows this text literally, on one line."""
    line = " ".join(str(text).split())
    line = SYMBOLS.sub(lambda found: found[0][0] + JOINER + found[0][1:], line)
    return PUNCTUATION.sub(r"\\\1", line).replace(r"\:", rf"\:{JOINER}")


def for_plotly(text: Any) -> str:
    """A short line for a chart, where some HTML is interpreted."""
    return html.escape(one_line(text, LONGEST), quote=False)


def axis_title(text: Any, width: int) -> str:
    """The title of an axis of a chart, in lines of at most so many characters."""
    lines = textwrap.wrap(one_line(text, LONGEST_TITLE), width)
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def for_disk(name: Any) -> str:
    """A file name that is valid on every system and stays in its folder."""
    kept = re.sub(r"[^\w .()+-]+", "_", " ".join(str(name).split())).strip(" ._")
    return kept[:LONGEST].strip(" ._") or "table"


def paragraph(text: Any, size: str = "1rem") -> str:
    """HTML of one paragraph with this text."""
    return f'<p style="font-size: {size}; margin: 0; overflow-wrap: break-word">{html.escape(str(text))}</p>'


def image(svg: str, label: str, width: str = "100%") -> str:
    """HTML of an SVG picture as an image, so that its styles do not touch the page."""
    data = base64.b64encode(svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{html.escape(label)}" style="width: {width}">'


def unique_names(names: Iterable[str]) -> list[str]:
    """The names; a repeated one gets a number."""
    found: list[str] = []
    for name in names:
        other, count = name, 1
        while other in found:
            count += 1
            other = f"{name} ({count})"
        found.append(other)
    return found
