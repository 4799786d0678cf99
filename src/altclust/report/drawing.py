"""Which rows are plotted, where, and what the hover text of each contains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .labelling import Labelling, check_length
from .positions import positions, told
from .sentences import cell, text

MOST_DRAWN = 4000  # rows; more points hide each other
FEWEST = 20  # rows of every cluster, if it has as many
MOST_COLUMNS = 8  # in a hover text
MOSTLY = 0.3  # share of the variance of a direction from which a column names it


def drawn_rows(labellings: Sequence[Labelling]) -> np.ndarray:
    """The rows that are plotted, in order: all, or a fixed random sample with some rows of every cluster."""
    n = len(labellings[0].codes)
    if n <= MOST_DRAWN:
        return np.arange(n)
    shuffled = np.random.default_rng(0).permutation(n)
    first = np.zeros(n, dtype=bool)
    for labelling in labellings:
        codes = pd.Series(labelling.codes[shuffled])
        first |= (codes.groupby(codes).cumcount() < FEWEST).to_numpy()
    return np.sort(np.concatenate([shuffled[first], shuffled[~first]])[:MOST_DRAWN])


def axis_name(number: int, z: np.ndarray, X: np.ndarray, names: Sequence[str]) -> str:
    """The name of a direction, numbered from 1 on: the one or two columns that vary most with it.

    z, shape (n,), are the rows in it, and X, shape (n, d), their columns. Not those with the largest coefficients:
    columns that nearly repeat each other have large ones of opposite signs.
    """
    z, X = z - z.mean(), X - X.mean(axis=0)
    squares = (z @ X) ** 2 / np.maximum((z @ z) * np.sum(X**2, axis=0), np.finfo(float).tiny)
    order = np.argsort(-squares, kind="stable")[:2]
    top = order[squares[order] >= squares[order[0]] / 2]
    mostly = "mostly" if squares[top[0]] >= MOSTLY else "mixed, most"
    return f"direction {number} ({mostly} {', '.join(names[j] for j in top)})"


def drawing(
    model: Any,
    table: pd.DataFrame,
    labellings: Sequence[Labelling],
    values: pd.DataFrame,
    ids: Iterable[Any] | None,
    clustered: pd.DataFrame,
    weights: dict[str, float],
    given: pd.DataFrame | None,
) -> dict[str, Any]:
    """The plotted rows as plain lists.

    table has the rows as the model saw them, clustered the columns of it that were used; labellings are of all rows,
    the new clustering first; values and ids are for the hover texts, which show the columns with the largest weights.
    """
    rows = drawn_rows(labellings)
    drawn, codes = table.iloc[rows], model.fitted_.codes_of(given)
    as_fitted = drawn if hasattr(model, "feature_names_in_") else drawn.to_numpy()
    Z = np.asarray(model.transform(as_fitted, None if codes is None else codes.iloc[rows]))
    X, names = clustered.iloc[rows].to_numpy(dtype=float), list(clustered.columns)
    order = sorted(range(values.shape[1]), key=lambda j: -weights.get(text(values.columns[j]), 0.0))
    values = values.iloc[rows, order[:MOST_COLUMNS]]
    if ids is not None:
        every = list(ids)
        check_length("ids", len(every), len(table))
        ids = [every[i] for i in rows]
    found = positions(Z)
    total = len(labellings[0].codes)
    sampled = "" if len(rows) == total else f"A random sample of {len(rows):,} of {total:,} rows is shown."
    return {
        "axes": [axis_name(i + 1, z, X, names) for i, z in enumerate(Z.T[:2])],
        "jittered": Z.shape[1] == 1,
        "directions": Z.shape[1],
        "total": total,
        "drawn": len(rows),
        "note": " ".join(filter(None, [sampled, told(_numbered(rows, ids), found)])),
        "x": [float(f"{v:.4g}") for v in found.x],
        "y": [float(f"{v:.4g}") for v in found.y],
        "codes": [labelling.codes[rows].tolist() for labelling in labellings],
        "ids": [f"row {i + 1:,}" for i in rows.tolist()] if ids is None else [text(i) for i in ids],
        "columns": [text(name) for name in values.columns],
        "values": [[cell(value) for value in column.tolist()] for _, column in values.items()],
    }


def _numbered(rows: np.ndarray, ids: Any) -> list[str]:
    """The names of rows in a sentence: their own, unless these are their numbers from 0."""
    plain = ids is None or list(map(str, ids)) == list(map(str, rows.tolist()))
    return [f"row {i + 1:,}" for i in rows.tolist()] if plain else [text(name) for name in ids]
