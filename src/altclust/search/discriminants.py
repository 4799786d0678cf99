"""Clusters and the directions that tell them apart, found in turn by k-means and a linear discriminant."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ..base.backend import Array
from ..core.embedding import fit_kmeans
from ..core.metrics import nmi_matrix
from ..core.solvers.grassmann import orthonormal
from .mixture import mixture

SHRINKAGE = 0.1  # of the covariance within clusters, towards a multiple of the identity
ROUNDS = 8
STARTS = 4  # of k-means and discriminants in turn
SAME = 0.99  # NMI of two rounds, from which they count as equal


def kmeans_labels(X: Array, k: int, rng: np.random.Generator, n_init: int = 3) -> np.ndarray:
    """The labels of the best of a few k-means fits."""
    return fit_kmeans(X, k, n_init=n_init, seed=int(rng.integers(2**31))).labels_


def discriminant_directions(X: Array, labels: np.ndarray, k: int) -> Array:
    """The directions, shape (d, q), in which clusters lie far apart compared with their extent; q is at most k − 1."""
    n, d = X.shape
    sizes = np.maximum(np.bincount(labels, minlength=k), 1)
    centres = np.zeros((k, d))
    np.add.at(centres, labels, X)
    centres /= sizes[:, None]
    within = X - centres[labels]
    S = within.T @ within / n
    level = np.trace(S) / d or 1.0
    S = (1 - SHRINKAGE) * S + SHRINKAGE * level * np.eye(d)
    between = centres * np.sqrt(sizes / n)[:, None]
    q = max(1, min(k - 1, d))
    return eigh(between.T @ between, S, subset_by_index=(d - q, d - 1))[1][:, ::-1]


def alternate_discriminants(X: Array, k: int, rng: np.random.Generator) -> Array:
    """Orthonormal directions of k-means clusters, which are sought again in those directions until they stay.

    Among noise columns half of the starts end in a cut through a cloud; of a few, the one is kept whose clusters a
    mixture of Gaussians describes best.
    """
    found = [_in_turn(X, k, rng) for _ in range(STARTS)]
    directions = [discriminant_directions(X, labels, k) for labels in found]
    gains = [mixture(X @ W, labels) for W, labels in zip(directions, found, strict=True)]
    return orthonormal(directions[int(np.argmax(gains))])


def _in_turn(X: Array, k: int, rng: np.random.Generator) -> np.ndarray:
    """The labels at which k-means and discriminant directions in turn arrive, from one random start."""
    labels = kmeans_labels(X, k, rng, 1)
    for _ in range(ROUNDS):
        found = kmeans_labels(X @ discriminant_directions(X, labels, k), k, rng, 1)
        settled, labels = nmi_matrix([found, labels])[0, 1] > SAME, found
        if settled:
            break
    return labels


def kmeans_directions(X: Array, k: int, rng: np.random.Generator) -> Array:
    """Orthonormal discriminant directions of k-means clusters."""
    return orthonormal(discriminant_directions(X, kmeans_labels(X, k, rng), k))
