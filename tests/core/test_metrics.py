from __future__ import annotations

import warnings

import numpy as np
import pytest

from altclust.core.metrics import hsic, match_labels, nmi, nmi_matrix, normalised_cut, overlap


def test_nmi_is_geometric():
    a, b = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 3, 3, 3])

    def entropy(x):
        p = np.bincount(x) / len(x)
        p = p[p > 0]
        return -np.sum(p * np.log(p))

    joint = entropy(4 * a + b)
    expected = (entropy(a) + entropy(b) - joint) / np.sqrt(entropy(a) * entropy(b))
    assert nmi(a, b) == pytest.approx(expected)


def test_overlap_takes_the_nearest_given_and_skips_unknown_rows():
    labels = np.array([0, 0, 1, 1])
    same = np.array([1, 1, 0, -1])
    other = np.array([0, 1, 0, 1])
    assert overlap(labels, other) == pytest.approx(0)
    assert overlap(labels, np.column_stack([other, same])) == pytest.approx(1)
    assert np.isnan(overlap(labels, None))


def test_hsic_is_the_trace_formula_and_sees_what_correlation_misses():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (200, 1))
    y = x**2 + 0.05 * rng.standard_normal((200, 1))
    n, H = 200, np.eye(200) - 1 / 200
    K, L = (np.exp(-((a - a.T) ** 2) / (2 * 0.5**2)) for a in (x, y))
    assert hsic(x, y, sigma=0.5, sigma_y=0.5) == pytest.approx(np.trace(K @ H @ L @ H) / (n - 1) ** 2)
    assert abs(np.corrcoef(x[:, 0], y[:, 0])[0, 1]) < 0.2
    shuffled = [hsic(x, rng.permutation(y), sigma=0.5, sigma_y=0.5) for _ in range(50)]
    assert hsic(x, y, sigma=0.5, sigma_y=0.5) > 5 * max(shuffled)
    Y = np.eye(2)[(x[:, 0] > 0).astype(int)]
    assert hsic(x, Y, sigma=0.5) == pytest.approx(np.trace(K @ H @ Y @ Y.T @ H) / (n - 1) ** 2)


def test_all_pairs_at_once_have_the_nmi_of_each_pair():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, k, 80) for k in (2, 3, 5)]
    columns.append(np.where(rng.random(80) < 0.8, columns[1], 0))
    expected = [[nmi(a, b) for b in columns] for a in columns]
    assert np.allclose(nmi_matrix(columns), expected)
    assert nmi_matrix([columns[0], np.zeros(80, dtype=int)]) == pytest.approx(np.array([[1.0, 0.0], [0.0, 0.0]]))


def test_numbers_of_clusters_follow_a_reference_where_it_is_known():
    labels = np.array([2, 2, 2, 0, 0, 1, 1])
    reference = np.array([0, 0, -1, 1, -1, -1, -1])
    assert match_labels(labels, reference).tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_the_normalised_cut_is_its_definition_and_an_empty_cluster_counts_one():
    rng = np.random.default_rng(0)
    K, labels = np.exp(-rng.random((30, 30))), rng.integers(0, 3, 30)
    K = (K + K.T) / 2
    parts = [K[labels == c][:, labels != c].sum() / K[labels == c].sum() for c in range(3)]
    assert normalised_cut(K, labels, 3) == pytest.approx(0.001 + sum(parts))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert normalised_cut(K, labels, 4) == pytest.approx(1.001 + sum(parts))
