"""k-means without overhead: as good as scikit-learn's, for several starts at once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.conftest import some

from altclust.core.lloyd import best_lloyd, lloyd


@pytest.mark.parametrize("seed", range(some(3, 20)))
def test_the_best_of_a_few_starts_is_as_good_as_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    k, q = int(rng.integers(2, 7)), int(rng.integers(1, 6))
    Z = rng.standard_normal((200, q)) + 3 * rng.standard_normal((k, q))[rng.integers(0, k, 200)]
    labels, centres = best_lloyd(Z, k, rng, 10)
    inertia = np.sum((Z - centres[labels]) ** 2)
    assert inertia <= 1.02 * KMeans(k, n_init=10, random_state=0).fit(Z).inertia_
    assert np.array_equal(labels, np.sum((Z[:, None] - centres) ** 2, axis=2).argmin(axis=1))


def test_starts_of_different_tables_do_not_touch_each_other():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, (2, 100))
    Z = 10 * np.eye(3)[truth] + rng.standard_normal((2, 100, 3))
    found = lloyd(Z, 3, rng)
    for labels, true, inertia, rows, centres in zip(found.labels, truth, found.inertia, Z, found.centres, strict=True):
        assert len(set(zip(labels, true, strict=True))) == 3  # the same partition
        assert inertia == pytest.approx(np.sum((rows - centres[labels]) ** 2))


@pytest.mark.parametrize("labels", [None, np.random.default_rng(1).integers(0, 4, (6, 200))], ids=["seeds", "labels"])
def test_one_table_from_several_starts_is_as_copies_of_it(labels):
    Z = np.random.default_rng(0).standard_normal((200, 30))
    one = lloyd(Z, 4, np.random.default_rng(0), labels, starts=6)
    copies = lloyd(np.stack([Z] * 6), 4, np.random.default_rng(0), labels)
    for found, expected in zip(one, copies, strict=True):
        assert np.allclose(found, expected)


def test_a_start_that_has_settled_is_left_alone_while_others_move():
    Z, labels = np.random.default_rng(0).standard_normal((200, 30)), np.random.default_rng(1).integers(0, 4, (6, 200))
    labels[0] = lloyd(Z, 4, np.random.default_rng(0), labels[:1]).labels[0]
    together = lloyd(Z, 4, np.random.default_rng(0), labels)
    for i in range(6):
        for found, expected in zip(together, lloyd(Z, 4, np.random.default_rng(0), labels[[i]]), strict=True):
            assert np.allclose(found[i], expected[0])


def test_labels_to_start_from_are_kept_where_they_are_best():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 100)
    Z = 20 * np.eye(4)[truth] + rng.standard_normal((100, 4))
    assert np.array_equal(lloyd(Z[None], 4, rng, truth[None]).labels[0], truth)


def test_fewer_distinct_rows_than_clusters_leave_some_empty():
    Z = np.repeat(np.eye(2), 5, axis=0)
    labels, centres = best_lloyd(Z, 4, np.random.default_rng(0), 2)
    assert len(np.unique(labels)) == 2
    assert np.isfinite(centres).all()
    assert np.allclose(centres[labels], Z)
