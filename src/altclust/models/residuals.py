"""Rows without what is given; for new rows, the given cluster, or the effect of a measurement, is predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace
from scipy.linalg import cho_factor, cho_solve
from sklearn.covariance import ledoit_wolf

from ..base.backend import Array, like
from ..base.errors import InputError
from ..core.kernels import Gaussian
from ..core.metrics import one_hot
from ..core.problem import indicators, row_space

PREDICTORS = 300  # rows from whose neighbourhood the effect of a measurement is predicted
ROUNDING = 1e-9  # added to the variances of standardised columns
RIDGE = 1e-2  # relative to the mean eigenvalue of their kernel


@dataclass(frozen=True)
class GivenMeans:
    """The means to subtract from a row; a linear discriminant predicts its given cluster from the row itself.

    Attributes
    ----------
    means : list of arrays, shape (c, d)
        One per given clustering: the effect of each of its clusters on a centred row.
    weights, intercepts : lists of arrays, shapes (c, d) and (c,)
        The cluster of a row is where ``weights @ row + intercepts`` is largest.
    measured : Effect or None
        Predicts what all given measurements add to a row.
    """

    means: list[Array]
    weights: list[Array]
    intercepts: list[Array]
    measured: Effect | None = None

    @classmethod
    def fit(cls, X: Array, given: Sequence[np.ndarray]) -> GivenMeans:
        """From the centred rows X and what is given: codes, −1 for unknown, or features of measurements."""
        measured = [features for features in given if features.ndim == 2]
        given = [codes for codes in given if codes.ndim == 1]
        Y = indicators([*given, *measured], len(X), "paper")
        effects = np.linalg.lstsq(Y, X, rcond=None)[0]
        A = indicators(measured, len(X), "paper")
        smooth = Effect.fit(X, A @ effects[len(effects) - A.shape[1] :]) if measured else None
        inside, basis = row_space(X) if X.shape[1] > 2 * len(X) else (X, None)  # no covariance of thousands of columns
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
            coefficients, constants = _discriminant(inside[known], np.searchsorted(present, codes[known]), sizes)
            if basis is not None:
                coefficients = coefficients @ basis.T
            weights.append(_by_code(coefficients, present, 0.0))
            intercepts.append(_by_code(constants, present, -np.inf))  # a cluster without rows is never predicted
        return cls(means, weights, intercepts, smooth)

    def remove(self, X: Array) -> Array:
        """The centred rows X minus the means of their predicted clusters, and the predicted effect of measurements."""
        xp, rows = array_namespace(X), X
        if self.measured is not None:
            rows = rows - self.measured.predict(X)
        for means, weights, intercepts in zip(self.means, self.weights, self.intercepts, strict=True):
            guess = xp.argmax(X @ like(weights, X).T + like(intercepts, X), axis=1)
            rows = rows - xp.take(like(means, X), guess, axis=0)
        return rows


def _discriminant(X: Array, codes: np.ndarray, sizes: np.ndarray) -> tuple[Array, Array]:
    """Linear discriminant functions of clusters: weights, shape (c, d), and constants, shape (c,).

    The covariance within clusters is that of standardised columns, shrunk as Ledoit and Wolf (2004) say.
    """
    centres = one_hot(codes).T @ X / sizes[:, None]
    within = X - centres[codes]
    scale = within.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    covariance = ledoit_wolf(within / scale, assume_centered=True)[0]
    covariance.flat[:: len(covariance) + 1] += ROUNDING
    weights = cho_solve(cho_factor(covariance), (centres / scale).T).T / scale
    return weights, np.log(sizes / sizes.sum()) - np.sum(weights * centres, axis=1) / 2


@dataclass(frozen=True)
class Effect:
    """A smooth function of rows: kernel ridge regression on a few of them.

    Attributes
    ----------
    landmarks : array, shape (r, d)
    coefficients : array, shape (r, d)
    sigma : float
        Width of the kernel.
    """

    landmarks: Array
    coefficients: Array
    sigma: float

    @classmethod
    def fit(cls, X: Array, effect: Array) -> Effect:
        """The function that takes the rows X, shape (n, d), to these values, shape (n, d)."""
        landmarks = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), PREDICTORS)).astype(int))]
        distances = np.sqrt(np.maximum(-2 * Gaussian(1.0).exponent(landmarks, landmarks), 0.0))
        sigma = float(np.median(distances[np.triu_indices(len(landmarks), 1)])) or 1.0
        C, M = Gaussian(sigma).between(X, landmarks), Gaussian(sigma).gram(landmarks)
        inner = C.T @ C
        inner += RIDGE * np.trace(inner) / len(inner) / len(inner) * M
        return cls(landmarks, np.linalg.lstsq(inner, C.T @ effect, rcond=1e-12)[0], sigma)

    def predict(self, X: Array) -> Array:
        """The values for other rows."""
        return Gaussian(self.sigma).between(X, like(self.landmarks, X)) @ like(self.coefficients, X)


def _by_code(values: Array, present: np.ndarray, missing: float) -> Array:
    """One row per code up to the largest, from one row per code that is present."""
    full = np.full((present.max() + 1, *values.shape[1:]), missing)
    full[present] = values
    return full
