"""From the cells of a table to rows of numbers, in a form that can be saved and applied to other rows."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..base.errors import InputError
from .values import labels, numbers


@dataclass(frozen=True)
class Column:
    """How one column of a table becomes features.

    Attributes
    ----------
    name : str
    levels : tuple of str
        The values that get a feature each; none for a column of numbers.
    fill : float
        Value of missing numbers.
    centre : tuple of float
        Subtracted from each feature.
    scale : float
        Divides all of them, so that a column of text weighs as much as one of numbers.
    """

    name: str
    levels: tuple[str, ...]
    fill: float
    centre: tuple[float, ...]
    scale: float

    @property
    def features(self) -> list[str]:
        """The names of its features."""
        return [f"{self.name}={level}" for level in self.levels] or [self.name]

    @classmethod
    def learn(cls, cells: pd.Series, levels: tuple[str, ...], fill: float, standardise: bool) -> Column:
        """With the centre and the scale of these cells."""
        raw = _raw(cells, levels, fill)
        if not standardise:
            return cls(str(cells.name), levels, fill, (0.0,) * raw.shape[1], 1.0)
        size = float(np.abs(raw).max()) or 1.0  # its square may overflow
        spread = size * float(np.sqrt((raw / size).var(axis=0).sum()))
        return cls(str(cells.name), levels, fill, tuple(map(float, size * (raw / size).mean(axis=0))), spread or 1.0)

    def encode(self, cells: pd.Series) -> np.ndarray:
        """The features of these cells, shape (n, features)."""
        return (_raw(cells, self.levels, self.fill) - np.array(self.centre)) / self.scale


def _raw(cells: pd.Series, levels: tuple[str, ...], fill: float) -> np.ndarray:
    if levels:
        text = labels(cells).to_numpy()
        return np.column_stack([text == level for level in levels]).astype(float)
    found = numbers(cells)
    if found is None:
        raise InputError(f"Column {cells.name!r} held numbers in the table that was clustered, and holds text here.")
    return np.where(np.isnan(found[0]), fill, found[0])[:, None]


class Decision(NamedTuple):
    """What was decided, and the argument of `learn_recipe` that changes it."""

    sentence: str
    argument: str = ""


@dataclass(frozen=True)
class Recipe:
    """How a table becomes rows of numbers.

    Attributes
    ----------
    columns : tuple of Column
        Those that are used.
    decisions : tuple of Decision
    """

    columns: tuple[Column, ...]
    decisions: tuple[Decision, ...]

    @property
    def sentences(self) -> list[str]:
        """What was decided."""
        return [decision.sentence for decision in self.decisions]

    def apply(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of this table as numbers."""
        for column in self.columns:
            if column.name not in frame.columns:
                raise InputError(f"The table has no column {column.name!r}, which was clustered.")
        blocks = [column.encode(frame[column.name]) for column in self.columns]
        return pd.DataFrame(np.hstack(blocks), columns=[name for column in self.columns for name in column.features])

    @property
    def unscaled(self) -> Recipe:
        """The same features in their original units."""
        plain = [replace(column, centre=(0.0,) * len(column.features), scale=1.0) for column in self.columns]
        return replace(self, columns=tuple(plain))

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Recipe:
        """What `to_dict` gave.

        Raises
        ------
        ValueError, TypeError, KeyError
            If it is anything else.
        """
        columns = tuple(_column(**column) for column in plain["columns"])
        decisions = tuple(Decision(*map(_text, decision)) for decision in plain["decisions"])
        if not columns or len({column.name for column in columns}) < len(columns):
            raise ValueError("a recipe has columns, each of which it names once")
        return cls(columns, decisions)


def _column(name: Any, levels: Any, fill: Any, centre: Any, scale: Any) -> Column:
    """A column from JSON, with every part checked."""
    column = Column(_text(name), tuple(map(_text, levels)), _number(fill), tuple(map(_number, centre)), _number(scale))
    if len(column.centre) != len(column.features) or not column.scale > 0:
        raise ValueError(f"column {name!r} has another number of centres, or no scale")
    return column


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} should be text")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} should be a number")
    return float(value)
