"""Several views at once, with a penalty on the HSIC between them (Niu, Dy and Jordan 2010)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.cluster import SpectralClustering

from ..base.backend import Array
from ..base.given import Given
from ..base.validation import AUTO, COUNT, WEIGHT, WIDTH
from ..core.alternation import solve
from ..core.engines import DenseEngine
from ..core.kernels import Gaussian
from ..core.problem import Problem, row_space
from ..core.solvers import ISM, subspace_distance
from .base import Baseline, MappedBaseline, make_gaussian

SEEN = 100  # rows from which the dependence between columns is estimated
LEADING = 10  # eigenvectors that approximate a view's kernel
REST = 0.05  # change of the directions at which the views count as converged


@dataclass(eq=False, repr=False, kw_only=True)
class MultipleSpectralViews(ClassNamePrefixFeaturesOutMixin, MappedBaseline):
    """mSC: several spectral clusterings at once, each in its own directions, which are nearly independent.

    Maximises Σ_v HSIC(XW_v, U_v) − λ Σ_{v≠w} HSIC(XW_v, XW_w) − λ HSIC(XW_v, given) over orthonormal W_v and U_v, view
    by view, in several rounds. The kernel of another view enters through its leading eigenvectors, as if they were
    given columns; so each W step is that of `altclust.KDAC`, solved by ISM.

    Parameters
    ----------
    n_clusters : int or "auto"
        Number of clusters in every view. "auto": that of the first given clustering.
    n_views : int or "auto"
        Number of views to find. "auto": two, or one if a clustering is given, which counts as a known view.
    n_components : int or "auto"
        Directions of every view. "auto": the number of clusters, or fewer, to leave some for the other views.
    novelty_weight : float
        λ.
    sigma : float or "auto"
        Width of the kernel; "auto" is half the median distance between rows.
    max_iter : int
        Limit on the rounds over all views.
    random_state : int, Generator or None

    Attributes
    ----------
    views_ : int array, shape (n_samples, n_views)
        `labels_` is the column of the view with the lowest cost: high quality and low overlap.
    components_ : list of arrays, shape (n_components, n_features)
        The directions of every view.
    qualities_ : array, shape (n_views,)
        HSIC(XW_v, U_v).
    n_iter_ : int

    Notes
    -----
    After “Multiple non-redundant spectral clustering views” (ICML 2010): the columns are grouped by their HSIC with
    each other, and every group is the start of a view. The original then takes gradient steps; here ISM is used.
    """

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {
        "n_views": [COUNT, AUTO],
        "n_components": [COUNT, AUTO],
        "novelty_weight": [WEIGHT],
        "sigma": [WIDTH, AUTO],
        "max_iter": [COUNT],
    }
    n_views: int | str = "auto"
    n_components: int | str = "auto"
    novelty_weight: float = 1.0
    sigma: float | str = "auto"
    max_iter: int = 10
    _most_rows = 10_000

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        n, k = len(X), self.n_clusters_
        inside, basis = row_space(X)
        views = (1 if given else 2) if isinstance(self.n_views, str) else self.n_views
        q = self._width(inside.shape[1], views + bool(given))
        kernel = make_gaussian(self.sigma, X, rng, share=0.5)
        Y = given.indicators()
        problem = Problem(k, q, self.novelty_weight, kernel)
        engine = DenseEngine(inside, kernel)
        starts = [_principal(X, group, q, rng) for group in _groups(X, views, rng)]
        W = [start if basis is None else np.linalg.qr(basis.T @ start)[0] for start in starts]
        found: list[Any] = [None] * views
        for rounds in range(1, self.max_iter + 1):
            self.n_iter_, moved = rounds, 0.0
            for v in range(views):
                # every pair of views is counted twice in the sum
                others = [2**0.5 * _factor(engine, W[w], min(LEADING, n - 1)) for w in range(views) if w != v]
                engine.given = np.hstack([Y, *others])
                found[v] = solve(problem, engine, ISM(), W[v], rng=rng, max_iter=10)
                moved, W[v] = max(moved, subspace_distance(W[v], found[v].W)), found[v].W
            if moved < REST:
                break
        self.components_ = [(w if basis is None else basis @ w).T for w in W]
        self.views_ = np.column_stack([result.labels for result in found])
        self.qualities_ = np.array([result.quality for result in found])
        self._best = int(np.argmin([result.cost for result in found]))
        self._predict = found[self._best].kernel_map.labels
        return self.views_[:, self._best]

    def _width(self, rank: int, views: int) -> int:
        """The number of directions of a view, fewer than all: otherwise all views would be the same."""
        if isinstance(self.n_components, str):
            return min(self.n_clusters_, max(1, rank // views))
        if self.n_components >= rank > 1 and views > 1:
            warnings.warn(
                f"n_components={self.n_components} but the rows span {rank} direction(s): every view uses all of them, "
                "so none can differ from the others; ask for fewer.",
                UserWarning,
                stacklevel=4,
            )
        return min(self.n_components, rank)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_[self._best])

    def _map(self, X: Array) -> Array:
        return X @ self.components_[self._best].T


def _groups(X: Array, n_views: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Groups of columns that depend on each other, one group per view."""
    d = X.shape[1]
    if n_views == 1 or d <= n_views:
        return [np.arange(d) if n_views == 1 else np.arange(v % d, d, n_views) for v in range(n_views)]
    rows = X if len(X) <= SEEN else X[rng.choice(len(X), SEEN, replace=False)]
    grams = []
    for column in rows.T:
        K = Gaussian(float(column.std()) or 1.0).gram(column[:, None])
        K = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
        grams.append((K / (np.linalg.norm(K) or 1.0)).ravel().astype(np.float32))
    alike = np.clip(np.array(grams) @ np.array(grams).T, 0, None)
    seed = int(rng.integers(2**31))
    groups = SpectralClustering(n_views, affinity="precomputed", random_state=seed).fit_predict(alike + 1e-6)
    return [np.flatnonzero(groups == v) if np.any(groups == v) else np.arange(d) for v in range(n_views)]


def _principal(X: Array, columns: np.ndarray, q: int, rng: np.random.Generator) -> Array:
    """The q leading principal directions of some columns, shape (d, q), padded with random ones if there are fewer."""
    W = rng.standard_normal((X.shape[1], q))
    leading = np.linalg.svd(X[:, columns], full_matrices=False)[2][:q].T
    W[:, : leading.shape[1]] = 0
    W[columns, : leading.shape[1]] = leading
    return np.linalg.qr(W)[0]


def _factor(engine: DenseEngine, W: Array, leading: int) -> Array:
    """B with B Bᵀ ≈ the centred, normalised kernel of the projected rows, shape (n, leading)."""
    embedding = engine.embed(W, leading)
    return embedding.U * np.sqrt(np.maximum(embedding.values, 0))
