"""The Gaussian kernel on projected rows; all kernels by their names, and as plain values in files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from array_api_compat import array_namespace, device

from ..base.backend import Array, into
from ..base.errors import InputError
from .kernel_family import (
    Kernel,
    Linear,
    Mixture,
    Multiquadratic,
    Polynomial,
    RationalQuadratic,
    SelfTuning,
    Squared,
)

# exponents whose exponential is not rounded to a subnormal value, in double and single precision
LOWEST = {np.dtype(kind).char: np.log(np.finfo(kind).smallest_normal) + 0.1 for kind in (np.float64, np.float32)}


@dataclass(frozen=True)
class Gaussian(Kernel):
    """k(a, b) = exp(−‖a − b‖² / 2σ²), with a width σ > 0 in the units of the projected rows."""

    sigma: float

    normalised: ClassVar[bool] = True

    @property
    def precision(self) -> float:
        """1/σ²: the factor between k and its slope, −2 dk/d‖a − b‖² = k/σ²."""
        return float(1.0 / self.sigma**2)

    def exponent(self, A: Array, B: Array, out: Array | None = None) -> Array:
        """−‖a_i − b_j‖² / 2σ² for all pairs, shape (len(A), len(B)).

        One matrix product suffices: (a, −‖a‖²/2, 1)·(b, 1, −‖b‖²/2) = −‖a − b‖²/2. For near-duplicates rounding
        can make it positive, hence the minimum with zero.
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

    def value(self, beta: Array) -> Array:
        return array_namespace(beta).exp(-self.precision / 2 * beta)

    def slope(self, beta: Array) -> Array:
        return -self.precision / 2 * self.value(beta)

    def curvature(self, beta: Array) -> Array:
        return self.precision**2 / 4 * self.value(beta)

    def gram(self, Z: Array, out: Array | None = None) -> Array:
        """The kernel matrix K of the rows of Z, shape (n, n), with an exact unit diagonal."""
        K = self.exponent(Z, Z, out)
        np.maximum(K, LOWEST[K.dtype.char], out=K)  # exp is three times slower where its values are subnormal
        np.exp(K, out=K)
        np.fill_diagonal(K, 1.0)
        return K


def _lifted(xp: ModuleType, A: Array) -> tuple[Array, Array]:
    """The columns −‖a_i‖²/2 and 1 that turn products of rows into distances."""
    ones = xp.ones((A.shape[0], 1), dtype=A.dtype, device=device(A))
    return (-0.5 * xp.sum(A * A, axis=1))[:, None], ones


KERNELS: dict[str, type[Any]] = {
    "gaussian": Gaussian,
    "self_tuning": SelfTuning,
    "rational_quadratic": RationalQuadratic,
    "multiquadratic": Multiquadratic,
    "squared": Squared,
    "linear": Linear,
    "polynomial": Polynomial,
}


def make_kernel(choice: Any, sigma: float) -> Any:
    """The kernel of a name, or an object itself, with this width if it has none of its own."""
    if isinstance(choice, str):
        return Gaussian(sigma) if choice == "gaussian" else KERNELS[choice]().at(sigma)
    return choice.at(sigma)


def to_dict(kernel: Any) -> dict[str, Any]:
    """A kernel of this module as plain values."""
    if isinstance(kernel, Mixture):
        return {"name": "mixture", "kernels": [to_dict(one) for one in kernel.kernels], "weights": list(kernel.weights)}
    name = next((name for name, known in KERNELS.items() if type(kernel) is known), None)
    if name is None:
        raise InputError(f"kernel={kernel!r} cannot be saved: only altclust's own kernels can.")
    return {"name": name, **{field.name: getattr(kernel, field.name) for field in fields(kernel)}}


def from_dict(plain: dict[str, Any]) -> Any:
    """The kernel of `to_dict`; ValueError if it is none."""
    values = dict(plain)
    name = values.pop("name")
    if name == "mixture":
        weights = tuple(float(w) for w in values["weights"])
        return Mixture(tuple(from_dict(one) for one in values["kernels"]), weights)
    known = KERNELS[name]
    for key, number in values.items():
        if key not in {field.name for field in fields(known)} or not (
            number is None or (isinstance(number, int | float) and not isinstance(number, bool) and number > 0)
        ):
            raise ValueError(f"kernel has {key}={number!r}")
    return known(**values)
