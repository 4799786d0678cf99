"""From the cells of a table to rows of numbers, in a form that can be saved and applied to other rows."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.years import times_of
from .column_types import LEVELLED, MEASURED, numbers_of
from .dates import ORDERS, read_dates
from .normal_scores import normal_scores, row_draws
from .values import NO_ANSWER, labels

LEFT_OUT, COPY, AS_ASKED = "left out", "counted once", "as asked"  # two uses, and a reason


@dataclass(frozen=True)
class Column:
    """How one column of a table becomes one feature."""

    name: str
    kind: str  # its type, one of `altclust.tables.column_types.TYPES`
    levels: tuple[str, ...] = ()  # of a column with few values, in the order of their intervals
    shares: tuple[float, ...] = ()  # the share of the rows that each level has
    fill: float = 0.0  # value of missing numbers
    centre: float = 0.0  # subtracted from measured numbers
    scale: float = 1.0  # and what they are then divided by
    log: bool = False  # whether logarithms are taken first
    decimal: str = "."  # the decimal mark of numbers that are written as text
    order: str = ""  # of dates that end with the year: "day first" or "month first"

    def read(self, cells: pd.Series) -> np.ndarray:
        """Numbers without missing ones, or the places of the cells' levels (−1 for a new one), shape (n,)."""
        if self.kind in LEVELLED:
            place = {level: i for i, level in enumerate(self.levels)}
            return labels(cells).fillna(NO_ANSWER).map(place).fillna(-1).to_numpy(dtype=np.int64)
        found = self.numbers(cells)
        numbers = np.where(np.isnan(found), self.fill, found)
        if not self.levels:
            return numbers
        values = np.array(self.levels, dtype=float)
        return np.searchsorted((values[1:] + values[:-1]) / 2, numbers)  # the nearest level

    def numbers(self, cells: pd.Series) -> np.ndarray:
        """The cells of a column of numbers or dates, NaN where missing, shape (n,)."""
        found = read_dates(cells, self.order) if self.kind == "date" else numbers_of(cells, self.decimal)
        if found is None or (found.foreign and np.isnan(found.values).all()):
            what = "dates" if self.kind == "date" else "numbers"
            raise InputError(f"Column {self.name!r} held {what} in the table that was clustered, and holds text here.")
        return found.values

    def encode(self, values: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """The feature, shape (n,), from what `read` gave and from uniform draws, which only levels need."""
        if self.levels:
            return normal_scores(values, np.array(self.shares), draws)
        return (self.measure(values) - self.centre) / self.scale

    def measure(self, values: np.ndarray) -> np.ndarray:
        """Measured numbers, or their logarithms."""
        return np.log(np.maximum(values, np.finfo(float).tiny)) if self.log else values

    def indicators(self, values: np.ndarray) -> pd.DataFrame:
        """In original units: a column of numbers as it is, otherwise one column of 0 and 1 for each level."""
        if not self.levels:
            return pd.DataFrame({self.name: values})
        return pd.DataFrame({f"{self.name}={level}": values == i for i, level in enumerate(self.levels)}, dtype=float)


class Decision(NamedTuple):
    """What was decided, and the parameter of `TableEncoder` that changes it."""

    sentence: str
    argument: str = ""


class Listed(NamedTuple):
    """One column of the table: its type, how it is used, and why."""

    column: str
    type: str
    use: str
    why: str


@dataclass(frozen=True)
class Recipe:
    """How a table becomes rows of numbers."""

    columns: tuple[Column, ...]  # those that are used
    decisions: tuple[Decision, ...]
    listing: tuple[Listed, ...] = ()  # every column of the table

    @property
    def sentences(self) -> list[str]:
        """What was decided."""
        return [decision.sentence for decision in self.decisions]

    @property
    def names(self) -> list[str]:
        """The names of the features: those of the columns that are used."""
        return [column.name for column in self.columns]

    @property
    def hidden(self) -> list[str]:
        """The columns that appear nowhere in the results: identifiers, copies, and those that somebody left out."""
        out = [one for one in self.listing if one.use in (LEFT_OUT, COPY)]
        return [one.column for one in out if one.use == COPY or one.type == "identifier" or one.why == AS_ASKED]

    @property
    def table(self) -> pd.DataFrame:
        """Every column of the table in a row: its type, how it is used, and why."""
        return pd.DataFrame(list(self.listing), columns=list(Listed._fields))

    def apply(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows of this table as numbers, one feature for each column that is used."""
        values = self._read(frame)
        return self._features(values, row_draws(np.column_stack(values), self.names))

    def middles(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The same with every value of a column with few values in the middle of its level: equal rows are equal."""
        return self._features(self._read(frame), np.full((len(frame), len(self.columns)), 0.5))

    def _features(self, values: list[np.ndarray], draws: np.ndarray) -> pd.DataFrame:
        triples = zip(self.columns, values, draws.T, strict=True)
        features = [column.encode(value, drawn) for column, value, drawn in triples]
        return pd.DataFrame(np.column_stack(features), columns=self.names)

    def counts(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows in original units, with a column of 0 and 1 for each level of columns with few values."""
        pairs = zip(self.columns, self._read(frame), strict=True)
        return pd.concat([column.indicators(values) for column, values in pairs], axis=1)

    def originals(self, frame: pd.DataFrame) -> pd.DataFrame | None:
        """The columns with few values as numbers or text, dates as dates, for `KDAC.fit`; None if there are none."""
        cells: dict[str, Any] = {}
        for column in self.columns:
            if column.levels and column.kind in MEASURED and column.kind != "date":
                cells[column.name] = np.array([*map(float, column.levels), np.nan])[column.read(frame[column.name])]
            elif column.levels:
                cells[column.name] = np.array([*column.levels, ""], dtype=object)[column.read(frame[column.name])]
            elif column.kind == "date":
                cells[column.name] = times_of(column.numbers(frame[column.name]))
        return pd.DataFrame(cells) if cells else None

    def _read(self, frame: pd.DataFrame) -> list[np.ndarray]:
        for column in self.columns:
            if column.name not in frame.columns:
                raise InputError(f"The table has no column {column.name!r}, which was clustered.")
        return [column.read(frame[column.name]) for column in self.columns]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Recipe:
        """What `to_dict` gave; ValueError, TypeError or KeyError if it is anything else."""
        columns = tuple(_column(**column) for column in plain["columns"])
        decisions = tuple(Decision(*map(_text, decision)) for decision in plain["decisions"])
        listing = tuple(Listed(*map(_text, listed)) for listed in plain["listing"])
        if not columns or len({column.name for column in columns}) < len(columns):
            raise ValueError("a recipe has columns, each of which it names once")
        return cls(columns, decisions, listing)


def _column(**plain: Any) -> Column:
    """A column from JSON, with every part checked."""
    texts = {name: _text(plain.pop(name)) for name in ("name", "kind", "decimal", "order")}
    numbers = {name: _number(plain.pop(name)) for name in ("fill", "centre", "scale")}
    levels, shares = tuple(map(_text, plain.pop("levels"))), tuple(map(_number, plain.pop("shares")))
    log = plain.pop("log")
    if plain or not isinstance(log, bool):
        raise TypeError("a column has other parts")
    column = Column(levels=levels, shares=shares, log=log, **texts, **numbers)  # type: ignore[arg-type]
    if column.kind not in (*MEASURED, *LEVELLED) or column.decimal not in (".", ",") or not column.scale > 0:
        raise ValueError(f"column {column.name!r} has an unknown type or decimal mark, or no scale")
    if column.order not in ("", *ORDERS):
        raise ValueError(f"column {column.name!r} has an unknown order of day and month")
    if (not levels and column.kind in LEVELLED) or len(set(levels)) < len(levels):
        raise ValueError(f"column {column.name!r} has levels that do not fit its type")
    if levels and column.kind in MEASURED and list(map(float, levels)) != sorted(map(float, levels)):
        raise ValueError(f"column {column.name!r} has numbers out of order")
    if len(shares) != len(levels) or (levels and not (min(shares) >= 0 and sum(shares) < 1.01)):
        raise ValueError(f"column {column.name!r} has shares that do not fit its levels")
    return column


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} should be text")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} should be a number")
    return float(value)
