"""Agglomerative clustering with cannot-links from the given clustering (Bae and Bailey 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import pdist, squareform

from ..base.backend import Array
from ..base.given import Given
from ..base.sklearn_compat import Interval
from .base import Baseline


@dataclass(eq=False, repr=False, kw_only=True)
class COALA(Baseline):
    """Average-linkage clustering with cannot-links between rows of one given cluster.

    At each step there are two candidates: the nearest pair of clusters (quality), and the nearest pair without a
    cannot-link (dissimilarity). The first is merged if its distance is less than `quality` times that of the second.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    quality : float
        ω of the paper, the trade-off: near 0, only dissimilar merges as long as there are any; from 1 on, average
        linkage.
    random_state : int, Generator or None
        Not used; present for a uniform interface.

    Attributes
    ----------
    dissimilar_merges_ : int
        Number of merges of the second kind.

    Notes
    -----
    After “COALA: a novel approach for the extraction of an alternate clustering of high quality and high dissimilarity”
    (ICDM 2006). It takes time n² per merge, n³ in all: more than 3,000 rows are refused.
    """

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {
        "quality": [Interval(Real, 0, None, closed="left")]
    }
    quality: float = 0.6
    _most_rows = 3000

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        n = len(X)
        distance = squareform(pdist(X))
        np.fill_diagonal(distance, np.inf)
        linked = np.zeros((n, n), dtype=bool)  # cannot-links: pairs of the same given cluster
        for codes in given.clusterings:
            linked |= (codes[:, None] == codes) & (codes >= 0)
        allowed = np.where(linked, np.inf, distance)
        sizes, labels, alive = np.ones(n), np.arange(n), n
        self.dissimilar_merges_ = 0
        while alive > self.n_clusters_:
            near, free = int(np.argmin(distance)), int(np.argmin(allowed))
            dissimilar = np.isfinite(allowed.flat[free]) and distance.flat[near] >= self.quality * allowed.flat[free]
            a, b = sorted(divmod(free if dissimilar else near, n))
            self.dissimilar_merges_ += int(dissimilar)
            merged = (sizes[a] * distance[a] + sizes[b] * distance[b]) / (sizes[a] + sizes[b])
            linked[a] |= linked[b]
            for matrix, row in ((distance, merged), (allowed, np.where(linked[a] | linked[:, a], np.inf, merged))):
                matrix[a], matrix[:, a] = row, row
                matrix[b], matrix[:, b] = np.inf, np.inf
                matrix[a, a] = np.inf
            linked[:, a] = linked[a]
            sizes[a] += sizes[b]
            labels[labels == b] = a
            alive -= 1
        return labels
