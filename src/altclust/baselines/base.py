"""The base class of all baselines: validates rows and labels, sets labels and their overlap."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given
from ..base.known import read_given
from ..base.validation import AUTO, COUNT, check_parameters, check_sizes, generator
from ..core.embedding import fit_kmeans
from ..core.kernels import Gaussian
from ..data.sums import centred_table, new_table
from ..search.heuristics import check_sigma, median_distance, number_of_clusters


@dataclass(eq=False, repr=False)  # an estimator, whose parameters are the fields
class Baseline(ClusterMixin, BaseEstimator):
    """Base class of methods that find a clustering of X that differs from y; subclasses implement `_cluster`.

    Attributes
    ----------
    labels_ : int array, shape (n_samples,)
    n_clusters_ : int
    overlap_ : float
        NMI of `labels_` with the given clustering (the largest of several): 0 is independent. NaN if nothing was given.
    mean_ : array, shape (n_features,)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [COUNT, AUTO],
        "random_state": ["random_state", np.random.Generator],
    }
    _most_rows: ClassVar[float] = np.inf  # of methods that need all pairs of rows
    n_clusters: int | str = "auto"
    _: KW_ONLY
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the alternative to y.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
        y : None, labels of shape (n_samples,), or several columns of labels
            Given clusterings; NaN, None and −1 are unknown. Default: find a plain clustering.
        """
        check_parameters(self)
        centred, self.mean_ = centred_table(self, X)
        if len(centred) > self._most_rows:
            name, most = type(self).__name__, self._most_rows
            problem = f"has {len(centred)} rows: {name} needs all pairs of rows; pass a sample of at most {most} rows."
            raise InputError(problem, argument="X")
        given = read_given(y, len(centred), "clusterings")
        rng = generator(self.random_state)
        self.n_clusters_ = self._count(centred, given, rng)
        self.labels_ = without_gaps(np.asarray(self._cluster(centred, given, rng), dtype=np.int64))
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.overlap_ = given.overlap(self.labels_)
        return self

    def _count(self, X: Array, given: Given, rng: np.random.Generator) -> int:
        """The number of clusters; for "auto", that of the first given clustering."""
        if isinstance(self.n_clusters, str):
            return min(number_of_clusters(X, given, median_distance(X, rng), rng), len(X))
        check_sizes(len(X), X.shape[1], self.n_clusters, None)
        return int(self.n_clusters)

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        """Labels of the centred rows."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> np.ndarray:
        """Fit and return `labels_`; y are the given clusterings."""
        return self.fit(X, y, **kwargs).labels_


class MappedBaseline(TransformerMixin, Baseline):
    """A method that clusters rows after a map which new rows have, too; `_cluster` sets `_predict`, for mapped rows."""

    _predict: Callable[[Array], np.ndarray]

    def _map(self, X: Array) -> Array:
        """Centred rows as they are clustered."""
        raise NotImplementedError

    def _mapped(self, X: Any) -> Array:
        check_is_fitted(self, "labels_")
        return self._map(new_table(self, X) - self.mean_)

    def transform(self, X: Any) -> Array:
        """The rows of X as they are clustered, shape (n_samples, number of features out)."""
        return self._mapped(X)

    def predict(self, X: Any) -> np.ndarray:
        """The alternative cluster of each row of X, shape (n_samples,)."""
        rows = self._mapped(X)
        return np.asarray(self._predict(rows), dtype=np.int64)


def make_gaussian(sigma: Any, X: Array, rng: np.random.Generator, share: float = 1.0) -> Gaussian:
    """The kernel of this width; "auto" is a share of the median distance between rows."""
    return Gaussian(share * median_distance(X, rng) if isinstance(sigma, str) else check_sigma(sigma, X))


def without_gaps(labels: np.ndarray) -> np.ndarray:
    """Renumber labels from 0 on, in their order; −1, which some clusterers use for noise, stays."""
    return np.where(
        labels < 0, -1, np.unique(np.maximum(labels, labels[labels >= 0].min(initial=0)), return_inverse=True)[1]
    )


def kmeans(X: Array, k: int, rng: np.random.Generator) -> KMeans:
    """k-means with ten starts; a single cluster and a warning if all rows are zero."""
    if not X.any():
        warnings.warn(
            "The given clusters explain all of X, so all rows form one cluster: give fewer clusters, or try another "
            "method.",
            UserWarning,
            stacklevel=5,
        )
        k = 1
    return fit_kmeans(X, k, n_init=10, seed=int(rng.integers(2**31)))


def centroids(X: Array, codes: np.ndarray) -> Array:
    """The mean of every cluster, shape (clusters, d); rows with the code −1 belong to none."""
    return np.array([X[codes == c].mean(axis=0) for c in range(codes.max() + 1)])
