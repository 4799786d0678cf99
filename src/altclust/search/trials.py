"""A trial: what a short fit found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.backend import Array
from .settings import Settings


@dataclass(frozen=True)
class Trial:
    """A short fit.

    Attributes
    ----------
    source : str
        The source of its start.
    settings : Settings
        With all but q, `init` and `subspace` of this fit.
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
    in_columns : bool
        Whether only columns of a wide table that stand out were used.
    """

    source: str
    settings: Settings
    W: Array
    labels: np.ndarray
    spectrum: Array
    overlap: float
    smallest: float
    quality: float
    cost: float
    in_columns: bool = False

    @property
    def n_clusters(self) -> int:
        """K."""
        return self.settings.k

    @property
    def sigma(self) -> float:
        """σ."""
        return self.settings.width

    @property
    def subtract_given(self) -> bool:
        """Whether the given means were subtracted."""
        return bool(self.settings.subtract_given)

    @property
    def n_components(self) -> int:
        """Columns of W."""
        return self.W.shape[1]
