"""Candidate directions of a view: independent components that do not depend on the given clusterings."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from ..base.backend import Array
from ..core.embedding import as_codes
from ..core.solvers.grassmann import orthonormal

ICA_STARTS = 3
ROWS_PER_COMPONENT = 20
DIGITS = 9
TELLING = 0.1  # Cramér's V², above which a component depends on a given clustering
DEPENDENT = 0.05  # Cramér's V², above which two components belong to the same view
CANDIDATES = 20  # components that are tested for this dependence
PARALLEL = 0.8  # correlation above which two directions count as the same


def light_tailed(X: Array) -> Array:
    """Independent components of rows, shape (n, c), of variance 1, those with the lightest tails first."""
    count = max(1, min(X.shape[1], len(X) // ROWS_PER_COMPONENT))
    X = np.ascontiguousarray(np.round(X / (X.std() or 1.0), DIGITS))  # so that rounding does not show in the result
    best, lightest = X[:, :0], np.inf
    for seed in range(ICA_STARTS):  # FastICA may not converge
        ica = _fitted(X, count, seed)
        sources = X @ (np.zeros((0, X.shape[1])) if ica is None else ica.components_).T
        sources = sources[:, np.isfinite(sources).all(axis=0)]
        sources /= np.maximum(sources.std(axis=0), np.finfo(float).tiny)
        tails = np.mean(sources**4, axis=0)
        if tails.min(initial=np.inf) < lightest:
            best, lightest = sources[:, np.argsort(tails, kind="stable")], tails.min()
    return best


def _fitted(X: Array, count: int, seed: int) -> FastICA | None:
    """FastICA, or None if most rows are equal, so that components collapse to zero."""
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # any rotation of the whitened rows is a start
        try:
            return FastICA(count, fun="cube", max_iter=150, tol=1e-3, random_state=seed).fit(X)
        except ValueError:
            return None


def independent_directions(X: Array, given: list[np.ndarray], q: int, rng: np.random.Generator) -> Array:
    """Directions of q components with light tails that depend on each other but not on the given clusterings.

    Blobs, moons and rings of similar sizes all have lighter tails than a Gaussian along every axis of their plane,
    which shows in the fourth moment, however many noise columns there are; heavy tails come from single rows. FastICA
    may stop early, so the best of a few starts is used. If there are too many columns for the number of rows, it uses
    only the leading principal directions, and the columns themselves are further candidates.

    Returns an orthonormal array of shape (d, q).
    """
    X = np.ascontiguousarray(X)  # FastICA's rounding, and so its result, depends on the memory order
    n, d = X.shape
    given = [as_codes(one) for one in given]
    count = max(q, min(d, n // ROWS_PER_COMPONENT))
    best = np.inf
    W: Array = np.eye(d, q)
    for seed in rng.integers(2**31, size=ICA_STARTS):
        ica = _fitted(X, count, int(seed))
        if ica is None:
            continue
        directions = ica.components_
        if count < d:
            directions = np.vstack([directions, np.eye(d)])
        sources = X @ directions.T
        tails = np.mean(sources**4, axis=0) / np.mean(sources**2, axis=0) ** 2
        known = np.array([max((_association(s, codes) for codes in given), default=0.0) for s in sources.T])
        chosen = _of_one_view(sources, np.lexsort((tails, known > TELLING)), q)
        if tails[chosen].sum() < best:
            best, W = tails[chosen].sum(), orthonormal(directions[chosen].T)
    return W


def _of_one_view(sources: Array, order: np.ndarray, q: int) -> list[int]:
    """The first component in this order, and then those that depend most on the ones already chosen.

    Components of one view depend on each other although they are uncorrelated; those of two views do not. If no
    component depends on the chosen ones, the next in the order is taken.
    """
    alike = np.abs(np.corrcoef(sources.T)) > PARALLEL
    chosen = [int(order[0])]
    while len(chosen) < q:
        left = [int(j) for j in order if j not in chosen and not alike[j, chosen].any()]
        left = left or [int(j) for j in order if j not in chosen]
        depends = [max(_association(sources[:, j], _bins(sources[:, i])) for i in chosen) for j in left[:CANDIDATES]]
        chosen.append(left[int(np.argmax(depends))] if max(depends) > DEPENDENT else left[0])
    return chosen


def _bins(values: Array, bins: int = 6) -> np.ndarray:
    """Bin numbers, with equally many values in each bin."""
    return np.argsort(np.argsort(values)) * bins // len(values)


def _association(values: Array, codes: np.ndarray) -> float:
    """Cramér's V² between equally filled bins of the values and the known codes."""
    known = codes >= 0
    kinds, codes = np.unique(codes[known], return_inverse=True)
    if len(kinds) < 2:
        return 0.0
    bins = np.unique(_bins(values[known]), return_inverse=True)[1]
    counts = np.zeros((bins.max() + 1, len(kinds)))
    np.add.at(counts, (bins, codes), 1)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    return float((np.sum(counts**2 / expected) - 1) / max(min(counts.shape) - 1, 1))
