"""Projections orthogonal to the directions of the given clustering (Cui, Fern and Dy 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from ..base.backend import Array
from ..base.given import Given
from ..base.sklearn_compat import Interval
from ..base.validation import COUNT
from .base import Baseline, MappedBaseline, centroids, kmeans

FAINT = 1e-12  # relative to the largest squared norm; smaller centroids count as zero


@dataclass(eq=False, repr=False, kw_only=True)
class OrthogonalClustering(Baseline):
    """Orth-1: remove from each row its component along the mean of its own given cluster, then k-means.

    A row x of the cluster with mean m becomes x − m (mᵀx)/(mᵀm), after centring the table; several given clusterings
    are removed one after the other. The residual of a cluster is orthogonal to its mean, so the same clusters cannot
    be found again.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    n_views : int
        Number of views to find, each also orthogonal to all earlier ones.
    random_state : int, Generator or None

    Attributes
    ----------
    views_ : int array, shape (n_samples, n_views)
        `labels_` is the first column.

    Notes
    -----
    After “Non-redundant multi-view clustering via orthogonalization” (ICDM 2007), method 1, as restated in later
    surveys; the original clusters with k-means after an optional PCA.
    """

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {"n_views": [COUNT]}
    n_views: int = 1

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        size, rest = np.abs(X).max(), X
        for codes in given.clusterings:
            rest = _floored(along_own_centroid_removed(rest, codes), size)
        found = []
        for _ in range(self.n_views):
            found.append(kmeans(rest, self.n_clusters_, rng).labels_)
            rest = _floored(along_own_centroid_removed(rest, found[-1]), size)
        self.views_ = np.column_stack(found)
        return found[0]


def along_own_centroid_removed(X: Array, codes: np.ndarray) -> Array:
    """Each row without its component along the mean of its cluster; unknown rows are unchanged."""
    means = np.vstack([centroids(X, codes), np.zeros((1, X.shape[1]))])[codes]  # the code −1 selects the zeros
    squares = np.sum(means**2, axis=1)
    share = np.where(squares > FAINT * max(squares.max(), FAINT), np.sum(means * X, axis=1), 0) / np.where(
        squares > 0, squares, 1
    )
    return X - share[:, None] * means


def _floored(X: Array, size: float) -> Array:
    """X with entries that are only rounding, relative to this size, set to zero."""
    return np.where(np.abs(X) > FAINT * size, X, 0.0)


@dataclass(eq=False, repr=False, kw_only=True)
class OrthogonalProjection(OneToOneFeatureMixin, MappedBaseline):
    """Orth-2: project the table onto the complement of the span of the given centroids, then k-means.

    The leading principal directions A of the given centroids, as many as explain `explained` of their spread, are
    removed: x becomes (I − AAᵀ)x. Unlike Orth-1 it is one linear map for all rows, so new rows can be projected and
    predicted. If there are as many given clusters as columns, little is left.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    explained : float
        Share of the centroids' spread that the removed directions explain.
    n_views : int
        Number of views to find; before each further one, the directions of the last are removed too.
    random_state : int, Generator or None

    Attributes
    ----------
    views_ : int array, shape (n_samples, n_views)
        `labels_` is the first column.
    removed_ : array, shape (n_features, m)
        Orthonormal directions that were removed before the first view.

    Notes
    -----
    After “Non-redundant multi-view clustering via orthogonalization” (ICDM 2007), method 2. The default of 0.9 is that
    of the original, as reported in later papers.
    """

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {
        "explained": [Interval(Real, 0, 1, closed="right")],
        "n_views": [COUNT],
    }
    explained: float = 0.9
    n_views: int = 1

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        size, removed = np.abs(X).max(), np.zeros((X.shape[1], 0))
        for codes in given.clusterings:
            removed = np.hstack([removed, self._directions(_floored(X - X @ removed @ removed.T, size), codes)])
        self.removed_ = removed
        models = []
        for _ in range(self.n_views):
            rest = _floored(X - X @ removed @ removed.T, size)
            models.append(kmeans(rest, self.n_clusters_, rng))
            removed = np.hstack([removed, self._directions(rest, models[-1].labels_)])
        self._predict = models[0].predict
        self.views_ = np.column_stack([model.labels_ for model in models])
        return models[0].labels_

    def _directions(self, X: Array, codes: np.ndarray) -> Array:
        """Leading principal directions of the centroids, shape (d, m)."""
        _, singular, Vt = np.linalg.svd(centroids(X, codes), full_matrices=False)
        if singular[0] <= FAINT * np.abs(X).max() or not X.any():
            return np.zeros((X.shape[1], 0))
        shares = np.cumsum(singular**2) / np.sum(singular**2)
        return Vt[: int(np.searchsorted(shares, self.explained - FAINT)) + 1].T

    def _map(self, X: Array) -> Array:
        return X - X @ self.removed_ @ self.removed_.T
