from __future__ import annotations

import numpy as np
import pytest

from altclust.base.given import Given, Levels
from altclust.base.sampling import own_order


def table(rng):
    """A table with equal rows, and with columns and rows of the same values in other places."""
    kinds = rng.integers(0, 3, 300)
    X = np.column_stack([rng.normal(size=(300, 3)), kinds == 0, kinds == 1, kinds == 2]).astype(float)
    X[200:] = X[:100]
    X[100:130, :3] = 0
    return X - X.mean(axis=0), rng.integers(-1, 3, 300), rng.normal(size=(300, 2))


def given(codes, features):
    """Labels, and a matrix with features for each row."""
    matrix = Given(np.arange(len(features))[:, None], (Levels("matrix", "kernel", len(features), features),))
    return Given.joined([Given.from_codes(codes), matrix], len(codes))


@pytest.mark.parametrize("seed", range(5))
def test_the_same_table_in_another_order_is_the_same_bit_by_bit(seed):
    rng = np.random.default_rng(seed)
    X, codes, features = table(rng)
    one = own_order(X, given(codes, features))
    rows, columns = rng.permutation(300), rng.permutation(6)
    renamed = np.array([2, 0, 1, -1])[codes]
    moved = X[rows][:, columns]
    other = own_order(moved - moved.mean(axis=0), given(renamed[rows], features[rows]))
    assert sorted(one.rows) == list(range(300))
    assert one.seed == other.seed
    assert np.array_equal(one.X, other.X)
    assert np.array_equal(one.given.codes[:, 0], other.given.codes[:, 0])
    seen = [each.given.levels[1].of_codes(each.given.codes[:, 1]) for each in (one, other)]
    assert np.array_equal(*seen)
    assert np.allclose(one.X, X[one.rows][:, one.columns], atol=1e-6)
    assert np.array_equal(one.given.codes[:, 0] < 0, codes[one.rows] < 0)


def test_the_order_looks_random_and_changes_with_the_values():
    X = np.arange(400.0)[:, None] - 199.5
    one = own_order(X, Given.nothing(400))
    halves = np.bincount(one.rows[:200] // 100, minlength=4)
    assert halves.min() > 30
    assert own_order(X**3, Given.nothing(400)).seed != one.seed


def test_equal_rows_and_none_that_vary():
    assert sorted(own_order(np.zeros((10, 2)), Given.nothing(10)).rows) == list(range(10))
