"""One objective for W alone: U and the degrees D are functions of W, and are eliminated.

f(W) = −Σ_j w_j(Q) + λ tr(Ŷᵀ Q Ŷ) with Q = H D^(-1/2) K(XW) D^(-1/2) H, w_j its k − 1 leading eigenvalues and
D = K1 + floor · mean(K1). It differs from the cost of the paper in two ways. H has removed the constant vector, so k
clusters need k − 1 eigenvectors; a k-th would ask for one cluster too many. And without the floor, a single row far
from all others would count as a good cluster.

With A = H(UUᵀ − λŶŶᵀ)H and r = (A ∘ D^(-1/2) K D^(-1/2)) 1 / D, the gradient is that of −Σ γ_ij K_ij for the constant
weights γ_ij = A_ij / √(D_i D_j) − ½ (r_i + r_j) − floor · mean(r): the weights of the paper plus a matrix of rank two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigh, solve_triangular
from scipy.sparse import csr_array

from ..base.backend import Array
from ..base.parallel import fitting_threads
from ..base.sampling import sample_rows
from .kernels import Gaussian
from .landmarks import choose_landmarks
from .linalg.eigen import FEW, follow_eigenvectors
from .problem import Gamma

FLOOR = 0.1  # share of the mean degree that is added to every degree
TOLERANCE = 2e-4  # share of the trace of the centred kernel that landmarks may leave out
DRIFT = 2  # times as much, where a descent ends
SAMPLED = 300  # rows from which that trace is estimated
DIFFERENCE = 1e-4  # length of the steps of Hessian products
TINY = 1e-12  # below it, eigenvalues are rounding
ROUGH, FEW_LANDMARKS = 1e-2, 100  # share of the trace, and landmarks, of a rough objective
NEAR, FEW_PAIRS = 1e-15, 0.2  # kernel values above rounding, and the share of them below which products are sparse
MOST_LANDMARKS = 500  # from where the exact kernel of a few thousand rows costs no more
EXACT_ROWS = 3000  # above, landmarks are used whatever they leave out


class Point(NamedTuple):
    """f at one W, and all that follows from it.

    `omega` maps A (n, p) to 2/σ² Xᵀ(diag(Ψ1) − Ψ)A: it maps XW to the gradient and X to Φ(W). U (n, k − 1) and `values`
    are the leading eigenpairs, `gamma` the weights of the pairs. A row with the kernel values c to the landmarks (or to
    all rows) has the degree cᵀ`sums` + `floor` and the row cᵀ`coefficients`/√degree − `offset` of U. `error` is the
    share of the trace of K that the landmarks leave out.
    """

    value: float
    omega: Callable[[Array], Array]
    U: Array
    values: Array
    gamma: Gamma
    sums: Array
    floor: float
    coefficients: Array
    offset: Array
    error: float


@dataclass
class ReducedObjective:
    """f over centred rows X (n, d) in memory; through landmarks if few are enough for the kernel, and exact otherwise.

    `given` (n, c) are the centred indicator columns Ŷ. With an `anchor` (d, q), −pull ‖anchorᵀW‖² / q is added to f, to
    stay close to it; with `keep`, centred columns B (n, m) and weights s (m,) of what the view should agree with, it is
    −Σ s_j b_jᵀQb_j. A `rough` objective is content with a few landmarks whatever they leave out, as in a search among
    many starts.
    """

    X: Array
    given: Array
    kernel: Gaussian
    n_clusters: int
    novelty_weight: float
    floor: float = FLOOR
    anchor: Array | None = None
    pull: float = 0.0
    rough: bool = False
    landmarks: np.ndarray | None = None
    keep: tuple[Array, Array] | None = None
    _wanted: float = 0.0
    _last: tuple[Array, Point] | None = None
    _around: Array | None = None  # where the next eigenvectors of an exact kernel start

    def find_landmarks(self, W: Array, rng: np.random.Generator) -> bool:
        """Choose landmarks for the rows projected to W, if few are enough; whether they are.

        What counts is the centred kernel, of which a wide one leaves little: the tolerance is a share of its trace.
        """
        Z, most = self.X @ W, min(MOST_LANDMARKS, len(self.X) // 3)
        self._last = None
        if self.rough:
            self.landmarks, _ = choose_landmarks(Z, self.kernel, ROUGH, min(FEW_LANDMARKS, len(Z)), rng)
            return True
        some = sample_rows(len(Z), SAMPLED, rng)
        self._wanted = TOLERANCE * max(1.0 - float(np.mean(self.kernel.gram(Z[some]))), TINY)
        found, error = choose_landmarks(Z, self.kernel, self._wanted, most, rng)
        enough = error <= self._wanted and len(found) > self.n_clusters
        self.landmarks = found if enough or len(Z) > EXACT_ROWS else None
        return enough

    def are_enough(self, W: Array) -> bool:
        """Whether the landmarks still leave out little at another W."""
        return self.rough or len(self.X) > EXACT_ROWS or self.at(W).error <= DRIFT * self._wanted

    def threads(self) -> Any:
        """A context with as many threads as pay: one for landmarks, whose matrices are small."""
        return fitting_threads(1 if self.landmarks is not None else len(self.X))

    def at(self, W: Array) -> Point:
        """F at W; the last point is kept."""
        if self._last is None or not np.array_equal(self._last[0], W):
            self._last = W.copy(), (self._exact(W) if self.landmarks is None else self._low_rank(W))
        return self._last[1]

    def value(self, W: Array) -> float:
        """f(W)."""
        return self.at(W).value - self._closeness(W)[0]

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """f(W) and ∇f(W) = Φ(W) W."""
        point = self.at(W)
        close, towards = self._closeness(W)
        return point.value - close, point.omega(self.X @ W) - towards @ (towards.T @ W)

    def value_and_phi(self, W: Array) -> tuple[float, Array]:
        """f(W) and Φ(W), the gradient with respect to the projector WWᵀ, up to its factor."""
        point = self.at(W)
        phi = point.omega(self.X)
        close, towards = self._closeness(W)
        return point.value - close, (phi + phi.T) / 2 - towards @ towards.T

    def hessian(self, W: Array, phi: Array) -> Callable[[Array], Array]:
        """Z -> D∇f(W)[Z], by central differences: U and D change with W."""

        def product(Z: Array) -> Array:
            size = float(np.linalg.norm(Z))
            if size == 0:
                return np.zeros_like(Z)
            step = DIFFERENCE / size * Z
            return (self.value_and_gradient(W + step)[1] - self.value_and_gradient(W - step)[1]) * (
                size / (2 * DIFFERENCE)
            )

        return product

    def _closeness(self, W: Array) -> tuple[float, Array]:
        """Pull ‖anchorᵀW‖² / q, and the factor of minus half its gradient's matrix."""
        if self.anchor is None:
            return 0.0, np.zeros((len(W), 0))
        share = self.pull / self.anchor.shape[1]
        return share * float(np.sum((self.anchor.T @ W) ** 2)), np.sqrt(2 * share) * self.anchor

    @property
    def columns(self) -> int:
        """How many eigenvectors count: k − 1, and at least one."""
        return max(1, self.n_clusters - 1)

    def _weights(self, U: Array, degrees: Array, products: Callable[[Array], Array]) -> Gamma:
        """γ as a tall factor; products is F -> D^(-1/2) K D^(-1/2) F."""
        F = np.hstack([U, self.given])
        s = np.concatenate([np.ones(U.shape[1]), np.full(self.given.shape[1], -self.novelty_weight)])
        if self.keep is not None:
            F, s = np.hstack([F, self.keep[0]]), np.concatenate([s, self.keep[1]])
        r = ((F * products(F)) @ s) / degrees
        r += self.floor * r.mean()
        size = np.sqrt(np.mean(np.abs(r))) or 1.0  # ½(r 1ᵀ + 1 rᵀ) as a difference of two squares of like size
        E = np.column_stack([F / np.sqrt(degrees)[:, None], r / size + size, r / size - size])
        return Gamma(E, np.concatenate([s, [-0.25, 0.25]]))

    def _exact(self, W: Array) -> Point:
        X, Y, precision = self.X, self.given, self.kernel.precision
        K = self.kernel.gram(X @ W)
        degrees = K.sum(axis=1)
        floor = self.floor * float(degrees.mean())
        degrees = degrees + floor
        scale = 1 / np.sqrt(degrees)[:, None]
        means = scale * (K @ scale) / len(K)
        near = _near_pairs(K)

        def normalised(F: Array) -> Array:
            return scale * (near @ (scale * F))

        def centred(F: Array) -> Array:
            image = normalised(F - F.mean(axis=0))
            return image - image.mean(axis=0)

        def whole() -> Array:
            Q = scale.T * K
            Q *= scale
            Q -= (means - means.mean() / 2).T
            Q -= means - means.mean() / 2
            return Q

        values, self._around = follow_eigenvectors(centred, whole, len(K), self.columns, self._around)
        values, U = np.maximum(values, TINY), self._around[:, : len(values)]
        U = U - U.mean(axis=0)
        value = self.novelty_weight * float(np.sum(Y * centred(Y))) - float(values.sum())
        if self.keep is not None:
            value -= float(np.sum(self.keep[0] * centred(self.keep[0]), axis=0) @ self.keep[1])
        gamma = self._weights(U, degrees, normalised)
        psi = (gamma.F * gamma.s) @ gamma.F.T
        psi *= K
        sums = psi.sum(axis=1)
        coefficients = scale * U / values
        offset = means[:, 0] @ (U / values)

        def omega(A: Array) -> Array:
            return 2 * precision * (X.T @ (sums[:, None] * A - psi @ A))

        return Point(value, omega, U, values, gamma, np.ones(len(X)), floor, coefficients, offset, 0.0)

    def _low_rank(self, W: Array) -> Point:
        """K ≈ C M⁻¹ Cᵀ = B Bᵀ; the gradient is the exact one of that."""
        X, Y, rows = self.X, self.given, self.landmarks
        Z = X @ W
        C = self.kernel.between(Z, Z[rows])
        M = self.kernel.gram(Z[rows])
        M.flat[:: len(M) + 1] += 1e-8
        R = cholesky(M, lower=True)
        B = solve_triangular(R, C.T, lower=True).T
        error = max(0.0, 1 - float(np.sum(B * B)) / len(B))
        degrees = np.maximum(B @ B.sum(axis=0), 1.0)  # like every true degree, also of a row that landmarks miss
        floor = self.floor * float(degrees.mean())
        degrees += floor
        B /= np.sqrt(degrees)[:, None]
        means = B.mean(axis=0)
        centred = B - means
        r, m = len(M), min(self.columns, len(M))
        values, V = eigh(centred.T @ centred, subset_by_index=(r - m, r - 1))
        values = np.maximum(values[::-1], TINY)
        V = V[:, ::-1] / np.sqrt(values)
        U = centred @ V
        value = self.novelty_weight * float(np.sum((centred.T @ Y) ** 2)) - float(values.sum())
        if self.keep is not None:
            value -= float(np.sum((centred.T @ self.keep[0]) ** 2, axis=0) @ self.keep[1])
        gamma = self._weights(U, degrees, lambda F: B @ (B.T @ F))
        E, s = gamma
        pull = cho_solve((R, True), C.T @ E)  # M⁻¹ Cᵀ E
        psi, inner = ((E * s) @ pull.T) * C, ((pull * s) @ pull.T) * M
        along, across = psi.sum(axis=1), psi.sum(axis=0) - inner.sum(axis=1)
        precision = self.kernel.precision

        def omega(A: Array) -> Array:
            few = A[rows]
            at_rows = along[:, None] * A - psi @ few
            at_rows[rows] += across[:, None] * few - psi.T @ A + inner @ few
            return 2 * precision * (X.T @ at_rows)

        sums = cho_solve((R, True), C.sum(axis=0))
        coefficients = solve_triangular(R.T, V)
        return Point(value, omega, U, values, gamma, sums, floor, coefficients, means @ V, error)


def _near_pairs(K: Array) -> Any:
    """K for its many products with blocks: sparse if most pairs of rows are too far from each other to count."""
    if len(K) <= FEW:  # there LAPACK finds the eigenvectors, and products are few
        return K
    pairs = K > NEAR
    counts = pairs.sum(axis=1)
    if counts.sum() > FEW_PAIRS * K.size:
        return K
    places = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((K[pairs], np.nonzero(pairs)[1], places), shape=K.shape)
