"""A first example: the species of 333 penguins is known; what else is in their four measurements?

Run it with ``make demo``; it prints the results and writes a picture and a report.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

import altclust
from altclust.core.metrics import match_labels, nmi
from altclust.datasets import penguins
from altclust.report import write_report
from altclust.report.palette import COLOURS

MEASURED = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


def draw(along: np.ndarray, species: np.ndarray, found: np.ndarray, sex: np.ndarray) -> Figure:
    """Every bird along the learnt direction, one row per species: the new clusters, and the sex that was not used."""
    names, codes = np.unique(species, return_inverse=True)
    heights = codes + np.random.default_rng(0).uniform(-0.3, 0.3, len(along))
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
    for axis, kinds, title in zip(
        axes, (found, sex), ("Found by altclust", "Sex, which these clusters do not use"), strict=True
    ):
        for kind, colour, marker in zip(np.unique(kinds), COLOURS, "os", strict=False):
            some = kinds == kind
            axis.scatter(along[some], heights[some], 18, colour, marker=marker, alpha=0.8, linewidths=0, label=kind)
        axis.set(title=title, xlabel="learnt direction", yticks=range(len(names)), yticklabels=names)
        axis.legend(loc="upper right", fontsize=8)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    out = parser.parse_args().out

    birds = penguins(as_frame=True).dropna(ignore_index=True)
    result = altclust.find(birds, given="species", columns=MEASURED, random_state=1)

    males = (birds["sex"] == "male").to_numpy(int)
    matched = match_labels(result.labels, males)
    table = Table(title="333 penguins, four measurements; the species was given", show_header=False)
    table.add_row("verdict", result.verdict)
    for cluster in result.summary["clusters"]:
        table.add_row("", cluster["sentence"])
    agree = f"{np.mean(matched == males):.0%} of the birds, NMI {nmi(result.labels, males):.2f}"
    table.add_row("agreement with sex", agree)
    table.add_row("significance", result.model.significance_.verdict)
    table.add_row("search", result.summary["reasons"])
    for other in result.views[1:]:
        table.add_row(f"view {other.view.number}", other.verdict)
    console = Console()
    console.print(table)

    out.mkdir(parents=True, exist_ok=True)
    along = np.asarray(result.model.transform(result.X))[:, 0]
    found = np.char.add("cluster ", matched.astype(str))
    picture = draw(along, birds["species"].to_numpy(str), found, birds["sex"].to_numpy(str))
    picture.savefig(out / "penguins.png", dpi=150)
    write_report(out / "report.html", result.summary | {"name": "penguins"})
    console.print(f"Open {out / 'report.html'} in a browser; {out / 'penguins.png'} shows every bird.", markup=False)


if __name__ == "__main__":
    main()
