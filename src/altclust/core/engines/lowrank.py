"""A low-rank kernel through landmarks: linear in n, one pass over the rows per evaluation, in blocks.

With the kernel C of all rows to r landmark rows and M among the landmarks, K ≈ C M⁻¹ Cᵀ, and all quantities are small
sums over rows: CᵀF for the value, Xᵀ diag(f_l) C for Φ, CᵀD⁻¹C for the U step. Φ is the paper's formula with the
approximate K. The exact gradient of the approximate value would be cheaper, but ISM needs the full matrix Φ, and
outside span W the two differ widely; along W this Φ is ten times closer to that of the exact K.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
EXACT, ROUNDING = 1e-12, 1e-6  # the tolerance of kernels of products, and the residual that rounding leaves
PAIRS = 2000  # sampled rows from which a sum over all pairs is estimated


@dataclass(frozen=True)
class _Cloud:
    """The landmarks at one W, from which a block computes its C; `own` if it is also the C of γ's U step."""

    coordinates: Coordinates
    kernel: Any
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
    if cloud.kernel.normalised:
        C /= xp.sqrt(xp.where(degrees > 1, degrees, xp.ones_like(degrees)))
    return C.T @ C, xp.sum(C, axis=0), C.T @ given_rows(tables, X, codes), xp.stack([kept, count])


@dataclass(frozen=True)
class _Cholesky:
    """M⁻¹ by the lower Cholesky factor of M plus a small diagonal, which keeps the approximation below K."""

    factor: Array

    def solve(self, B: Array) -> Array:
        """M⁻¹ B."""
        return cho_solve((self.factor, True), B)

    def half(self, B: Array) -> Array:
        """R⁻¹ B, where M = R Rᵀ."""
        return solve_triangular(self.factor, B, lower=True)


@dataclass(frozen=True)
class _Pseudoinverse:
    """The same for kernels of a few features, whose M is singular: M⁺ = root rootᵀ."""

    root: Array

    def solve(self, B: Array) -> Array:
        """M⁺ B."""
        return self.root @ (self.root.T @ B)

    def half(self, B: Array) -> Array:
        """rootᵀ B."""
        return self.root.T @ B


