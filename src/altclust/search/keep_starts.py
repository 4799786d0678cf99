"""What a view should agree with, in a search: directions to start from, and how much an agreement is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from ..base.backend import Array
from ..core.lloyd import best_lloyd
from ..core.solvers.grassmann import orthonormal
from .discriminants import SHRINKAGE, in_turn
from .short_fits import in_coordinates
from .spec import SearchSpec
from .trials import Trial

KEPT = "kept"  # the source of starts
DRAWS = 6  # shuffled labels, from which the agreement that any labels reach is estimated


def kept_directions(X: Array, k: int, keep: tuple[Array, Array]) -> Array:
    """Orthonormal directions, shape (d, q), in which what is to be kept differs most compared with all rows.

    keep are columns B and weights s of its kernel, see `altclust.base.keep.Keep.columns`.
    """
    B, s = keep
    n, d = X.shape
    crossed = X.T @ B / np.sqrt(n)
    scatter = X.T @ X / n
    S = (1 - SHRINKAGE) * scatter + SHRINKAGE * (np.trace(scatter) / d or 1.0) * np.eye(d)
    q = max(1, min(k - 1, d))
    return orthonormal(eigh((crossed * s) @ crossed.T, S, subset_by_index=(d - q, d - 1))[1][:, ::-1])


def kept_start(X: Array, k: int, keep: tuple[Array, Array], rng: np.random.Generator) -> Array:
    """Directions of clusters that are sought where what is to be kept differs, and then without it."""
    labels = best_lloyd(X @ kept_directions(X, k, keep), k, rng, 3)[0]
    return in_turn(X, labels[None], k, rng)


def agreements(spec: SearchSpec, trials: Sequence[Trial], rng: np.random.Generator) -> Array:
    """How well each trial agrees with what is to be kept.

    In many columns, clusters that are sought from a few labels agree with them whatever these are. So what they reach
    with shuffled labels is subtracted.
    """
    keep = spec.keep
    assert keep is not None
    found = np.array([keep.agreement(trial.labels) for trial in trials])
    for k in {trial.n_clusters for trial in trials if trial.source == KEPT}:
        found[[trial.source == KEPT and trial.n_clusters == k for trial in trials]] -= _of_shuffled(spec, k, rng)
    return found


def _of_shuffled(spec: SearchSpec, k: int, rng: np.random.Generator) -> float:
    """The mean agreement of clusters with shuffled labels from which they were sought."""
    keep, (X, _) = spec.keep, in_coordinates(spec, True, 0.0)
    assert keep is not None
    found, given = [], spec.given.indicators()
    for _ in range(DRAWS):
        codes = keep.codes.copy()
        codes[keep.rows] = rng.permutation(codes[keep.rows])
        shuffled = keep._replace(codes=codes)
        columns = shuffled.columns(given)
        if len(columns[1]):
            W = kept_start(X, k, columns, rng)
            found.append(shuffled.agreement(best_lloyd(X @ W, k, rng, 3)[0]))
    return max(float(np.mean(found)), 0.0) if found else 0.0
