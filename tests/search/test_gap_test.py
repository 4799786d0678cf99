"""Pieces of a curve hang together; clusters do not."""

from __future__ import annotations

import numpy as np
import pytest

from altclust.core.lloyd import best_lloyd
from altclust.search.gap_test import connected


def halves(rows, k, rng):
    """Rows in two halves, with the clusters that k-means finds in one of them."""
    found, tested = rows[::2], rows[1::2]
    labels, centres = best_lloyd(found, k, rng, 5)
    return found, labels, tested, np.sum((tested[:, None] - centres) ** 2, axis=2).argmin(axis=1)


@pytest.mark.parametrize("k", [3, 5])
def test_pieces_of_a_curve_hang_together(k):
    rng = np.random.default_rng(k)
    t = rng.uniform(-1, 1, 400)
    rows = np.column_stack([2 * t, 2 * t**2]) + 0.1 * rng.standard_normal((400, 2))
    assert connected(*halves(rows, k, rng), 199, rng) > 0.1


@pytest.mark.parametrize("k", [3, 4])
def test_clusters_do_not(k):
    """Also if one cluster is cut into two."""
    rng = np.random.default_rng(0)
    rows = 6 * np.eye(3)[rng.integers(0, 3, 300)] + rng.standard_normal((300, 3))
    assert connected(*halves(rows, k, rng), 199, rng) == pytest.approx(1 / 200)


def test_few_rows_cannot_tell():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((45, 2))
    assert np.isnan(connected(*halves(rows, 3, rng), 99, rng))
