"""Uploaded and example tables, and a guess of the column with known clusters."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets as known_sets

from ... import datasets
from ...tables import Limits, Table
from ...tables.values import is_text, labels

PAGE = Limits(2_000_000, 20_000, 2e9, 120, "the page", "use `altclust find`, or a part of the table")
MOST_LEVELS = 12  # of a column that may be a clustering
LOOKED_AT = 200  # columns, so that the guess is fast
TELLING = re.compile(
    r"(.*[\W_])?(labels?|clusters?|segments?|class|classes|groups?|types?|categor(y|ies)|species|given|target)([\W_]?\d+)?",
    re.IGNORECASE,
)


def guess_given(frame: pd.DataFrame) -> list[str]:
    """The column that is probably a known clustering: by its name, or the first text column with few values."""
    values = {name: labels(frame[name]).dropna().unique() for name in frame.columns[:LOOKED_AT]}
    few = [name for name, found in values.items() if 2 <= len(found) <= min(MOST_LEVELS, len(frame) // 4)]
    named = [name for name in few if TELLING.fullmatch(name.strip())]
    words = [
        name for name in few if is_text(frame[name]) and pd.isna(pd.to_numeric(values[name], errors="coerce")).any()
    ]
    return (named + words)[:1]


def _generated(data: Any) -> pd.DataFrame:
    """The rows with the given labels; the hidden ones are to be found."""
    return pd.DataFrame(data.X, columns=list(data.feature_names)).assign(given=data.given)


def _measured(load: Callable[..., Any], known: str) -> pd.DataFrame:
    data = load(as_frame=True)
    return data.data.assign(**{known: np.asarray(data.target_names)[data.target]})


EXAMPLES: dict[str, Callable[[], pd.DataFrame]] = {
    "Generated: two blobs and two moons": lambda: _generated(datasets.moons(400, random_state=0)),
    "Generated: three clusterings": lambda: _generated(
        datasets.views(300, ("blobs", "moons", "blobs"), (3, 2, 4), random_state=0)
    ),
    "Wine, known: grower": lambda: _measured(known_sets.load_wine, "grower"),
    "Breast tumours, known: diagnosis": lambda: _measured(known_sets.load_breast_cancer, "diagnosis"),
    "Iris, known: species": lambda: _measured(known_sets.load_iris, "species"),
}


def example_table(name: str) -> Table:
    """One of `EXAMPLES` as if it had been read from a CSV file."""
    frame = EXAMPLES[name]()

    def add(path: Path, new: pd.DataFrame) -> None:
        pd.concat([frame, new.set_axis(frame.index)], axis=1).to_csv(path, index=False)

    return Table("example.csv", frame, (), add)
