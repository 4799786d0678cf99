"""The Gaussian kernel on projected rows, and the two numbers that Φ and its derivative need of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Gaussian:
    """k(a, b) = exp(−‖a − b‖² / 2σ²).

    Parameters
    ----------
    sigma : float
        The width σ > 0, in the units of the projected rows.
    """

    sigma: float

    @property
    def precision(self) -> float:
        """1/σ²: the factor between k and its slope, −2 dk/d‖a − b‖² = k/σ²."""
        return 1.0 / self.sigma**2

    def exponent(self, A: Array, B: Array, out: Array | None = None) -> Array:
        """−‖a_i − b_j‖² / 2σ² for all pairs, shape (len(A), len(B)).

        One matrix product does it all: (a, −‖a‖²/2, 1)·(b, 1, −‖b‖²/2) = −‖a − b‖²/2. Rounding can lift
        the distance of near-duplicates above zero similarity, hence the minimum.
        """
        left = np.column_stack([A, -0.5 * np.sum(A * A, axis=1), np.ones(len(A))]) * self.precision
        right = np.column_stack([B, np.ones(len(B)), -0.5 * np.sum(B * B, axis=1)])
        E = np.matmul(left, right.T, out=out)
        return np.minimum(E, 0.0, out=E)

    def gram(self, Z: Array, out: Array | None = None) -> Array:
        """The kernel matrix K of the rows of Z, shape (n, n), with an exact unit diagonal."""
        K = self.exponent(Z, Z, out)
        np.exp(K, out=K)
        np.fill_diagonal(K, 1.0)
        return K
