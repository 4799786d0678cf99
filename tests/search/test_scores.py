from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from altclust import Settings, tune
from altclust.base.given import Given
from altclust.core.metrics import nmi, nmi_matrix
from altclust.datasets import views
from altclust.search.halves import Halves
from altclust.search.mixture import mixture
from altclust.search.proposals import Proposal, fit_proposal
from altclust.search.scores import Contrast, scores
from altclust.search.screening import screen, standing_out
from altclust.search.selection import rank, smoothest
from altclust.search.spec import SearchSpec


@pytest.fixture(scope="module")
def data():
    return views(120, ("blobs", "blobs"), (2, 3), random_state=0)


@pytest.fixture(scope="module")
def spec(data):
    return SearchSpec(data.X, Given.from_codes(data.given))


@pytest.fixture(scope="module")
def trials(spec):
    return [fit_proposal(spec, Proposal(source, k), 0) for source in ("residual", "direct") for k in (2, 3)]


def test_nmi_of_all_pairs():
    rng = np.random.default_rng(0)
    labels = [rng.integers(k, size=50) for k in (2, 3, 7)] + [np.zeros(50, dtype=int)]
    found = nmi_matrix(labels)
    for i, a in enumerate(labels[:3]):
        for j, b in enumerate(labels[:3]):
            assert found[i, j] == pytest.approx(nmi(a, b))
    assert np.allclose(found[3], 0)


def test_contrast_and_mixture_see_clusters_and_not_a_cut_cloud():
    rng = np.random.default_rng(0)
    cloud, contrast = rng.standard_normal((300, 2)), Contrast(300, 3, rng)
    cut = (cloud[:, 0] > 0).astype(int)
    apart = cloud + [5, 0] * cut[:, None]
    assert contrast(apart, cut, 1.0) > 1 > 0.3 > contrast(cloud, cut, 1.0)
    assert mixture(apart, cut) > 0.3 > 0.02 > mixture(cloud, cut)
    assert mixture(cloud, np.zeros(300, dtype=int)) == contrast(cloud, np.zeros(300, dtype=int), 1.0) == 0


def test_a_large_gain_counts_less_and_less_but_without_a_limit():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(20), 15)
    spec = SearchSpec(10 * rng.standard_normal((20, 8))[codes] + rng.standard_normal((300, 8)), Given.nothing(300))
    trial = replace(fit_proposal(spec, Proposal("residual", 20), 0), labels=codes)
    few = replace(trial, labels=codes // 5, settings=Settings(4, sigma=trial.sigma))
    many, halves = scores(spec, [trial, few], np.random.default_rng(0))["mixture"]
    assert many > 2  # where it was cut off once
    assert many > halves


def test_a_contrast_counts_from_where_clusters_no_longer_overlap_up_to_a_limit():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 100)
    found = []
    for apart in (1, 2.2, 12):
        X = np.column_stack([apart * codes, 0 * codes]) + 0.5 * rng.standard_normal((200, 2))
        spec = SearchSpec(X, Given.nothing(200))
        trial = fit_proposal(spec, Proposal("residual", 2), 0)
        trial = replace(trial, W=np.eye(2, 1), labels=codes, settings=replace(trial.settings, sigma=1.0))
        found.append(scores(spec, [trial], np.random.default_rng(0)).iloc[0])
    assert found[0]["contrast"] < 1.5 < found[1]["contrast"] < 3 < found[2]["contrast"]
    assert [one["clear"] for one in found] == [0.0, pytest.approx(found[1]["contrast"] - 1.5), 1.5]


def test_gaps_between_rounded_values_are_not_found_again():
    """A cut between two atoms of rounded values: in other rows the kernel cuts elsewhere."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.round(rng.standard_normal(300), 1), rng.standard_normal((300, 3))])
    spec = SearchSpec(X - X.mean(axis=0), Given.nothing(300))
    assert Halves(spec, 0).found_again(fit_proposal(spec, Proposal("thin", 2), 0)) < 0.3


def test_a_mixture_does_not_depend_on_the_size_of_other_directions():
    """A direction that dwarfs the others must not hide them."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 150)
    Z = np.column_stack([rng.standard_normal(300), rng.standard_normal(300) + 5 * codes])
    assert mixture(Z * [100, 1], codes) == pytest.approx(mixture(Z, codes), abs=1e-6)
    assert mixture(Z @ np.array([[1, 2], [0.5, -1]]), codes) == pytest.approx(mixture(Z, codes), abs=1e-6)


def test_two_arcs_have_a_contrast_that_their_centres_do_not_show():
    rng = np.random.default_rng(0)
    angle, codes = rng.uniform(0, np.pi, 300), np.repeat([0, 1], 150)
    arcs = np.column_stack([np.cos(angle) + codes, np.sin(angle) * (1 - 2 * codes) + 0.3 * codes])
    arcs += 0.05 * rng.standard_normal((300, 2))
    assert Contrast(300, 2, rng)(arcs, codes, 0.15) > 1.5
    assert mixture(arcs, codes) < 0.2


