"""Subtract the part of the rows that the given clusters explain, then cluster the residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given
from ..base.known import read_given
from ..core.guess import Guess
from ..core.problem import row_space
from ..data.rows import ArrayRows
from ..data.sums import centred_table, given_effects, new_table
from .base import Baseline, MappedBaseline, kmeans


class _Explained:
    """The part of rows that given clusterings explain.

    The given clusters of new rows are predicted by a linear discriminant, learnt in the row space of the training
    rows, which contains all means.
    """

    def __init__(self, X: Array, given: Given) -> None:
        self.rest = given.subtracted_from(X)
        inside, self.basis = row_space(X)
        self.effects = given_effects(ArrayRows(inside, given), inside.mean(axis=0)) if given else []
        try:
            self.guess = Guess.fit(inside, given, np.zeros_like(inside)) if given else None
            self.guessable = True
        except InputError:
            self.guess, self.guessable = None, False

    def remove(self, X: Array) -> Array:
        """New centred rows without this part."""
        if not self.guessable:
            raise InputError("given has too few known labels to predict the cluster of a new row: pass more of them.")
        if self.guess is None:
            return X
        inside = X if self.basis is None else X @ self.basis
        explained = self.guess.effect(inside, self.effects)
        return X - (explained if self.basis is None else explained @ self.basis.T)


class RegressOut(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Regress out given clusterings: rows without the part that they explain.

    For one clustering it subtracts from each row the mean of its cluster; for several it is the residual of a linear
    regression on all their one-hot columns. Use it before UMAP, k-means or any other method that should not find the
    given clusterings again.

    Attributes
    ----------
    mean_ : array, shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from altclust.baselines import RegressOut
    >>> rest = RegressOut().fit_transform(np.array([[0.0], [2.0], [10.0], [14.0]]), ["a", "a", "b", "b"])
    >>> rest.ravel().round(6).tolist()
    [-1.0, 1.0, -2.0, 2.0]
    """

    def fit(self, X: Any, y: Any = None) -> RegressOut:
        """Learn the effect of each given cluster on a row; y are the given clusterings."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """The rows of X without what y explains of them, shape (n_samples, n_features)."""
        centred, self.mean_ = centred_table(self, X)
        self._explained = _Explained(centred, read_given(y, len(centred), "clusterings"))
        return self._explained.rest

    def transform(self, X: Any) -> Array:
        """New rows without the explained part; a linear discriminant predicts their given clusters."""
        check_is_fitted(self, "mean_")
        return self._explained.remove(new_table(self, X) - self.mean_)


def _clusterer_predicts(model: Any) -> bool:
    clusterer = model.clusterer
    return clusterer is None or hasattr(clusterer, "predict")


@dataclass(eq=False, repr=False, kw_only=True)
class Residual(OneToOneFeatureMixin, MappedBaseline):
    """Cluster the part of the rows that the given clusterings do not explain.

    The simplest method, and a strong one if views share directions: subtract the mean of each row's given cluster (for
    several given clusterings, regress on all their one-hot columns), then cluster the residuals with any scikit-learn
    clusterer. It cannot find a view that is itself a union of given clusters.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    clusterer : estimator, optional
        Clusters the residuals, with its own number of clusters. Default: k-means with ten starts.
    random_state : int, Generator or None

    Examples
    --------
    >>> import numpy as np
    >>> from altclust.baselines import Residual
    >>> from altclust.datasets import views
    >>> data = views(200, ("blobs", "blobs"), (2, 2), random_state=0)
    >>> bool(Residual(2, random_state=0).fit(data.X, data.given).overlap_ < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {"clusterer": [BaseEstimator, None]}
    clusterer: Any = None

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        self._explained = _Explained(X, given)
        rest = self._explained.rest
        if self.clusterer is None:
            self.clusterer_ = kmeans(rest, self.n_clusters_, rng)
            return self.clusterer_.labels_
        self.clusterer_ = clone(self.clusterer)
        return self.clusterer_.fit_predict(rest)

    def _map(self, X: Array) -> Array:
        return self._explained.remove(X)

    def _predict(self, X: Array) -> np.ndarray:
        return self.clusterer_.predict(X)

    @available_if(_clusterer_predicts)
    def predict(self, X: Any) -> np.ndarray:
        """The alternative cluster of new rows, if the clusterer can predict."""
        return super().predict(X)