class LowRankEngine:
    """K(XW) through landmarks, over rows that are read in blocks.

    Landmarks are rows. They are chosen again at a U step if their trace error has become too large, and stay fixed
    during a W step: a line search must compare values of the same objective.

    Kernels of products have few features, so that a few landmarks are exact. The Φ of another kernel than the Gaussian
    is made of its slope, which is a kernel of its own with the same landmarks.

    Parameters
    ----------
    rows : Rows
    coordinates : Coordinates
    kernel : Gaussian, or another kernel with `low_rank`
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
        kernel: Any,
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
        self.tolerance = EXACT if kernel.product else tolerance
        self.most, self.step, self.rng = most, step, rng
        self.accuracy = ROUNDING if kernel.product else tolerance
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

    def _inverse(self, projected: Array, kernel: Any = None) -> _Cholesky | _Pseudoinverse:
        """The inverse of M, the kernel among landmarks."""
        kernel = self.kernel if kernel is None else kernel
        if not isinstance(kernel, Gaussian):
            few = np.asarray(projected, dtype=np.float64)
            values, V = eigh(kernel.between(few, few))
            wide = values > (1e-10 if self.sample.dtype == np.float64 else 1e-5) * values[-1]
            return _Pseudoinverse(V[:, wide] / np.sqrt(values[wide]))
        M = kernel.gram(projected)
        M.flat[:: len(M) + 1] += 1e-8 if self.sample.dtype == np.float64 else 1e-5
        return _Cholesky(cholesky(M, lower=True))

    def find_landmarks(self, W: Array) -> float:
        """Choose landmarks for this W, unless the present ones are accurate enough; return the relative trace error."""
        Z = np.asarray(self.sample @ W, dtype=np.float64)
        if len(self.landmarks):
            projected = np.asarray(self.landmarks @ W, dtype=np.float64)
            whitened = self._inverse(projected).half(self.kernel.between(projected, Z))
            error = 1 - float(np.sum(whitened**2)) / self._trace(Z)
            if error <= self.tolerance:
                return error
        pivots, error = choose_landmarks(Z, self.kernel, 0.7 * self.tolerance, self.most, self.rng)
        self.landmarks, self._last = self.sample[pivots], None
        return error

    def _trace(self, Z: Array) -> float:
        return float(np.sum(self.kernel.value(np.sum(Z * Z, axis=1)))) if self.kernel.product else float(len(Z))

    def degrees(self, W: Array) -> Array:
        """K 1 of the sample's rows, shape (s,), or ones."""
        if not self.kernel.normalised:
            return np.ones(len(self.sample))
        cloud = self._cloud(W)
        (ones,) = self.rows.total(_degree_sums, cloud, step=self.step)
        weights = self._inverse(cloud.projected).solve(ones)
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
        pull = self._inverse(self.landmarks @ last[0]).solve(last[2])
        return float(np.sum(last[2] * pull, axis=0) @ gamma.s), pull

    def value_and_gradient(self, W: Array, gamma: RowGamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) W."""
        value, phi = self.value_and_phi(W, gamma)
        return value, phi @ W

    def value_and_phi(self, W: Array, gamma: RowGamma) -> tuple[float, Array]:
        """Σ γ_ij K_ij and Φ(W) = (2/σ²) Xᵀ (diag(Ψ1) − Ψ) X."""
        value, pull = self._small(W, gamma)
        assert self._last is not None
        if not isinstance(self.kernel, Gaussian):
            return value, self._phi_of_slope(W, gamma)
        cloud = self._cloud(self._last[0], gamma)
        spread, crossed = self.rows.total(_phi_sums, cloud, gamma, pull * gamma.s, step=self.step)
        d, m = len(spread), len(gamma.s)
        half = self._inverse(cloud.projected).half(crossed.T).reshape(-1, m, d)
        across = np.tensordot(half * gamma.s[:, None], half, axes=([0, 1], [0, 1]))
        return value, 2 * self.kernel.precision * (spread - across)

    def _phi_of_slope(self, W: Array, gamma: RowGamma) -> Array:
        """Φ from the kernel that is the slope: 4a Xᵀ(diag(Ψ1) − Ψ)X for differences, −2a XᵀΨX for products."""
        factor, slope = self.kernel.slope_kernel()
        cloud = replace(self._cloud(W), kernel=slope)
        inverse = self._inverse(cloud.projected, slope)
        sums, _ = self.rows.total(_value_sums, cloud, gamma, step=self.step)
        pull = inverse.solve(sums) * gamma.s
        spread, crossed = self.rows.total(_phi_sums, cloud, gamma, pull, step=self.step)
        half = inverse.half(crossed.T).reshape(-1, len(gamma.s), len(spread))
        across = np.tensordot(half * gamma.s[:, None], half, axes=([0, 1], [0, 1]))
        return -2 * factor * across if self.kernel.product else 4 * factor * (spread - across)

    def hessian(self, W: Array, gamma: RowGamma, phi: Array) -> Callable[[Array], Array]:
        """Z -> derivative of Φ(W) W along Z, by central differences."""
        relative = 1e-5 if self.sample.dtype == np.float64 else 1e-2

        def product(Z: Array) -> Array:
            length = float(np.linalg.norm(self.sample @ Z, axis=1).max())
            if length == 0:
                return np.zeros_like(Z)
            step = relative * self._width(W) / length
            ahead = self.value_and_gradient(W + step * Z, gamma)[1]
            behind = self.value_and_gradient(W - step * Z, gamma)[1]
            return (ahead - behind) / (2 * step)

        return product

    def _width(self, W: Array) -> float:
        """A length on which the kernel changes: σ, or the extent of the projected rows."""
        own = getattr(self.kernel, "sigma", None)
        return own or float(np.linalg.norm(self.sample @ W, axis=1).max()) or 1.0

    def fourth_moment(self, W: Array, gamma: RowGamma) -> float:
        """Σ |γ_ij| K_ij ‖x_i − x_j‖⁴, estimated from pairs within a sample, because |γ| has no low-rank factor."""
        if not isinstance(self.kernel, Gaussian):
            return float("nan")
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
        inverse = self._inverse(cloud.projected)
        weights = inverse.solve(ones)
        whiten = inverse.half(np.eye(len(cloud.projected))).T
        every = max(1, self.rows.n // MEASURED)
        small_args = (cloud, self.tables, weights, whiten, every)
        gram, sums, given, (kept, count) = self.rows.total(_gram_sums, *small_args, step=self.step)
        self.approximation_error = 0.0 if self.kernel.product else max(0.0, 1 - float(kept) / float(count))
        small = whiten.T @ (gram - np.outer(sums, sums) / self.rows.n) @ whiten
        r = len(small)
        values, V = eigh((small + small.T) / 2, subset_by_index=(max(0, r - k), r - 1))
        values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
        scale = np.where(values > NOISE * max(values[0], NOISE), np.sqrt(np.maximum(values, 1e-300)), np.inf)
        A = np.zeros((len(whiten), k))
        A[:, : len(values)] = whiten @ V / scale
        values = np.concatenate([values, np.zeros(k - len(values))])
        Z = self.sample @ W
        reach = 0.0
        if isinstance(self.kernel, Gaussian):
            reach = float(np.min(np.max(self.kernel.exponent(Z, cloud.projected), axis=1)))
        no_centres = np.zeros((k, k))
        offset = sums @ A / self.rows.n
        map = KernelMap(cloud.projected, A, offset, no_centres, self.kernel, weights, reach)
        U, degrees = map.from_kernel(self.kernel.between(Z, cloud.projected))
        across = np.column_stack([gram @ A - np.outer(sums, offset), given])
        self._embedded = RowEmbedding(np.linalg.qr(U)[0], values, degrees[:, 0], W, map, across, ones)
        return self._embedded
