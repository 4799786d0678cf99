"""Tables with many columns: the leading principal directions, and a few columns that stand out by themselves.

A search in hundreds of directions finds gaps by chance, and is slow. Clusters that many columns share show in the
leading principal directions. Clusters of a few columns among many of noise do not; but each such column has lighter
tails than a bell curve, and depends on the others of its view. Both are judged column by column, so views that are
rotated across many columns of noise are missed.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils.extmath import randomized_svd

from ..base.backend import Array
from ..base.given import Given
from .independent_components import equal_bins

WIDE = 200  # columns, above which a search is restricted
LEADING = 50  # principal directions of a wide table, or its most telling columns, that are looked at
LIGHTEST, PARTNERS = 4, 2  # columns with the lightest tails, and partners of each


def screen(X: Array, given: Given, seed: int) -> tuple[Array, Array]:
    """A basis of the directions to search in, and the part of it that a few columns span.

    Parameters
    ----------
    X : array, shape (n, d)
        Centred.
    given : Given
    seed : int

    Returns
    -------
    subspace : array, shape (d, r)
        Orthonormal.
    columns : array, shape (r, m)
        Orthonormal coordinates of single columns in that basis.
    """
    chosen = standing_out(given.subtracted_from(X))
    leading = randomized_svd(X, min(LEADING, *X.shape), n_iter=4, random_state=seed)[2].T
    own = np.eye(X.shape[1])[:, chosen]
    rest = leading.copy()
    rest[chosen] = 0.0  # orthogonal to the chosen columns
    q, triangle = np.linalg.qr(rest)
    q = q[:, np.abs(np.diag(triangle)) > 1e-8]
    return np.column_stack([own, q]), np.eye(len(chosen) + q.shape[1])[:, : len(chosen)]


def standing_out(X: Array) -> np.ndarray:
    """The numbers of the columns with the lightest tails, and of those that depend most on each of them."""
    spread = X.std(axis=0)
    Z = X / np.where(spread > 0, spread, 1.0)
    tails = np.where(spread > 0, np.mean(Z**4, axis=0), np.inf)
    order = np.argsort(tails, kind="stable")[:LIGHTEST]
    found = list(order)
    for j in order:
        cells = equal_bins(Z[:, j])
        counts = np.bincount(cells)[:, None]
        depends = np.zeros(Z.shape[1])
        for values in (Z, Z**2 - 1):
            sums = np.zeros((len(counts), Z.shape[1]))
            np.add.at(sums, cells, values)
            depends = np.maximum(
                depends, np.sum(sums**2 / counts, axis=0) / np.maximum(np.sum(values**2, axis=0), 1e-12)
            )
        depends[found] = -1.0
        found += list(np.argsort(-depends, kind="stable")[:PARTNERS])
    return np.array(sorted(set(found)))
