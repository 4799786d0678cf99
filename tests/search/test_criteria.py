from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from altclust.core.metrics import nmi, nmi_matrix
from altclust.datasets import views
from altclust.search import selection
from altclust.search.criteria import criteria, gap, silhouette
from altclust.search.screening import screen, standing_out
from altclust.search.selection import menu, rank, weighted
from altclust.search.spec import SearchSpec
from altclust.search.stability import stability
from altclust.search.trajectories import Trajectory, run


@pytest.fixture(scope="module")
def data():
    return views(120, ("blobs", "blobs"), (2, 3), random_state=0)


@pytest.fixture(scope="module")
def spec(data):
    return SearchSpec(data.X, [data.given])


@pytest.fixture(scope="module")
def trials(spec):
    return [trial for source in ("residual", "direct") for k in (2, 3) for trial in run(spec, Trajectory(source, k), 0)]


def test_nmi_of_all_pairs():
    rng = np.random.default_rng(0)
    labels = [rng.integers(k, size=50) for k in (2, 3, 7)] + [np.zeros(50, dtype=int)]
    found = nmi_matrix(labels)
    for i, a in enumerate(labels[:3]):
        for j, b in enumerate(labels[:3]):
            assert found[i, j] == pytest.approx(nmi(a, b))
    assert np.allclose(found[3], 0)


def test_gaps_and_silhouettes_see_clusters_and_not_a_cut_cloud():
    rng = np.random.default_rng(0)
    cloud = rng.standard_normal((400, 2))
    cut = (cloud[:, 0] > 0).astype(int)
    apart = cloud + 8 * cut[:, None]
    assert gap(apart, cut) > 0.95
    assert gap(cloud, cut) < 0.3
    assert silhouette(apart, cut) > 0.7 > 0.5 > silhouette(cloud, cut)
    assert gap(cloud, np.zeros(400, dtype=int)) == silhouette(cloud, np.zeros(400, dtype=int)) == 0


def test_criteria_of_the_hidden_clusters_are_high(spec, data, trials):
    table = criteria(spec, trials, np.random.default_rng(0))
    right = np.array([nmi(t.labels, data.alternative) for t in trials]) > 0.95
    assert right.any()
    assert not right.all()
    for name in ("agreement", "gap"):
        assert table.loc[right, name].mean() > table.loc[~right, name].mean()
    assert table.loc[right, ["linear", "kernel"]].min().min() > 0.8


def test_the_highest_score_is_the_hidden_clustering(spec, data, trials):
    table = rank(spec, trials, np.random.default_rng(0))
    order = menu(trials, table)
    assert nmi(trials[order[0]].labels, data.alternative) > 0.95
    assert table["score"].argmax() == order[0]


def test_what_is_given_or_outliers_never_come_first(spec, data, trials):
    best = trials[menu(trials, rank(spec, trials, np.random.default_rng(0)))[0]]
    known = replace(best, labels=data.given, overlap=1.0)
    lonely = replace(best, smallest=0.01)
    table = rank(spec, [known, lonely, trials[0]], np.random.default_rng(0))
    assert table["score"].to_numpy().argsort().tolist() == [0, 1, 2]
    assert menu([known, lonely, trials[0]], table) == [2]


def test_shapes_that_no_straight_border_separates_come_first():
    plain = {"score": 0.0, "source": "components", "separation": 2.0, "persistence": 1.0, "evenness": 1.0}
    rows = [
        plain | {"agreement": 0.1, "gap": 0.0, "linear": 0.1},
        plain | {"agreement": 0.9, "gap": 0.0, "linear": 0.1},
        plain | {"agreement": 0.1, "gap": 0.9, "linear": 0.1},
        plain | {"agreement": 0.1, "gap": 0.0, "linear": 0.9},
        plain | {"agreement": 0.1, "gap": 0.0, "linear": 0.1, "source": "residual"},
    ]
    assert selection._are_curved(pd.DataFrame(rows)).tolist() == [True, False, False, False, False]


def test_weights_are_of_criteria_and_products(spec, trials):
    table = criteria(spec, trials, np.random.default_rng(0))
    by_hand = sum(
        weight * np.prod([table[part] for part in name.split(" x ")], axis=0)
        for name, weight in selection.WEIGHTS.items()
    )
    assert np.allclose(weighted(table), by_hand)


def test_stability_is_high_for_clusters_and_low_for_a_cloud(spec, data, trials):
    best = trials[menu(trials, rank(spec, trials, np.random.default_rng(0)))[0]]
    assert stability(spec, best, np.random.default_rng(0)) > 0.9
    rng = np.random.default_rng(1)
    cloud = SearchSpec(rng.standard_normal((120, 6)), [data.given])
    (trial, *_) = run(cloud, Trajectory("residual", 3), 0)
    assert stability(cloud, trial, np.random.default_rng(0)) < 0.6
    assert np.isnan(stability(replace(cloud, X=cloud.X[:30], given=[data.given[:30]]), trial, rng))


def test_a_few_columns_among_hundreds_stand_out():
    data = views(600, ("blobs", "blobs"), (3, 3), noise_columns=300, random_state=0)
    X = data.X - data.X.mean(axis=0)
    subspace, columns = screen(X, [data.given], np.random.default_rng(0))
    assert np.allclose(subspace.T @ subspace, np.eye(subspace.shape[1]), atol=1e-8)
    chosen = np.flatnonzero(np.abs(subspace @ columns).sum(axis=1) > 1e-9)
    assert len(chosen) == columns.shape[1] <= 14
    assert {2, 3} <= set(chosen)
    assert set(standing_out(X[:, :50])) <= set(range(50))
