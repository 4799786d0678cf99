"""Three tables with a known measurement: faces without illumination, cells without cell cycle, texts without length.

The pictures and figures of docs/family.md. Faces and texts are real (`altclust.datasets` downloads them); the light on
the faces and the cells are generated, so that what is hidden is known.

    python examples/covariates.py --out docs/images
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from altclust import KDAC, Known
from altclust.datasets import load_faces, load_webkb
from altclust.metrics import nmi, overlap
from altclust.plotting import plot_crosstab, plot_measurement


def faces() -> tuple[np.ndarray, pd.Series, np.ndarray, list[Known]]:
    """624 photographs of 20 people in four poses, in 20 principal components; a generated light moves all of them."""
    data, rng = load_faces(), np.random.default_rng(0)
    light, directions = rng.uniform(-1, 1, len(data.X)), rng.normal(size=(2, data.X.shape[1]))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    X = data.X + 8 * np.column_stack([light, light**2]) @ directions
    return X, pd.Series(light, name="light"), data.labels["pose"], [Known.labels(data.labels["identity"], "identity")]


def cells(n: int = 400) -> tuple[np.ndarray, pd.Series, np.ndarray, list[Known]]:
    """Generated cells of three types, with 9 marker genes, 20 genes that the cell cycle moves, and 11 others."""
    rng = np.random.default_rng(0)
    kind, phase = rng.integers(0, 3, n), rng.uniform(0, 1, n)
    peak, fold = rng.uniform(0, 1, 20), rng.uniform(1.5, 3, 20)
    genes = rng.normal(size=(n, 40))
    genes[:, :20] += fold * np.cos(2 * np.pi * (phase[:, None] - peak))
    genes[:, 20:29] += 2 * (kind[:, None] == np.repeat(np.arange(3), 3))
    return genes, pd.Series(phase, name="phase"), kind, []


def text() -> tuple[np.ndarray, pd.Series, np.ndarray, list[Known]]:
    """1,041 web pages of four universities, as counts of 500 words."""
    data = load_webkb(500)
    length = pd.Series(data.X.sum(axis=1), name="words")
    return np.log1p(data.X), length, data.labels["topic"], [Known.labels(data.labels["university"], "university")]


TABLES = {"faces": (faces, 4, "pose"), "cells": (cells, 3, "type"), "text": (text, 2, "topic")}


def compare(name: str, out: Path) -> None:
    """Cluster a table with and without the measurement, print figures and save a picture."""
    make, k, hidden_name = TABLES[name]
    X, measured, hidden, given = make()
    known = Known.measurement(measured.to_numpy(), str(measured.name))
    found = {
        "k-means": KMeans(k, n_init=10, random_state=0).fit_predict(X),
        f"KDAC, {given[0].name if given else 'nothing'} given": KDAC(k, random_state=0).fit(X, given or None).labels_,
        f"KDAC, {measured.name} given{' too' if given else ''}": KDAC(k, random_state=0)
        .fit(X, [*given, known])
        .labels_,
    }
    print(f"\n{name}: {X.shape[0]} rows, {X.shape[1]} columns, {k} clusters")
    figure, axes = plt.subplots(2, len(found), figsize=(3.6 * len(found), 5.6), layout="constrained", squeeze=False)
    for (title, labels), (above, below) in zip(found.items(), axes.T, strict=True):
        depends = overlap(labels, known)
        print(
            f"  {title}: NMI {nmi(labels, hidden):.2f} with {hidden_name}, dependence on {measured.name} {depends:.2f}"
        )
        plot_measurement(measured, labels, above)
        if measured.min() > 0 and measured.max() > 10 * measured.median():
            above.set_yscale("log")
        above.set_title(f"{title}\ndependence {depends:.2f}", fontsize=10)
        plot_crosstab(hidden, labels, below)
        below.set(ylabel=hidden_name, xlabel=f"cluster (NMI {nmi(labels, hidden):.2f})")
    figure.savefig(out / f"family-{name}.png", dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", choices=list(TABLES), help="one of the tables; all if left out")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the pictures")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in [arguments.table] if arguments.table else TABLES:
        compare(name, arguments.out)


if __name__ == "__main__":
    main()
