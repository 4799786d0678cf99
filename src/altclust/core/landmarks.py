"""Choice of landmark rows: randomly pivoted Cholesky on the projected rows."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ..base.backend import Array
from .kernels import Gaussian

PROPOSED = 48  # pivots per draw


def choose_landmarks(
    Z: Array, kernel: Gaussian, tolerance: float, most: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Landmarks among the projected rows Z (n, q) for a Nyström approximation, and its relative trace error.

    Randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023) draws each pivot with probability proportional to
    the residual diagonal; its accelerated form (Epperly, Tropp and Webber 2024) draws many at once and applies
    rejection sampling to them in turn, which gives the same distribution of pivots with matrix products. It stops at
    the tolerance of the error, or at so many landmarks.
    """
    n = len(Z)
    most = min(most, n)
    F = np.zeros((n, min(most, 4 * PROPOSED)))
    left = np.ones(n)  # k(z, z)
    pivots: list[int] = []
    while len(pivots) < most and left.sum() > tolerance * n:
        r = len(pivots)
        drawn = np.unique(rng.choice(n, size=PROPOSED, p=left / left.sum()))
        drawn = rng.permutation(drawn)
        block = kernel.gram(Z[drawn]) - F[drawn, :r] @ F[drawn, :r].T
        kept, factor = _accept(block, left[drawn], rng, most - r, 1e-12)
        new = drawn[kept]
        if not len(new):  # the residual diagonal is only rounding
            break
        if r + len(new) > F.shape[1]:
            F = np.hstack([F, np.zeros((n, min(F.shape[1], most - F.shape[1])))])
        columns = np.exp(kernel.exponent(Z, Z[new])) - F[:, :r] @ F[new, :r].T
        F[:, r : r + len(new)] = solve_triangular(factor, columns.T, lower=True).T
        left = np.maximum(left - np.sum(F[:, r : r + len(new)] ** 2, axis=1), 0.0)
        left[new] = 0.0
        pivots += new.tolist()
    return np.array(pivots, dtype=int), float(left.sum() / n)


def _accept(
    block: Array, proposed: Array, rng: np.random.Generator, most: int, rounding: float
) -> tuple[np.ndarray, Array]:
    """Accept proposals in turn, with probability residual over proposed diagonal; and their Cholesky factor."""
    size = len(block)
    factor = np.zeros((size, size))
    kept: list[int] = []
    for i in range(size):
        row = factor[i, : len(kept)]
        remaining = block[i, i] - row @ row
        if remaining <= rounding or rng.random() * proposed[i] >= remaining:
            continue
        later = (block[:, i] - factor[:, : len(kept)] @ row) / np.sqrt(remaining)
        factor[:, len(kept)] = later
        kept.append(i)
        if len(kept) == most:
            break
    return np.array(kept, dtype=int), np.tril(factor[np.ix_(kept, range(len(kept)))])
