"""What is asked: the data, what is known of it, and the W problem that a solver sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from array_api_compat import array_namespace
from scipy.linalg import eigh, svd

from ..base.backend import Array, like
from .kernels import Gaussian

SCALINGS = ("balanced", "paper")


class Gamma(NamedTuple):
    """γ = F diag(s) Fᵀ, the signed weights of the pairs, never stored as n x n.

    F = D^(-1/2) H [U, Ŷ] has shape (n, k + c); s is 1 for U's columns and −λ for the given ones.
    """

    F: Array
    s: Array


class Embedding(NamedTuple):
    """The U step: U (n, k) orthonormal, its eigenvalues (k,) descending, and the degrees D (n,)."""

    U: Array
    values: Array
    degrees: Array


class KernelEngine(Protocol):
    """How K(XW) acts on the data. Sums run over all pairs of rows; Φ and gradients are those of −Σ γ K.

    `accuracy` is the first-order residual below which its values and its Φ no longer agree; 0 where they are exact.
    """

    accuracy: float

    def degrees(self, W: Array) -> Array:
        """K(XW) 1, shape (n,)."""

    def value(self, W: Array, gamma: Gamma) -> float:
        """Σ γ_ij K_ij."""

    def value_and_gradient(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) W, shape (d, q): all that a gradient method needs, without the d x d matrix."""

    def value_and_phi(self, W: Array, gamma: Gamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W), shape (d, d), in one pass."""

    def hessian(self, W: Array, gamma: Gamma, phi: Array) -> Callable[[Array], Array]:
        """The map Z -> derivative of Φ(W) W along Z, both of shape (d, q); phi is Φ(W)."""

    def fourth_moment(self, W: Array, gamma: Gamma) -> float:
        """Σ |γ_ij| K_ij ‖x_i − x_j‖⁴, the right side of the theorem's inequality times σ²."""

    def embed(self, W: Array, k: int, start: Embedding | None = None) -> Embedding:
        """The k leading eigenvectors of H D^(-1/2) K D^(-1/2) H; start is the last U step."""


@dataclass(frozen=True)
class Objective:
    """F(W) = −Σ γ_ij K_ij with U and D fixed: what a solver sees; nothing of n, blocks or devices."""

    engine: KernelEngine
    gamma: Gamma

    @property
    def accuracy(self) -> float:
        """That of the engine."""
        return self.engine.accuracy

    def value(self, W: Array) -> float:
        """F(W)."""
        return -self.engine.value(W, self.gamma)

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """F(W) and ∇F(W) = Φ(W) W, equation (5) of the paper."""
        value, gradient = self.engine.value_and_gradient(W, self.gamma)
        return -value, gradient

    def value_and_phi(self, W: Array) -> tuple[float, Array]:
        """F(W) and Φ(W), equation (8) of the paper."""
        value, phi = self.engine.value_and_phi(W, self.gamma)
        return -value, phi

    def hessian(self, W: Array, phi: Array) -> Callable[[Array], Array]:
        """Z -> D∇F(W)[Z], where phi is Φ(W)."""
        return self.engine.hessian(W, self.gamma, phi)


