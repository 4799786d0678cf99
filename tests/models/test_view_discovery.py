from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from altclust import KDAC, ViewDiscovery
from altclust.core.metrics import nmi
from altclust.datasets import views
from altclust.models.view_discovery import correct_for_views

N = 100
QUICK = KDAC(2, n_components=2, sigma=1.0)


@pytest.fixture(scope="module")
def data():
    return views(N, ("blobs", "blobs"), (2, 2), random_state=0)


def agreement(found, data):
    """How well each true view is found by some view, shape (2,)."""
    return [max(nmi(found.labels_[:, i], truth) for i in range(found.n_views_)) for truth in data.labels.values()]


def test_two_views_find_both(data):
    found = ViewDiscovery(2, estimator=KDAC(2), random_state=0).fit(data.X)
    assert found.n_views_ == len(found.views_) == 2
    assert found.labels_.shape == (N, 2)
    assert min(agreement(found, data)) >= 0.9
    assert nmi(*found.labels_.T) < 0.1
    assert found.stopped_ == "2 view(s) were asked for."
    assert np.isnan(found.p_values_).all()
    assert found.rejected_ is None


def test_what_is_given_is_not_found_again(data):
    found = ViewDiscovery(1, estimator=KDAC(2), random_state=0).fit(data.X, data.given)
    assert nmi(found.labels_[:, 0], data.alternative) > 0.9
    assert found.views_[0].overlap_ < 0.05


def test_noise_has_no_view(few_draws):
    X = np.random.default_rng(0).standard_normal((70, 3))
    found = ViewDiscovery(estimator=KDAC(2, n_components=1), random_state=0).fit(X)
    assert found.n_views_ == 0
    assert found.labels_.shape == (70, 0)
    assert found.predict(X[:5]).shape == (5, 0)
    assert found.p_values_.shape == (0,)
    assert not found.rejected_.significance_.is_real
    assert found.stopped_ == f"View 1: {found.rejected_.significance_.verdict}"
    assert found.stopped_.startswith(("View 1: Not significant: ", "View 1: No reproducible clustering: "))


def test_auto_stops_at_most_views():
    data = views(100, ("blobs",), (3,), noise_columns=4, random_state=0)
    found = ViewDiscovery(estimator=KDAC(3, n_components=2, sigma=1.0), max_views=1, random_state=0).fit(data.X)
    assert found.n_views_ == 1, found.stopped_
    assert found.stopped_ == "max_views=1 was reached."
    assert found.p_values_ == pytest.approx([found.views_[0].significance_.p_value])
    assert found.p_values_[0] <= 0.05
    assert nmi(found.labels_[:, 0], data.given) > 0.9


@pytest.mark.slow
def test_auto_finds_every_view_and_no_more():
    data = views(200, ("blobs", "blobs"), (2, 2), noise_columns=4, random_state=0)
    found = ViewDiscovery(estimator=KDAC(2), random_state=0).fit(data.X)
    assert found.n_views_ == 2
    assert min(agreement(found, data)) >= 0.85
    assert (found.p_values_ <= 0.05).all()
    assert found.stopped_.startswith("View 3: Not significant: ")


def test_the_estimator_is_cloned(data):
    estimator = clone(QUICK)
    found = ViewDiscovery(1, estimator=estimator, random_state=0).fit(data.X)
    assert not hasattr(estimator, "labels_")
    assert found.views_[0] is not estimator
    assert found.views_[0].sigma_ == 1.0


def test_predict_serves_new_rows(data):
    found = ViewDiscovery(2, estimator=QUICK, random_state=0).fit(data.X[:70])
    labels = found.predict(data.X[70:])
    assert labels.shape == (30, 2)
    for i, view in enumerate(found.views_):
        assert np.array_equal(labels[:, i], view.predict(data.X[70:]))
    assert np.mean(found.predict(data.X[:70]) == found.labels_) > 0.98
    with pytest.raises(NotFittedError):
        ViewDiscovery().predict(data.X)


def test_callback_sees_every_view_and_can_cancel(data):
    seen = []

    def watch(count, model):
        seen.append((count, model))
        return count == 2

    found = ViewDiscovery(5, estimator=QUICK, callback=watch, random_state=0).fit(data.X)
    assert [count for count, _ in seen] == [1, 2]
    assert [model for _, model in seen] == found.views_
    assert found.n_views_ == 2
    assert found.stopped_ == "It was cancelled."


def test_a_view_is_announced_before_it_is_tested(data):
    told = []
    found = ViewDiscovery(
        "auto",
        estimator=QUICK,
        max_views=1,
        random_state=0,
        on_found=lambda count, model: told.append((count, model, model._view.significance)),
    ).fit(data.X)
    assert told == [(1, (found.views_ or [found.rejected_])[0], None)]


def test_same_seed_same_views(data):
    first, again = (ViewDiscovery(2, estimator=QUICK, random_state=3).fit(data.X).labels_ for _ in range(2))
    assert np.array_equal(first, again)


@pytest.mark.parametrize(
    "wrong", [{"n_views": 0}, {"n_views": "many"}, {"n_views": 1.5}, {"significance": 2}, {"estimator": "KDAC"}]
)
def test_mistakes_get_a_sentence(data, wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"^{name}=.* is not allowed: pass "):
        ViewDiscovery(**wrong).fit(data.X)


def test_a_view_that_was_found_is_kept_when_its_test_is_cancelled(data):
    stopping = KDAC(2, n_components=1, callback=lambda progress: progress.stage == "test")
    found = ViewDiscovery("auto", estimator=stopping, random_state=0).fit(data.X)
    assert found.n_views_ == 1
    assert "was not tested" in found.stopped_
    assert np.isnan(found.p_values_).all()


def test_p_values_are_corrected_for_the_number_of_views(data):
    model = clone(QUICK).set_params(random_state=0).fit(data.X)
    plain = model.significance_
    correct_for_views(model, 1)
    assert model.significance_ is plain
    correct_for_views(model, 4)
    found = model.significance_
    assert found.p_value == pytest.approx(min(1, 4 * plain.p_value))
    assert found.smallest_p == pytest.approx(4 * plain.smallest_p)
    assert "corrected for 4 views)." in found.verdict
    assert found.stability == plain.stability
