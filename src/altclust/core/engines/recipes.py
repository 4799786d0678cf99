"""What a block makes of its own raw rows: rows of the problem, of U and of γ's factor, from small matrices alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace

from ...base.backend import Array, like
from ..embedding import KernelMap


@dataclass(frozen=True)
class Coordinates:
    """How a raw row becomes a row of the problem: centred, without the given means where asked, in the row space.

    Attributes
    ----------
    mean : array, shape (d,)
    effects : list of arrays, shape (c + 1, d)
        What each given cluster adds to a row; the last row is of the unknown. Empty where the means stay.
    basis : array, shape (d, r), or None
    """

    mean: Array
    effects: list[Array]
    basis: Array | None

    def __call__(self, X: Any, codes: Any) -> Any:
        """The rows of a block, shape (b, r)."""
        rows = X - like(self.mean, X)
        rows = rows - looked_up(self.effects, X, codes) if self.effects else rows
        return rows if self.basis is None else rows @ like(self.basis, X)


def looked_up(tables: list[Array], X: Any, codes: Any) -> Any:
    """Σ over the given clusterings of the table's row for each code; −1 is the last row."""
    xp = array_namespace(X)
    return sum(xp.take(like(table, X), codes[:, g] % len(table), axis=0) for g, table in enumerate(tables))


@dataclass(frozen=True)
class RowEmbedding:
    """The U step, as a map from rows to their rows of U.

    Attributes
    ----------
    W : array, shape (r, q)
    map : KernelMap
    values : array, shape (k,)
    U, degrees : arrays, shapes (s, k) and (s,)
        Of the sample of rows that is in memory; U orthonormal there.
    sums : array, shape (r, k + c)
        CᵀF for F = D^(-1/2) [U, Ŷ], which the pass of the U step knows.
    ones : array, shape (r,)
        Cᵀ1.
    """

    W: Array
    map: KernelMap
    values: Array
    U: Array
    degrees: Array
    sums: Array
    ones: Array


@dataclass(frozen=True)
class RowGamma:
    """The weights γ = F diag(s) Fᵀ, with the rows of F made from the rows of X when they are needed.

    Attributes
    ----------
    embedding : RowEmbedding
    tables : list of arrays, shape (c + 1, c − 1)
        The centred indicators of each given clustering by code, as few columns as have the same products; the last
        row, zero, is of the unknown.
    s : array, shape (k + c,)
    """

    embedding: RowEmbedding
    tables: list[Array]
    s: Array

    def rows(self, X: Any, codes: Any, C: Any = None) -> Any:
        """F of a block of rows of the problem; C is their kernel to the landmarks of the U step, if it is known."""
        xp = array_namespace(X)
        if C is None:
            map = self.embedding.map
            C = map.kernel.between(X @ like(self.embedding.W, X), like(map.landmarks, X))
        U, degrees = self.embedding.map.from_kernel(C)
        return xp.concat([U, given_rows(self.tables, X, codes)], axis=1) / xp.sqrt(degrees)


def given_rows(tables: list[Array], X: Any, codes: Any) -> Any:
    """The rows of Ŷ, those of all given clusterings side by side."""
    parts = [looked_up([table], X, codes[:, g : g + 1]) for g, table in enumerate(tables)]
    return array_namespace(X).concat([X[:, :0], *parts], axis=1)