@dataclass(frozen=True)
class Problem:
    """KDAC: maximise HSIC(XW, U) − λ HSIC(XW, Y) over orthonormal W and U.

    Attributes
    ----------
    X : array, shape (n, r)
        Centred rows, in coordinates of their row space where that is smaller than the table.
    basis : array, shape (d, r), or None
        The orthonormal directions of those coordinates; None where X is the centred table itself.
    given : array, shape (n, c)
        Centred indicator columns of what is known, in the scaling in which λ counts.
    n_clusters, n_components : int
        k and q.
    novelty_weight : float
        λ.
    kernel : Gaussian
    codes : sequence of int arrays, shape (n,)
        What is known as codes, for telling the overlap round by round; may be left out.
    """

    X: Array
    basis: Array | None
    given: Array
    n_clusters: int
    n_components: int
    novelty_weight: float
    kernel: Gaussian
    codes: Sequence[np.ndarray] = ()

    def gamma(self, U: Array, degrees: Array) -> Gamma:
        """The weights of the W problem for fixed U and D."""
        xp = array_namespace(U)
        centred = U - xp.mean(U, axis=0)
        F = xp.concat([centred, like(self.given, U)], axis=1) / xp.sqrt(like(degrees, U))[:, None]
        s = np.concatenate([np.ones(U.shape[1]), np.full(self.given.shape[1], -self.novelty_weight)])
        return Gamma(F, s)

    def weigh(self, embedding: Embedding, degrees: Array) -> Gamma:
        """The weights of the W problem for this U and these degrees."""
        return self.gamma(embedding.U, degrees)

    def cost(self, W: Array, embedding: Embedding, engine: KernelEngine) -> float:
        """−HSIC(XW, U) + λ HSIC(XW, Y) at consistent W, U, D: the cost that the paper prints."""
        return -engine.value(W, self.weigh(embedding, embedding.degrees))

    def to_table(self, W: Array) -> Array:
        """W in the coordinates of the table, shape (d, q)."""
        return W if self.basis is None else self.basis @ W


def indicators(given: Sequence[np.ndarray], n: int, scaling: str = "balanced") -> Array:
    """The columns of H Y for every given clustering, side by side.

    Parameters
    ----------
    given : sequence of int arrays, shape (n,)
        Cluster codes; −1 is unknown. A row with an unknown label has a zero row here: centring runs over the
        known rows only, so the penalty is the HSIC of those rows and the others are free.
    n : int
        Number of rows.
    scaling : {"balanced", "paper"}
        Unit columns Ŷ = Y (YᵀY)^(-1/2), which frees λ of n and of the cluster sizes, or the raw one-hot Y.

    Returns
    -------
    array, shape (n, c)
    """
    blocks = [np.zeros((n, 0))]
    for codes in given:
        known = codes >= 0
        if not known.any():
            continue
        Y = (codes[:, None] == np.unique(codes[known])).astype(float)
        if scaling == "balanced":
            Y /= np.sqrt(Y.sum(axis=0))
        Y[known] -= Y[known].mean(axis=0)
        blocks.append(Y)
    return np.hstack(blocks)


def remove_given(X: Array, given: Sequence[np.ndarray]) -> Array:
    """The centred rows of X without what the given clusterings explain of them: the residual of a regression on all
    their indicators, which for one clustering subtracts the mean of each row's cluster.
    """
    Y = indicators(given, len(X))
    left = X - Y @ np.linalg.lstsq(Y, X, rcond=None)[0]
    return np.where(np.abs(left) > 1e-12 * np.abs(X).max(), left, 0.0)


def row_space(X: Array, tolerance: float = 1e-7) -> tuple[Array, Array | None]:
    """Centred rows in an orthonormal basis of their row space, if that has fewer columns than the table.

    Φ = XᵀMX is zero outside the row space of X: a direction there shows nothing of the data, yet its eigenvalue
    0 may be the smallest. Working inside makes such a choice impossible and keeps time linear in d.

    Parameters
    ----------
    X : array, shape (n, d)
        Centred.
    tolerance : float
        Directions with singular values below this share of the largest are not counted.

    Returns
    -------
    rows : array, shape (n, r)
    basis : array, shape (d, r), or None
        None where r = d and nothing was rotated.
    """
    n, d = X.shape
    if d >= n:
        _, singular, Vt = svd(X, full_matrices=False)
        basis: Array | None = Vt[singular > tolerance * singular[0]].T
    else:
        basis = wide_directions(X.T @ X, tolerance)
    return (X, None) if basis is None else (X @ basis, basis)


def wide_directions(scatter: Array, tolerance: float = 1e-7, widest: float = 0.0) -> Array | None:
    """The principal directions, shape (d, r), along which rows with this XᵀX spread; None where those are all d.

    widest is an eigenvalue of what the scatter was computed from, if that was larger: its rounding is still there.
    """
    squares, V = eigh(scatter)
    wide = np.sqrt(np.maximum(squares, 0.0)) > tolerance * np.sqrt(max(squares[-1], widest))
    return None if wide.all() else V[:, wide][:, ::-1]
