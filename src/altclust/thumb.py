"""Rules of thumb: a kernel width from distances, a number of clusters from eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist

from .eigen import lapack_subset
from .kernels import Array, Gaussian

MOST_ROWS = 2000  # a median over more pairs than these rows have moves in the third digit
MOST_CLUSTERS = 10


def median_distance(X: Array, rng: np.random.Generator) -> float:
    """The median distance between two rows, from at most 2,000 of them; the mean where half are duplicates."""
    if len(X) > MOST_ROWS:
        X = X[rng.choice(len(X), MOST_ROWS, replace=False)]
    distances = pdist(X)
    return float(np.median(distances)) or float(np.mean(distances)) or 1.0


def number_of_clusters(X: Array, given: Sequence[np.ndarray], sigma: float, rng: np.random.Generator) -> int:
    """As many clusters as the first given clustering has.

    With nothing given: where the eigenvalues of the normalised kernel fall furthest, between 2 and 10 (the
    eigengap of spectral clustering), at half the median distance, below which compact clusters come apart.
    """
    if given:
        return int(given[0].max()) + 1
    if len(X) > MOST_ROWS:
        X = X[rng.choice(len(X), MOST_ROWS, replace=False)]
    n = len(X)
    most = min(MOST_CLUSTERS + 1, n - 1)
    if most < 3:
        return 2
    K = Gaussian(sigma / 2).gram(X)
    scale = 1 / np.sqrt(K.sum(axis=1))
    values = lapack_subset(scale[:, None] * K * scale, n - most, n - 1)[0][::-1]
    return int(np.argmax(-np.diff(values)[1:])) + 2
