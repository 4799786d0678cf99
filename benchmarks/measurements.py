"""A hidden clustering in rows that a measurement moves strongly: linearly, by its square, or around a circle.

Three clusters in three columns; a number t between −1 and 1 moves every row along one or two random directions, six
times as far as noise does. What does each method find, with k told, and how far does t determine its labels? Regressing
out is linear, as it is everywhere else.

    python benchmarks/measurements.py            # the table
    python benchmarks/measurements.py 3          # of fewer seeds
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.linear_model import LinearRegression

from altclust import KDAC
from altclust.metrics import nmi, overlap

KINDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda t: t[:, None],
    "quadratic": lambda t: t[:, None] ** 2,
    "cyclic": lambda t: np.column_stack([np.cos(np.pi * t), np.sin(np.pi * t)]),
}
CLUSTERS, COLUMNS, APART, MOVED = 3, 3, 5.0, 6.0


def task(kind: str, seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, the measurement and the hidden clusters."""
    rng = np.random.default_rng([11, seed])
    hidden, t = rng.integers(0, CLUSTERS, n), rng.uniform(-1, 1, n)
    X = rng.normal(size=(n, COLUMNS))
    X[:, :CLUSTERS] += APART * np.linalg.qr(rng.normal(size=(CLUSTERS, CLUSTERS)))[0][hidden]
    moved = KINDS[kind](t)
    moved = (moved - moved.mean(axis=0)) / moved.std(axis=0)
    return X + MOVED * moved @ rng.normal(size=(moved.shape[1], COLUMNS)), t, hidden


def _residual(X: np.ndarray, t: np.ndarray) -> np.ndarray:
    return X - LinearRegression().fit(t[:, None], X).predict(t[:, None])


METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "KDAC, t given": lambda X, t, seed: KDAC(CLUSTERS, random_state=seed).fit(X, t).labels_,
    "KDAC, nothing given": lambda X, t, seed: KDAC(CLUSTERS, random_state=seed).fit(X).labels_,
    "regress out, k-means": lambda X, t, seed: (
        KMeans(CLUSTERS, n_init=10, random_state=seed).fit(_residual(X, t)).labels_
    ),
    "regress out, spectral": lambda X, t, seed: SpectralClustering(
        CLUSTERS, affinity="nearest_neighbors", random_state=seed
    ).fit_predict(_residual(X, t)),
}


def main(seeds: int = 10) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for kind in KINDS:
        for seed in range(seeds):
            X, t, hidden = task(kind, seed)
            for name, method in METHODS.items():
                labels = np.asarray(method(X, t, seed))
                rows.append((kind, name, nmi(labels, hidden), overlap(labels, t)))
                print(*rows[-1], seed, file=sys.stderr, flush=True)
    table = pd.DataFrame(rows, columns=["effect", "method", "NMI", "dependence"])
    shown = table.groupby(["effect", "method"], sort=False).agg(["mean", "min", "max"])
    print(shown.round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
