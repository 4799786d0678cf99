"""The pictures of docs/method.md: the objective, the three steps, the rounds, and the effect of the novelty weight.

Run it as ``python examples/method_pictures.py``; it writes into docs/images.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from altclust import KDAC, Settings
from altclust.base.given import Given
from altclust.core.engines import DenseEngine
from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi
from altclust.core.problem import Problem
from altclust.datasets import moons, views
from altclust.report.plotting import COLOURS, scatter

BLUE, ORANGE, GREEN = COLOURS[:3]
WIDTH = 2.2  # of the kernel on the four blobs: about half the distance between them
NOT_IN_NOISE = np.array(
    [[1], [1], [1], [1], [0], [0]]
)  # the start of the rounds mixes both views, not the noise columns


def four_blobs(n: int = 240) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows in two columns: clusters far apart along the first (given), less far along the second (hidden)."""
    rng = np.random.default_rng(0)
    block = np.arange(n) * 4 // n
    given, hidden = block % 2, block // 2
    X = np.column_stack([4.0 * given, 3.0 * hidden]) + 0.5 * rng.standard_normal((n, 2))
    return X - X.mean(axis=0), given, hidden


def reward() -> plt.Figure:
    """For every direction of the plane: the quality term, the penalty, and their difference."""
    X, given, _ = four_blobs()
    problem = Problem(2, 1, 1.0, Gaussian(WIDTH))
    engine = DenseEngine(X, problem.kernel, Given.from_codes(given).indicators())
    angles = np.linspace(0, np.pi, 91)
    quality, resemblance = np.zeros(len(angles)), np.zeros(len(angles))
    for i, angle in enumerate(angles):
        W = np.array([[np.cos(angle)], [np.sin(angle)]])
        embedding = engine.embed(W, 2)
        quality[i] = embedding.values.sum()
        resemblance[i] = problem.cost(W, embedding, engine) + quality[i]
    best = angles[np.argmax(quality - resemblance)]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    scatter(left, X, np.array(["given A", "given B"])[given], "Rows, coloured by what is given")
    for angle, name, colour in ((0.0, "known", ORANGE), (best, "new", GREEN)):
        end = 3.2 * np.array([np.cos(angle), np.sin(angle)])
        left.annotate("", end, -end, arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2.5})
        left.annotate(name, 1.05 * end, color=colour, weight="bold", ha="left", va="bottom")
    left.set(aspect="equal", xlim=(-4.4, 4.8), ylim=(-3.6, 4.2))
    left.legend(fontsize="small", loc="lower left")
    degrees = np.degrees(angles)
    right.plot(degrees, quality, color=BLUE, label="reward: HSIC with its own clusters")
    right.plot(degrees, resemblance, "--", color=ORANGE, label="price: HSIC with what is given")
    right.plot(degrees, quality - resemblance, color=GREEN, linewidth=3, label="reward − price")
    right.axvline(np.degrees(best), color=GREEN, linewidth=1, linestyle=":")
    right.set(xlabel="angle of the direction, in degrees", ylim=(-0.05, 1.05), xticks=range(0, 181, 45))
    right.set_title("The new direction has the largest difference")
    right.legend(fontsize="small", loc="upper center")
    return figure


def steps() -> plt.Figure:
    """The three steps after convergence: directions, similarities, coordinates of the clusters."""
    data = moons(400, random_state=0)
    X = StandardScaler().fit_transform(data.X)
    model = KDAC(2, random_state=0).fit(X, data.given)
    Z = model.transform(X)
    order = np.lexsort((data.X[:, 0], model.labels_))  # along each moon, moon by moon
    K = Gaussian(model.sigma_).gram(Z)
    engine = DenseEngine(Z, Gaussian(model.sigma_))
    U = engine.embed(np.eye(2), 2).U
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    scatter(axes[0], Z, data.given, "W: turn the rows")
    axes[0].set(xlabel="learnt direction 1", ylabel="learnt direction 2")
    axes[0].legend(title="given", fontsize="small")
    axes[1].imshow(K[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=0.3, interpolation="nearest")
    axes[1].set(xlabel="rows, sorted by new cluster", xticks=[], yticks=[])
    axes[1].set_title("D: who is near whom")
    scatter(axes[2], U, model.labels_, "U: pull clusters apart")
    axes[2].set(xlabel="coordinate 1", ylabel="coordinate 2")
    axes[2].legend(title="found", fontsize="small")
    return figure


def rounds() -> plt.Figure:
    """The rows in the directions after each round, from a random start."""
    data = views(300, ("blobs", "blobs"), (3, 3), random_state=0)
    start = np.linalg.qr(np.random.default_rng(3).standard_normal((data.X.shape[1], 2)) * NOT_IN_NOISE)[0]
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
    names = np.array(["a", "b", "c"])[data.alternative]
    scatter(axes[0], data.X @ start, names, "a random start")
    for ax, last in zip(axes[1:], (1, 2, 30), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the fit is stopped early on purpose
            warnings.simplefilter("ignore", UserWarning)
            model = KDAC(3, n_components=2, sigma=1.2, max_iter=last, random_state=0, settings=Settings(init=start))
            model.fit(data.X, data.given)
        old, new = model.overlap_, nmi(model.labels_, data.alternative)
        scatter(ax, model.transform(data.X), names, f"round {model.n_iter_}")
        ax.set_xlabel(f"NMI {old:.2f} with the given,\n{new:.2f} with the hidden")
    for ax in axes:
        ax.set(xticks=[], yticks=[])
        ax.get_legend().remove()
    axes[-1].legend(title="hidden", fontsize="small", loc="best")
    return figure


def novelty() -> plt.Figure:
    """The result for every novelty weight: the known view again, or the new one."""
    X, given, hidden = four_blobs()
    weights = np.array([0, 0.1, 0.2, 0.3, 0.5, 1, 2, 5])
    old, new = [], []
    for weight in weights:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about similarity to the given view, shown on purpose
            model = KDAC(2, n_components=1, sigma=WIDTH, novelty_weight=weight, random_state=0).fit(X, given)
        old.append(nmi(model.labels_, given))
        new.append(nmi(model.labels_, hidden))
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    place = np.arange(len(weights))
    ax.plot(place, old, "s--", color=ORANGE, label="with what is given")
    ax.plot(place, new, "o-", color=GREEN, label="with the hidden clusters")
    ax.set_xticks(place, [f"{weight:g}" for weight in weights])
    ax.set(xlabel="novelty weight λ", ylabel="NMI of what is found", ylim=(-0.05, 1.05))
    ax.legend(fontsize="small", loc="center right")
    return figure


PICTURES = {"reward": reward, "steps": steps, "rounds": rounds, "novelty": novelty}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    images = Path(__file__).parent.parent / "docs" / "images"
    parser.add_argument("--out", type=Path, default=images, help="folder for the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        draw().savefig(out / f"method-{name}.png", dpi=90)
        print(f"{out / f'method-{name}.png'}")


if __name__ == "__main__":
    main()
