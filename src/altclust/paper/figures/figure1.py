"""Figure 1: the four columns of Moon, with two independent clusterings."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...core.metrics import nmi
from ...datasets import Dataset, load_moons
from ..section import Section
from .canvas import panels, publish, view

PLANES = ((0, 1), (2, 3))


def make(out: Path, data: Dataset | None = None) -> Section:
    """Draw both planes of Moon (by default the authors' file), by parabolas (clustering A) and by Gaussians (B)."""
    data = load_moons() if data is None else data
    clusterings = {"A": ("parabolas", data.labels["moons"]), "B": ("Gaussians", data.labels["gaussians"])}
    figure, axes = panels(2, 2, (9.0, 7.6))
    for row, (letter, (what, labels)) in zip(axes, clusterings.items(), strict=True):
        for ax, (x, y) in zip(row, PLANES, strict=True):
            title = f"Columns {x + 1} and {y + 1}, coloured by clustering {letter} ({what})"
            names = np.char.add(letter, (labels + 1).astype(str))
            legend = f"clustering {letter}" if (x, y) == PLANES[0] else ""
            view(ax, data.X[:, [x, y]], names, title, (f"column {x + 1}", f"column {y + 1}"), legend)
            ax.title.set_fontsize("medium")
    (_, a), (_, b) = clusterings.values()
    counts = np.array([[np.sum((a == i) & (b == j)) for j in np.unique(b)] for i in np.unique(a)])
    figures = {"rows": len(a), "cross_table": counts, "nmi": nmi(a, b)}
    section = Section(
        name="figure1",
        title="Figure 1. One table, two clusterings",
        caption=(
            f"The {len(a)} rows of Moon in columns 1 and 2 (left) and in columns 3 and 4 (right). Clustering A "
            "separates two intertwined parabolas, clustering B two Gaussians. In the upper right and the lower left "
            "panel the same colours mix: the clusters of one view are spread over both clusters of the other (NMI of "
            f"A and B: {nmi(a, b):.3f})."
        ),
        columns=("", *(f"B{j + 1}" for j in range(counts.shape[1]))),
        rows=[(f"A{i + 1}", *map(int, row)) for i, row in enumerate(counts)],
        figures=figures,
    )
    return publish(out, section, figure)
