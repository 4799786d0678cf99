"""What a new clustering should agree with: labels of some rows, or pairs of rows that belong together or apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .backend import Array
from .errors import InputError
from .known import read_given

ROUNDING = 1e-9


@dataclass(frozen=True)
class Links:
    """Pairs of rows, by their numbers from 0: those of `must` belong together, those of `cannot` do not.

    Examples
    --------
    >>> from altclust import Links
    >>> Links(must=[(0, 3), (3, 7)], cannot=[(0, 1)]).must
    ((0, 3), (3, 7))
    """

    must: Sequence[tuple[int, int]] = ()
    cannot: Sequence[tuple[int, int]] = ()

    def __post_init__(self) -> None:
        for name in ("must", "cannot"):
            try:
                pairs = np.asarray(getattr(self, name))
            except ValueError:
                pairs = np.zeros(1)
            if not pairs.size:
                pairs = np.zeros((0, 2), dtype=int)
            if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
                raise InputError("are not pairs of row numbers: pass pairs such as [(0, 3)].", argument=f"{name} links")
            object.__setattr__(self, name, tuple((int(i), int(j)) for i, j in pairs))


class Keep(NamedTuple):
    """Groups of rows that belong together, and which of them belong apart.

    The `codes` (n,) are the group of each row; −1 is a row about which nothing is said. The `signs` (c, c) are 1 for
    groups of several rows that belong together (on the diagonal), −1 for two groups that belong apart, 0 where nothing
    is said. The weight is μ. With `pairs`, rows count only in pairs with others: a few links would otherwise mainly ask
    for clear clusters.
    """

    codes: np.ndarray
    signs: Array
    weight: float
    pairs: bool = False

    def take(self, rows: Any) -> Keep:
        """For some of the rows."""
        return self._replace(codes=self.codes[rows])

    @property
    def rows(self) -> np.ndarray:
        """The rows about which something is said."""
        return np.flatnonzero(self.codes >= 0)

    def columns(self, given: Array) -> tuple[Array, Array]:
        """Columns B and weights s of μ K = B diag(s) Bᵀ, the kernel of what is to be kept; given are indicators (n, c).

        The part that what is given explains is removed, so that agreement with it is never rewarded: few rows with
        labels to keep resemble what is given by chance. The largest eigenvalue of K is 1, as that of UUᵀ: with μ = 1,
        what is said about a row counts as much as its cluster.
        """
        rows, n = self.rows, len(self.codes)
        if not len(rows):
            return np.zeros((n, 0)), np.zeros(0)
        member = (self.codes[rows, None] == np.arange(len(self.signs))).astype(float)
        K = member @ self.signs @ member.T if self.pairs else self.signs
        values, V = eigh(K - np.diag(np.diag(K)) if self.pairs else K)
        B = np.zeros((n, len(values)))
        B[rows] = (V if self.pairs else member @ V) * np.sqrt(np.abs(values))
        B[rows] -= B[rows].mean(axis=0)
        B -= given @ np.linalg.lstsq(given, B, rcond=None)[0]
        if not np.abs(B).max(initial=0.0) > ROUNDING:
            return np.zeros((n, 0)), np.zeros(0)
        basis, R = np.linalg.qr(B)
        values, V = eigh((R * np.sign(values)) @ R.T)
        wide = np.abs(values) > ROUNDING * np.abs(values).max()
        weight = self.weight or ROUNDING  # directions and signs are asked for even if μ is 0
        return basis @ V[:, wide], weight * values[wide] / np.abs(values).max()

    def agreement(self, labels: np.ndarray) -> float:
        """How well labels agree with what is to be kept, beyond chance: 1 if fully, 0 as chance does.

        The mean over pairs that belong together and over those that belong apart, each as a kappa: the share of
        pairs beyond that which the sizes of the clusters give.
        """
        labels = np.unique(labels, return_inverse=True)[1]
        same = float(np.sum((np.bincount(labels) / len(labels)) ** 2))
        rows, size = self.rows, len(self.signs)
        table = np.zeros((size, labels.max() + 1))
        np.add.at(table, (self.codes[rows], labels[rows]), 1)
        pairs, together = np.outer(table.sum(axis=1), table.sum(axis=1)), table @ table.T
        pairs[np.diag_indices(size)] -= table.sum(axis=1)
        together[np.diag_indices(size)] -= table.sum(axis=1)
        found = []
        for sign, chance in ((1, same), (-1, 1 - same)):
            said = self.signs == sign
            if pairs[said].sum() and chance < 1:
                share = together[said].sum() / pairs[said].sum()
                found.append(((share if sign == 1 else 1 - share) - chance) / (1 - chance))
        return float(np.mean(found)) if found else 0.0


def check_keep(keep: Any, n: int, weight: float) -> Keep | None:
    """Labels of some of n rows, or links between them; None if nothing is said."""
    if keep is None or isinstance(keep, Keep):
        return keep
    found = _linked(keep, n, weight) if isinstance(keep, Links) else _labelled(keep, n, weight)
    return found if len(found.rows) > 1 else None


def _labelled(keep: Any, n: int, weight: float) -> Keep:
    """Rows with the same label belong together, those with different labels apart."""
    try:
        columns = read_given(keep, n, "clusterings").clusterings
    except InputError as error:
        raise InputError(str(error).replace("given", "keep", 1)) from error
    if len(columns) != 1:
        raise InputError(f"keep has {len(columns)} columns of labels: pass one.")
    return Keep(columns[0], 2 * np.eye(columns[0].max() + 1) - 1, weight)


def _linked(links: Links, n: int, weight: float) -> Keep:
    """Groups of rows that links join, and singles that are linked to none."""
    for pair in (*links.must, *links.cannot):
        if pair[0] == pair[1] or not all(0 <= row < n for row in pair):
            problem = f"links the rows {pair} of {n}: pass two different row numbers, from 0 to {n - 1}."
            raise InputError(problem, argument="keep")
    must, cannot = (np.array(pairs, dtype=int).reshape(-1, 2) for pairs in (links.must, links.cannot))
    joined = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n, n))
    _, groups = connected_components(joined, directed=False)
    rows = np.unique(np.concatenate([must, cannot]))
    codes = np.full(n, -1)
    codes[rows] = np.unique(groups[rows], return_inverse=True)[1]
    signs = np.diag((np.bincount(codes[rows]) > 1).astype(float)) if len(rows) else np.zeros((0, 0))
    for i, j in cannot:
        if codes[i] == codes[j]:
            problem = f"links the rows {(int(i), int(j))} as apart, but other links join them: remove one of these."
            raise InputError(problem, argument="keep")
        signs[codes[i], codes[j]] = signs[codes[j], codes[i]] = -1
    return Keep(codes, signs, weight, pairs=True)
