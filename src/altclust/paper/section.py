"""The output of a table or figure of the paper: files, and a section of the page."""

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
        The name on the command line, such as "figure3".
    title : str
    caption : str
        A description in a few sentences.
    pictures : sequence of Path
        PNG files.
    columns : sequence of str
        Header of the table; empty if there is none.
    rows : sequence of sequences
        Cells as strings or numbers.
    figures : dict
        All numbers, JSON-serialisable, as written to ``<name>.json``.
    """

    name: str
    title: str
    caption: str
    pictures: Sequence[Path] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    figures: dict[str, Any] = field(default_factory=dict)
