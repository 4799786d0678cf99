"""What is given about new rows, guessed from the rows themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from array_api_compat import array_namespace
from scipy.linalg import cho_factor, cho_solve
from sklearn.covariance import ledoit_wolf

from ..base.backend import Array, like
from ..base.errors import InputError
from ..base.given import Given
from .kernels import Gaussian
from .metrics import one_hot
from .problem import row_space

PREDICTORS = 300  # rows from whose neighbourhood the effect of a measurement is predicted
ROUNDING = 1e-9  # added to the variances of standardised columns
RIDGE = 1e-2  # relative to the mean eigenvalue of their kernel


@dataclass(frozen=True)
class Guess:
    """Linear discriminants for given clusterings, and a smooth function of the row for given measurements.

    For each given clustering there are `weights` (c, d) and `intercepts` (c,): the code of a centred row is where
    ``weights @ row + intercepts`` is largest. `measured` predicts what all given measurements add to a row.
    """

    weights: tuple[Array, ...]
    intercepts: tuple[Array, ...]
    measured: Effect | None = None

    @classmethod
    def fit(cls, X: Array, given: Given, smooth: Array) -> Guess:
        """From centred rows X, what is given, and what measurements add to X, shape (n, d)."""
        inside, basis = row_space(X) if X.shape[1] > 2 * len(X) else (X, None)  # no covariance of thousands of columns
        weights, intercepts = [], []
        for codes in given.clusterings:
            known = codes >= 0
            present, sizes = np.unique(codes[known], return_counts=True)
            if known.sum() <= len(sizes):
                raise InputError(
                    f"given has {known.sum()} known labels of {len(sizes)} clusters: too few to tell the cluster of a "
                    "new row; pass Settings(subtract_given=False)."
                )
            coefficients, constants = _discriminant(inside[known], np.searchsorted(present, codes[known]), sizes)
            if basis is not None:
                coefficients = coefficients @ basis.T
            weights.append(_by_code(coefficients, present, 0.0))
            intercepts.append(_by_code(constants, present, -np.inf))  # a cluster without rows is never guessed
        return cls(tuple(weights), tuple(intercepts), Effect.fit(X, smooth) if given.measurements else None)

    def effect(self, X: Array, effects: Sequence[Array]) -> Array:
        """What the guessed clusters and measurements add to the centred rows X.

        effects are those of each given clustering, shape (c + 1, d).
        """
        xp = array_namespace(X)
        total = xp.zeros_like(X) if self.measured is None else self.measured.predict(X)
        for table, weights, intercepts in zip(effects, self.weights, self.intercepts, strict=True):
            codes = xp.argmax(X @ like(weights, X).T + like(intercepts, X), axis=1)
            total = total + xp.take(like(table, X), codes, axis=0)
        return total


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
    """A smooth function of rows: kernel ridge regression on a few of them, the landmarks (r, d)."""

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
