"""Labels from the rows of U, and the extension of U to new rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from scipy.linalg import cho_factor, cho_solve, qr
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ..base.backend import LARGEST_SINGLE, Array, into, like, to_numpy
from ..base.given import Given
from .kernel_family import betas
from .kernels import Gaussian
from .landmarks import choose_landmarks
from .problem import Embedding

ROUNDINGS = ("kmeans", "cluster_qr")
LANDMARKS = (60, 125, 250, 500)  # of a map for many rows
ALIKE = 0.9995  # share of the rows that must keep their label
RIDGE = 1e-8  # added to the kernel of the landmarks
INTERVALS = 5  # of a measurement, where clusters are needed
NOISE = 1e-9  # relative to the first eigenvalue; eigenvectors of smaller ones are rounding


def unit_rows(U: Array) -> Array:
    """The rows of U scaled to length one; zero rows stay zero."""
    xp = array_namespace(U)
    lengths = xp.sqrt(xp.sum(U * U, axis=1, keepdims=True))
    return U / xp.where(lengths > 0, lengths, xp.ones_like(lengths))


def informative(embedding: Embedding) -> Embedding:
    """The same U, centred to machine precision, with the columns that are only rounding set to zero.

    If k is larger than the rank of the kernel, the last eigenvalues vanish and their eigenvectors are noise: k-means
    would cluster it, and the extension to new rows, which divides by the eigenvalues, would amplify it.
    """
    U = embedding.U - embedding.U.mean(axis=0)
    return replace(embedding, U=U * (embedding.values > NOISE * embedding.values[0]))


def fit_kmeans(X: Array, k: int, n_init: int, seed: int) -> KMeans:
    """k-means without scikit-learn's warning about fewer distinct rows than clusters (some stay empty)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return KMeans(k, n_init=n_init, random_state=seed).fit(X)


def as_clusterings(given: Given) -> list[np.ndarray]:
    """What is given, where clusters are needed: those of a measurement are intervals, by k-means."""
    return given.each(lambda codes: codes, _intervals)


def _intervals(features: Array) -> np.ndarray:
    known, codes = ~np.isnan(features[:, 0]), np.full(len(features), -1)
    if known.sum() > INTERVALS:
        codes[known] = fit_kmeans(features[known], INTERVALS, n_init=3, seed=0).labels_
    return codes


def joint_codes(clusterings: Sequence[np.ndarray], n: int) -> np.ndarray:
    """One number per combination of the clusters of n rows."""
    if not clusterings:
        return np.zeros(n, dtype=int)
    return np.unique(np.column_stack(clusterings), axis=0, return_inverse=True)[1].ravel()


def round_to_labels(U: Array, k: int, method: str, rng: np.random.Generator) -> tuple[np.ndarray, Array]:
    """Labels and centres (k, k) of the unit rows of U, shape (n, k); a row belongs to the centre nearest to it.

    The method is k-means with several starts, or pivoted QR (Damle, Minden and Ying 2019), which needs no randomness.
    """
    rows = unit_rows(U)
    if method == "kmeans":
        model = fit_kmeans(rows, k, n_init=10, seed=int(rng.integers(2**31)))
        return model.labels_.astype(np.int64), model.cluster_centers_
    # U is centred: with the constant vector added, k − 1 of its columns separate k clusters
    V = np.column_stack([np.full(len(U), len(U) ** -0.5), U[:, : k - 1]])
    _, _, pivots = qr(V.T, pivoting=True, mode="economic")
    left, _, right = np.linalg.svd(V[pivots[:k]].T)
    labels = np.argmax(V @ left @ right, axis=1)
    centres = np.array(
        [rows[labels == c].mean(axis=0) if np.any(labels == c) else rows[p] for c, p in enumerate(pivots[:k])]
    )
    return nearest(rows, centres), centres


def nearest(rows: Array, centres: Array) -> np.ndarray:
    """The index of the centre nearest to each row."""
    xp = array_namespace(rows)
    centres = like(centres, rows)
    return xp.argmin(xp.sum(centres * centres, axis=1) - 2 * (rows @ centres.T), axis=1)


