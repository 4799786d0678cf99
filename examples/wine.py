"""Wine: 178 bottles, 13 measurements, no labels. Two clusterings and their significance.

First nothing is given. Then the first view is given, and another one is found. The growers' three cultivars are used
only at the end, to interpret the two views.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from altclust import KDAC
from altclust.report.plotting import plot_crosstab


def describe(title: str, model: KDAC, X: pd.DataFrame, cultivar: pd.Series) -> None:
    """Print how the clusters differ, their significance, and their overlap with the cultivars."""
    means = X.groupby(model.labels_).mean().T
    apart = (means.max(axis=1) - means.min(axis=1)).nlargest(4)
    print(f"\n{title}: {model.n_clusters_} clusters of {np.bincount(model.labels_)} bottles.")
    print("  They differ most in " + ", ".join(f"{name} ({gap:.1f} sd)" for name, gap in apart.items()) + ".")
    print(f"  {model.significance_.verdict}")
    print("  Bottles of each cultivar in each cluster:")
    counts = pd.crosstab(cultivar.rename("cultivar"), pd.Series(model.labels_, X.index, name="cluster"))
    print("    " + counts.to_string().replace("\n", "\n    "))


def draw(models: dict[str, KDAC], X: pd.DataFrame, cultivar: pd.Series) -> plt.Figure:
    """Every view in its own directions, above its table with the cultivars."""
    figure, axes = plt.subplots(
        2, len(models), figsize=(5 * len(models), 7), height_ratios=[2, 1], layout="constrained"
    )
    for (title, model), (above, below) in zip(models.items(), axes.T, strict=True):
        model.plot(X, axes=[above])
        above.set_title(title)
        plot_crosstab(cultivar, model.labels_, ax=below)
        below.set_ylabel("cultivar")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture and the report")
    parser.add_argument("--rows", type=int, default=178, help="number of bottles, sampled at random")
    arguments = parser.parse_args()

    data = load_wine(as_frame=True)
    bottles = data.data.sample(arguments.rows, random_state=0).sort_index()
    cultivar = data.target[bottles.index]
    X = StandardScaler().set_output(transform="pandas").fit_transform(bottles)

    first = KDAC(random_state=0).fit(X)
    second = KDAC(n_clusters=2, random_state=0).fit(X, first.labels_)

    describe("The first view, with nothing given", first, X, cultivar)
    describe("Another view, with the first given", second, X, cultivar)
    if not second.significance_.is_real:
        print("\nThe test does not prove the clusters of the second view. That does not prove them meaningless:")
        print("see how they differ, and compare them with the cultivars.")

    arguments.out.mkdir(parents=True, exist_ok=True)
    picture, report = arguments.out / "wine.png", arguments.out / "wine.html"
    draw({"first view": first, "second view": second}, X, cultivar).savefig(picture, dpi=100)
    second.report(report, X, first.labels_)
    print(f"Open {picture} to see both views, {report} for the report of the second.")


if __name__ == "__main__":
    main()
