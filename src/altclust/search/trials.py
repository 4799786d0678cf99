"""A trial: what a short fit found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.backend import Array


@dataclass(frozen=True)
class Trial:
    """A short fit.

    Attributes
    ----------
    source : str
        The source of its start.
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
    in_columns : bool
        Whether only columns of a wide table that stand out were used.
    subtract_given : bool
    whitening, degree_floor, pull : float
        See `altclust.KDAC`.
    """

    source: str
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
    in_columns: bool = False
    subtract_given: bool = False
    whitening: float = 0.0
    degree_floor: float = 0.0
    pull: float = 0.0

    @property
    def n_components(self) -> int:
        """Columns of W."""
        return self.W.shape[1]