@dataclass(frozen=True)
class KernelMap:
    """The extension of U to new rows: u(z) = k(z)ᵀ C / √(k(z)ᵀ b) − offset.

    k(z) is the kernel to the `landmarks` (r, q), which are projected training rows. C are the `coefficients` (r, k),
    D^(-1/2) U Λ⁻¹ or its counterpart on fewer landmarks, and b the `weights` (r,). If all rows are landmarks, b is 1
    and the map returns U on them, because U = Q U Λ⁻¹ for the centred kernel Q; if the kernel is approximated, so is
    the degree k(z)ᵀ b of z, which is at least 1 like that of every row, and to which the `floor` is added. The `offset`
    (k,) are the means that centring subtracts, the `centres` (k, k) those of the clusters of the unit rows of U.
    `reach` is the smallest kernel exponent of a training row to its nearest landmark. A kernel with local widths has
    those of the landmarks in `widths` (r,); a new row has that of the nearest landmark.
    """

    landmarks: Array
    coefficients: Array
    offset: Array
    centres: Array
    kernel: Any
    weights: Array
    reach: float = 0.0
    floor: float = 0.0
    widths: Array | None = None

    @classmethod
    def fit(cls, Z: Array, embedding: Embedding, centres: Array, kernel: Any, widths: Array | None = None) -> KernelMap:
        """The map of a finished U step on the projected rows Z."""
        values = np.where(embedding.values > NOISE * embedding.values[0], embedding.values, np.inf)
        coefficients = embedding.U / np.sqrt(embedding.degrees)[:, None] / values
        # On every training row the uncentred map is U plus the same offset, so a few rows suffice to find it.
        few = np.linspace(0, len(Z) - 1, min(len(Z), 64)).astype(int)
        plain = cls(Z, coefficients, np.zeros(len(values)), centres, kernel, np.ones(len(Z)), widths=widths)
        return replace(plain, offset=np.mean(plain.rows(Z[few]) - embedding.U[few], axis=0))

    def thinned(self, Z: Array, rng: np.random.Generator) -> KernelMap:
        """The same map through fewer landmarks, if these label the projected rows Z alike: many rows take less time."""
        if not isinstance(self.kernel, Gaussian):
            return self
        labels, L = self.labels(Z), self.landmarks
        for most in LANDMARKS:
            if most >= len(L):
                break
            few = L[choose_landmarks(L, self.kernel, 0.0, most, rng)[0]]
            both = self.kernel.between(few, L) @ np.column_stack([self.coefficients, self.weights])
            M = self.kernel.gram(few)
            M.flat[:: len(M) + 1] += RIDGE
            both = cho_solve(cho_factor(M), both)
            reach = min(self.reach, float(np.min(np.max(self.kernel.exponent(Z, few), axis=1))))
            thin = replace(self, landmarks=few, coefficients=both[:, :-1], weights=both[:, -1], reach=reach)
            if np.mean(thin.labels(Z) == labels) >= ALIKE:
                return thin
        return self

    def rows(self, Z: Array, block: int = 2048) -> Array:
        """The rows of U that the projected rows Z would have, shape (len(Z), k)."""
        parts = [self.block(Z[i : i + block]) for i in range(0, len(Z), block)]
        return np.vstack(parts) if parts else np.zeros((0, self.coefficients.shape[1]))

    def block(self, Z: Array) -> Array:
        """`rows` of one block, in its array library."""
        xp = array_namespace(Z)
        if not isinstance(self.kernel, Gaussian):
            return like(self.from_kernel(self._kernel(to_numpy(Z)))[0], Z)
        if (
            Z.dtype != xp.float64
            and not max(1 / self.kernel.sigma, self.kernel.sigma, float(xp.max(xp.abs(Z)))) <= LARGEST_SINGLE
        ):
            Z = xp.astype(Z, xp.float64)
        K = self.kernel.exponent(Z, like(self.landmarks, Z))
        # The kernel row of an outlier vanishes, which would leave only the offset: its exponents are raised as if it
        # were as close to its nearest landmark as the most distant training row.
        short = self.reach - xp.max(K, axis=1, keepdims=True)
        K += xp.where(short > 0, short, 0 * short)
        return self.from_kernel(into(xp, xp.exp, K, out=K))[0]

    def _kernel(self, Z: Array) -> Array:
        """The kernel of any kind to the landmarks."""
        if self.widths is None:
            return self.kernel.between(Z, self.landmarks)
        beta = betas(Z, self.landmarks, self.kernel.product)
        return self.kernel.value(beta / self.widths / self.widths[np.argmin(beta, axis=1)][:, None])

    def from_kernel(self, K: Array) -> tuple[Array, Array]:
        """The rows of U and the degrees (as a column) of rows with these kernel values to the landmarks."""
        xp = array_namespace(K)
        both = K @ like(np.column_stack([self.coefficients, self.weights]), K)
        degrees = both[:, -1:]
        degrees = xp.where(degrees > 1, degrees, xp.ones_like(degrees)) + self.floor
        degrees = degrees if self.kernel.normalised else xp.ones_like(degrees)
        return both[:, :-1] / xp.sqrt(degrees) - like(self.offset, K), degrees

    def labels(self, Z: Array) -> np.ndarray:
        """The label of each projected row."""
        return nearest(unit_rows(self.rows(Z)), self.centres)
