"""A low-rank kernel through landmarks: linear in n, one pass over the rows per evaluation, in blocks.

With the kernel C of all rows to r landmark rows and M among the landmarks, K ≈ C M⁻¹ Cᵀ, and all quantities are small
sums over rows: CᵀF for the value, Xᵀ diag(f_l) C for Φ, CᵀD⁻¹C for the U step. Φ is the paper's formula with the
approximate K. The exact gradient of the approximate value would be cheaper, but ISM needs the full matrix Φ, and
outside span W the two differ widely; along W this Φ is ten times closer to that of the exact K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from scipy.linalg import cho_solve, cholesky, eigh, solve_triangular

from ...base.backend import Array, like
from ...data.rows import STEP, Rows
from ..embedding import NOISE, KernelMap
from ..kernels import Gaussian
from ..problem import Gamma
from .dense import DenseEngine
from .landmarks import choose_landmarks
from .recipes import Coordinates, RowEmbedding, RowGamma, given_rows

TOLERANCE = 2e-2  # relative trace error
MOST_LANDMARKS = 1000
MEASURED = 15_000  # rows, at least, on which the trace error is measured
PAIRS = 2000  # sampled rows from which a sum over all pairs is estimated


@dataclass(frozen=True)
class _Cloud:
    """The landmarks at one W, from which a block computes its C; `own` if it is also the C of γ's U step."""

    coordinates: Coordinates
    kernel: Gaussian
    W: Array
    projected: Array
    own: bool

    def rows(self, X: Any, codes: Any) -> tuple[Any, Any]:
        """The rows of the problem and their C."""
        rows = self.coordinates(X, codes)
        return rows, self.kernel.between(rows @ like(self.W, X), like(self.projected, X))


def _weighted(X: Any, codes: Any, cloud: _Cloud, gamma: RowGamma) -> tuple[Any, Any, Any]:
    """Rows, C and F; at the W of the U step, C is used for both."""
    rows, C = cloud.rows(X, codes)
    return rows, C, gamma.rows(rows, codes, C if cloud.own else None)


def _degree_sums(X: Any, codes: Any, cloud: _Cloud) -> tuple[Any]:
    """Cᵀ1."""
    _, C = cloud.rows(X, codes)
    return (array_namespace(X).sum(C, axis=0),)


def _value_sums(X: Any, codes: Any, cloud: _Cloud, gamma: RowGamma) -> tuple[Any, Any]:
    """CᵀF and Cᵀ1."""
    xp = array_namespace(X)
    _, C, F = _weighted(X, codes, cloud, gamma)
    both = C.T @ xp.concat([F, xp.ones_like(F[:, :1])], axis=1)
    return both[:, :-1], both[:, -1]


def _phi_sums(X: Any, codes: Any, cloud: _Cloud, gamma: RowGamma, pull: Array) -> tuple[Any, Any]:
    """Xᵀ diag(Ψ1) X and, for every column f of F, Xᵀ diag(f) C, below each other."""
    xp = array_namespace(X)
    rows, C, F = _weighted(X, codes, cloud, gamma)
    sums = xp.sum((C @ like(pull, X)) * F, axis=1, keepdims=True)
    crossed = xp.reshape(F[:, :, None] * rows[:, None, :], (rows.shape[0], -1))
    return rows.T @ (rows * sums), crossed.T @ C


