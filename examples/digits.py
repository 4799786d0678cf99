"""Handwriting: the digit is known. In what else do the images differ?

Three digits of scikit-learn's set are used. PCA reduces the pixels and removes noise. The script prints how the new
clusters differ in slant, width and ink, and draws the mean image of each. The three digits were chosen from eleven
sets because the difference is easy to see.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from altclust import KDAC

DIGITS = (3, 5, 8)


def handwriting(images: np.ndarray) -> pd.DataFrame:
    """Slant, width and amount of ink of each image, from the first and second moments of its ink."""
    rows, columns = np.mgrid[: images.shape[1], : images.shape[2]]
    ink = images.sum(axis=(1, 2))
    share = images / ink[:, None, None]

    def mean(values: np.ndarray) -> np.ndarray:
        return (share * values).sum(axis=(1, 2))

    down = rows - mean(rows)[:, None, None]
    right = columns - mean(columns)[:, None, None]
    slant = -mean(down * right) / mean(down**2)  # pixels to the right per pixel upwards
    return pd.DataFrame({"slant": slant, "width": np.sqrt(mean(right**2)), "ink": ink})


def draw(images: np.ndarray, digits: np.ndarray, labels: np.ndarray) -> plt.Figure:
    """The mean image of every digit in every new cluster."""
    clusters = np.unique(labels)
    size = (1.7 * len(DIGITS) + 0.4, 1.7 * len(clusters) + 0.4)
    figure, axes = plt.subplots(len(clusters), len(DIGITS), figsize=size, layout="constrained", squeeze=False)
    for row, cluster in zip(axes, clusters, strict=True):
        row[0].set_ylabel(f"cluster {cluster}")
        for ax, digit in zip(row, DIGITS, strict=True):
            mean = images[(digits == digit) & (labels == cluster)].mean(axis=0)
            ax.imshow(mean, cmap="gray_r", interpolation="bilinear")
            ax.set(xticks=[], yticks=[])
    for ax, digit in zip(axes[0], DIGITS, strict=True):
        ax.set_title(f"digit {digit}")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture and the report")
    parser.add_argument("--rows", type=int, default=None, help="use only the first ROWS images")
    parser.add_argument("--significance", action=argparse.BooleanOptionalAction, default=True, help="test significance")
    arguments = parser.parse_args()

    data = load_digits()
    wanted = np.flatnonzero(np.isin(data.target, DIGITS))[: arguments.rows]
    images, digits = data.images[wanted], data.target[wanted]
    X = PCA(16, random_state=0).fit_transform(images.reshape(len(images), -1))

    model = KDAC(n_clusters=2, random_state=0).fit(X, digits)

    measures = handwriting(images)
    measures -= measures.groupby(digits).transform(
        "mean"
    )  # a 3 is wider than an 8: compare each image with the same digit
    gaps = measures.groupby(model.labels_).mean().diff().iloc[-1] / measures.std()
    print(f"{len(images)} images of {', '.join(map(str, DIGITS))}; the digit is given.")
    print(f"NMI of the new clusters with the digit: {model.overlap_:.3f} (0 is independent).")
    for name, gap in gaps.sort_values(key=abs, ascending=False).items():
        print(f"  {name}: cluster 1 is {abs(gap):.1f} standard deviations {'above' if gap > 0 else 'below'} cluster 0.")
    strongest = gaps.abs().idxmax()
    print(f"The new clusters differ most in {strongest}. Handwriting has no sharp classes: they split one cloud.")
    if arguments.significance:
        print(model.significance_.verdict)

    arguments.out.mkdir(parents=True, exist_ok=True)
    picture, report = arguments.out / "digits.png", arguments.out / "digits.html"
    draw(images, digits, model.labels_).savefig(picture, dpi=110)
    model.report(report, significance=arguments.significance)
    print(f"Open {picture} to see the mean images, {report} for the report.")


if __name__ == "__main__":
    main()
