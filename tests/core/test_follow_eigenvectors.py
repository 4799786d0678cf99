"""Eigenvectors of a matrix that changes in small steps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from altclust.core.linalg.eigen import follow_eigenvectors


def kernel(Z: np.ndarray) -> np.ndarray:
    """A narrow Gaussian kernel, whose leading eigenvalues are close."""
    squares = np.sum((Z[:, None] - Z) ** 2, axis=2)
    return np.exp(-squares / 0.05) / len(Z)


def angle(V: np.ndarray, Q: np.ndarray, k: int) -> float:
    """The sine of the largest angle between V and the leading eigenvectors."""
    exact = eigh(Q, subset_by_index=(len(Q) - k, len(Q) - 1))[1]
    return float(np.linalg.norm(V - exact @ (exact.T @ V), 2))


@pytest.mark.parametrize("n", [300, 700])  # LAPACK, and Krylov spaces
def test_it_follows_a_matrix_that_moves(n):
    rng = np.random.default_rng(0)
    Z, drift, k, around = rng.standard_normal((n, 2)), 0.02 * rng.standard_normal((n, 2)), 3, None
    for step in range(4):
        Q = kernel(Z + step * drift)
        values, around = follow_eigenvectors(Q.__matmul__, lambda Q=Q: Q, n, k, around)
        assert values == pytest.approx(eigh(Q, subset_by_index=(n - k, n - 1))[0][::-1], rel=1e-4)
        assert angle(around[:, :k], Q, k) < 3e-3


def test_it_finds_a_vector_that_was_not_among_the_last():
    n, k = 700, 2
    V = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
    before = np.append([0.5, 0.45], np.linspace(0.1, 0, n - 2))
    after = before.copy()
    after[400] = 0.9

    def whole():
        raise AssertionError("the products converge")

    around = None
    for spectrum in (before, after):
        Q = (V * spectrum) @ V.T
        values, around = follow_eigenvectors(Q.__matmul__, whole, n, k, around)
        assert angle(around[:, :k], Q, k) < 3e-3
    assert values[0] == pytest.approx(0.9)