def test_scores_of_the_hidden_clusters_are_high(spec, data, trials):
    table = scores(spec, trials, np.random.default_rng(0))
    right = np.array([nmi(t.labels, data.alternative) for t in trials]) > 0.95
    assert right.any()
    assert not right.all()
    for name in ("contrast", "mixture"):
        assert table.loc[right, name].mean() > table.loc[~right, name].mean()


def test_the_highest_score_is_the_hidden_clustering(spec, data, trials):
    table = rank(spec, trials, 0)
    assert nmi(trials[table["score"].argmax()].labels, data.alternative) > 0.95


def test_halves_are_searched_only_for_trials_that_may_be_the_best(spec, trials):
    table, halves = rank(spec, trials, 0), Halves(spec, 0)
    known, best = table["again"].notna(), table["score"].max()
    assert known[table["score"].argmax()]
    assert not known.all()
    assert (table.loc[~known, "score"] + 1 <= best).all()
    everything = table["score"] + np.where(known, 0, [halves.found_again(one) for one in trials])
    assert everything.argmax() == table["score"].argmax()


def test_what_is_given_or_outliers_never_come_first(spec, data, trials):
    best = trials[rank(spec, trials, 0)["score"].argmax()]
    known = replace(best, labels=data.given, overlap=1.0)
    lonely = replace(best, smallest=0.01)
    table = rank(spec, [known, lonely, trials[0]], 0)
    assert table["score"].to_numpy().argsort().tolist() == [0, 1, 2]


def test_a_trial_of_thin_shapes_gives_way_to_the_same_clusters_of_a_wide_kernel(spec, trials):
    best, labels = trials[0], np.repeat([0, 1], 60)

    def chosen(*others, source="thin"):
        found = [replace(best, source=source, labels=labels), *others]
        table = pd.DataFrame({"score": [5.7, 4.9, 4.8, -1000.0][: len(found)], "again": [0.8] + [np.nan] * len(others)})
        return smoothest(found, table, 0)

    almost, other = replace(best, labels=np.roll(labels, 1)), replace(best, labels=np.arange(120) % 2)
    finer = replace(best, labels=labels + (np.arange(120) > 115), settings=replace(best.settings, n_clusters=3))
    assert chosen(other, almost) == 2
    assert chosen(other, almost, source="residual") == 0
    assert chosen(other, finer) == chosen(replace(almost, source="thin")) == 0
    assert chosen(other, other, almost) == 0  # outliers
    worse = pd.DataFrame({"score": [5.7, 4.6], "again": [0.8, np.nan]})
    assert smoothest([replace(best, source="thin", labels=labels), almost], worse, 0) == 0


@pytest.mark.parametrize(("seed", "source"), [(2, "components"), (3, "residual")])
def test_two_plain_views_are_not_fitted_with_a_narrow_kernel(seed, source):
    """A thin trial has the highest score here, by little."""
    data = views(400, ("blobs", "blobs"), random_state=seed)
    found = tune(data.X, data.given)
    assert found.table.loc[found.table["score"].idxmax(), "source"] == "thin"
    assert found.source == source
    assert "Chosen from" in found.reasons


def test_contrast_in_one_direction_does_not_depend_on_the_seed():
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 2
    Z = (1.5 * codes + rng.standard_normal(200))[:, None]
    found = [Contrast(200, 3, np.random.default_rng(seed))(Z, codes, 1.0) for seed in range(5)]
    assert np.ptp(found) < 0.1


def test_small_clusters_among_many_are_no_outliers(spec, trials):
    asked = trials[0].settings
    few = [replace(trials[0], settings=replace(asked, n_clusters=k), smallest=0.02) for k in (2, 20)]
    table = rank(spec, few, 0)
    assert (table["score"] < 0).tolist() == [True, False]


def test_clusters_are_found_again_and_a_cut_through_a_cloud_is_not(spec, data, trials):
    best = trials[rank(spec, trials, 0)["score"].argmax()]
    assert Halves(spec, 0).found_again(best) > 0.9
    cloud = SearchSpec(np.random.default_rng(1).standard_normal((120, 6)), Given.from_codes(data.given))
    trial = fit_proposal(cloud, Proposal("residual", 3), 0)
    assert Halves(cloud, 0).found_again(trial) < 0.6
    assert Halves(cloud.take(np.arange(30)), 0).found_again(trial) == 0


def test_a_few_columns_among_hundreds_stand_out():
    data = views(600, ("blobs", "blobs"), (3, 3), noise_columns=300, random_state=0)
    X = data.X - data.X.mean(axis=0)
    subspace, columns = screen(X, Given.from_codes(data.given), 0)
    assert np.allclose(subspace.T @ subspace, np.eye(subspace.shape[1]), atol=1e-8)
    chosen = np.flatnonzero(np.abs(subspace @ columns).sum(axis=1) > 1e-9)
    assert len(chosen) == columns.shape[1] <= 14
    assert {2, 3} <= set(chosen)
    assert set(standing_out(X[:, :50])) <= set(range(50))
