"""Clusters and the directions that tell them apart, found in turn by k-means and a linear discriminant."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.linalg import cholesky, solve_triangular, svd

from ..base.backend import Array
from ..core.lloyd import best_lloyd, lloyd
from ..core.metrics import one_hot
from ..core.solvers.grassmann import orthonormal
from .mixture import mixture

SHRINKAGE = 0.1  # of the covariance within clusters, towards a multiple of the identity
ROUNDING = 1e-10  # share of the largest variance
ROUNDS = 4  # of k-means and discriminant directions in turn
DRAWN = 10  # k-means in all columns


def discriminant_directions(X: Array, labels: np.ndarray, k: int, scatter: Array | None = None) -> Array:
    """The directions, shape (d, q), in which clusters lie far apart compared with their extent; q is at most k − 1.

    scatter is XᵀX/n, if it is known already.
    """
    n, d = X.shape
    member = one_hot(labels, k)
    means = (member.T @ X / np.sqrt(n * np.maximum(member.sum(axis=0), 1))[:, None]).T
    scatter = X.T @ X / n if scatter is None else scatter
    S = scatter - means @ means.T
    level = max(np.trace(S), ROUNDING * np.trace(scatter)) / d or 1.0  # if equal rows are clusters, nothing is left
    root = cholesky((1 - SHRINKAGE) * S + SHRINKAGE * level * np.eye(d), lower=True)
    towards = svd(solve_triangular(root, means, lower=True), full_matrices=False)[0]
    return solve_triangular(root, towards[:, : max(1, min(k - 1, d))], lower=True, trans="T")


def alternate_discriminants(X: Array, k: int, rng: np.random.Generator, tails: Array | None = None) -> Array:
    """Orthonormal directions of k-means clusters, which are sought again in those directions.

    Among noise columns most starts end in a cut through a cloud; of several different ones, the one is kept whose
    clusters a mixture of Gaussians describes best.

    Parameters
    ----------
    X : array, shape (n, d)
    k : int
    rng : Generator
    tails : array, shape (n, c), optional
        Independent components with the lightest tails first, in which clusters are sought as well.
    """
    return in_turn(X, _first_clusters(X, k, rng, tails), k, rng)


def in_turn(X: Array, labels: np.ndarray, k: int, rng: np.random.Generator) -> Array:
    """`alternate_discriminants` from labels of several starts, shape (s, n)."""
    scatter = X.T @ X / len(X)
    for _ in range(ROUNDS):
        labels = lloyd(np.stack([X @ discriminant_directions(X, one, k, scatter) for one in labels]), k, rng).labels
    found = [discriminant_directions(X, one, k, scatter) for one in labels]
    gains = [mixture(X @ W, one) for W, one in zip(found, labels, strict=True)]
    return orthonormal(found[int(np.argmax(gains))])


def _first_clusters(X: Array, k: int, rng: np.random.Generator, tails: Array | None) -> np.ndarray:
    """Labels to start from, shape (s, n): in all columns, joined, in few components, and in the clearest one.

    A small cluster has no light tails, so that the clearest component may be any of them.
    """
    drawn = lloyd(X, k, rng, starts=DRAWN)
    found = [drawn.labels[np.argsort(drawn.inertia)[:2]], _joined(X, k, rng)[None]]
    if tails is not None and tails.shape[1]:
        found += [lloyd(tails[:, : max(2, q)], k, rng).labels for q in (k - 1, 2 * k - 2)]
        single = lloyd(tails.T[:, :, None], k, rng).labels
        gains = [mixture(tails[:, [j]], codes) for j, codes in enumerate(single)]
        found.append(single[[int(np.argmax(gains))]])
    return np.vstack(found)


def _joined(X: Array, k: int, rng: np.random.Generator) -> np.ndarray:
    """Twice as many clusters, joined to k by Ward's method in the directions that tell them apart.

    A small cluster, or one of another shape, is often found only with more clusters than there are: k-means then cuts
    the large ones instead of missing it.
    """
    finer = min(2 * k, len(X))
    W = discriminant_directions(X, best_lloyd(X, finer, rng, DRAWN)[0], finer)
    return fcluster(linkage(X @ W, "ward"), k, "maxclust") - 1


def kmeans_directions(X: Array, k: int, rng: np.random.Generator) -> Array:
    """Orthonormal discriminant directions of k-means clusters."""
    return orthonormal(discriminant_directions(X, best_lloyd(X, k, rng, 3)[0], k))


def centroid_directions(X: Array, k: int, rng: np.random.Generator) -> Array:
    """Orthonormal directions between the centres of k-means clusters, which does not overfit in many columns."""
    member = one_hot(best_lloyd(X, k, rng, DRAWN)[0], k)
    centres = member.T @ X / np.sqrt(np.maximum(member.sum(axis=0), 1))[:, None]
    return np.linalg.svd(centres, full_matrices=False)[2][: max(1, min(k - 1, X.shape[1]))].T
