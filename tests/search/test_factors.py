"""Products of two views are told as their factors; views of many clusters stay whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from altclust import tune
from altclust.core.metrics import nmi
from altclust.search.factors import interaction


def blobs(codes, centres, rng):
    return centres[codes] + rng.standard_normal((len(codes), centres.shape[1]))


def apart(k, rng):
    """Centres of k blobs, at least five standard deviations from each other."""
    while True:
        centres = 6 * rng.standard_normal((k, 3))
        if np.min(pdist(centres)) >= 5:
            return centres


def chosen(tuning):
    return tuning.trials[int(np.flatnonzero(tuning.table["chosen"])[0])]


def test_products_are_told_as_one_of_their_factors():
    told = []
    for seed, sizes in enumerate([(3, 3), (3, 4), (2, 5)] * 2):
        rng = np.random.default_rng(seed)
        given, *hidden = (rng.integers(0, k, 300) for k in (2, *sizes))
        parts = [apart(k, rng) for k in (2, *sizes)]
        X = np.column_stack([blobs(*one, rng) for one in zip((given, *hidden), parts, strict=True)])
        found = chosen(tuning := tune(X / X.std(axis=0), given))
        agreement = [nmi(found.labels, truth[tuning.rows]) for truth in hidden]
        told.append(max(agreement) > 0.75 and min(agreement) < 0.1)
    assert sum(told) >= 5, told


@pytest.mark.parametrize("k", [6, 8])
def test_one_view_of_many_clusters_stays_whole(k):
    rng = np.random.default_rng(k)
    given, hidden = rng.integers(0, 2, 400), rng.integers(0, k, 400)
    X = np.column_stack([blobs(given, 6 * np.eye(2), rng), blobs(hidden, 8 * rng.standard_normal((k, 5)), rng)])
    found = chosen(tuning := tune(X / X.std(axis=0), given))
    assert found.n_clusters >= 5
    assert nmi(found.labels, hidden[tuning.rows]) > 0.85


def test_effects_that_add_up_have_no_interaction():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 3, 600), rng.integers(0, 4, 600)
    added = blobs(first, 5 * rng.standard_normal((3, 4)), rng) + blobs(second, 5 * rng.standard_normal((4, 4)), rng)
    assert interaction(added, first, second) < 0.01
    crossed = blobs(4 * first + second, 5 * rng.standard_normal((12, 4)), rng)
    assert interaction(crossed, first, second) > 0.2