def _gram_sums(
    X: Any, codes: Any, cloud: _Cloud, tables: list[Array], weights: Array, whiten: Array, every: int
) -> tuple[Any, Any, Any, Any]:
    """With B = D^(-1/2) C: BᵀB, Bᵀ1, BᵀŶ; and the sum of the approximate diagonal over every `every`-th row."""
    xp = array_namespace(X)
    _, C = cloud.rows(X, codes)
    degrees = C @ like(weights, X)[:, None]
    kept = xp.sum((C[::every, ...] @ like(whiten, X)) ** 2)
    count = xp.asarray(float(-(-C.shape[0] // every)), dtype=X.dtype, device=device(X))
    C /= xp.sqrt(xp.where(degrees > 1, degrees, xp.ones_like(degrees)))
    return C.T @ C, xp.sum(C, axis=0), C.T @ given_rows(tables, X, codes), xp.stack([kept, count])


class LowRankEngine:
    """K(XW) through landmarks, over rows that are read in blocks.

    Landmarks are rows. They are chosen again at a U step if their trace error has become too large, and stay fixed
    during a W step: a line search must compare values of the same objective.

    Parameters
    ----------
    rows : Rows
    coordinates : Coordinates
    kernel : Gaussian
    sample : array, shape (s, r)
        Rows of the problem in memory, from which landmarks are chosen.
    codes : int array, shape (s, g)
        Codes of the sample.
    tables : list of arrays, shape (c + 1, c − 1)
        Ŷ by code, see `RowGamma`.
    landmarks : array, shape (l, r), optional
        Initial landmarks.
    tolerance : float
        Relative trace error of K that is accepted.
    most : int
        Limit on the number of landmarks.
    step : int
        Rows per step.
    rng : Generator
    """

    def __init__(
        self,
        rows: Rows,
        coordinates: Coordinates,
        kernel: Gaussian,
        sample: Array,
        codes: np.ndarray,
        tables: list[Array],
        landmarks: Array | None = None,
        *,
        tolerance: float = TOLERANCE,
        most: int = MOST_LANDMARKS,
        step: int = STEP,
        rng: np.random.Generator,
    ) -> None:
        self.rows, self.coordinates, self.kernel = rows, coordinates, kernel
        self.sample, self.codes, self.tables = sample, codes, tables
        self.tolerance, self.most, self.step, self.rng = tolerance, most, step, rng
        self.accuracy = tolerance
        self.landmarks: Array = sample[:0] if landmarks is None else landmarks
        self.approximation_error = 1.0
        self._last: tuple[Any, ...] | None = None
        self._embedded: RowEmbedding | None = None

    def weigh(self, embedding: RowEmbedding, degrees: Array, novelty_weight: float) -> RowGamma:
        """γ as a function of rows; the degrees are those of the U step, computed again in every block."""
        given = sum(table.shape[1] for table in self.tables)
        s = np.concatenate([np.ones(len(embedding.values)), np.full(given, -novelty_weight)])
        return RowGamma(embedding, self.tables, s)

    def _cloud(self, W: Array, gamma: RowGamma | None = None) -> _Cloud:
        projected = self.landmarks @ W
        own = gamma is not None and np.array_equal(W, gamma.embedding.W)
        own = own and gamma is not None and np.array_equal(projected, gamma.embedding.map.landmarks)
        return _Cloud(self.coordinates, self.kernel, W, projected, own)

    def _factor(self, projected: Array) -> Array:
        """The lower Cholesky factor of M plus a small diagonal, which keeps the approximation below K."""
        M = self.kernel.gram(projected)
        M.flat[:: len(M) + 1] += 1e-8 if self.sample.dtype == np.float64 else 1e-5
        return cholesky(M, lower=True)

    def find_landmarks(self, W: Array) -> float:
        """Choose landmarks for this W, unless the present ones are accurate enough; return the relative trace error."""
        Z = np.asarray(self.sample @ W, dtype=np.float64)
        if len(self.landmarks):
            projected = np.asarray(self.landmarks @ W, dtype=np.float64)
            whitened = solve_triangular(self._factor(projected), self.kernel.between(projected, Z), lower=True)
            error = 1 - float(np.sum(whitened**2)) / len(Z)
            if error <= self.tolerance:
                return error
        pivots, error = choose_landmarks(Z, self.kernel, 0.7 * self.tolerance, self.most, self.rng)
        self.landmarks, self._last = self.sample[pivots], None
        return error

    def degrees(self, W: Array) -> Array:
        """K 1 of the sample's rows, shape (s,)."""
        cloud = self._cloud(W)
        (ones,) = self.rows.total(_degree_sums, cloud, step=self.step)
        weights = cho_solve((self._factor(cloud.projected), True), ones)
        return np.maximum(self.kernel.between(self.sample @ W, cloud.projected) @ weights, 1.0)

    def value(self, W: Array, gamma: RowGamma) -> float:
        """Σ γ_ij K_ij = Σ_l s_l ‖R⁻¹ Cᵀ f_l‖², where M = R Rᵀ."""
        return self._small(W, gamma)[0]

    def _small(self, W: Array, gamma: RowGamma) -> tuple[float, Array]:
        """The value and M⁻¹ CᵀF, cached for Φ at the same W."""
        last = self._last
        if last is None or last[1] is not gamma or not np.array_equal(last[0], W):
            known = gamma.embedding
            if known is self._embedded and np.array_equal(W, known.W):
                last = (known.W, gamma, known.sums, known.ones)
            else:
                last = (W, gamma, *self.rows.total(_value_sums, self._cloud(W, gamma), gamma, step=self.step))
            self._last = last
        factor = self._factor(self.landmarks @ last[0])
        pull = cho_solve((factor, True), last[2])
        return float(np.sum(last[2] * pull, axis=0) @ gamma.s), pull

    def value_and_gradient(self, W: Array, gamma: RowGamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) W."""
        value, phi = self.value_and_phi(W, gamma)
        return value, phi @ W

    def value_and_phi(self, W: Array, gamma: RowGamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) = (2/σ²) Xᵀ (diag(Ψ1) − Ψ) X."""
        value, pull = self._small(W, gamma)
        assert self._last is not None
        cloud = self._cloud(self._last[0], gamma)
        spread, crossed = self.rows.total(_phi_sums, cloud, gamma, pull * gamma.s, step=self.step)
        d, m = len(spread), len(gamma.s)
        half = solve_triangular(self._factor(cloud.projected), crossed.T, lower=True).reshape(-1, m, d)
        across = np.tensordot(half * gamma.s[:, None], half, axes=([0, 1], [0, 1]))
        return value, 2 * self.kernel.precision * (spread - across)

    def hessian(self, W: Array, gamma: RowGamma, phi: Array) -> Callable[[Array], Array]:
        """Z -> derivative of Φ(W) W along Z, by central differences."""
        relative = 1e-5 if self.sample.dtype == np.float64 else 1e-2

        def product(Z: Array) -> Array:
            length = float(np.linalg.norm(self.sample @ Z, axis=1).max())
            if length == 0:
                return np.zeros_like(Z)
            step = relative * self.kernel.sigma / length
            ahead = self.value_and_gradient(W + step * Z, gamma)[1]
            behind = self.value_and_gradient(W - step * Z, gamma)[1]
            return (ahead - behind) / (2 * step)

        return product

    def fourth_moment(self, W: Array, gamma: RowGamma) -> float:
        """Σ |γ_ij| K_ij ‖x_i − x_j‖⁴, estimated from pairs within a sample, because |γ| has no low-rank factor."""
        few = np.asarray(self.sample[:PAIRS], dtype=np.float64)
        F = gamma.rows(few, self.codes[:PAIRS])
        share = len(few) / self.rows.n
        return DenseEngine(few, self.kernel).fourth_moment(W, Gamma(F, gamma.s)) / share**2

    def embed(self, W: Array, k: int, start: RowEmbedding | None = None) -> RowEmbedding:
        """The k leading eigenvectors of H D^(-1/2) K D^(-1/2) H through the r x r Gram matrix of H D^(-1/2) C."""
        last, known = self._last, self._embedded
        if known is not None and known.values.shape == (k,) and np.array_equal(known.W, W):
            return known
        self.find_landmarks(W)
        cloud = self._cloud(W)
        if self._last is not None and last is self._last and np.array_equal(last[0], W):
            ones = last[3]  # known from the last value at this W
        else:
            (ones,) = self.rows.total(_degree_sums, cloud, step=self.step)
        factor = self._factor(cloud.projected)
        weights = cho_solve((factor, True), ones)
        whiten = solve_triangular(factor, np.eye(len(factor)), lower=True).T
        every = max(1, self.rows.n // MEASURED)
        small_args = (cloud, self.tables, weights, whiten, every)
        gram, sums, given, (kept, count) = self.rows.total(_gram_sums, *small_args, step=self.step)
        self.approximation_error = max(0.0, 1 - float(kept) / float(count))
        small = whiten.T @ (gram - np.outer(sums, sums) / self.rows.n) @ whiten
        r = len(small)
        values, V = eigh((small + small.T) / 2, subset_by_index=(max(0, r - k), r - 1))
        values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
        scale = np.where(values > NOISE * max(values[0], NOISE), np.sqrt(np.maximum(values, 1e-300)), np.inf)
        A = np.zeros((r, k))
        A[:, : len(values)] = whiten @ V / scale
        values = np.concatenate([values, np.zeros(k - len(values))])
        Z = self.sample @ W
        reach = float(np.min(np.max(self.kernel.exponent(Z, cloud.projected), axis=1)))
        no_centres = np.zeros((k, k))
        offset = sums @ A / self.rows.n
        map = KernelMap(cloud.projected, A, offset, no_centres, self.kernel, weights, reach)
        U, degrees = map.from_kernel(self.kernel.between(Z, cloud.projected))
        across = np.column_stack([gram @ A - np.outer(sums, offset), given])
        self._embedded = RowEmbedding(np.linalg.qr(U)[0], values, degrees[:, 0], W, map, across, ones)
        return self._embedded
