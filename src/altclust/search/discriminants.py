"""Clusters and the directions that tell them apart, found in turn by k-means and a linear discriminant."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ..base.backend import Array
from ..core.lloyd import best_lloyd, lloyd
from ..core.metrics import nmi_matrix, one_hot
from ..core.solvers.grassmann import orthonormal
from .mixture import mixture

SHRINKAGE = 0.1  # of the covariance within clusters, towards a multiple of the identity
ROUNDS = 8
STARTS = 4  # of k-means and discriminants in turn
EARLY, KEPT = 3, 2  # after so many rounds only the best starts go on, from the clusters that they have
SAME = 0.99  # NMI of two rounds, from which they count as equal


def discriminant_directions(X: Array, labels: np.ndarray, k: int, scatter: Array | None = None) -> Array:
    """The directions, shape (d, q), in which clusters lie far apart compared with their extent; q is at most k − 1.

    scatter is XᵀX/n, if it is known already.
    """
    n, d = X.shape
    member = one_hot(labels, k)
    sizes = np.maximum(member.sum(axis=0), 1)
    between = member.T @ X / np.sqrt(n * sizes)[:, None]
    between = between.T @ between
    S = (X.T @ X / n if scatter is None else scatter) - between
    level = np.trace(S) / d or 1.0
    S = (1 - SHRINKAGE) * S + SHRINKAGE * level * np.eye(d)
    q = max(1, min(k - 1, d))
    return eigh(between, S, subset_by_index=(d - q, d - 1))[1][:, ::-1]


def alternate_discriminants(X: Array, k: int, rng: np.random.Generator) -> Array:
    """Orthonormal directions of k-means clusters, which are sought again in those directions until they stay.

    Among noise columns half of the starts end in a cut through a cloud; of a few, the one is kept whose clusters a
    mixture of Gaussians describes best.
    """
    scatter = X.T @ X / len(X)
    labels = lloyd(np.broadcast_to(X, (STARTS, *X.shape)), k, rng).labels
    directions = [discriminant_directions(X, one, k, scatter) for one in labels]
    moving = np.arange(STARTS)
    for number in range(ROUNDS):
        if number == EARLY:
            gains = [mixture(X @ W, one) for W, one in zip(directions, labels, strict=True)]
            moving = np.intersect1d(moving, np.argsort(gains)[-KEPT:])
        if not len(moving):
            break
        shown = np.stack([X @ directions[i] for i in moving])
        found = lloyd(shown, k, rng, labels[moving] if number >= EARLY else None).labels
        moved = [nmi_matrix([one, labels[i]])[0, 1] <= SAME for i, one in zip(moving, found, strict=True)]
        labels[moving] = found
        for i in moving:
            directions[i] = discriminant_directions(X, labels[i], k, scatter)
        moving = moving[moved]
    gains = [mixture(X @ W, one) for W, one in zip(directions, labels, strict=True)]
    return orthonormal(directions[int(np.argmax(gains))])


def kmeans_directions(X: Array, k: int, rng: np.random.Generator) -> Array:
    """Orthonormal discriminant directions of k-means clusters."""
    return orthonormal(discriminant_directions(X, best_lloyd(X, k, rng, 3)[0], k))
