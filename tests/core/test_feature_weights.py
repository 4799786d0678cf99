"""Columns weigh what they tell about the clusters."""

import numpy as np
import pytest

from altclust.core.feature_weights import between_shares, feature_weights, tell_apart

N = 400


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def labels(rng):
    return rng.integers(0, 2, N)


def weights(X, labels, W=None):
    X = X - X.mean(axis=0)
    W = np.linalg.qr(np.random.default_rng(1).normal(size=(X.shape[1], 1)))[0] if W is None else W
    found = feature_weights(X, labels, W)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    return found


def test_a_column_in_which_nearly_all_rows_are_alike_carries_nothing(rng, labels):
    rare = np.zeros(N)
    rare[:2] = 30.0
    X = np.column_stack([3 * labels + rng.normal(size=N), rare])
    found = weights(X, labels, np.array([[0.1], [0.995]]))  # although the direction is along it
    assert found[1] < 0.01


def test_collinear_columns_share_what_they_tell(rng, labels):
    size = 3 * labels + rng.normal(size=N)
    X = np.column_stack([size, size + 0.01 * rng.normal(size=N), 2 * labels + rng.normal(size=N)])
    found = weights(X, labels, np.array([[0.7], [-0.7], [0.14]]))
    assert found[0] == pytest.approx(found[1], rel=0.01)
    assert 0.2 < found[2] < found[0]


def test_noise_weighs_nothing_however_much_there_is_of_it(rng, labels):
    X = np.column_stack([3 * labels + rng.normal(size=N), rng.normal(size=(N, 1000))])
    assert weights(X, labels)[0] > 0.95


def test_where_no_column_alone_tells_anything_the_directions_do(rng):
    signs = rng.integers(0, 2, (N, 2))
    labels = signs[:, 0] ^ signs[:, 1]
    X = np.column_stack([6 * signs + rng.normal(size=(N, 2)), rng.normal(size=(N, 2))])
    assert not tell_apart(between_shares(X, labels))
    found = weights(X, labels, np.eye(4)[:, :2])
    assert found[:2].sum() == pytest.approx(1)


def test_units_do_not_matter(rng, labels):
    X = rng.normal(size=(N, 3)) + labels[:, None] * [3, 1, 0]
    assert weights(X * [1e6, 1, 1e-6], labels) == pytest.approx(weights(X, labels))


def test_one_cluster_and_constant_columns(rng, labels):
    X = np.column_stack([np.zeros(N), labels + rng.normal(size=N)])
    assert weights(X, labels).tolist() == [0, 1]
    assert weights(X, np.zeros(N, dtype=int), np.array([[0.6], [0.8]])).tolist() == [0, 1]
    assert weights(labels[:, None].astype(float), labels).tolist() == [1]
