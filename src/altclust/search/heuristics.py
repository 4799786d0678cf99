"""Heuristics: the kernel width from distances, its limits, and the number of clusters from eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given
from ..base.sampling import sample_rows
from ..core.kernels import Gaussian
from ..core.linalg.eigen import lapack_subset

MOST_ROWS = 2000  # more rows change the median distance only in the third digit
MOST_CLUSTERS = 10
ROWS_EACH = 20  # rows that there should be for each column, independent component or cluster
SLIGHT = 1e-3  # weight of what decides only where nothing else does
FINEST = 1e-6  # share of the spread; smaller distances are lost in the rounding of their squares


def median_distance(X: Array, rng: np.random.Generator) -> float:
    """The median distance between two rows, from at most 2,000 of them; the mean if half are duplicates.

    The result is at least `FINEST` times the largest entry: smaller distances are only rounding.
    """
    X = X[sample_rows(len(X), MOST_ROWS, rng)]
    distances = pdist(X)
    typical = float(np.median(distances)) or float(np.mean(distances)) or 1.0
    return max(typical, FINEST * float(np.max(np.abs(X))))


def number_of_clusters(X: Array, given: Given, sigma: float, rng: np.random.Generator) -> int:
    """The number of clusters of the first given clustering.

    If no clustering is given: the largest gap between the eigenvalues of the normalised kernel, from 2 to 10 clusters
    (the eigengap of spectral clustering), at half the median distance; a smaller width splits compact clusters.
    """
    if given.clusterings:
        return int(given.clusterings[0].max()) + 1
    X = X[sample_rows(len(X), MOST_ROWS, rng)]
    n = len(X)
    most = min(MOST_CLUSTERS + 1, n - 1)
    if most < 3:
        return 2
    K = Gaussian(sigma / 2).gram(X)
    scale = 1 / np.sqrt(K.sum(axis=1))
    values = lapack_subset(scale[:, None] * K * scale, n - most, n - 1)[0][::-1]
    return int(np.argmax(-np.diff(values)[1:])) + 2


def check_sigma(sigma: Any, X: Array) -> float:
    """The width as a float; refuses a kernel that is the identity or all ones on these centred rows."""
    try:
        width = float(sigma)
    except OverflowError:  # an integer of hundreds of digits
        width = float("inf")
    spread = float(np.max(np.abs(X)))
    if not FINEST * spread <= width <= 1e6 * spread:
        raise InputError(
            f"does not fit rows that spread over {spread:.2g}: the kernel would be the identity, or constant; choose a "
            "width between a hundredth of the spread and the spread.",
            argument="sigma",
            value=width,
        )
    return width


def check_outliers(X: Array) -> None:
    """Refuse outliers so distant that the distances between all other rows are lost in rounding."""
    radius = np.max(np.abs(X - np.median(X, axis=0)), axis=1)
    typical, row = float(np.median(radius)), int(np.argmax(radius))
    if typical < FINEST * radius[row] and typical > 0:
        raise InputError(
            f"has row {row} at a distance of {radius[row]:.2g} from the median, where half of all rows are within "
            f"{typical:.2g}: leave such rows out or clip them; all other distances are lost in rounding.",
            argument="X",
        )
