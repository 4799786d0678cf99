"""The n x n kernel in memory: exact, O(n²(q + d + k + c)) per evaluation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..eigen import leading_eigenvectors
from ..kernels import Array, Gaussian
from ..problem import Embedding, Gamma


class DenseEngine:
    """K(XW) as one matrix.

    The kernel of the last W is kept, and Ψ of the last W and γ: a line search asks for the value at a point, the
    solver then for Φ and for Hessian products at the same point, and the exponentials are the dearest part. n x n
    arrays are written where the last ones were, because fresh memory costs more than the arithmetic that fills it.

    Parameters
    ----------
    X : array, shape (n, d)
        Centred rows.
    kernel : Gaussian
    """

    def __init__(self, X: Array, kernel: Gaussian) -> None:
        self.X = X
        self.kernel = kernel
        self._last: tuple[Array, Array] | None = None
        self._last_psi: tuple[Array, Gamma, Array, Array] | None = None
        self._spare: dict[str, Array] = {}

    def _room(self, name: str) -> Array:
        """An n x n array to overwrite."""
        if name not in self._spare:
            self._spare[name] = np.empty((len(self.X), len(self.X)))
        return self._spare[name]

    def _gram(self, W: Array) -> Array:
        if self._last is None or not np.array_equal(self._last[0], W):
            self._last = (W.copy(), self.kernel.gram(self.X @ W, out=self._room("K")))
        return self._last[1]

    def degrees(self, W: Array) -> Array:
        """K 1, shape (n,)."""
        return self._gram(W).sum(axis=1)

    def value(self, W: Array, gamma: Gamma) -> float:
        """Σ γ_ij K_ij = Σ_l s_l f_lᵀ K f_l."""
        return float(np.sum(gamma.F * (self._gram(W) @ gamma.F), axis=0) @ gamma.s)

    def _psi(self, W: Array, gamma: Gamma) -> tuple[Array, Array]:
        """Ψ = γ ∘ K and its row sums, in which Σ γ_ij K_ij is their total."""
        last = self._last_psi
        if last is None or last[1] is not gamma or not np.array_equal(last[0], W):
            psi = np.matmul(gamma.F * gamma.s, gamma.F.T, out=self._room("psi"))
            psi *= self._gram(W)
            last = self._last_psi = (W.copy(), gamma, psi, psi.sum(axis=1))
        return last[2], last[3]

    def value_and_gradient(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) W, without the n²d product that Φ costs."""
        psi, sums = self._psi(W, gamma)
        return float(sums.sum()), self._laplacian(psi, sums, self.X @ W)

    def value_and_phi(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) = (2/σ²) Xᵀ (diag(Ψ1) − Ψ) X."""
        psi, sums = self._psi(W, gamma)
        phi = self._laplacian(psi, sums, self.X)
        return float(sums.sum()), (phi + phi.T) / 2

    def _laplacian(self, psi: Array, sums: Array, A: Array) -> Array:
        """(2/σ²) Xᵀ (diag(Ψ1) − Ψ) A = (1/σ²) Σ Ψ_ij (x_i − x_j)(a_i − a_j)ᵀ."""
        return 2 * self.kernel.precision * (self.X.T @ (sums[:, None] * A - psi @ A))

    def hessian(self, W: Array, gamma: Gamma, phi: Array) -> Callable[[Array], Array]:
        """Z -> (1/σ²) Σ Ψ_ij [A_ij Z − Tr(Zᵀ A_ij W) A_ij W / σ²], the paper's directional derivative."""
        rows, ones = self.X @ W, np.ones(len(self.X))

        def product(Z: Array) -> Array:
            moved = self.X @ Z
            dots = np.sum(rows * moved, axis=1)
            # Tr(Zᵀ A_ij W) = (xᵢ−xⱼ)ᵀW · (xᵢ−xⱼ)ᵀZ for all pairs, again as one product
            left, right = np.column_stack([rows, moved, dots, ones]), np.column_stack([-moved, -rows, ones, dots])
            twist = np.matmul(left, right.T, out=self._room("scratch"))
            twist *= self._psi(W, gamma)[0]  # kept from the last call, or made anew if W has moved on
            bent = self._laplacian(twist, twist.sum(axis=1), rows)
            return phi @ Z - self.kernel.precision * bent

        return product

    def fourth_moment(self, W: Array, gamma: Gamma) -> float:
        """Σ |γ_ij| K_ij ‖x_i − x_j‖⁴."""
        psi, _ = self._psi(W, gamma)
        squared = 2 * self.kernel.sigma**2 * self.kernel.exponent(self.X, self.X)  # minus the squared distance
        return float(np.sum(np.abs(psi) * squared**2))

    def embed(self, W: Array, k: int, start: Embedding | None = None) -> Embedding:
        """The k leading eigenvectors of H D^(-1/2) K D^(-1/2) H."""
        K = self._gram(W)
        degrees = K.sum(axis=1)
        scale = 1 / np.sqrt(degrees)
        Q = np.multiply(K, scale, out=self._room("scratch"))
        Q *= scale[:, None]
        means = Q.mean(axis=0)
        Q -= means - means.mean() / 2
        Q -= means[:, None] - means.mean() / 2
        values, U = leading_eigenvectors(Q, k, None if start is None else start.U)
        return Embedding(U, values, degrees)
