"""Rules of thumb: a kernel width from distances and which widths can be told, a number of clusters from eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from ..base.backend import Array
from ..base.errors import InputError
from ..core.kernels import Gaussian
from ..core.linalg.eigen import lapack_subset

MOST_ROWS = 2000  # a median over more pairs than these rows have moves in the third digit
MOST_CLUSTERS = 10
FINEST = 1e-6  # share of the spread below which distances are lost in the digits of the squares they are made of


def median_distance(X: Array, rng: np.random.Generator) -> float:
    """The median distance between two rows, from at most 2,000 of them; the mean where half are duplicates.

    At least what can be told from rounding beside the row that is furthest out.
    """
    if len(X) > MOST_ROWS:
        X = X[rng.choice(len(X), MOST_ROWS, replace=False)]
    distances = pdist(X)
    typical = float(np.median(distances)) or float(np.mean(distances)) or 1.0
    return max(typical, FINEST * float(np.max(np.abs(X))))


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


def check_sigma(sigma: Any, X: Array) -> float:
    """The width as a float; refuses a kernel that is the identity or all ones on these centred rows."""
    try:
        width = float(sigma)
    except OverflowError:  # a whole number of hundreds of digits
        width = float("inf")
    spread = float(np.max(np.abs(X)))
    if not FINEST * spread <= width <= 1e6 * spread:
        raise InputError(
            f"sigma={width:g} but the rows of X spread over {spread:.2g}: the kernel would see no row, or all rows as "
            "one; choose a width between a hundredth of the spread and the spread."
        )
    return width


def check_outliers(X: Array) -> None:
    """Refuse centred rows so far out that distances between all others are lost in the digits."""
    radius = np.max(np.abs(X - np.median(X, axis=0)), axis=1)
    typical, row = float(np.median(radius)), int(np.argmax(radius))
    if typical < FINEST * radius[row] and typical > 0:
        raise InputError(
            f"X has row {row} at a distance of {radius[row]:.2g} from the middle, where half of all rows are within "
            f"{typical:.2g}: leave such rows out or clip them, because distances between the others would be rounding."
        )
