"""The views of a table, one after the other."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from altclust import KDAC, InputError, Settings
from altclust.core.metrics import nmi
from altclust.datasets import views
from altclust.models.views import View, Views, alike, nothing_more


@pytest.fixture(scope="module")
def data():
    """Three clusters are given; views of two and of three clusters are hidden."""
    return views(240, ("blobs", "blobs", "blobs"), (3, 2, 3), random_state=3)


@pytest.fixture(scope="module")
def model(data):
    return KDAC(random_state=0).fit(data.X, data.given)


def test_each_hidden_view_is_found_once_and_then_it_ends(model, data):
    found, hidden = model.views_, list(data.labels.values())[1:]
    assert [view.number for view in found] == [1, 2, 3, 4]
    assert [view.is_real for view in found] == [view.in_table for view in found] == [True, True, False, False]
    assert min(max(nmi(view.labels, truth) for view in found[:2]) for truth in hidden) > 0.95
    assert found.stopped == "Nothing more that is significant: views 3 and 4 are not."
    assert model.views_ is found


def test_the_first_view_is_the_fitted_one(model, data):
    first, second = model.views_[:2]
    assert np.array_equal(first.labels, model.labels_)
    assert first.n_clusters == model.n_clusters_
    assert np.array_equal(first.components, model.components_)
    assert first.overlap == model.overlap_
    assert first.overlaps == {}
    assert second.overlaps == {"view 1": nmi(first.labels, second.labels)}
    assert second.overlaps["view 1"] < 0.05
    assert second.overlap == pytest.approx(nmi(data.given, second.labels))
    assert second.model.overlap_ == max(second.overlap, second.overlaps["view 1"])
    assert second.model.known_ == f"given: 3 clusters, view 1: {first.n_clusters} clusters"


def test_p_values_are_corrected_along_the_sequence(model):
    first, second = (view.significance for view in model.views_[:2])
    assert second.smallest_p == 2 * first.smallest_p
    assert second.p_value >= second.smallest_p
    assert "corrected for 2 views)" in second.verdict
    assert 0.8 < model.views_[0].stability <= 1


def test_a_view_is_frozen_and_says_what_it_is(model):
    view = model.views_[0]
    with pytest.raises(FrozenInstanceError):
        view.number = 2
    assert view.sentence.startswith(f"{view.n_clusters} clusters (")
    assert set(view.columns) <= {f"column {j}" for j in range(8)}
    assert f"overlap {view.overlap:.2f} with what is given" in str(view)
    assert str(model.views_).splitlines()[0] == f"View 1: {view.badge}: {view.sentence}"
    assert view.significance.verdict.startswith(f"{view.badge}: ")


def test_states_are_passed_on_when_found_and_when_tested(data):
    model = KDAC(2, n_components=2, sigma=1.0, random_state=0).fit(data.X, data.given)
    states = model.each_view(1)
    assert next(states).significance is None
    assert next(states).significance is not None
    assert next(states, None) is None


def test_noise_has_no_view():
    X = np.random.default_rng(0).standard_normal((120, 3))
    found = KDAC(2, n_components=1, random_state=0).fit(X).views_
    assert [view.is_real for view in found] == [False, False]
    assert [view.in_table for view in found] == [True, False]
    assert {view.badge for view in found} <= {"Not significant", "No reproducible clustering"}
    assert found.stopped == "No view is significant: views 1 and 2 are not."


@pytest.mark.parametrize("model", [KDAC(1), KDAC([1, 3]), KDAC(settings=Settings(n_clusters=1))])
def test_one_cluster_is_no_view(model):
    with pytest.raises(InputError, match="n_clusters=1 is no view: ask for at least 2 clusters"):
        alike(model, 0)


def test_why_a_sequence_ended():
    X = np.random.default_rng(0).standard_normal((120, 3))
    model = KDAC(2, n_components=1, random_state=0).fit(X)
    assert Views.of(model.each_view(1), 1).stopped == "The limit of 1 view was reached."
    assert Views.of(list(model.each_view(1)), 5).stopped == "It was stopped after view 1."
    assert Views.of([next(KDAC(2, sigma=1.0).fit(X).each_view())]).stopped.startswith("View 1 was not tested")


def test_a_sequence_goes_on_behind_one_view_that_is_not_significant():
    class Tested(View):
        is_real = property(lambda self: self.model)

    def ends(*real):
        return nothing_more([Tested(number, model) for number, model in enumerate(real, 1)])

    assert not any(ends(*real) for real in [(True,), (False,), (True, False), (False, True), (False, True, False)])
    assert all(ends(*real) for real in [(False, False), (True, False, False), (False, True, False, False)])


def test_a_number_of_clusters_for_each_view(data):
    found = KDAC([3, 2], random_state=0).fit(data.X, data.given).views_
    assert [view.n_clusters for view in found[:2]] == [3, 2]
    assert alike(KDAC([3, "auto"], random_state=0), 1).n_clusters == ["auto"]
    with pytest.raises(InputError, match=r'n_clusters.*must contain a whole number of at least 1, or "auto"'):
        KDAC([3, 0]).fit(data.X, data.given)


def test_a_variant_needs_no_search():
    data = views(300, ("blobs", "blobs"), (2, 6), random_state=0)
    model = KDAC(random_state=0).fit(data.X, data.given)
    view = next(model.each_view())
    assert view.variants, view
    k = view.variants[0]
    other = view.variant(k)
    assert other.n_clusters == k == other.model.n_clusters_
    assert len(np.unique(other.labels)) == k
    assert nmi(other.labels, view.labels) > 0.7
    assert other.model.predict(data.X).shape == (300,)
    assert model.n_clusters_ == view.n_clusters != k
    assert f"Also clear with {k}" in view.sentence
    with pytest.raises(InputError, match="n_clusters=17 is not a number of clusters"):
        view.variant(17)


def test_stopping_keeps_what_there_is(data):
    calls = []

    def stop(now):
        calls.append(now.stage)
        return now.stage == "test"

    found = KDAC(2, callback=stop, random_state=0).fit(data.X, data.given).views_
    assert calls[-1] == "test"
    assert len(found) == 0
    assert found.stopped == "View 1 was not tested, so that no other was searched for."


def test_a_loaded_model_has_no_other_views(model, data, tmp_path):
    model.save(tmp_path / "view.npz")
    loaded = KDAC.load(tmp_path / "view.npz")
    assert loaded.significance_.verdict == model.significance_.verdict
    with pytest.raises(InputError, match="other views need the rows"):
        _ = loaded.views_
    model.views_[1].model.save(tmp_path / "second.npz")
    assert np.array_equal(KDAC.load(tmp_path / "second.npz").predict(data.X), model.views_[1].model.predict(data.X))


def test_views_are_pickled(model):
    again = pickle.loads(pickle.dumps(model.views_))
    assert [view.labels.tolist() for view in again] == [view.labels.tolist() for view in model.views_]
