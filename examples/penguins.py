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
import pandas as pd
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table
from sklearn.preprocessing import StandardScaler

from altclust import KDAC
from altclust.core.metrics import match_labels, nmi
from altclust.datasets import Dataset, penguins


def species_names() -> np.ndarray:
    return np.sort(penguins(as_frame=True)["species"].unique())


def draw(model: KDAC, X: pd.DataFrame, birds: Dataset) -> Figure:
    """Every bird along the learnt direction, one row per species: the new clusters, and the sex that was not used."""
    along = np.asarray(model.transform(X))[:, 0]
    heights = birds.given + np.random.default_rng(0).uniform(-0.3, 0.3, len(along))
    names = species_names()
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
    sex = np.array(["female", "male"])[birds.alternative]
    found = np.char.add("cluster ", match_labels(model.labels_, birds.alternative).astype(str))
    for axis, kinds, title in zip(axes, (found, sex), ("Found by altclust", "Sex, which was not used"), strict=True):
        for kind, colour, marker in zip(np.unique(kinds), ("#0072b2", "#e69f00"), "os", strict=True):
            some = kinds == kind
            axis.scatter(along[some], heights[some], 18, colour, marker=marker, alpha=0.8, linewidths=0, label=kind)
        axis.set(title=title, xlabel="learnt direction", yticks=range(len(names)), yticklabels=names)
        axis.legend(loc="upper right", fontsize=8)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    out = parser.parse_args().out

    birds = penguins()
    X = pd.DataFrame(StandardScaler().fit_transform(birds.X), columns=list(birds.feature_names))
    species = pd.Series(species_names()[birds.given], name="species")
    model = KDAC(random_state=1).fit(X, species)

    assert birds.alternative is not None
    right = np.mean(match_labels(model.labels_, birds.alternative) == birds.alternative)
    table = Table(title="333 penguins, four measurements; the species was given", show_header=False)
    table.add_row("the view", str(model.candidates_[0]))
    table.add_row("agreement with sex", f"{right:.0%} of the birds, NMI {nmi(model.labels_, birds.alternative):.2f}")
    table.add_row("agreement with species", f"NMI {model.overlap_:.3f}  (0 is independent)")
    table.add_row("why this view", model.tuning_.reasons)
    sex = np.array(["female", "male"])[birds.alternative]
    table.add_row("significance", str(model.assess_significance(witnesses=pd.DataFrame({"sex": sex}))))
    for number, other in enumerate(model.candidates_[1:], 2):
        table.add_row(f"view {number}", str(other))
    console = Console()
    console.print(table)

    out.mkdir(parents=True, exist_ok=True)
    draw(model, X, birds).savefig(out / "penguins.png", dpi=150)
    measured = pd.DataFrame(birds.X, columns=X.columns).assign(sex=sex)  # in millimetres and grams
    model.report(out / "report.html", X, species, name="penguins", values=measured)
    console.print(f"Open {out / 'report.html'} in a browser; {out / 'penguins.png'} shows every bird.", markup=False)


if __name__ == "__main__":
    main()
