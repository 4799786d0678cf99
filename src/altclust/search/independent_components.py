"""Candidate directions of a view: independent components that do not depend on the given clusterings."""

from __future__ import annotations

import numpy as np

from ..base.backend import Array
from ..base.given import Given
from ..core.linalg.eigen import lapack_subset
from ..core.solvers.grassmann import orthonormal
from .discriminants import ROUNDING
from .heuristics import ROWS_EACH

STARTS = 6  # of FastICA
MOST_STEPS, STEADY = 150, 1e-3  # of FastICA, and the change of a direction at which it stops
NEW = 2.0  # weight of what given clusters explain, beside the fourth moment


def light_tailed(X: Array) -> Array:
    """Independent components of rows, shape (n, c), of variance 1, those with the lightest tails first."""
    X = np.ascontiguousarray(X)
    sources = np.matmul(X, unmixing(X, max(1, len(X) // ROWS_EACH), np.random.default_rng(0)))
    sources /= np.maximum(sources.std(axis=1, keepdims=True), np.finfo(float).tiny)
    tails = np.mean(sources**4, axis=1)
    best = int(np.argmin(tails.min(axis=1, initial=np.inf)))
    return sources[best][:, np.argsort(tails[best], kind="stable")]


def unmixing(X: Array, count: int, rng: np.random.Generator) -> Array:
    """Directions of independent components of centred rows, from several starts, shape (s, d, c); c is at most count.

    FastICA (Hyvärinen 1999) with the fourth moment, all starts at once; it may not converge. The components span the
    leading principal directions, and are fewer where the rows vary in fewer.
    """
    values, axes = np.linalg.eigh(X.T @ X / len(X))
    values, axes = values[::-1][:count], axes[:, ::-1][:, :count]
    varied = values > ROUNDING * values[0]
    whiten = axes[:, varied] / np.sqrt(values[varied])
    Z = X @ whiten
    W = _orthogonal(rng.standard_normal((STARTS, Z.shape[1], Z.shape[1])))
    for _ in range(MOST_STEPS if varied.any() else 0):
        Y = np.matmul(Z, W)
        before, W = W, _orthogonal(np.matmul(Z.T, Y * Y * Y) / len(Z) - 3 * W)
        if np.abs(np.abs(np.sum(before * W, axis=1)) - 1).max() < STEADY:
            break
    return np.matmul(whiten, W)


def _orthogonal(W: Array) -> Array:
    """The orthogonal matrices nearest to those of a stack."""
    left, _, right = np.linalg.svd(W)
    return np.matmul(left, right)


def independent_directions(X: Array, given: Given, q: int, rng: np.random.Generator) -> Array:
    """Directions of q components with light tails that depend on each other but not on the given clusterings.

    Blobs, moons and rings of similar sizes all have lighter tails than a Gaussian along every axis of their plane,
    which shows in the fourth moment, however many noise columns there are; heavy tails come from single rows. FastICA
    may stop early, so the best of a few starts is used. It finds one direction of a view after the other, and the
    second one of a ring badly; `LightTails` then moves all together. If there are too many columns for the number of
    rows, it starts from the leading principal directions only.

    Returns an orthonormal array of shape (d, q); fewer columns if the rows vary in fewer directions, unless in none.
    """
    X = np.ascontiguousarray(X)  # the rounding, and so the result, depends on the memory order
    n, d = X.shape
    explained = given.indicators()
    light, best = LightTails(X, explained), np.inf
    W: Array = np.eye(d, q)
    for directions in unmixing(X, max(q, n // ROWS_EACH), rng):
        sources = X @ directions
        power = np.mean(sources**2, axis=0)
        tails = np.mean(sources**4, axis=0) / power**2
        known = np.sum((explained.T @ sources) ** 2, axis=0) / (n * power)
        chosen = _of_one_view(sources, np.argsort(tails + 2 * NEW * known, kind="stable"), q)
        moved, tail = light.near(directions[:, chosen])
        if tail < best:
            best, W = tail, moved
    return W


class LightTails:
    """Subspaces in which whitened rows have light tails together, and tell little of what is given.

    What is made small is E‖Vᵀz‖⁴, V orthonormal, Mardia's kurtosis of the rows z in a subspace, plus a penalty: `NEW`
    times twice what the given clusters explain there of z and of zzᵀ.

    `Z` are the whitened rows, X @ `whiten`, and `colour` undoes the whitening of directions.

    Parameters
    ----------
    X : array, shape (n, d)
        Centred rows.
    explained : array, shape (n, c)
        Columns of what is given, see `altclust.base.given.Given`.
    """

    def __init__(self, X: Array, explained: Array) -> None:
        n = len(X)
        values, axes = np.linalg.eigh(X.T @ X / n)
        varied = values > ROUNDING * values[-1]
        self.whiten, self.colour = axes[:, varied] / np.sqrt(values[varied]), axes[:, varied] * np.sqrt(values[varied])
        self.Z = X @ self.whiten
        scaled = explained.T[:, :, None] / np.sqrt(n) * self.Z
        # of what is given: clusters differ in place, rings in spread
        means, moments = scaled.sum(axis=1), self.Z.T @ scaled
        self.penalty = NEW * (means.T @ means + np.sum(moments @ moments, axis=0))

    def near(self, W: Array) -> tuple[Array, float]:
        """Orthonormal directions near W, shape (d, q), and their value, at most that of W.

        Each step takes the smallest eigenvectors of the slope, without the part 2VVᵀ that a Gaussian has as well; it
        need not be a descent.
        """
        Z, V = self.Z, orthonormal(self.colour.T @ W)
        q, best, lowest = V.shape[1], V, np.inf
        for _ in range(MOST_STEPS if V.size else 0):
            lengths = np.sum((Z @ V) ** 2, axis=1)
            tail = np.mean(lengths**2) + 2 * np.trace(V.T @ self.penalty @ V)
            if tail < lowest:
                best, lowest = V, tail
            slope = (Z * lengths[:, None]).T @ Z / len(Z) - 2 * V @ V.T + self.penalty
            before, V = V, lapack_subset(slope, 0, q - 1)[1]
            if q - np.sum((before.T @ V) ** 2) < STEADY**2:
                break
        return orthonormal(self.whiten @ best), float(lowest)


def _of_one_view(sources: Array, order: np.ndarray, q: int) -> list[int]:
    """The first component in this order, and then those that depend most on the ones already chosen.

    Components of one view depend on each other although they are uncorrelated; those of two views do not.
    """
    chosen = list(order[:1])
    while len(chosen) < min(q, len(order)):
        left = [j for j in order if j not in chosen]
        depends = [max(_association(sources[:, j], equal_bins(sources[:, i])) for i in chosen) for j in left]
        chosen.append(left[int(np.argmax(depends))])
    return chosen


def equal_bins(values: Array, bins: int = 6) -> np.ndarray:
    """Bin numbers, with equally many values in each bin."""
    return np.argsort(np.argsort(values)) * bins // len(values)


def _association(values: Array, codes: np.ndarray) -> float:
    """Cramér's V² between equally filled bins of the values and the known codes."""
    known = codes >= 0
    kinds, codes = np.unique(codes[known], return_inverse=True)
    if len(kinds) < 2:
        return 0.0
    bins = np.unique(equal_bins(values[known]), return_inverse=True)[1]
    counts = np.zeros((bins.max() + 1, len(kinds)))
    np.add.at(counts, (bins, codes), 1)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    return float((np.sum(counts**2 / expected) - 1) / max(min(counts.shape) - 1, 1))
