"""Which columns carry a view: what each tells about the clusters, not how large it is in the directions.

Directions may weigh two nearly collinear columns heavily against each other, or a column in which nearly all rows are
alike, without either telling the clusters apart.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from ..base.backend import Array

TELLING = 0.1  # share of a column's variance between clusters, from which it tells them apart
LEVEL = 0.05  # of all columns together; others are noise, of which wide tables have much


def feature_weights(X: Array, labels: np.ndarray, W: Array) -> Array:
    """The weight of each column of centred rows X (n, d) in a view with directions W (d, q), summing to 1, shape (d,).

    Proportional to the share of the column's variance between clusters (η², less what chance gives), for columns whose
    F test is significant after Bonferroni's correction. If no column alone tells the clusters apart, as in rings or in
    an exclusive or of two columns, the shares in the directions are used: diag(WWᵀ) times the variance.
    """
    return told_weights(between_shares(X, labels), labels, W, np.mean(X**2, axis=0))


def told_weights(shares: Array, labels: np.ndarray, W: Array, variances: Array) -> Array:
    """`feature_weights` from the share of each column's variance between clusters, and from the variances."""
    n, groups = len(labels), len(np.unique(labels))
    if tell_apart(shares) and 1 < groups < n:
        chance = (groups - 1) / (n - 1)
        ratio = shares / np.maximum(1 - shares, 1e-12) * (n - groups) / (groups - 1)
        real = stats.f.sf(ratio, groups - 1, n - groups) <= LEVEL / len(shares)
        told = np.where(real, np.maximum(shares - chance, 0.0), 0.0)
        if told.any():
            return told / told.sum()
    spread = np.sum(W**2, axis=1) * variances
    return spread / spread.sum()


def tell_apart(shares: Array) -> bool:
    """Whether a single column tells the clusters apart."""
    return bool(np.max(shares, initial=0.0) >= TELLING)


def between_shares(X: Array, labels: np.ndarray) -> Array:
    """For each column, the share of its variance that lies between clusters: η², shape (d,)."""
    X = X - X.mean(axis=0)
    sizes = np.bincount(labels)
    sums = np.zeros((len(sizes), X.shape[1]))
    np.add.at(sums, labels, X)
    total = np.sum(X**2, axis=0)
    between = np.sum(sums**2 / np.maximum(sizes, 1)[:, None], axis=0)
    return np.where(total > 0, np.minimum(between / np.where(total > 0, total, 1.0), 1.0), 0.0)
