"""The Gaussian kernel on projected rows, and the two numbers that Φ and its derivative need of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_cupy_array,
    is_numpy_namespace,
    is_torch_array,
    is_torch_namespace,
    to_device,
)
from numpy.typing import NDArray

Array = NDArray[np.floating]

LARGEST_SINGLE = 1e8  # fourth powers of distances stay far from overflow in single precision


def into(xp: ModuleType, function: Callable[..., Any], *arrays: Array, out: Array | None) -> Array:
    """function(*arrays), written to out where the array library can do that.

    The array API standard has no out=, but fresh n x n memory costs more than the arithmetic that fills it.
    """
    if out is None or not (is_numpy_namespace(xp) or is_torch_namespace(xp)):
        return function(*arrays)
    return function(*arrays, out=out)


def like(A: Array, model: Array) -> Array:
    """A in the array library, on the device and of the dtype of model; A itself where it is so already."""
    if isinstance(model, np.ndarray):  # a tenth of the time, which counts where there are few rows
        return np.asarray(A, dtype=model.dtype)
    return array_namespace(model).asarray(A, dtype=model.dtype, device=device(model))


def to_numpy(A: Array) -> Array:
    """A small array of any library and device as a numpy array of doubles."""
    if is_torch_array(A) or is_cupy_array(A):
        A = to_device(A, "cpu")
    if not isinstance(A, np.ndarray):
        A = np.from_dlpack(A)
    return np.asarray(A, dtype=np.float64)


def accuracy_of(X: Array) -> float:
    """The first-order residual that arithmetic in the precision of X can still tell from zero."""
    return 1e-3 if X.dtype == array_namespace(X).float32 else 0.0


def fits_single(table: Array) -> bool:
    """Whether the powers of these entries neither overflow nor vanish in single precision."""
    return bool(1 / LARGEST_SINGLE <= max(table.max(), -table.min()) <= LARGEST_SINGLE)


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
        return float(1.0 / self.sigma**2)

    def exponent(self, A: Array, B: Array, out: Array | None = None) -> Array:
        """−‖a_i − b_j‖² / 2σ² for all pairs, shape (len(A), len(B)).

        One matrix product does it all: (a, −‖a‖²/2, 1)·(b, 1, −‖b‖²/2) = −‖a − b‖²/2. Rounding can lift
        the distance of near-duplicates above zero similarity, hence the minimum.
        """
        xp = array_namespace(A, B)
        E = self._products(A, B, out)
        return into(xp, xp.minimum, E, xp.zeros((), dtype=E.dtype, device=device(E)), out=E)

    def _products(self, A: Array, B: Array, out: Array | None = None) -> Array:
        xp = array_namespace(A, B)
        heights, ones = _lifted(xp, A)
        left = xp.concat([A, heights, ones], axis=1) * self.precision
        if B is not A:
            heights, ones = _lifted(xp, B)
        right = xp.concat([B, ones, heights], axis=1)
        return into(xp, xp.matmul, left, right.T, out=out)

    def between(self, A: Array, B: Array) -> Array:
        """The kernel between the rows of A and those of B, shape (len(A), len(B)), at most 1 up to rounding."""
        xp = array_namespace(A, B)
        E = self._products(A, B)
        return into(xp, xp.exp, E, out=E)

    def gram(self, Z: Array, out: Array | None = None) -> Array:
        """The kernel matrix K of the rows of Z, shape (n, n), with an exact unit diagonal."""
        xp, n = array_namespace(Z), Z.shape[0]
        K = self.exponent(Z, Z, out)
        entries = xp.reshape(into(xp, xp.exp, K, out=K), (-1,))
        entries[:: n + 1] = 1.0
        return xp.reshape(entries, (n, n))


def _lifted(xp: ModuleType, A: Array) -> tuple[Array, Array]:
    """The columns −‖a_i‖²/2 and 1 that turn products of rows into distances."""
    ones = xp.ones((A.shape[0], 1), dtype=A.dtype, device=device(A))
    return (-0.5 * xp.sum(A * A, axis=1))[:, None], ones
