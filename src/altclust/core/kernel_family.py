"""The kernels beside the Gaussian: functions f(β) of distances or products of projected rows.

F(W) = −Σ γ_ij f(β_ij), where β_ij is ‖Wᵀ(x_i − x_j)‖² (a difference kernel) or x_iᵀWWᵀx_j (a product kernel), so that β
is linear in the projector WWᵀ. An engine needs f and its first two derivatives, and nothing else:

- difference: Φ = −4 Xᵀ(diag(Ψ1) − Ψ)X with Ψ = γ ∘ f′(β);
- product: Φ = −2 XᵀΨX.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np

from ..base.backend import Array
from ..base.errors import InputError

NEIGHBOURS = 7  # the one whose distance is the local width (Zelnik-Manor and Perona 2004)


def betas(A: Array, B: Array, product: bool) -> Array:
    """Products or squared distances of all pairs of rows."""
    if product:
        return A @ B.T
    left = np.column_stack([-2 * A, np.sum(A * A, axis=1), np.ones(len(A))])
    right = np.column_stack([B, np.ones(len(B)), np.sum(B * B, axis=1)])
    return np.maximum(left @ right.T, 0.0)


class Kernel:
    """f(β) with its derivatives, entry by entry; each kernel is a frozen dataclass that derives from this class.

    `product` says what β is; `normalised` whether values are positive, so that rows have degrees.
    """

    product: ClassVar[bool] = False
    normalised: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            number = getattr(self, field.name)
            if isinstance(number, float | int) and not (isfinite(number) and number >= 0):
                problem = "must be a positive number."
                raise InputError(problem, argument=f"{type(self).__name__}({field.name})", value=number)

    def at(self, sigma: float) -> Self:
        """The kernel with this width, if it has none of its own."""
        return replace(self, sigma=sigma) if getattr(self, "sigma", 0.0) is None else self  # type: ignore[type-var]

    def value(self, beta: Array) -> Array:
        """The values of f."""
        raise NotImplementedError

    def slope(self, beta: Array) -> Array:
        """f′."""
        raise NotImplementedError

    def curvature(self, beta: Array) -> Array:
        """f″."""
        raise NotImplementedError

    def widths(self, X: Array) -> Array | None:
        """Local widths σ_i of the rows, by which β_ij is divided as β_ij / (σ_i σ_j); None for most kernels."""
        return None

    def between(self, A: Array, B: Array) -> Array:
        """The values of f for all pairs of rows of A and B, shape (len(A), len(B))."""
        return self.value(betas(A, B, self.product))

    @property
    def _precision(self) -> float:
        sigma = getattr(self, "sigma", None)
        if sigma is None or sigma == 0:
            raise InputError(f"{type(self).__name__} has no sigma: pass one, or let KDAC set it.")
        return 1 / float(sigma) ** 2


@dataclass(frozen=True)
class RationalQuadratic(Kernel):
    """f = (1 + β/2ασ²)^(−α): a mixture of Gaussians of many widths, with heavy tails."""

    sigma: float | None = None
    alpha: float = 1.0

    normalised: ClassVar[bool] = True

    def _power(self, beta: Array, power: float) -> Array:
        return (1 + beta * (self._precision / (2 * self.alpha))) ** power

    def value(self, beta: Array) -> Array:
        return self._power(beta, -self.alpha)

    def slope(self, beta: Array) -> Array:
        return -self._precision / 2 * self._power(beta, -self.alpha - 1)

    def curvature(self, beta: Array) -> Array:
        share = (self.alpha + 1) / self.alpha
        return self._precision**2 / 4 * share * self._power(beta, -self.alpha - 2)


@dataclass(frozen=True)
class SelfTuning(Kernel):
    """f = exp(−β/2σ_iσ_j), where σ_i is proportional to the distance of row i to its 7th neighbour in the table.

    σ is the median of the local widths, so that dense and thin clusters have kernels of their own scale.
    """

    sigma: float | None = None

    normalised: ClassVar[bool] = True

    def value(self, beta: Array) -> Array:
        """exp(−β/2), where β has been divided by the local widths."""
        return np.exp(-beta / 2)

    def slope(self, beta: Array) -> Array:
        return -self.value(beta) / 2

    def curvature(self, beta: Array) -> Array:
        return self.value(beta) / 4

    def widths(self, X: Array) -> Array:
        """σ_i of every row, shape (n,)."""
        n, steps = len(X), 500
        place = min(NEIGHBOURS, n - 1)
        near = [np.partition(betas(X[i : i + steps], X, False), place, axis=1)[:, place] for i in range(0, n, steps)]
        local = np.sqrt(np.concatenate(near))
        typical = float(np.median(local)) or float(np.mean(local)) or 1.0
        return np.maximum(local / typical, 0.1) / self._precision**0.5  # duplicates have no width of their own


@dataclass(frozen=True)
class Multiquadratic(Kernel):
    """f = −√(β + σ²): grows with distance, and never flattens; no degrees."""

    sigma: float | None = None

    def _root(self, beta: Array) -> Array:
        return np.sqrt(beta + 1 / self._precision)

    def value(self, beta: Array) -> Array:
        return -self._root(beta)

    def slope(self, beta: Array) -> Array:
        return -0.5 / self._root(beta)

    def curvature(self, beta: Array) -> Array:
        return 0.25 / self._root(beta) ** 3


@dataclass(frozen=True)
class Squared(Kernel):
    """f = −β: Φ does not depend on W, so that a W step is one eigendecomposition; no degrees."""

    def value(self, beta: Array) -> Array:
        return -beta

    def slope(self, beta: Array) -> Array:
        return -np.ones_like(beta)

    def curvature(self, beta: Array) -> Array:
        return np.zeros_like(beta)


@dataclass(frozen=True)
class Linear(Kernel):
    """f = β for products: like `Squared`, as principal components are; no degrees."""

    product: ClassVar[bool] = True

    def value(self, beta: Array) -> Array:
        return beta

    def slope(self, beta: Array) -> Array:
        return np.ones_like(beta)

    def curvature(self, beta: Array) -> Array:
        return np.zeros_like(beta)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """f = (β/σ² + 1)^p for products: all products of up to p coordinates; no degrees."""

    sigma: float | None = None
    degree: int = 2

    product: ClassVar[bool] = True

    def _power(self, beta: Array, power: int) -> Array:
        return (1 + self._precision * beta) ** power if power >= 0 else np.zeros_like(beta)

    def value(self, beta: Array) -> Array:
        return self._power(beta, self.degree)

    def slope(self, beta: Array) -> Array:
        return self.degree * self._precision * self._power(beta, self.degree - 1)

    def curvature(self, beta: Array) -> Array:
        return self.degree * (self.degree - 1) * self._precision**2 * self._power(beta, self.degree - 2)


@dataclass(frozen=True)
class Mixture(Kernel):
    """Σ μ_m f_m with weights μ_m ≥ 0 that are scaled to sum to 1; all kernels of differences, or all of products.

    Examples
    --------
    >>> from altclust import KDAC, kernels
    >>> wide_and_narrow = kernels.Mixture((kernels.Gaussian(2.0), kernels.Gaussian(0.5)), (1, 1))
    >>> KDAC(kernel=wide_and_narrow).kernel.weights
    (1, 1)
    """

    kernels: tuple[Any, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernels", tuple(self.kernels))
        object.__setattr__(self, "weights", tuple(self.weights) or (1,) * len(self.kernels))
        several = {one.product for one in self.kernels}
        if len(several) != 1 or any(isinstance(one, SelfTuning | Mixture) for one in self.kernels):
            raise InputError("A mixture needs kernels that are all of differences, or all of products, without widths.")
        if len(self.weights) != len(self.kernels) or min(self.weights) < 0 or not 0 < sum(self.weights) < np.inf:
            raise InputError(
                "has to have one weight of at least 0 for each kernel.", argument="weights", value=self.weights
            )

    @property
    def product(self) -> bool:  # type: ignore[override]
        return self.kernels[0].product

    @property
    def normalised(self) -> bool:  # type: ignore[override]
        return all(one.normalised for one in self.kernels)

    def at(self, sigma: float) -> Mixture:
        return replace(self, kernels=tuple(one.at(sigma) for one in self.kernels))

    def _sum(self, name: str, beta: Array) -> Array:
        total = sum(self.weights)
        return sum(w / total * getattr(one, name)(beta) for w, one in zip(self.weights, self.kernels, strict=True))

    def value(self, beta: Array) -> Array:
        return self._sum("value", beta)

    def slope(self, beta: Array) -> Array:
        return self._sum("slope", beta)

    def curvature(self, beta: Array) -> Array:
        return self._sum("curvature", beta)
