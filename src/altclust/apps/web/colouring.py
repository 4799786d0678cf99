"""What the rows in a chart are coloured by: the new clusters, what is known, or any column of the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...report.sentences import text
from .exploration import Exploration

NEW = "new clusters"


@dataclass(frozen=True)
class Colouring:
    """The colours of the plotted rows.

    Attributes
    ----------
    name : str
        What they show.
    codes : list of int
        The level of each row, −1 where unknown; empty for numbers.
    levels : list of str
        The names of the levels.
    numbers : array, shape (m,), or None
        The values of a column of numbers, NaN where missing.
    """

    name: str
    codes: list[int]
    levels: list[str]
    numbers: np.ndarray | None = None


def choices(study: Exploration, summary: dict[str, Any]) -> list[str]:
    """What rows can be coloured by: the new clusters first, what is known next, then the columns of the table."""
    return [NEW, *(one["name"] for one in summary["given"]), *(text(name) for name in study.study.values.columns)]


def colouring(study: Exploration, summary: dict[str, Any], place: int) -> Colouring:
    """The colours by one of the `choices`, by its place."""
    drawing, sides = summary["drawing"], [{"name": NEW, "legend": summary["legend"]}, *summary["given"]]
    if place < len(sides):
        side = sides[place]
        return Colouring(side["name"], drawing["codes"][place], _named(side["legend"]))
    rows = np.array(drawing["ids"]).astype(int)
    cells = study.study.values.iloc[rows, place - len(sides)]
    name = text(cells.name)
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return Colouring(name, [], [], cells.to_numpy(dtype=float))
    codes, levels = pd.factorize(cells, sort=True)
    return Colouring(name, codes.tolist(), [text(level) for level in levels])


def _named(legend: list[dict[str, Any]]) -> list[str]:
    return [entry["name"] for entry in legend if entry["code"] >= 0]
