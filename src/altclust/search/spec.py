"""Specification of a fit and of a search: fixed parameters, and None for those to be found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..base.backend import Array
from ..base.given import Given
from ..base.keep import Keep
from ..core.reduced import FLOOR
from .independent_components import independent_directions, light_tailed

MOST_ROWS = 400  # rows of the search; the fit that follows uses all
ROWS_PER_COLUMN = 20


@dataclass(frozen=True)
class Spec:
    """The parameters of one fit as the user passed them; None for those that the search is to find.

    Attributes
    ----------
    n_clusters, n_components : int or None
        k and q.
    sigma : float or None
    novelty_weight : float or None
        λ; None means 1, except for the rule "paper".
    scaling : {"balanced", "paper"}
        The scaling of Y that λ refers to.
    subtract_given : bool or None
        Whether to subtract the means of the given clusters.
    init : {"spectral", "random"} or array, shape (d, q)
    whitening : float or None
        Power of the standard deviations by which principal directions are divided: 0, 0.5 or 1.
    degree_floor : float or None
        Share of the mean degree that is added to all degrees.
    pull : float or None
        How strongly W is held close to `init`.
    subspace : array, shape (d, m), or None
        Orthonormal columns in whose span directions are sought.
    keep_obvious : bool
        Whether a view that columns with few values reproduce may be chosen.
    kernel : str or Kernel
        That of the fit; the search uses the Gaussian.
    keep : Keep or None
        What the view should agree with.
    originals : DataFrame, n rows, or None
        Columns with few values as they were before they became columns of X with the same names.
    """

    n_clusters: int | None = None
    n_components: int | None = None
    sigma: float | None = None
    novelty_weight: float | None = None
    scaling: str = "balanced"
    subtract_given: bool | None = None
    init: str | Array = "spectral"
    whitening: float | None = None
    degree_floor: float | None = None
    pull: float | None = None
    subspace: Array | None = None
    keep_obvious: bool = False
    kernel: Any = "gaussian"
    keep: Keep | None = field(default=None, repr=False, compare=False)
    originals: pd.DataFrame | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Parameters:
    """A spec with all values set; q is None if the spectral start is to choose it, the floor if several are tried."""

    n_clusters: int
    n_components: int | None
    sigma: float
    novelty_weight: float
    scaling: str
    subtract_given: bool
    init: str | Array
    whitening: float = 0.0
    degree_floor: float | None = FLOOR
    pull: float = 0.0
    subspace: Array | None = None
    kernel: Any = "gaussian"


@dataclass(frozen=True)
class SearchSpec:
    """The input of a search.

    Attributes
    ----------
    X : array, shape (n, r)
        Centred rows.
    given : Given
    fixed : Spec
        Fixed parameters; if σ and k are fixed, there is a single trial.
    columns : array, shape (r, m), or None
        A few columns of a wide table that stand out, in the coordinates of X.
    part_of : int
        Rows of the search of which these are a part, such as a half in which its view is sought again.
    """

    X: Array
    given: Given
    fixed: Spec = Spec()
    columns: Array | None = None
    part_of: int = 0

    @cached_property
    def tails(self) -> Array:
        """Independent components of the rows without the means of their given clusters, lightest tails first."""
        return light_tailed(self.given.subtracted_from(self.X))

    @cached_property
    def standing_out(self) -> Array:
        """The rows, of a wide table in the columns that stand out."""
        return self.X if self.columns is None else self.X @ self.columns

    @cached_property
    def components(self) -> Array:
        """A plane for shapes: independent components of `standing_out`."""
        X, rng = self.standing_out, np.random.default_rng(0)
        return independent_directions(X, self.given, min(self.directions(2), X.shape[1]), rng)

    @property
    def has_few_columns(self) -> bool:
        """Whether the search has many rows for each column: with fewer, some directions show thin gaps by chance."""
        return min(max(len(self.X), self.part_of), MOST_ROWS) >= ROWS_PER_COLUMN * self.X.shape[1]

    @cached_property
    def kept(self) -> tuple[Array, Array] | None:
        """Columns and weights of what the view should agree with, see `altclust.base.keep.Keep.columns`."""
        keep = self.fixed.keep
        return None if keep is None else keep.columns(self.given.indicators())

    def take(self, rows: np.ndarray) -> SearchSpec:
        """The search of some of the rows, centred."""
        X, keep = self.X[rows], self.fixed.keep
        fixed = self.fixed if keep is None else replace(self.fixed, keep=keep.take(rows))
        whole = max(len(self.X), self.part_of)
        return replace(self, X=X - X.mean(axis=0), given=self.given.take(rows), fixed=fixed, part_of=whole)

    def directions(self, wanted: int) -> int:
        """The fixed q; otherwise `wanted`, but fewer than all r directions, so that there is a choice."""
        r, q = self.X.shape[1], self.fixed.n_components
        return min(wanted, max(1, r - 1)) if q is None else min(q, r)
