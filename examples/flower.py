"""A photograph: the segmentation into flower and leaves is known. What is another segmentation?

The photo is averaged over small squares. Each square has a lightness, two colour differences and a roughness. k-means
on the colours finds the flower, which is the given clustering; the picture shows the photo and both segmentations.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import ListedColormap
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image
from sklearn.preprocessing import StandardScaler

from altclust import KDAC
from altclust.report.plotting import COLOURS

COLOUR = ["lightness", "red − green", "yellow − blue"]


def squares(photo: np.ndarray, side: int) -> tuple[np.ndarray, pd.DataFrame]:
    """The mean colour of every square of the photo as a small photo, and a table with a row per square."""
    height, width = (length // side for length in photo.shape[:2])
    blocks = photo[: height * side, : width * side].reshape(height, side, width, side, 3)
    small = blocks.mean(axis=(1, 3))
    roughness = np.log(blocks.mean(axis=4).std(axis=(1, 3)) + 0.01)
    red, green, blue = np.moveaxis(small, -1, 0)
    values = [small.mean(axis=2), red - green, (red + green) / 2 - blue, roughness]
    names = [*COLOUR, "roughness"]
    return small, pd.DataFrame({name: value.ravel() for name, value in zip(names, values, strict=True)})


def draw(small: np.ndarray, given: np.ndarray, labels: np.ndarray) -> plt.Figure:
    """The photo and both segmentations."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 2.9), layout="constrained")
    axes[0].imshow(small)
    axes[0].set_title("the photo")
    for ax, title, values in zip(axes[1:], ("given: flower or not", "found"), (given, labels), strict=True):
        ax.imshow(values.reshape(small.shape[:2]), cmap=ListedColormap(list(COLOURS[:2])), interpolation="nearest")
        ax.set_title(title)
    for ax in axes:
        ax.set_axis_off()
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture and the report")
    parser.add_argument("--rows", type=int, default=4000, help="approximate number of squares")
    parser.add_argument("--significance", action=argparse.BooleanOptionalAction, default=True, help="test significance")
    arguments = parser.parse_args()

    photo = load_sample_image("flower.jpg") / 255
    side = max(2, int(np.sqrt(photo.shape[0] * photo.shape[1] / arguments.rows)))
    small, table = squares(photo, side)
    X = StandardScaler().set_output(transform="pandas").fit_transform(table)
    given = KMeans(2, n_init=4, random_state=0).fit_predict(X[COLOUR])

    model = KDAC(n_clusters=2, random_state=0).fit(X, given)

    print(f"{len(X)} squares of {side} x {side} pixels; flower or not is given.")
    print(f"NMI of the other segmentation with it: {model.overlap_:.3f} (0 is independent).")
    flower = X["red − green"].groupby(given).mean().idxmax()
    for part, rows in X.groupby(given):
        means = rows.groupby(model.labels_[rows.index]).mean().T / rows.std().to_numpy()[:, None]
        gaps = (means[1] - means[0]).sort_values(key=abs, ascending=False)
        said = ", ".join(f"{name} {gap:+.1f}" for name, gap in gaps.items())
        print(f"  Within the {'flower' if part == flower else 'rest'}, cluster 1 minus cluster 0 in sd: {said}.")
    if arguments.significance:
        print(model.significance_.verdict)

    arguments.out.mkdir(parents=True, exist_ok=True)
    picture, report = arguments.out / "flower.png", arguments.out / "flower.html"
    draw(small, given, model.labels_).savefig(picture, dpi=100)
    model.report(report, X, given, significance=arguments.significance)
    print(f"Open {picture} to see both, {report} for the report.")


if __name__ == "__main__":
    main()
