"""Functions of blocks of raw rows: rows of the problem, of U and of γ's factor, from small matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace

from ...base.backend import Array, like
from ..embedding import KernelMap
from ..problem import Embedding


@dataclass(frozen=True)
class Coordinates:
    """The map from raw rows to rows of the problem: centred, given effects subtracted if requested, in the row space.

    Attributes
    ----------
    mean : array, shape (d,)
    effects : list of arrays, shape (c + 1, d)
        The effect of each given cluster on a row; the last row is for unknown labels. Empty if nothing is subtracted.
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
    """The sum over the given clusterings of the table's row for each code; −1 is the last row."""
    xp = array_namespace(X)
    return sum(xp.take(like(table, X), codes[:, g] % len(table), axis=0) for g, table in enumerate(tables))


@dataclass(frozen=True)
class RowEmbedding(Embedding):
    """The U step as a map from rows of the table to rows of U; U and degrees are those of the sample in memory.

    Attributes
    ----------
    W : array, shape (r, q)
    map : KernelMap
    sums : array, shape (r, k + c)
        CᵀF for F = D^(-1/2) [U, Ŷ], a by-product of the U step.
    ones : array, shape (r,)
        Cᵀ1.
    """

    W: Array
    map: KernelMap
    sums: Array
    ones: Array


@dataclass(frozen=True)
class RowGamma:
    """The weights γ = F diag(s) Fᵀ; the rows of F are computed from the rows of X when needed.

    Attributes
    ----------
    embedding : RowEmbedding
    tables : list of arrays, shape (c + 1, c − 1)
        The centred indicators of each given clustering by code, with the fewest columns that give the same ŶŶᵀ; the
        last row, for unknown labels, is zero.
    s : array, shape (k + c,)
    """

    embedding: RowEmbedding
    tables: list[Array]
    s: Array

    def rows(self, X: Any, codes: Any, C: Any = None) -> Any:
        """F of a block of rows of the problem; C is their kernel to the landmarks of the U step, if known."""
        xp = array_namespace(X)
        if C is None:
            map = self.embedding.map
            C = map.kernel.between(X @ like(self.embedding.W, X), like(map.landmarks, X))
        U, degrees = self.embedding.map.from_kernel(C)
        return xp.concat([U, given_rows(self.tables, X, codes)], axis=1) / xp.sqrt(degrees)


def given_rows(tables: list[Array], X: Any, codes: Any) -> Any:
    """The rows of Ŷ, with the columns of all given clusterings side by side."""
    parts = [looked_up([table], X, codes[:, g : g + 1]) for g, table in enumerate(tables)]
    return array_namespace(X).concat([X[:, :0], *parts], axis=1)
