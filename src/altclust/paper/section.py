"""The output of a table or figure of the paper: files, and a section of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Section:
    """One table or figure, reproduced, under its name on the command line.

    `columns` and `rows` are its table, `figures` all numbers as written to ``<name>.json``.
    """

    name: str
    title: str
    caption: str
    pictures: Sequence[Path] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = ()
    figures: dict[str, Any] = field(default_factory=dict)
