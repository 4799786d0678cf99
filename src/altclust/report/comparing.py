"""A comparison of methods -> one HTML page."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from ..base.backend import Array
from ..base.sampling import sample_rows
from .html import fill
from .labelling import collapse, given_labellings
from .svg import places, scatter

MOST_DRAWN = 800  # points in each of a dozen small plots
FIGURES = {"clusters": "{:.0f}", "sizes": "{}", "quality": "{:.2f}", "silhouette": "{:.2f}"}


def render_comparison(
    compared: Any, Z: Array, given: pd.DataFrame | None = None, *, name: str = "table", command: str | None = None
) -> str:
    """One HTML page about an `altclust.comparison.Comparison` of several methods.

    Z, shape (n, 2), are the places of the rows in the plots; given is what was given, one column per clustering; name
    is that of the table, and the command gives the same result again.
    """
    labels, agreement = compared.labels, compared.agreement
    n = len(Z)
    rows = sample_rows(n, MOST_DRAWN, np.random.default_rng(0))
    x, y = places(Z[rows, 0].tolist(), Z[rows, 1].tolist())
    known, found = given_labellings(given, n), given_labellings(labels if labels.shape[1] else None, n)
    pictures = []
    for i, one in enumerate(map(collapse, [*known, *found])):
        drawn = scatter(x, y, [one.codes[rows].tolist()], 0, f"Rows coloured by {one.name}", given=i < len(known))
        pictures.append({"name": one.name, "svg": drawn})
    names = [] if given is None else [str(column) for column in given.columns]
    return fill(
        "comparison.html",
        name=name,
        conclusion=compared.conclusion,
        rows=n,
        given=names,
        methods=[_method(row, names) for row in compared.table.to_dict("records")],
        agreement={
            "names": list(agreement.columns),
            "lines": agreement.astype(object).where(agreement.notna(), None).to_numpy().tolist(),
        },
        pictures=pictures,
        note=f"A random sample of {MOST_DRAWN} of {n:,} rows is shown." if n > MOST_DRAWN else "",
        command=command,
        version=version("altclust"),
    )


def _method(row: dict[str, Any], given: list[str]) -> dict[str, Any]:
    formats = FIGURES | {f"overlap: {name}": "{:.2f}" for name in given} | {"seconds": "{:.1f}"}
    figures = ["–" if pd.isna(row[key]) else how.format(row[key]) for key, how in formats.items()]
    return {"name": row["method"], "problem": row["problem"], "figures": figures}
