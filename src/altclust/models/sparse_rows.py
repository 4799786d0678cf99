"""Sparse matrices: reduced to some leading directions at the edge of a fit, with centred columns, never made dense.

The rows are clustered in the span of their leading principal directions. What is found there is expressed in the
columns of the matrix again, so that a model of sparse rows is like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..base.backend import Array
from ..base.errors import InputError
from ..core.feature_weights import told_weights
from ..core.metrics import one_hot
from ..search.settings import Settings
from .fitted_view import FittedView
from .fitting import telling_columns

DIRECTIONS = 100  # in which sparse rows are clustered
MORE = 10  # that are computed beside them, for accuracy
POWERS = 4  # of the matrix, for the same


@dataclass(frozen=True)
class Reduced:
    """Sparse rows X (n, d) in their leading principal directions: `rows` (n, m) in the orthonormal `basis` (d, m).

    `share` is the share of the variance in these directions.
    """

    X: Any
    mean: Array
    basis: Array
    rows: Array
    share: float

    @classmethod
    def of(cls, X: Any, rng: np.random.Generator, directions: int = DIRECTIONS) -> Reduced:
        """By a randomised singular value decomposition of the centred matrix, which is never formed."""
        n, d = X.shape
        mean = np.asarray(X.mean(axis=0)).ravel()

        def forward(V: Array) -> Array:
            return X @ V - mean @ V

        def backward(U: Array) -> Array:
            return X.T @ U - np.outer(mean, U.sum(axis=0))

        m = min(directions + MORE, n, d)
        V = np.eye(d) if m == d else rng.standard_normal((d, m))
        U = np.linalg.qr(forward(V))[0]
        for _ in range(POWERS if m < min(n, d) else 1):
            U = np.linalg.qr(forward(np.linalg.qr(backward(U))[0]))[0]
        basis, strengths, _ = np.linalg.svd(backward(U), full_matrices=False)
        if not strengths[0] > 1e-12 * np.linalg.norm(X.data):
            raise InputError(f"X has {n} equal rows: there is nothing to cluster.")
        rank = int(np.sum(strengths > 1e-10 * strengths[0]))
        basis = basis[:, : min(rank, directions)]
        variance = float(np.sum(X.data**2) - n * mean @ mean)
        rows = forward(basis)
        return cls(X, mean, basis, rows - rows.mean(axis=0), min(float(np.sum(rows**2)) / variance, 1.0))

    def lifted(self, view: FittedView) -> FittedView:
        """A view of the reduced rows, in the columns of the matrix."""
        coordinates = view.coordinates.reduced_from(self.mean, self.basis)
        shares, variances = self.between_shares(view.labels)
        W = coordinates.to_table(np.eye(view.n_components))
        d, m = self.basis.shape
        used = f"{m} leading directions of {d:,} sparse columns, {self.share:.0%} of the variance"
        return replace(
            view,
            coordinates=coordinates,
            settings=self._lifted(view.settings),
            feature_weights=told_weights(shares, view.labels, W, variances),
            engine=f"{view.engine}; {used}",
            rule=None,  # of directions, not of columns
            rows=None,
            columns=telling_columns(shares, None),
            fit_variant=None if view.fit_variant is None else partial(self._variant, view),
        )

    def _lifted(self, settings: Settings) -> Settings:
        init, subspace = settings.init, settings.subspace
        return replace(
            settings,
            init=self.basis @ init if settings.has_start else init,
            subspace=None if subspace is None else self.basis @ subspace,
        )

    def _variant(self, view: FittedView, n_clusters: int) -> FittedView:
        return self.lifted(view.variant(n_clusters))

    def between_shares(self, labels: np.ndarray) -> tuple[Array, Array]:
        """For each column, the share of its variance between clusters, and its variance, shapes (d,)."""
        n = len(labels)
        member = one_hot(labels)
        sums, sizes = (self.X.T @ member).T, np.maximum(member.sum(axis=0), 1)
        squares = np.asarray(self.X.multiply(self.X).sum(axis=0)).ravel()
        total = np.maximum(squares - n * self.mean**2, 0.0)
        between = np.sum(sums**2 / sizes[:, None], axis=0) - n * self.mean**2
        varied = total > 1e-12 * np.maximum(squares, np.finfo(float).tiny)
        return np.where(varied, np.clip(between / np.where(varied, total, 1.0), 0.0, 1.0), 0.0), total / n
