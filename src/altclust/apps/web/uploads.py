"""Where a table comes from, and what in it is probably known already."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from sklearn import datasets as known_sets

from ... import datasets
from ...tables import Limits, Table, read_table
from ...tables.values import is_text, labels

MOST_ROWS, MOST_COLUMNS, MOST_BYTES = 2_000_000, 20_000, 2e9
MOST_LEVELS = 12  # of a column that is taken for a clustering
LOOKED_AT = 200  # columns; the guess should take no time
TELLING = re.compile(
    r"(.*[\W_])?(labels?|clusters?|segments?|class|classes|groups?|types?|categor(y|ies)|species|given|target)([\W_]?\d+)?",
    re.IGNORECASE,
)


def open_table(source: Path | str | BinaryIO, name: str | None = None) -> Table:
    """Read a table, and refuse one that is too large for the page, before it is expanded if it can be told."""
    remedy = "use `altclust find`, or a part of the table"
    return read_table(source, name, Limits(MOST_ROWS, MOST_COLUMNS, MOST_BYTES, "the page", remedy))


def guess_given(frame: pd.DataFrame) -> list[str]:
    """The column that probably holds a known clustering: by its name, or the first text with few values."""
    few = [name for name in frame.columns[:LOOKED_AT] if _is_shared(frame[name])]
    named = [name for name in few if TELLING.fullmatch(name.strip())]
    text = [name for name in few if is_text(frame[name]) and _has_words(frame[name])]
    return (named + text)[:1]


def _is_shared(column: pd.Series) -> bool:
    """Whether the values are few, and most rows share theirs with others."""
    return 2 <= labels(column).nunique() <= min(MOST_LEVELS, len(column) // 4)


def _has_words(column: pd.Series) -> bool:
    """Whether some value is not a number: a CSV's cells are all text."""
    return bool(pd.to_numeric(pd.Series(labels(column).dropna().unique()), errors="coerce").isna().any())


def _generated(data: Any) -> pd.DataFrame:
    """The rows with the labels that are given; the hidden ones are for the reader to find."""
    return pd.DataFrame(data.X, columns=list(data.feature_names)).assign(given=data.given)


def _measured(load: Callable[..., Any], known: str) -> pd.DataFrame:
    data = load(as_frame=True)
    return data.data.assign(**{known: np.asarray(data.target_names)[data.target]})


EXAMPLES: dict[str, Callable[[], pd.DataFrame]] = {
    "Two blobs, and two moons behind them": lambda: _generated(datasets.moons(400, random_state=0)),
    "Three clusterings in one table": lambda: _generated(
        datasets.views(300, ("blobs", "moons", "blobs"), (3, 2, 4), random_state=0)
    ),
    "Wines, with their growers given": lambda: _measured(known_sets.load_wine, "grower"),
    "Tumours, with malignant or benign given": lambda: _measured(known_sets.load_breast_cancer, "diagnosis"),
    "Iris flowers, with their species given": lambda: _measured(known_sets.load_iris, "species"),
}


def example_table(name: str) -> Table:
    """One of `EXAMPLES` as if it had been read from a CSV file."""
    frame = EXAMPLES[name]()

    def add(path: Path, new: pd.DataFrame) -> None:
        pd.concat([frame, new.set_axis(frame.index)], axis=1).to_csv(path, index=False)

    return Table("example.csv", frame, (), add)
