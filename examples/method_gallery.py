"""One small picture per method of alternative clustering, for docs/methods.md.

Two columns, four clouds: left and right are the given clusters, above and below the ones to find. Each picture shows
the given clusters, the transformed rows if the method transforms them, and the clusters that it finds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from altclust import KDAC
from altclust.base.given import Given
from altclust.baselines import (
    ADFT,
    COALA,
    NACI,
    AlternativeTransform,
    ConditionalBottleneck,
    MinCEntropy,
    MultipleSpectralViews,
    OrthogonalClustering,
    OrthogonalProjection,
    Residual,
)
from altclust.baselines.orthogonal import along_own_centroid_removed
from altclust.report.plotting import scatter

PICTURES = {
    "kdac": KDAC(2, n_components=1, sigma=1.5, random_state=0),
    "residual": Residual(2, random_state=0),
    "orth-1": OrthogonalClustering(2, random_state=0),
    "orth-2": OrthogonalProjection(2, random_state=0),
    "adft": ADFT(2, random_state=0),
    "qi-davidson": AlternativeTransform(2, random_state=0),
    "mincentropy": MinCEntropy(2, random_state=0),
    "coala": COALA(2, quality=0.5),
    "naci": NACI(2, random_state=0),
    "msc": MultipleSpectralViews(2, n_components=1, random_state=0),
}


def clouds() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    cells = np.arange(160) % 4
    X = np.column_stack([8 * (cells % 2), 4 * (cells // 2)]) + rng.standard_normal((160, 2))
    return X - X.mean(axis=0), cells % 2


def changed(model: object, X: np.ndarray, given: np.ndarray) -> np.ndarray | None:
    """The rows as transformed by the method; None if it does not transform them."""
    if isinstance(model, Residual):
        return Given.from_codes(given).subtracted_from(X)
    if isinstance(model, OrthogonalClustering):
        return along_own_centroid_removed(X, given)
    if isinstance(model, OrthogonalProjection | ADFT | AlternativeTransform):
        return model.transform(X)
    if isinstance(model, KDAC | MultipleSpectralViews):
        Z = model.transform(X)
        return np.column_stack([np.random.default_rng(0).uniform(-3, 3, len(Z)), Z[:, 0]])
    return None


def draw(model: object, path: Path) -> None:
    X, given = clouds()
    model.fit(X, given)
    middle = changed(model, X, given)
    panels = [(X, given, "given")]
    panels += [] if middle is None else [(middle, given, "as the method sees it")]
    panels += [(X, model.labels_, "found")]
    figure, axes = plt.subplots(1, len(panels), figsize=(2.4 * len(panels), 2.2), layout="constrained")
    for ax, (points, labels, title) in zip(axes, panels, strict=True):
        scatter(ax, points, labels, title).get_legend().remove()
        ax.set_xticks([])
        ax.set_yticks([])
        reach = 1.2 * np.abs(points).max()
        ax.set_xlim(-reach, reach)
        ax.set_ylim(-reach, reach)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_counts(path: Path) -> None:
    """Documents by words: the topic is given, the tone is found."""
    rng = np.random.default_rng(0)
    topic, tone = rng.integers(0, 2, (2, 80))
    rates = np.ones((80, 24))
    rates[topic == 0, :8] = rates[topic == 1, 8:16] = 7
    rates[tone == 0, 16:20] = rates[tone == 1, 20:] = 5
    counts = rng.poisson(rates)
    found = ConditionalBottleneck(2, random_state=0).fit(counts.astype(float), topic).labels_
    figure, axes = plt.subplots(1, 2, figsize=(4.8, 2.2), layout="constrained")
    for ax, labels, title in zip(
        axes, (topic, found), ("sorted by what is given", "sorted by what is found"), strict=True
    ):
        ax.imshow(counts[np.argsort(labels, kind="stable")], cmap="Blues", aspect="auto")
        ax.axhline(np.sum(labels == 0) - 0.5, color="black", linewidth=0.8)
        ax.set_title(title, fontsize="medium")
        ax.set_xlabel("words")
        ax.set_xticks([])
        ax.set_yticks([])
    axes[0].set_ylabel("documents")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images/methods"), help="folder for the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, model in PICTURES.items():
        draw(model, out / f"{name}.png")
    draw_counts(out / "cib.png")
    print(f"{len(PICTURES) + 1} pictures in {out}.")


if __name__ == "__main__":
    main()
