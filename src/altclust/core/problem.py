"""The KDAC problem, the interface of engines, and the objective of the W step that solvers minimise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import eigh, svd

from ..base.backend import Array

SCALINGS = ("balanced", "paper")
FAINT = 0.01  # share of the largest singular value, below which a whitened direction would be noise
ROUNDING = 1e-7  # the same, below which a direction is rounding
ROWS_PER_DIRECTION = 15  # rows that a fully whitened direction needs


class Gamma(NamedTuple):
    """γ = F diag(s) Fᵀ, the signed weights of the pairs, never stored as n x n.

    F = D^(-1/2) H [U, Ŷ] has shape (n, k + c); s is 1 for U's columns and −λ for the given ones.
    """

    F: Array
    s: Array


@dataclass(frozen=True)
class Embedding:
    """The U step: U (n, k) orthonormal, its eigenvalues (k,) descending, and the degrees D (n,)."""

    U: Array
    values: Array
    degrees: Array


class KernelEngine(Protocol):
    """Owns rows in memory and the given clusterings, and applies the kernel K(XW) to them.

    Sums run over all pairs of rows; Φ and gradients are those of −Σ γ K. `given` are centred indicators (n, c) in the
    scaling that λ refers to, `keep` columns (n, m) and weights (m,) of what the view should agree with.
    """

    X: Array
    kernel: Any
    given: Array
    keep: tuple[Array, Array] | None = None

    def weigh(self, embedding: Embedding, degrees: Array, novelty_weight: float) -> Gamma:
        """γ of the W problem for this U and these D, with λ."""
        U, scale = embedding.U, np.sqrt(degrees)[:, None]
        F = np.hstack([U - np.mean(U, axis=0), self.given]) / scale
        s = np.concatenate([np.ones(U.shape[1]), np.full(self.given.shape[1], -novelty_weight)])
        if self.keep is not None:
            F, s = np.hstack([F, self.keep[0] / scale]), np.concatenate([s, self.keep[1]])
        return Gamma(F, s)

    def degrees(self, W: Array) -> Array:
        """K(XW) 1, shape (n,)."""

    def value(self, W: Array, gamma: Gamma) -> float:
        """Σ γ_ij K_ij."""

    def value_and_gradient(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) W, shape (d, q), without the d x d matrix: for gradient methods."""

    def value_and_phi(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W), shape (d, d), in one pass."""

    def hessian(self, W: Array, gamma: Gamma, phi: Array) -> Callable[[Array], Array]:
        """The map Z -> derivative of Φ(W) W along Z, both of shape (d, q); phi is Φ(W)."""

    def fourth_moment(self, W: Array, gamma: Gamma) -> float:
        """Σ |γ_ij| K_ij ‖x_i − x_j‖⁴, the right side of the theorem's inequality times σ²."""

    def embed(self, W: Array, k: int, start: Embedding | None = None) -> Embedding:
        """The k leading eigenvectors of H D^(-1/2) K D^(-1/2) H; start is the last U step."""


class Objective(Protocol):
    """F(W) with U and D fixed: the interface of solvers, independent of rows, blocks and devices."""

    def value(self, W: Array) -> float:
        """F(W)."""

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """F(W) and ∇F(W) = Φ(W) W, equation (5) of the paper."""

    def value_and_phi(self, W: Array) -> tuple[float, Array]:
        """F(W) and Φ(W), equation (8) of the paper."""

    def hessian(self, W: Array, phi: Array) -> Callable[[Array], Array]:
        """Z -> D∇F(W)[Z], where phi is Φ(W)."""


@dataclass(frozen=True)
class KernelObjective:
    """F(W) = −Σ γ_ij K_ij over the rows of an engine."""

    engine: KernelEngine
    gamma: Gamma

    def value(self, W: Array) -> float:
        return -self.engine.value(W, self.gamma)

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        value, gradient = self.engine.value_and_gradient(W, self.gamma)
        return -value, gradient

    def value_and_phi(self, W: Array) -> tuple[float, Array]:
        value, phi = self.engine.value_and_phi(W, self.gamma)
        return -value, phi

    def hessian(self, W: Array, phi: Array) -> Callable[[Array], Array]:
        return self.engine.hessian(W, self.gamma, phi)


@dataclass(frozen=True)
class Problem:
    """KDAC: maximise HSIC(XW, U) − λ HSIC(XW, Y) over orthonormal W and U; an engine owns X and Y."""

    n_clusters: int
    n_components: int
    novelty_weight: float
    kernel: Any

    def cost(self, W: Array, embedding: Embedding, engine: KernelEngine) -> float:
        """−HSIC(XW, U) + λ HSIC(XW, Y) at consistent W, U, D: the cost that the paper prints."""
        return -engine.value(W, engine.weigh(embedding, embedding.degrees, self.novelty_weight))


def coordinates(X: Array, whitening: float = 0.0, subspace: Array | None = None) -> tuple[Array, Array | None]:
    """Centred rows in the coordinates of a problem: see `row_space`, and `whiten` if whitening is not 0.

    With an orthonormal subspace (d, m), only directions in its span count.
    """
    if subspace is not None:
        rows, basis = coordinates(X @ subspace, whitening)
        return rows, subspace if basis is None else subspace @ basis
    return row_space(X) if whitening == 0 else whiten(X, whitening)


def whiten(X: Array, power: float) -> tuple[Array, Array]:
    """Centred rows in principal directions, over their standard deviations to a power, and that basis.

    With power 1 all directions vary equally, so that one that dwarfs the others cannot hide them, but noise counts as
    much as the rest: then only directions are kept for which there are enough rows. The columns of the basis, shape (d,
    r), are orthogonal, but not of unit length.
    """
    n = len(X)
    _, singular, Vt = svd(X, full_matrices=False)
    r = max(1, int(np.sum(singular > FAINT * singular[0])))
    r = min(r, max(2, int(n / ROWS_PER_DIRECTION))) if power == 1 else r
    basis = Vt[:r].T / (singular[:r] / np.sqrt(n)) ** power if singular[0] > 0 else Vt[:r].T
    return X @ basis, basis


def row_space(X: Array) -> tuple[Array, Array | None]:
    """Centred rows in an orthonormal basis (d, r) of their row space, and the basis; X and None if r = d.

    Φ = XᵀMX is zero outside the row space of X: a direction there carries no information, yet its eigenvalue 0 may be
    the smallest. Restricting to the row space excludes such directions and keeps time linear in d. Directions with
    singular values that are only rounding are dropped.
    """
    n, d = X.shape
    if d >= n:
        _, singular, Vt = svd(X, full_matrices=False)
        basis = Vt[singular > ROUNDING * singular[0]].T
    else:
        squares, V = eigh(X.T @ X)
        wide = np.sqrt(np.maximum(squares, 0.0)) > ROUNDING * np.sqrt(max(squares[-1], 0.0))
        if wide.all():
            return X, None
        basis = V[:, wide][:, ::-1]
    return X @ basis, basis
