"""A trial: what a short fit found, and how far apart its clusters are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.backend import Array

CLEAR = 3e-4  # 1 − eigenvalue, below which a cluster counts as disconnected


@dataclass(frozen=True)
class Trial:
    """A short fit.

    Attributes
    ----------
    source : str
        The source of its trajectory.
    stage : int
        Its number in the trajectory.
    n_clusters : int
    sigma : float
    novelty_weight : float
    W : array, shape (r, q)
        Directions in the coordinates of the search.
    labels : int array, shape (n,)
        Labels of the rows of the search.
    spectrum : array, shape (k,)
        Leading eigenvalues of the centred normalised kernel of the projected rows.
    overlap : float
    smallest : float
        Share of the rows in the smallest cluster.
    quality, cost : float
    inequality : float
        Left over right side of Theorem 1's inequality, if computed; it holds from 1 on.
    subtract_given : bool
    whitening, degree_floor, pull : float
        See `altclust.KDAC`.
    """

    source: str
    stage: int
    n_clusters: int
    sigma: float
    novelty_weight: float
    W: Array
    labels: np.ndarray
    spectrum: Array
    overlap: float
    smallest: float
    quality: float
    cost: float
    inequality: float = float("nan")
    subtract_given: bool = False
    whitening: float = 0.0
    degree_floor: float = 0.0
    pull: float = 0.0

    @property
    def n_components(self) -> int:
        """Columns of W."""
        return self.W.shape[1]

    @property
    def separation(self) -> float:
        """How much more a cut into k + 1 clusters costs than one into k, see `separation`."""
        return separation(self.spectrum, self.n_clusters)


def separation(spectrum: Array, k: int) -> float:
    """Log (1 − w_(k+1)) / (1 − w_k); the spectrum is that of the centred kernel, from w_2 on."""
    if k < 2 or k > len(spectrum):
        return 0.0
    last, after = np.maximum(1 - spectrum[[k - 2, k - 1]], 0.0) + CLEAR  # landmarks may exceed 1 a little
    return float(np.log(after / last))
