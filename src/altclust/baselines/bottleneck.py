"""Conditional information bottleneck for counts (Gondek and Hofmann 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given
from ..base.sklearn_compat import Interval
from ..base.validation import COUNT
from .base import Baseline

FLOOR = 1e-12
COOLINGS = 12  # temperatures, from one common cluster to hard assignments
SWEEPS = 20


@dataclass(eq=False, repr=False, kw_only=True)
class ConditionalBottleneck(Baseline):
    """Conditional information bottleneck for counts: maximise I(C; columns | given), coordinated across given clusters.

    A row is a distribution over the columns (a document over words). Rows of one given cluster are clustered by
    their divergence from p(column | C, given); adding `coordination` times the divergence from p(column | C) gives a
    cluster the same meaning in every given cluster. Soft assignments p(C | row) ∝ p(C) exp(−β · divergence) are
    annealed until they are hard.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    coordination : float
        Weight of the divergence from p(column | C); large values find the given clustering again.
    n_init : int
        Number of random starts; the result with the largest information is kept.
    random_state : int, Generator or None

    Attributes
    ----------
    information_ : float
        I(C; columns | given) + coordination · I(C; columns), in nats.

    Notes
    -----
    After “Non-redundant data clustering” (ICDM 2004), the coordinated conditional information bottleneck with a hard
    given clustering; the annealing schedule is ours. Several given clusterings are combined into one. Rows with an
    unknown label are assigned to the cluster with the nearest p(column | C).
    """

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {
        "coordination": [Interval(Real, 0, None, closed="left")],
        "n_init": [COUNT],
    }
    coordination: float = 0.2
    n_init: int = 5

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        counts = X + self.mean_
        if counts.min() < -FLOOR:
            raise InputError(f"Negative values in data: X has {counts.min():.3g}, but this method needs counts.")
        counts = np.maximum(counts, 0) + FLOOR
        P = counts / counts.sum(axis=1, keepdims=True)
        known = np.all(given.codes >= 0, axis=1)
        if known.sum() < self.n_clusters_:
            raise InputError(
                f"given has {known.sum()} row(s) without unknown labels: pass at least n_clusters={self.n_clusters_}."
            )
        codes = np.column_stack([np.zeros(len(P), int), given.codes])[known]
        cells = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
        tries = [self._cool(P[known], cells, rng) for _ in range(self.n_init)]
        found, self.information_ = max(tries, key=lambda one: one[1])
        labels = np.empty(len(P), dtype=int)
        labels[known] = found
        if not known.all():  # by p(column | C), without the given clusters
            profiles = np.log(_profiles(P[known], np.eye(self.n_clusters_)[found]))
            present = np.unique(found)
            labels[~known] = present[np.argmax(P[~known] @ profiles[present].T, axis=1)]
        return labels

    def _cool(self, P: Array, cells: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        n, k = len(P), self.n_clusters_
        q = rng.dirichlet(np.full(k, 5.0), size=n)
        scale = _divergence(P, np.full((n, 1), 1.0), cells, self.coordination)[:, 0].mean() + FLOOR
        for beta in np.geomspace(1, 200, COOLINGS) / scale:
            for _ in range(SWEEPS):
                logits = np.log(q.mean(axis=0) + FLOOR) - beta * _divergence(P, q, cells, self.coordination)
                new = softmax(logits, axis=1)
                moved, q = float(np.abs(new - q).max()), new
                if moved < 1e-4:
                    break
        labels = np.argmax(q, axis=1)
        hard = np.eye(k)[labels]
        spent = np.sum(hard * _divergence(P, hard, cells, self.coordination)) / n
        return labels, float(scale - spent)


def _divergence(P: Array, q: Array, cells: np.ndarray, coordination: float) -> Array:
    """KL(p(·|x) ‖ p(·|C, given)) + coordination · KL(p(·|x) ‖ p(·|C)), shape (n, k)."""
    own = np.sum(P * np.log(P), axis=1, keepdims=True)
    total = coordination * (own - P @ np.log(_profiles(P, q)).T)
    for cell in np.unique(cells):
        rows = cells == cell
        total[rows] += own[rows] - P[rows] @ np.log(_profiles(P[rows], q[rows])).T
    return total


def _profiles(P: Array, q: Array) -> Array:
    """p(column | C), shape (k, d)."""
    sums = q.T @ P + FLOOR
    return sums / sums.sum(axis=1, keepdims=True)
