from __future__ import annotations

import numpy as np

from altclust.base.sampling import mixed_order


def test_the_order_follows_from_the_values_alone():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 3)), rng.integers(0, 3, 300)])
    X[200:] = X[:100]  # equal rows
    X -= X.mean(axis=0)
    order, across, seed = mixed_order(X)
    rows, columns = rng.permutation(300), rng.permutation(4)
    moved = X[rows][:, columns]
    other, other_across, other_seed = mixed_order(moved - moved.mean(axis=0))
    assert sorted(order) == list(range(300))
    assert seed == other_seed
    assert np.allclose(X[order][:, across], moved[other][:, other_across])


def test_the_order_looks_random_and_changes_with_the_values():
    X = np.arange(400.0)[:, None] - 199.5
    order, _, seed = mixed_order(X)
    halves = np.bincount(order[:200] // 100, minlength=4)
    assert halves.min() > 30
    assert mixed_order(X**3)[2] != seed


def test_equal_rows_and_none_that_vary():
    assert sorted(mixed_order(np.zeros((10, 2)))[0]) == list(range(10))
