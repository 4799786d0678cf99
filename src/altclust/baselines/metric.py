"""Transforms of the metric that suppress the given clustering (Davidson and Qi 2008, Qi and Davidson 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from ..base.backend import Array
from ..base.given import Given
from ..base.sklearn_compat import Interval
from ..core.problem import row_space
from .base import Baseline, MappedBaseline, centroids, kmeans

PAIRS = 10_000  # pairs of rows of different clusters, from which a metric is learnt
STEPS = 60
LEAST = 1e-12


@dataclass(eq=False, repr=False, kw_only=True)
class _Stretched(ClassNamePrefixFeaturesOutMixin, MappedBaseline):
    """k-means after a linear map of the rows; subclasses implement `_stretch`."""

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {
        "shrinkage": [Interval(Real, 0, 1, closed="both")]
    }
    shrinkage: float = 0.1

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        inside, basis = row_space(X)  # a map of the row space is as general as one of the columns
        change = np.eye(inside.shape[1])
        for codes in given.clusterings:
            change = change @ self._stretch(inside @ change, codes, rng)
        self.map_ = change if basis is None else basis @ change
        model = kmeans(inside @ change, self.n_clusters_, rng)
        self._predict = model.predict
        return model.labels_

    def _stretch(self, X: Array, codes: np.ndarray, rng: np.random.Generator) -> Array:
        """The symmetric map, shape (d, d), that suppresses one given clustering."""
        raise NotImplementedError

    @property
    def _n_features_out(self) -> int:
        return self.map_.shape[1]

    def _map(self, X: Array) -> Array:
        return X @ self.map_


class ADFT(_Stretched):
    """Learn a metric in which the given clustering is tight, invert its stretch, then k-means.

    The metric A maximises the sum of the distances between rows of different given clusters while the squared
    distances within clusters are bounded (Xing et al. 2003). Its square root D = H S Hᵀ stretches the directions that
    separate the given clusters; the alternative uses H S⁻¹ Hᵀ, which shrinks them.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    shrinkage : float
        Shrinkage of the within-cluster scatter towards a multiple of the identity, and the lower limit of the
        stretches that are inverted, relative to the largest.
    random_state : int, Generator or None

    Attributes
    ----------
    map_ : array, shape (n_features, rank)
        Centred rows are multiplied by it before they are clustered.

    Notes
    -----
    After “Finding alternative clusterings using constraints” (ICDM 2008). The original learns the metric with the code
    of Xing et al.; the fixed-point iteration and the shrinkage are our interpretation. Several given clusterings are
    suppressed one after the other.
    """

    def _stretch(self, X: Array, codes: np.ndarray, rng: np.random.Generator) -> Array:
        known = codes >= 0
        X, codes = X[known], codes[known]
        rest = X - centroids(X, codes)[codes]
        whiten = power(shrunk(rest.T @ rest / len(X), max(self.shrinkage, LEAST)), -0.5)
        i, j = _pairs_apart(codes, rng)
        apart = (X[i] - X[j]) @ whiten
        if not apart.any():
            return np.eye(X.shape[1])
        d = X.shape[1]
        B = np.eye(d) / d
        for _ in range(STEPS):  # multiplicative steps keep B positive with trace 1
            lengths = np.sqrt(np.maximum(np.sum((apart @ B) * apart, axis=1), LEAST))
            root = power(B, 0.5)
            B = root @ (apart.T @ (apart / lengths[:, None])) @ root
            B = (B + B.T) / (2 * np.trace(B))
        stretch, H = np.linalg.eigh(power(whiten @ B @ whiten, 0.5))
        stretch = np.maximum(stretch, max(self.shrinkage, LEAST) * stretch[-1])
        return (H * (stretch[-1] / stretch)) @ H.T


class AlternativeTransform(_Stretched):
    """The closed-form transform of Qi and Davidson: rows should be near the centroids of clusters they are not in.

    With Σ = (1/n) Σ_i Σ_{j: x_i ∉ C_j} (x_i − m_j)(x_i − m_j)ᵀ, the scatter of rows about the centroids of the
    *other* given clusters, the rows become Σ^(−1/2) x: the directions between clusters shrink, while the distribution
    of the rows stays as close as possible in Kullback–Leibler divergence.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    shrinkage : float
        Shrinkage of Σ towards a multiple of the identity. Without it the method fails with many columns: noise
        directions with little scatter are amplified.
    random_state : int, Generator or None

    Attributes
    ----------
    map_ : array, shape (n_features, rank)
        Σ^(−1/2) in the row space; for several given clusterings, the product of their maps.

    Notes
    -----
    After “A principled and flexible framework for finding alternative clusterings” (KDD 2009), its unweighted form;
    the shrinkage is ours.
    """

    def _stretch(self, X: Array, codes: np.ndarray, rng: np.random.Generator) -> Array:
        X, codes = X[codes >= 0], codes[codes >= 0]
        scatter = np.zeros((X.shape[1], X.shape[1]))
        for c, mean in enumerate(centroids(X, codes)):
            away = X[codes != c] - mean
            scatter += away.T @ away / len(X)
        return power(shrunk(scatter, max(self.shrinkage, LEAST)), -0.5)


def _pairs_apart(codes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random pairs of rows of different clusters."""
    first = rng.integers(len(codes), size=PAIRS)
    order = np.argsort(codes, kind="stable")
    starts, sizes = np.searchsorted(codes[order], np.arange(codes.max() + 1)), np.bincount(codes)
    own = codes[first]
    place = rng.integers(len(codes) - sizes[own])
    return first, order[np.where(place < starts[own], place, place + sizes[own])]


def shrunk(scatter: Array, share: float) -> Array:
    """The scatter, shrunk towards a multiple of the identity with the same trace; the identity if it is 0."""
    d = len(scatter)
    if not scatter.any():
        return np.eye(d)
    return (1 - share) * scatter + share * np.trace(scatter) / d * np.eye(d)


def power(A: Array, exponent: float) -> Array:
    """A power of a symmetric positive matrix; eigenvalues that are only rounding are raised to 1e-12 of the largest."""
    values, vectors = np.linalg.eigh(A)
    values = np.maximum(values, LEAST * values[-1])
    return (vectors * values**exponent) @ vectors.T
