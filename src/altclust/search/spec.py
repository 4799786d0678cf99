"""The input of a search: rows, what is given about them, and the settings that are fixed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..base.backend import Array
from ..base.given import Given
from ..base.keep import Keep
from .heuristics import ROWS_EACH
from .independent_components import independent_directions, light_tailed
from .settings import Settings

FEW_ROWS, MOST_ROWS = 400, 1000  # of a search; the fit that follows uses all
SHARE = 3  # rows of a large table, of which one is searched


def searched_rows(n: int) -> int:
    """How many of n rows are searched: up to 400 all of them, of large tables a third, and at most 1,000.

    A search of few rows is quick. But of a large table, another sample should give the same answer.
    """
    return min(n, max(FEW_ROWS, min(n // SHARE, MOST_ROWS)))


@dataclass(frozen=True)
class SearchSpec:
    """The input of a search.

    Attributes
    ----------
    X : array, shape (n, r)
        Centred rows.
    given : Given
    fixed : Settings
        None where they are to be found; if σ and k are fixed, there is a single trial.
    keep : Keep or None
        What the view should agree with.
    columns : array, shape (r, m), or None
        A few columns of a wide table that stand out, in the coordinates of X.
    part_of : int
        Rows of the search of which these are a part, such as a half in which its view is sought again.
    """

    X: Array
    given: Given
    fixed: Settings = field(default_factory=Settings)
    keep: Keep | None = None
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
        return min(max(len(self.X), self.part_of), FEW_ROWS) >= ROWS_EACH * self.X.shape[1]

    @cached_property
    def kept(self) -> tuple[Array, Array] | None:
        """Columns and weights of what the view should agree with, see `altclust.base.keep.Keep.columns`."""
        return None if self.keep is None else self.keep.columns(self.given.indicators())

    def take(self, rows: np.ndarray) -> SearchSpec:
        """The search of some of the rows, centred."""
        X, keep = self.X[rows], None if self.keep is None else self.keep.take(rows)
        whole = max(len(self.X), self.part_of)
        return replace(self, X=X - X.mean(axis=0), given=self.given.take(rows), keep=keep, part_of=whole)

    def directions(self, wanted: int) -> int:
        """The fixed q; otherwise `wanted`, but fewer than all r directions, so that there is a choice."""
        r, q = self.X.shape[1], self.fixed.n_components
        return min(wanted, max(1, r - 1)) if q is None else min(q, r)
