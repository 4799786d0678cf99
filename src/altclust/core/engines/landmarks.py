"""Which rows stand for all: randomly pivoted Cholesky on the projected cloud."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ...base.backend import Array
from ..kernels import Gaussian

PROPOSED = 48  # pivots that are drawn at once


def choose_landmarks(
    Z: Array, kernel: Gaussian, tolerance: float, most: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Rows of Z on which the kernel of all rows rests, and the share of its trace that they leave out.

    Randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023) draws each pivot with the probability of what is
    left of the diagonal; its accelerated form (Epperly, Tropp and Webber 2024) draws many at once and rejects those
    that the ones before them have made less likely, which gives the same pivots in matrix products.

    Parameters
    ----------
    Z : array, shape (n, q)
        Projected rows.
    kernel : Gaussian
    tolerance : float
        Share of the trace that may be left out.
    most : int
        Landmarks at most.
    rng : Generator

    Returns
    -------
    pivots : int array, shape (r,)
    error : float
    """
    n = len(Z)
    most = min(most, n)
    F = np.zeros((n, min(most, 4 * PROPOSED)))
    left = np.ones(n)
    pivots: list[int] = []
    while len(pivots) < most and left.sum() > tolerance * n:
        r = len(pivots)
        drawn = np.unique(rng.choice(n, size=PROPOSED, p=left / left.sum()))
        drawn = rng.permutation(drawn)
        block = kernel.gram(Z[drawn]) - F[drawn, :r] @ F[drawn, :r].T
        kept, factor = _accept(block, left[drawn], rng, most - r)
        new = drawn[kept]
        if not len(new):  # all that is left is rounding
            break
        if r + len(new) > F.shape[1]:
            F = np.hstack([F, np.zeros((n, min(F.shape[1], most - F.shape[1])))])
        columns = np.exp(kernel.exponent(Z, Z[new])) - F[:, :r] @ F[new, :r].T
        F[:, r : r + len(new)] = solve_triangular(factor, columns.T, lower=True).T
        left = np.maximum(left - np.sum(F[:, r : r + len(new)] ** 2, axis=1), 0.0)
        left[new] = 0.0
        pivots += new.tolist()
    return np.array(pivots, dtype=int), float(left.sum() / n)


def _accept(block: Array, proposed: Array, rng: np.random.Generator, most: int) -> tuple[np.ndarray, Array]:
    """Go through proposals in turn, each accepted by how much of its diagonal is still left; and their factor."""
    size = len(block)
    factor = np.zeros((size, size))
    kept: list[int] = []
    for i in range(size):
        row = factor[i, : len(kept)]
        remaining = block[i, i] - row @ row
        if remaining <= 1e-12 or rng.random() * proposed[i] >= remaining:
            continue
        later = (block[:, i] - factor[:, : len(kept)] @ row) / np.sqrt(remaining)
        factor[:, len(kept)] = later
        kept.append(i)
        if len(kept) == most:
            break
    return np.array(kept, dtype=int), np.tril(factor[np.ix_(kept, range(len(kept)))])
