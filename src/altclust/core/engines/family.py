"""Any kernel of the family, exactly: all n x n values in memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base.backend import Array
from ..embedding import NOISE
from ..kernel_family import Kernel, betas
from ..linalg.eigen import leading_eigenvectors
from ..problem import Embedding, Gamma, KernelEngine


class FamilyEngine(KernelEngine):
    """Sums over all pairs of centred rows X (n, d) with f(β), f′ and f″, see `altclust.core.kernel_family`.

    A kernel without positive values has no degrees: they count as 1, and U are eigenvectors of HKH.
    """

    def __init__(self, X: Array, kernel: Kernel, given: Array | None = None) -> None:
        self.X = X
        self.kernel = kernel
        self.given = np.zeros((len(X), 0)) if given is None else given
        self.widths = kernel.widths(self.X)
        inverse = None if self.widths is None else 1 / self.widths
        self._scale: Array | float = 1.0 if inverse is None else inverse[:, None] * inverse
        self._last: tuple[Array, Array] | None = None

    def _betas(self, W: Array) -> Array:
        """β of all pairs, divided by local widths; that of the last W is kept."""
        if self._last is None or not np.array_equal(self._last[0], W):
            Z = self.X @ W
            B = betas(Z, Z, self.kernel.product) * self._scale
            if not self.kernel.product:
                np.fill_diagonal(B, 0.0)
            self._last = W.copy(), B
        return self._last[1]

    def _weighted(self, W: Array, gamma: Gamma, order: int) -> Array:
        """γ ∘ f, or γ times a derivative of f with respect to β."""
        function = (self.kernel.value, self.kernel.slope, self.kernel.curvature)[order]
        return ((gamma.F * gamma.s) @ gamma.F.T) * function(self._betas(W)) * self._scale**order

    def degrees(self, W: Array) -> Array:
        """K 1, shape (n,), or ones."""
        return self.kernel.value(self._betas(W)).sum(axis=1) if self.kernel.normalised else np.ones(len(self.X))

    def value(self, W: Array, gamma: Gamma) -> float:
        return float(self._weighted(W, gamma, 0).sum())

    def value_and_gradient(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        return self.value(W, gamma), self._form(self._weighted(W, gamma, 1), self.X @ W)

    def value_and_phi(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        phi = self._form(self._weighted(W, gamma, 1), self.X)
        return self.value(W, gamma), (phi + phi.T) / 2

    def _form(self, P: Array, A: Array) -> Array:
        """−4 Xᵀ(diag(Ψ1) − Ψ)A for differences, −2 XᵀΨA for products."""
        if self.kernel.product:
            return -2 * self.X.T @ (P @ A)
        return -4 * self.X.T @ (P.sum(axis=1)[:, None] * A - P @ A)

    def hessian(self, W: Array, gamma: Gamma, phi: Array) -> Callable[[Array], Array]:
        """Z -> ΦZ plus the same form with Θ = γ ∘ f″ ∘ dβ in place of Ψ, on XW."""
        rows = self.X @ W

        def product(Z: Array) -> Array:
            moved = self.X @ Z
            dots = np.sum(rows * moved, axis=1)
            crossed = rows @ moved.T + moved @ rows.T
            change = crossed if self.kernel.product else 2 * (dots[:, None] + dots - crossed)
            return phi @ Z + self._form(self._weighted(W, gamma, 2) * change, rows)

        return product

    def fourth_moment(self, W: Array, gamma: Gamma) -> float:
        """NaN: the theorem's inequality is about the Gaussian."""
        return float("nan")

    def embed(self, W: Array, k: int, start: Embedding | None = None) -> Embedding:
        """The k leading eigenvectors of H D^(-1/2) K D^(-1/2) H, or of HKH."""
        degrees = self.degrees(W)
        scale = 1 / np.sqrt(degrees)
        Q = self.kernel.value(self._betas(W)) * scale * scale[:, None]
        means = Q.mean(axis=0)
        Q = Q - means - means[:, None] + means.mean()
        bound = 1.0 if self.kernel.normalised else float(np.abs(Q).sum(axis=1).max()) or 1.0
        values, U = leading_eigenvectors(Q / bound, k, None if start is None else start.U)
        values = values * bound
        kept = values > NOISE * values[0]  # the others are rounding: a kernel of q products has rank q, maybe below k
        return Embedding(U * kept, np.where(kept, values, 0.0), degrees)
