"""The n x n kernel in memory: exact, O(n²(q + d + k + c)) per evaluation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base.backend import Array
from ..kernels import Gaussian
from ..linalg.eigen import leading_eigenvectors
from ..problem import Embedding, Gamma, KernelEngine


class DenseEngine(KernelEngine):
    """K(XW) as one matrix, for centred rows X (n, d) and centred indicators (n, c) of what is given.

    K of the last W and Ψ of the last W and γ are cached: a line search computes the value at a point, and the solver
    then Φ and Hessian products at the same point; the exponentials are the most expensive part. n x n arrays are
    reused, because allocating memory costs more than the arithmetic that fills it.
    """

    def __init__(self, X: Array, kernel: Gaussian, given: Array | None = None) -> None:
        self.X = X
        self.kernel = kernel
        self.given = np.zeros((len(X), 0)) if given is None else given
        self._last_gram: tuple[Array, Array] | None = None
        self._last_psi: tuple[Array, Gamma, Array, Array] | None = None
        self._buffers: dict[str, Array] = {}

    def _buffer(self, name: str) -> Array:
        """An n x n array to overwrite."""
        if name not in self._buffers:
            self._buffers[name] = np.empty((len(self.X), len(self.X)))
        return self._buffers[name]

    def _gram(self, W: Array) -> Array:
        last = self._last_gram
        if last is None or not np.array_equal(last[0], W):
            last = self._last_gram = (W.copy(), self.kernel.gram(self.X @ W, out=self._buffer("K")))
        return last[1]

    def degrees(self, W: Array) -> Array:
        return np.sum(self._gram(W), axis=1)

    def value(self, W: Array, gamma: Gamma) -> float:
        """Σ γ_ij K_ij = Σ_l s_l f_lᵀ K f_l."""
        return float(np.sum(gamma.F * (self._gram(W) @ gamma.F), axis=0) @ gamma.s)

    def _psi(self, W: Array, gamma: Gamma) -> tuple[Array, Array]:
        """Ψ = γ ∘ K and its row sums, which add up to Σ γ_ij K_ij."""
        last = self._last_psi
        if last is None or last[1] is not gamma or not np.array_equal(last[0], W):
            psi = np.matmul(gamma.F * gamma.s, gamma.F.T, out=self._buffer("psi"))
            psi *= self._gram(W)
            last = self._last_psi = (W.copy(), gamma, psi, np.sum(psi, axis=1))
        return last[2], last[3]

    def value_and_gradient(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) W, without the n²d product that Φ needs."""
        psi, sums = self._psi(W, gamma)
        return float(np.sum(sums)), self._laplacian(psi, sums, self.X @ W)

    def value_and_phi(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) = (2/σ²) Xᵀ (diag(Ψ1) − Ψ) X."""
        psi, sums = self._psi(W, gamma)
        phi = self._laplacian(psi, sums, self.X)
        return float(np.sum(sums)), (phi + phi.T) / 2

    def _laplacian(self, psi: Array, sums: Array, A: Array) -> Array:
        """(2/σ²) Xᵀ (diag(Ψ1) − Ψ) A = (1/σ²) Σ Ψ_ij (x_i − x_j)(a_i − a_j)ᵀ."""
        return 2 * self.kernel.precision * (self.X.T @ (sums[:, None] * A - psi @ A))

    def hessian(self, W: Array, gamma: Gamma, phi: Array) -> Callable[[Array], Array]:
        """Z -> (1/σ²) Σ Ψ_ij [A_ij Z − Tr(Zᵀ A_ij W) A_ij W / σ²], the paper's directional derivative."""
        rows = self.X @ W
        ones = np.ones((len(rows), 1))

        def product(Z: Array) -> Array:
            moved = self.X @ Z
            dots = np.sum(rows * moved, axis=1)[:, None]
            # Tr(Zᵀ A_ij W) = (xᵢ−xⱼ)ᵀW · (xᵢ−xⱼ)ᵀZ for all pairs, again as one product
            left, right = np.hstack([rows, moved, dots, ones]), np.hstack([-moved, -rows, ones, dots])
            twist = np.matmul(left, right.T, out=self._buffer("scratch"))
            twist *= self._psi(W, gamma)[0]  # cached, or computed again if W has changed
            bent = self._laplacian(twist, np.sum(twist, axis=1), rows)
            return phi @ Z - self.kernel.precision * bent

        return product

    def fourth_moment(self, W: Array, gamma: Gamma) -> float:
        """Σ |γ_ij| K_ij ‖x_i − x_j‖⁴."""
        psi, _ = self._psi(W, gamma)
        squared = float(2 * self.kernel.sigma**2) * self.kernel.exponent(self.X, self.X)  # minus the squared distance
        return float(np.sum(np.abs(psi) * squared**2))

    def embed(self, W: Array, k: int, start: Embedding | None = None) -> Embedding:
        """The k leading eigenvectors of H D^(-1/2) K D^(-1/2) H."""
        K = self._gram(W)
        degrees = np.sum(K, axis=1)
        scale = 1 / np.sqrt(degrees)
        Q = np.multiply(K, scale, out=self._buffer("scratch"))
        Q *= scale[:, None]
        means = np.mean(Q, axis=0)
        half = np.mean(means) / 2
        Q -= means - half
        Q -= means[:, None] - half
        values, U = leading_eigenvectors(Q, k, None if start is None else start.U)
        return Embedding(U, values, degrees)
