"""Any kernel of the family, exactly: all n x n values at once, or strips of them that are computed and discarded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from ...base.backend import Array, to_numpy
from ..embedding import NOISE
from ..kernel_family import Kernel, betas
from ..linalg.eigen import ANGLE, FEW, fix_signs, leading_eigenvectors
from ..linalg.krylov import GUARDS, leading_ritz
from ..problem import Embedding, Gamma, no_columns, tall_weights

LEAST, MOST = 3, 60  # products with the kernel in a U step by strips


class FamilyEngine:
    """Sums over all pairs of rows with f(β), f′ and f″, see `altclust.core.kernel_family`.

    A kernel without positive values has no degrees: they count as 1, and U are eigenvectors of HKH.

    Parameters
    ----------
    X : array, shape (n, d)
        Centred rows; of any array library, computed in numpy.
    kernel : Kernel
    given : array, shape (n, c), optional
        Centred indicators of what is given.
    memory : float, optional
        Bytes for a strip of the kernel; all of it if left out.
    """

    accuracy = 0.0

    def __init__(self, X: Array, kernel: Kernel, given: Array | None = None, *, memory: float | None = None) -> None:
        self.X = to_numpy(X)
        self.kernel = kernel
        self.keep: tuple[Array, Array] | None = None
        self.given = no_columns(self.X) if given is None else given
        local = kernel.widths(self.X)
        self.widths = local
        self._inverse = None if local is None else 1 / local
        n = len(self.X)
        strips = 1 if memory is None else int(np.clip(np.ceil(4 * 8.0 * n * n / memory), 1, n))
        edges = np.linspace(0, n, strips + 1).astype(int).tolist()
        self._strips = [slice(a, b) for a, b in pairwise(edges)]
        self._last: tuple[Array, Array] | None = None

    def weigh(self, embedding: Embedding, degrees: Array, novelty_weight: float) -> Gamma:
        """γ for this U and these D."""
        return tall_weights(embedding, self.given, degrees, novelty_weight, self.keep)

    def _scale(self, i: slice) -> Array | float:
        """1/(σ_i σ_j) of a strip; 1 without local widths."""
        return 1.0 if self._inverse is None else self._inverse[i, None] * self._inverse

    def _each(self, W: Array) -> Iterator[tuple[slice, Array]]:
        """The strips of β, divided by local widths; the last is kept if it is all of them."""
        Z = self.X @ W
        for i in self._strips:
            whole = len(self._strips) == 1
            if whole and self._last is not None and np.array_equal(self._last[0], W):
                yield i, self._last[1]
                continue
            B = betas(Z[i], Z, self.kernel.product) * self._scale(i)
            if not self.kernel.product:
                B[np.arange(i.stop - i.start), np.arange(i.start, i.stop)] = 0.0
            if whole:
                self._last = W.copy(), B
            yield i, B

    def _weighted(self, W: Array, gamma: Gamma, order: int) -> Iterator[tuple[slice, Array]]:
        """The strips of γ ∘ f, or of γ times a derivative of f with respect to β."""
        function = (self.kernel.value, self.kernel.slope, self.kernel.curvature)[order]
        for i, B in self._each(W):
            yield i, ((gamma.F[i] * gamma.s) @ gamma.F.T) * function(B) * self._scale(i) ** order

    def degrees(self, W: Array) -> Array:
        """K 1, shape (n,), or ones."""
        if not self.kernel.normalised:
            return np.ones(len(self.X))
        return np.concatenate([self.kernel.value(B).sum(axis=1) for _, B in self._each(W)])

    def value(self, W: Array, gamma: Gamma) -> float:
        """Σ γ_ij f(β_ij)."""
        return float(sum(P.sum() for _, P in self._weighted(W, gamma, 0)))

    def value_and_gradient(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij f(β_ij) and Φ(W) W."""
        return self.value(W, gamma), self._form(self._weighted(W, gamma, 1), self.X @ W)

    def value_and_phi(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij f(β_ij) and Φ(W)."""
        phi = self._form(self._weighted(W, gamma, 1), self.X)
        return self.value(W, gamma), (phi + phi.T) / 2

    def _form(self, strips: Iterator[tuple[slice, Array]], A: Array) -> Array:
        """−4 Xᵀ(diag(Ψ1) − Ψ)A for differences, −2 XᵀΨA for products."""
        total = np.zeros((self.X.shape[1], A.shape[1]))
        for i, P in strips:
            if self.kernel.product:
                total -= 2 * self.X[i].T @ (P @ A)
            else:
                total -= 4 * self.X[i].T @ (P.sum(axis=1)[:, None] * A[i] - P @ A)
        return total

    def hessian(self, W: Array, gamma: Gamma, phi: Array) -> Callable[[Array], Array]:
        """Z -> ΦZ plus the same form with Θ = γ ∘ f″ ∘ dβ in place of Ψ, on XW."""
        rows = self.X @ W

        def product(Z: Array) -> Array:
            moved = self.X @ Z
            dots = np.sum(rows * moved, axis=1)

            def bent() -> Iterator[tuple[slice, Array]]:
                for i, P in self._weighted(W, gamma, 2):
                    crossed = rows[i] @ moved.T + moved[i] @ rows.T
                    yield i, P * (crossed if self.kernel.product else 2 * (dots[i, None] + dots - crossed))

            return phi @ Z + self._form(bent(), rows)

        return product

    def fourth_moment(self, W: Array, gamma: Gamma) -> float:
        """NaN: the theorem's inequality is about the Gaussian."""
        return float("nan")

    def embed(self, W: Array, k: int, start: Embedding | None = None) -> Embedding:
        """The k leading eigenvectors of H D^(-1/2) K D^(-1/2) H, or of HKH."""
        n, degrees = len(self.X), self.degrees(W)
        scale = 1 / np.sqrt(degrees)
        if len(self._strips) > 1 and n > max(FEW, 10 * (k + GUARDS)):
            return self._by_strips(W, k, start, degrees)
        Q = np.concatenate([self.kernel.value(B) for _, B in self._each(W)]) * scale * scale[:, None]
        means = Q.mean(axis=0)
        Q = Q - means - means[:, None] + means.mean()
        bound = 1.0 if self.kernel.normalised else float(np.abs(Q).sum(axis=1).max()) or 1.0
        values, U = leading_eigenvectors(Q / bound, k, None if start is None else start.U)
        return _informative(U, values * bound, degrees)

    def _by_strips(self, W: Array, k: int, start: Embedding | None, degrees: Array) -> Embedding:
        scale = 1 / np.sqrt(degrees)[:, None]

        def apply(B: Array) -> Array:
            right = scale * (B - B.mean(axis=0))
            found = scale * np.concatenate([self.kernel.value(strip) @ right for _, strip in self._each(W)])
            return found - found.mean(axis=0)

        block = np.random.default_rng(0).standard_normal((len(scale), k + 2 * GUARDS))
        block = np.column_stack([block, self.X @ W] if start is None else [block, start.U])
        found = leading_ritz(apply, block - block.mean(axis=0), k, error=ANGLE, least=LEAST, most=MOST)
        return _informative(fix_signs(found.vectors[:, :k]), found.values[:k], degrees)


def _informative(U: Array, values: Array, degrees: Array) -> Embedding:
    """The U step without columns that are rounding: a kernel of q products has rank q, and k may be larger."""
    kept = values > NOISE * values[0]
    return Embedding(U * kept, np.where(kept, values, 0.0), degrees)
