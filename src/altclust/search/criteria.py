"""Criteria of trials that need no labels: what the trials of a search say about each other and about the rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.metrics import cohen_kappa_score

from ..base.backend import Array
from ..core.metrics import nmi_matrix, one_hot
from ..core.problem import remove_given
from .spec import SearchSpec
from .trials import Trial

FOLDS = 5
RIDGE, KERNEL_RIDGE = 0.05, 0.1  # penalties of the predictions, over the mean eigenvalue and over 1
MIDDLE = 0.25  # half the width of the middle between two centres, which lie at −1 and 1
NEIGHBOURS = 2  # nearest clusters to which a cluster is compared


def criteria(spec: SearchSpec, trials: list[Trial], rng: np.random.Generator) -> pd.DataFrame:
    """One row per trial.

    agreement
        How well the trials of other sources found the same clusters: the best NMI of each, averaged.
    persistence
        The largest NMI with another trial of the same coordinates and k, at another σ or from another start.
    gap
        How empty the middle between neighbouring clusters is: 0 if as full as their centres, 1 if empty.
    linear, kernel
        How well rows can be assigned to the clusters from the other rows: NMI with a cross-validated linear prediction,
        and Cohen's kappa with one by a kernel.
    silhouette, silhouette_all
        Distances to the own centre compared with those to the next, in the directions and in all columns.
    evenness
        Entropy of the sizes of the clusters, relative to equal sizes.
    log_k
    """
    X = spec.X
    left = remove_given(X, spec.given) if spec.given else X
    labels = [_consecutive(trial.labels) for trial in trials]
    alike = nmi_matrix(labels)
    folds = rng.permutation(len(X)) % FOLDS
    linear, smooth = _predictor(_linear_kernel(left), folds), _predictor(_smooth_kernel(left), folds)
    sources = np.array([trial.source for trial in trials])
    spaces = np.array([f"{trial.subtract_given} {trial.whitening} {trial.n_clusters}" for trial in trials])
    rows = []
    for i, (trial, codes) in enumerate(zip(trials, labels, strict=True)):
        shown = (left if trial.subtract_given else X) @ trial.W
        others = [alike[i, sources == other].max() for other in np.unique(sources) if other != sources[i]]
        beside = (spaces == spaces[i]) & (np.arange(len(trials)) != i)
        shares = np.bincount(codes) / len(codes)
        by_rule, by_kernel = linear(codes), smooth(codes)
        rows.append(
            {
                "agreement": float(np.mean(others)) if others else 0.0,
                "persistence": float(alike[i, beside].max(initial=0.0)),
                "gap": gap(shown, codes),
                "linear": float(nmi_matrix([codes, by_rule])[0, 1]),
                "kernel": float(cohen_kappa_score(codes, by_kernel)) if codes.max() else 0.0,
                "silhouette": silhouette(shown, codes),
                "silhouette_all": silhouette(X, codes),
                "evenness": float(_entropy(shares) / np.log(max(len(shares), 2))),
                "log_k": float(np.log(trial.n_clusters)),
            }
        )
    return pd.DataFrame(rows)


def silhouette(Z: Array, codes: np.ndarray) -> float:
    """The mean of (b − a) / max(a, b), with a the distance to the own centre and b that to the next."""
    centres, _ = _centres(Z, codes)
    if len(centres) < 2:
        return 0.0
    distances = cdist(Z, centres)
    own = np.arange(len(Z)), codes
    a = distances[own]
    distances[own] = np.inf
    b = distances.min(axis=1)
    return float(np.mean((b - a) / np.maximum(np.maximum(a, b), 1e-12)))


def gap(Z: Array, codes: np.ndarray) -> float:
    """One minus the density of rows in the middle between two neighbouring centres over that at the centres.

    The mean over clusters, weighted by their sizes, of the worse of the two nearest neighbours; at least −1.
    """
    centres, sizes = _centres(Z, codes)
    k, found = len(centres), 0.0
    if k < 2:
        return 0.0
    between = cdist(centres, centres)
    for a in range(k):
        worst = 1.0
        for b in np.argsort(between[a])[1 : 1 + NEIGHBOURS]:
            axis = centres[b] - centres[a]
            along = 2 * ((Z[(codes == a) | (codes == b)] - centres[a]) @ axis) / max(axis @ axis, 1e-12) - 1
            middle, *ends = (np.mean(np.abs(along - at) < MIDDLE) for at in (0, -1, 1))
            worst = min(worst, 1 - middle / max(min(ends), 1e-9))
        found += max(worst, -1.0) * sizes[a]
    return float(found / sizes.sum())


def _predictor(K: Array, folds: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A function from labels to their cross-validated prediction by kernel ridge regression on indicators."""
    parts = []
    for fold in range(FOLDS):
        test, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if len(test) and len(train):
            parts.append((test, train, np.linalg.solve(K[np.ix_(train, train)], K[np.ix_(train, test)]).T))

    def predict(codes: np.ndarray) -> np.ndarray:
        Y = one_hot(codes)
        Y = Y / np.sqrt(Y.mean(axis=0))  # otherwise small clusters are never predicted
        found = np.zeros(len(codes), dtype=int)
        for test, train, weights in parts:
            found[test] = np.argmax(weights @ Y[train], axis=1)
        return found

    return predict


def _linear_kernel(X: Array) -> Array:
    K = X @ X.T
    size = np.trace(K) or 1.0
    return K + size / len(K) + RIDGE * size / min(X.shape) * np.eye(len(K))


def _smooth_kernel(X: Array) -> Array:
    squares = cdist(X, X, "sqeuclidean")
    return np.exp(-squares / (np.median(squares) or 1.0)) + 1.0 + KERNEL_RIDGE * np.eye(len(X))


def _centres(Z: Array, codes: np.ndarray) -> tuple[Array, Array]:
    Y = one_hot(codes)
    sizes = Y.sum(axis=0)
    return Y.T @ Z / sizes[:, None], sizes


def _consecutive(labels: np.ndarray) -> np.ndarray:
    """The same labels without empty clusters."""
    return np.unique(labels, return_inverse=True)[1]


def _entropy(shares: Array) -> float:
    return float(-np.sum(shares * np.log(shares)))
