"""Rows without clusters that keep everything else: the null hypothesis of the significance test.

Within every given cluster, columns keep their own values or a smooth distribution with one peak, and their correlations
(a Gaussian copula). So what remains is what marginals, correlations and the given clusters explain; a clustering beyond
that is not in these rows. A column with few values keeps them: its groups are a fact about that column, not a view. For
the same reason a value that is far more frequent than its neighbours, such as no purchases, keeps its share.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from ..base.backend import Array
from .heuristics import ROWS_EACH

FEW_VALUES = 10  # distinct values, below which a column keeps its values
ATOM = 0.25  # share of equal values, above which it does
STANDS_OUT = 0.05  # share of a value that is twice as frequent as both its neighbours, above which it stays as it is
ON_ELLIPSE = 1e-6  # relative distance of two columns from an ellipse, up to which they are on it
MODES = 15  # places of the peak that are tried
COARSE = 6  # sorted values that count as one


@dataclass(frozen=True)
class Marginal:
    """The distribution of one column in one cell: sorted values, or quantiles of a smooth fit.

    `lattice` are the values that the column may take, if many are equal.
    """

    quantiles: Array
    smooth: bool
    lattice: Array | None = None

    @classmethod
    def fit(cls, values: Array, rng: np.random.Generator) -> Marginal:
        """From the values of a column in a cell."""
        kinds, counts = np.unique(values, return_counts=True)
        if len(kinds) < FEW_VALUES or counts.max() > ATOM * len(values):
            return cls(np.sort(values), smooth=False)
        beside = np.maximum(np.append(counts[1:], 0), np.append(0, counts[:-1]))
        kept = np.isin(values, kinds[(counts > STANDS_OUT * len(values)) & (counts > 2 * beside)])
        if kept.mean() > 0.5:
            return cls(np.sort(values), smooth=False)
        alone, values = values[kept], values[~kept]
        tied = len(np.unique(values)) < len(values)
        if tied:  # spread equal values over the space between neighbours, and round afterwards
            edges = np.concatenate([kinds[:1], (kinds[1:] + kinds[:-1]) / 2, kinds[-1:]])
            places = np.searchsorted(kinds, values)
            values = rng.uniform(edges[places], edges[places + 1])
        quantiles = np.sort(np.concatenate([one_peak(np.sort(values)), alone]))
        return cls(quantiles, smooth=True, lattice=kinds if tied else None)

    def draw(self, normal: Array) -> Array:
        """Values in the order of normal scores, shape (draws, n)."""
        if not self.smooth:
            found = np.empty_like(normal)
            np.put_along_axis(found, np.argsort(normal, axis=1), self.quantiles[None], axis=1)
            return found
        places = (len(self.quantiles) - 1) * ndtr(normal)  # equal steps: faster than np.interp, which searches for each
        below = np.minimum(places.astype(int), len(self.quantiles) - 2)
        found = self.quantiles[below] + (places - below) * np.diff(self.quantiles)[below]
        if self.lattice is None:
            return found
        middles = (self.lattice[1:] + self.lattice[:-1]) / 2
        return self.lattice[np.searchsorted(middles, found)]


def one_peak(ordered: Array) -> Array:
    """Sorted values of the closest distribution whose density rises to one peak and falls after it.

    The spacings between sorted values fall up to the peak and rise after it; the mean and the spread are kept. Every
    few values count as one, because single spacings vary so much that the fit would have a peak in flat noise.
    """
    places = np.unique(np.linspace(0, len(ordered) - 1, max(len(ordered) // COARSE, 4)).astype(int))
    spacings = np.diff(ordered[places]) / np.diff(places)
    best, found = np.inf, spacings
    for mode in np.unique(np.linspace(0, len(spacings), MODES).astype(int)):
        before = isotonic_regression(spacings[:mode], increasing=False).x if mode else spacings[:0]
        after = isotonic_regression(spacings[mode:]).x if mode < len(spacings) else spacings[:0]
        fitted = np.concatenate([before, after])
        loss = float(np.sum((fitted - spacings) ** 2))
        if loss < best:
            best, found = loss, fitted
    steps = np.concatenate([[0.0], np.cumsum(found * np.diff(places))])
    values = np.interp(np.arange(len(ordered)), places, steps)
    spread = values.std()
    return ordered.mean() + (values - values.mean()) * (ordered.std() / spread if spread > 0 else 0.0)


class NullRows:
    """A source of rows without clusters, fitted to rows and their cells.

    Parameters
    ----------
    X : array, shape (n, d)
    cells : int array, shape (n,)
        The given cluster of each row, from 0 on. Small cells are pooled, without their means.
    rng : Generator
    """

    def __init__(self, X: Array, cells: np.ndarray, rng: np.random.Generator) -> None:
        sizes = np.bincount(cells)
        small = sizes[cells] < ROWS_EACH
        self.means = np.zeros_like(X)
        for cell in np.unique(cells[small]):
            rows = cells == cell
            self.means[rows] = X[rows].mean(axis=0)
        cells = np.where(small, -1, cells)
        left = X - self.means
        scores = np.empty_like(left)
        members = [np.flatnonzero(cells == cell) for cell in np.unique(cells)]
        for rows in members:
            ranks = rankdata(left[rows], axis=0)
            scores[rows] = ndtri((ranks - 0.5) / len(rows))
        pooled, d = _correlations(scores), X.shape[1]
        self.cells = []
        for rows in members:
            n, own = len(rows), _correlations(scores[rows])
            R = (n * own + (d + ROWS_EACH) * pooled) / (n + d + ROWS_EACH)
            factor = np.linalg.cholesky(R + 1e-6 * np.eye(d))
            self.cells.append((rows, factor, [Marginal.fit(column, rng) for column in left[rows].T]))
        self.circles = [(i, j, X[:, [i, j]]) for i, j in _circles(X)]

    def draw(self, draws: int, rng: np.random.Generator) -> Array:
        """New rows in the cells of the old ones, shape (draws, n, d)."""
        found = np.empty((draws, *self.means.shape))
        for rows, factor, marginals in self.cells:
            normal = rng.standard_normal((draws, len(rows), len(factor))) @ factor.T
            for j, marginal in enumerate(marginals):
                found[:, rows, j] = marginal.draw(normal[:, :, j])
        found += self.means
        for i, j, pairs in self.circles:
            found[:, :, [i, j]] = pairs[np.argsort(rng.random(found.shape[:2]), axis=1)]
        return found


def _circles(X: Array) -> list[tuple[int, int]]:
    """Pairs of columns that lie on an ellipse: the sine and the cosine of an hour or of a direction."""
    many = [j for j, column in enumerate(X.T) if len(np.unique(column)) >= FEW_VALUES]
    pairs = np.array(list(combinations(many, 2)), dtype=int).reshape(-1, 2)
    X = X / (np.abs(X).max(axis=0) + np.finfo(float).tiny)
    some = X[: 2 * FEW_VALUES, pairs]  # rows that are on no ellipse rule a pair out quickly
    terms = np.concatenate([some**2, some, np.ones_like(some[..., :1])], axis=2).transpose(1, 0, 2)
    smallest = np.linalg.svd(terms, compute_uv=False)[:, -1] if len(pairs) else np.zeros(0)
    found: list[tuple[int, int]] = []
    for i, j in pairs[smallest <= ON_ELLIPSE * np.sqrt(len(some))].tolist():
        terms = np.column_stack([X[:, i] ** 2, X[:, j] ** 2, X[:, i], X[:, j]])
        weights = np.linalg.lstsq(terms, np.ones(len(X)), rcond=None)[0]
        if np.all(weights[:2] > 0) and np.abs(terms @ weights - 1).max() < ON_ELLIPSE:
            found.append((i, j))
    return found


def _correlations(scores: Array) -> Array:
    spread = scores.std(axis=0)
    Z = (scores - scores.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    R = Z.T @ Z / len(Z)
    np.fill_diagonal(R, 1.0)
    return R
