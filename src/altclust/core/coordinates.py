"""The coordinates of a fit: from raw rows to its rows, and from its directions back to columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy import sparse

from ..base.backend import Array, like
from ..base.errors import InputError
from .guess import Guess


@dataclass(frozen=True)
class Coordinates:
    """Rows of a fit: (row − mean − what is given adds to it) times a basis.

    They are the same for the sample that is fitted, for all rows that are labelled, and for new rows. The `effects`,
    shape (c + 1, m) each, are what every code of a given column adds to a row, the last row for unknown codes;
    `measured` says which of these columns are measurements. They are empty if nothing is subtracted. The `basis`, shape
    (m, r), has orthogonal columns: the row space, whitened directions, or the directions of a fit; None for the
    columns. `reduction`, shape (d, m), are the leading directions of a sparse table, to which rows are reduced first.
    """

    mean: Array
    effects: tuple[Array, ...] = ()
    measured: tuple[bool, ...] = ()
    guess: Guess | None = None
    basis: Array | None = None
    reduction: Array | None = None

    def __call__(self, X: Any, codes: Any = None) -> Any:
        """The rows of a block, shape (b, r); the given columns have these codes, shape (b, g), or are guessed."""
        if self.reduction is None:
            X = X.toarray() if sparse.issparse(X) else X
            rows = X - like(self.mean, X)
        else:
            rows = X @ (self.reduction if sparse.issparse(X) else like(self.reduction, X))
            rows = rows - like(self.mean @ self.reduction, rows)
        if self.effects:
            rows = rows - self.given_effect(rows, codes)
        return rows if self.basis is None else rows @ like(self.basis, rows)

    def given_effect(self, rows: Any, codes: Any = None) -> Any:
        """What is given adds this to centred rows."""
        if codes is not None and codes.shape[1]:
            xp = array_namespace(rows)
            return sum(
                xp.take(like(table, rows), codes[:, g] % len(table), axis=0) for g, table in enumerate(self.effects)
            )
        if self.guess is None:
            raise InputError("is needed: too few labels were given to guess the cluster of a row.", argument="given")
        tables = [table for table, measured in zip(self.effects, self.measured, strict=True) if not measured]
        return self.guess.effect(rows, tables)

    def to_table(self, W: Array) -> Array:
        """Directions of the fit in the columns of the table, shape (d, q)."""
        W = W if self.basis is None else self.basis @ W
        return W if self.reduction is None else self.reduction @ W

    def from_table(self, W: Array) -> Array:
        """Directions of the columns, shape (m, q), in these coordinates."""
        if self.basis is None:
            return W
        scales = np.sum(self.basis**2, axis=0)  # the columns are orthogonal, and of unit length without whitening
        inside = self.basis.T @ W
        return inside if np.allclose(scales, 1.0) else inside / scales[:, None]

    def along(self, W: Array) -> Coordinates:
        """The coordinates of rows that are projected to the directions W of the fit."""
        return replace(self, basis=W if self.basis is None else self.basis @ W)

    def reduced_from(self, mean: Array, reduction: Array) -> Coordinates:
        """The same for a table of which these rows are the leading directions."""
        return replace(self, mean=mean + reduction @ self.mean, reduction=reduction)
