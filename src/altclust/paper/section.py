"""What a table or figure of the paper leaves behind: files, and a section of the page that shows them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Section:
    """One table or figure, reproduced.

    Attributes
    ----------
    name : str
        As on the command line, such as "figure3".
    title : str
    caption : str
        What is seen, in a few plain sentences.
    pictures : sequence of Path
        PNG files.
    columns : sequence of str
        Header of the table; empty if there is none.
    rows : sequence of sequences
        Cells as strings or numbers.
    figures : dict
        All numbers, JSON-able, as written to ``<name>.json``.
    """

    name: str
    title: str
    caption: str
    pictures: Sequence[Path] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    figures: dict[str, Any] = field(default_factory=dict)
