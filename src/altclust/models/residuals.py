"""Rows minus the means of their given clusters; for new rows, the given cluster is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ..base.backend import Array, like
from ..base.errors import InputError
from ..core.problem import indicators, row_space


@dataclass(frozen=True)
class GivenMeans:
    """The means to subtract from a row; a linear discriminant predicts its given cluster from the row itself.

    Attributes
    ----------
    means : list of arrays, shape (c, d)
        One per given clustering: the effect of each of its clusters on a centred row.
    weights, intercepts : lists of arrays, shapes (c, d) and (c,)
        The cluster of a row is where ``weights @ row + intercepts`` is largest.
    """

    means: list[Array]
    weights: list[Array]
    intercepts: list[Array]

    @classmethod
    def fit(cls, X: Array, given: Sequence[np.ndarray]) -> GivenMeans:
        """From the centred rows X and the codes of every given clustering, −1 for unknown."""
        Y = indicators(given, len(X), "paper")
        effects = np.linalg.lstsq(Y, X, rcond=None)[0]
        inside, basis = row_space(X) if X.shape[1] >= len(X) else (X, None)  # no covariance of thousands of columns
        means, weights, intercepts = [], [], []
        for codes in given:
            known = codes >= 0
            present, sizes = np.unique(codes[known], return_counts=True)
            own, effects = effects[: len(sizes)], effects[len(sizes) :]
            means.append(_by_code(own - sizes @ own / max(sizes.sum(), 1), present, 0.0))
            if known.sum() <= len(sizes):
                raise InputError(
                    f"given has {known.sum()} known labels of {len(sizes)} clusters: too few to tell the cluster of a "
                    "new row; pass subtract_given=False."
                )
            model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(inside[known], codes[known])
            two = len(model.coef_) == 1  # for two classes scikit-learn stores only their difference
            coefficients = np.vstack([-model.coef_, model.coef_]) if two else model.coef_
            constants = np.concatenate([-model.intercept_, model.intercept_]) if two else model.intercept_
            if basis is not None:
                coefficients = coefficients @ basis.T
            weights.append(_by_code(coefficients, present, 0.0))
            intercepts.append(_by_code(constants, present, -np.inf))  # a cluster without rows is never predicted
        return cls(means, weights, intercepts)

    def remove(self, X: Array) -> Array:
        """The centred rows X minus the means of their predicted clusters."""
        xp, rows = array_namespace(X), X
        for means, weights, intercepts in zip(self.means, self.weights, self.intercepts, strict=True):
            guess = xp.argmax(X @ like(weights, X).T + like(intercepts, X), axis=1)
            rows = rows - xp.take(like(means, X), guess, axis=0)
        return rows


def _by_code(values: Array, present: np.ndarray, missing: float) -> Array:
    """One row per code up to the largest, from one row per code that is present."""
    full = np.full((present.max() + 1, *values.shape[1:]), missing)
    full[present] = values
    return full
