from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from altclust import KDAC, InputError
from altclust.base.thresholds import DISTINCT
from altclust.core.feature_weights import between_shares
from altclust.core.metrics import nmi
from altclust.datasets import penguins, views
from altclust.models.candidates import candidate, telling_columns
from altclust.search.obvious import reproduced_by


@pytest.fixture(scope="module")
def birds():
    data = penguins()
    return data, pd.DataFrame(StandardScaler().fit_transform(data.X), columns=list(data.feature_names))


@pytest.fixture(scope="module")
def model(birds):
    data, X = birds
    return KDAC(random_state=1).fit(X, data.given)


def test_the_sex_of_the_penguins_comes_first_with_nothing_set(birds, model):
    data, _ = birds
    assert model.n_clusters_ == 2
    assert nmi(model.labels_, data.alternative) >= 0.5
    assert model.overlap_ < 0.05


def test_the_menu_is_of_distinct_views_of_all_rows(birds, model):
    data, X = birds
    menu = model.candidates_
    assert 2 <= len(menu) <= 5
    assert np.array_equal(menu[0].labels, model.labels_)
    trials = [model.tuning_.trials[i].labels for i in model.tuning_.menu]
    assert all(nmi(a, b) < DISTINCT for a, b in combinations(trials, 2))
    for one in menu:
        assert one.labels.shape == (len(X),)
        assert one.components.shape[1] == X.shape[1]
        assert one.n_clusters == one.labels.max() + 1
        assert 0 <= one.stability <= 1
        assert one.overlap == pytest.approx(nmi(one.labels, data.given))
        assert set(one.columns) <= set(X.columns)
        assert str(one).startswith(f"{one.n_clusters} clusters (")
        assert repr(one) == f"<Candidate: {one.sentence}>"


def test_the_menu_is_fitted_when_it_is_asked_for_and_stays(birds):
    data, X = birds
    model = KDAC(random_state=1).fit(X, data.given)
    assert model._view.candidates == ()
    copied = pickle.loads(pickle.dumps(model))
    menu = model.candidates_
    assert model.candidates_ is menu
    for one, other in zip(menu, copied.candidates_, strict=True):
        assert np.array_equal(one.labels, other.labels)


def test_another_view_is_chosen_without_a_search(birds):
    data, X = birds
    model = KDAC(random_state=1).fit(X, data.given)
    second = model.candidates_[1]
    assert model.choose(2) is model
    assert np.array_equal(model.labels_, second.labels)
    assert np.array_equal(model.components_, second.components)
    assert model.n_clusters_ == second.n_clusters
    assert nmi(model.predict(X), model.labels_) > 0.9  # given clusters of new rows are predicted
    assert len(model.candidates_) >= 2
    assert model.choose(1).n_clusters_ == 2
    for wrong in (0, 6, 1.5, True, "1"):
        with pytest.raises(InputError, match=r"is not on the menu: the search found .* views, counted from 1"):
            model.choose(wrong)


def test_without_a_search_there_is_no_menu(birds):
    data, X = birds
    model = KDAC(2, sigma=1.0, random_state=0).fit(X, data.given)
    assert model.candidates_ == ()
    with pytest.raises(InputError, match="needs the menu of a search"):
        model.choose(1)


def test_columns_that_tell_clusters_apart():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    X = rng.standard_normal((200, 3))
    X[:, 1] += 5 * labels
    shares = between_shares(X, labels)
    assert shares[1] > 0.8 > 0.1 > max(shares[0], shares[2])
    assert telling_columns(between_shares(X, labels), list("abc")) == ("b",)
    assert telling_columns(between_shares(X, labels), None) == ("column 1",)


@pytest.mark.parametrize("whitening", [0.5, 1.0])
def test_whitened_directions_project_and_predict(whitening):
    data = views(150, ("blobs", "blobs"), (2, 2), random_state=0)
    X = data.X * [1, 1, 1, 1, 30, 1]
    model = KDAC(2, sigma=1.0, n_components=1, whitening=whitening, random_state=0).fit(X, data.given)
    assert model.whitening_ == whitening
    assert np.allclose(model.transform(X), (X - X.mean(axis=0)) @ model.components_.T)
    assert np.array_equal(model.predict(X), model.labels_)


def test_directions_stay_in_the_subspace(tmp_path):
    data = views(120, ("blobs", "blobs"), (2, 2), random_state=0)
    subspace = np.eye(6)[:, 2:4]
    model = KDAC(2, sigma=1.0, n_components=1, subspace=subspace, random_state=0).fit(data.X, data.given)
    assert np.allclose(model.components_[:, [0, 1, 4, 5]], 0)
    assert nmi(model.labels_, data.alternative) > 0.9
    model.save(tmp_path / "model.npz")
    assert np.array_equal(KDAC.load(tmp_path / "model.npz").subspace, subspace)
    with pytest.raises(InputError, match=r"subspace has shape \(5, 1\)"):
        KDAC(2, sigma=1.0, subspace=np.ones((5, 1))).fit(data.X)


def test_a_pull_holds_the_start():
    data = views(120, ("blobs", "blobs"), (2, 2), random_state=0)
    start = np.eye(6)[:, :1] + 0.3
    moved = [
        np.linalg.norm(KDAC(2, sigma=1.0, init=start, pull=pull, random_state=0).fit(data.X).components_ @ start)
        for pull in (0.0, 100.0)
    ]
    assert moved[1] == pytest.approx(np.linalg.norm(start), rel=1e-2)
    assert moved[0] < moved[1]


def test_a_view_that_a_column_reproduces_is_told_as_such():
    rng = np.random.default_rng(0)
    year = rng.integers(0, 2, 120)
    X = np.column_stack([rng.normal(size=120), year])
    view = KDAC(2, sigma=1.0, n_components=1, init=np.array([[0.0], [1.0]]), random_state=0).fit(X)._view
    view = replace(view, labels=year, rule=reproduced_by(year, X, ["size", "year"], cuts=False))
    assert candidate(view, np.nan, between_shares(X, view.labels), ["size", "year"]).sentence.endswith(
        "which are the column year."
    )
