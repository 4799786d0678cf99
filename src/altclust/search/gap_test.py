"""Gaps between neighbouring clusters: pieces of a curve are far from those at its other end, and touch the next."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from ..base.backend import Array
from .discriminants import discriminant_directions
from .heuristics import ROWS_EACH
from .null_rows import Marginal


def connected(
    found: Array, labels: np.ndarray, tested: Array, carried: np.ndarray, draws: int, rng: np.random.Generator
) -> float:
    """A p-value for clusters that all hang together, by pairs without a gap between them.

    For two clusters, the gap is how few rows lie in the middle third between their centres, compared with draws of one
    peak. Clusters in two groups need a gap between all pairs across: the p-value is that of the best such cut. It is
    NaN if fewer than three clusters have enough rows: then pairs cannot tell.

    Parameters
    ----------
    found, tested : arrays, shapes (m, q) and (n, q)
        Projected rows in which the clusters were found, and others in which they are tested.
    labels, carried : int arrays, shapes (m,) and (n,)
        Their clusters.
    draws : int
    rng : Generator
    """
    large = [c for c in np.unique(labels) if min(np.sum(labels == c), np.sum(carried == c)) >= ROWS_EACH]
    if len(large) < 3:
        return float("nan")
    p_values = np.ones((len(large), len(large)))
    for (a, i), (b, j) in combinations(enumerate(large), 2):
        here, there = np.isin(labels, (i, j)), np.isin(carried, (i, j))
        rows = found[here]
        w = discriminant_directions(rows - rows.mean(axis=0), (labels[here] == j).astype(int), 2)[:, 0]
        ends = [float(np.mean(found[labels == c] @ w)) for c in (i, j)]
        values = tested[there] @ w
        null = Marginal.fit(values, rng).draw(rng.standard_normal((draws, len(values))))
        middle, reach = np.mean(ends), abs(ends[1] - ends[0]) / 6
        seen, drawn = np.sum(np.abs(values - middle) < reach), np.sum(np.abs(null - middle) < reach, axis=1)
        p_values[a, b] = (1 + np.sum(drawn <= seen)) / (1 + draws)
    # the weakest link of the tree with the largest p-values
    tree = minimum_spanning_tree(np.triu(2.0 - p_values, 1)).toarray()
    return float(2.0 - tree.max())
