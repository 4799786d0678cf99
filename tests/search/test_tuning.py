from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, InputError, Settings, tune
from altclust.base.thresholds import ALTERNATIVE
from altclust.core.metrics import nmi
from altclust.datasets import views
from altclust.search.selection import explain_ranking, fewest, is_thin
from altclust.search.spec import FEW_ROWS, MOST_ROWS, searched_rows
from altclust.search.tuning import HELD

N = 90
COLUMNS = {
    "source",
    "n_clusters",
    "n_components",
    "sigma",
    "novelty_weight",
    "overlap",
    "smallest",
    "quality",
    "cost",
    "contrast",
    "mixture",
    "evenness",
    "again",
    "score",
    "chosen",
}


@pytest.fixture(scope="module")
def data():
    return views(N, ("blobs", "blobs"), (2, 2), random_state=0)


@pytest.fixture(scope="module")
def tuning(data):
    return tune(data.X, data.given, n_clusters=2)


def best(tuning):
    return int(np.flatnonzero(tuning.table["chosen"])[0])


def test_table_and_choice(data, tuning):
    table = tuning.table
    assert set(table.columns) >= COLUMNS
    assert len(table) == len(tuning.trials)
    assert table["chosen"].sum() == 1
    row = table.iloc[best(tuning)]
    assert row["score"] == table["score"].max()
    assert row["smallest"] >= fewest(2)
    assert row["overlap"] <= ALTERNATIVE
    assert row["source"] == tuning.source
    assert tuning.variants == {}  # k is fixed
    assert sorted(tuning.rows) == list(range(N))
    assert f"sigma={row['sigma']:.3g}" in tuning.reasons
    assert f"best of {len(table)} candidates." in tuning.reasons


def test_what_is_not_new_comes_last():
    data = views(150, ("blobs", "blobs"), (2, 2), random_state=2)
    data = replace(data, X=data.X * [4, 4, 1, 1, 1, 1])  # without a penalty, k-means finds what is given
    tuning = tune(data.X, data.given, n_clusters=2, novelty_weight=0.0, subtract_given=False)
    new = tuning.table["overlap"] <= ALTERNATIVE
    assert new.any()
    assert not new.all()
    assert tuning.table[new]["score"].min() > tuning.table[~new]["score"].max()
    assert nmi(tuning.trials[best(tuning)].labels, data.alternative[tuning.rows]) > 0.9


def test_a_few_rows_far_out_are_not_a_cluster():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3))
    X[:2] += 30
    tuning = tune(X, n_clusters=2)
    assert tuning.table["smallest"].iloc[best(tuning)] >= fewest(2)


def test_parameters_lead_kdac_to_the_same_labels(data, tuning):
    chosen = tuning.trials[best(tuning)]
    assert nmi(chosen.labels, data.alternative[tuning.rows]) > 0.9
    model = KDAC(settings=tuning.settings, random_state=0).fit(data.X, data.given)
    assert nmi(model.labels_[tuning.rows], chosen.labels) > 0.9
    assert model.sigma_ == chosen.sigma
    assert model.tuning_ is None


def test_kdac_searches_as_tune_does(data, tuning):
    model = KDAC(2, random_state=0).fit(data.X, data.given)
    assert model.tuning_.reasons == tuning.reasons
    assert model.sigma_ == tuning.settings.sigma
    pd.testing.assert_frame_equal(model.tuning_.table, tuning.table)


def test_the_choice_depends_neither_on_the_seed_nor_on_the_order_of_rows_and_columns(data, tuning):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(N), rng.permutation(6)
    other = tune(data.X[rows][:, columns], data.given[rows], n_clusters=2)
    pd.testing.assert_frame_equal(other.table, tuning.table, check_exact=True)
    assert np.array_equal(rows[other.rows], tuning.rows)
    assert np.array_equal(other.settings.init, tuning.settings.init[columns])
    for one, same in zip(tuning.trials, other.trials, strict=True):
        assert np.array_equal(one.labels, same.labels)
    first, second = (KDAC(2, random_state=seed).fit(data.X, data.given) for seed in (0, 1))
    pd.testing.assert_frame_equal(first.tuning_.table, second.tuning_.table)
    assert nmi(first.labels_, second.labels_) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_clusters": 500}, f"^n_clusters=500 is more than the {N} rows: ask for fewer"),
        ({"n_components": 7}, "n_components=7"),
        ({"given": [0, 1]}, "given"),
    ],
)
def test_mistakes_get_a_sentence(data, arguments, message):
    with pytest.raises(InputError, match=message):
        tune(**({"X": data.X, "given": data.given} | arguments))


def test_progress_is_told_and_can_cancel(data, tuning):
    seen = []
    tune(data.X, data.given, n_clusters=2, progress=seen.append)
    count = len(tuning.trials)
    assert [(p.stage, p.done, p.total) for p in seen] == [("search", done, count) for done in range(1, count + 1)]
    cut = tune(data.X, data.given, n_clusters=2, progress=lambda progress: True)
    assert 0 < len(cut.trials) < len(tuning.trials)
    assert cut.table["source"].nunique() == 1
    assert cut.table["chosen"].sum() == 1
    assert KDAC(settings=cut.settings, random_state=0).fit(data.X, data.given).n_clusters_ == 2


def test_two_threads_find_the_same(data, tuning):
    side_by_side = tune(data.X, data.given, n_clusters=2, n_jobs=2)
    pd.testing.assert_frame_equal(side_by_side.table, tuning.table, check_exact=True)
    assert np.array_equal(side_by_side.settings.init, tuning.settings.init)


def test_frames_and_nothing_given(data):
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    alone = tune(frame, n_clusters=2)
    assert set(alone.table.columns) >= COLUMNS
    assert alone.table["overlap"].isna().all()
    assert alone.settings.subtract_given is False
    assert "given" not in alone.reasons
    labels = alone.trials[best(alone)].labels
    assert max(nmi(labels, truth[alone.rows]) for truth in (data.given, data.alternative)) > 0.9


@pytest.mark.parametrize("subtract", [True, False])
def test_what_is_fixed_stays_fixed(data, subtract):
    asked = {"n_clusters": 3, "n_components": 1, "novelty_weight": 2.0, "subtract_given": subtract}
    tuning = tune(data.X, data.given, **asked)
    assert {name: getattr(tuning.settings, name) for name in asked} == asked
    assert (tuning.table["n_clusters"] == 3).all()
    assert (tuning.table["n_components"] == 1).all()
    assert (tuning.table["novelty_weight"] == 2).all()
    assert (tuning.table["subtract_given"] == subtract).all()


def spirals(n, seed):
    rng = np.random.default_rng(seed)
    given, hidden = rng.integers(0, 3, n), rng.integers(0, 2, n)
    t = np.sqrt(rng.uniform(0.1, 1, n)) * 2.2 * np.pi
    arms = t[:, None] * np.column_stack([np.cos(t + np.pi * hidden), np.sin(t + np.pi * hidden)])
    blobs = 4 * np.array([[0, 0], [1, 0], [0, 1]])[given] + rng.standard_normal((n, 2))
    X = np.column_stack([blobs, arms + 0.35 * rng.standard_normal((n, 2)), rng.standard_normal(n)])
    return (X - X.mean(axis=0)) / X.std(axis=0), given, hidden


@pytest.mark.parametrize("shape", ["rings", "spirals"])
def test_thin_shapes_are_found_and_stay_in_the_fit_of_all_rows(shape):
    found, held = [], []
    for seed in range(2, 6):
        if shape == "spirals":
            X, given, hidden = spirals(300, seed)
        else:
            data = views(300, ("blobs", "rings"), (3, 2), random_state=seed)
            X, given, hidden = data.X, data.given, data.alternative
        model = KDAC(2, random_state=0).fit(X, given)
        trial = model.tuning_.trials[best(model.tuning_)]
        held.append(is_thin(trial))
        assert (model.settings_.pull == HELD) == held[-1]
        found.append(nmi(model.labels_, hidden) > 0.95)
    assert np.mean(found) >= 0.75
    assert any(held)


def test_the_fit_keeps_the_clusters_of_a_thin_trial_and_does_not_move_to_outliers():
    folder = os.environ.get("ALTCLUST_DATA")
    if not folder:
        pytest.skip("ALTCLUST_DATA is not set: there is no table of cars")
    cars = pd.read_csv(Path(folder) / "zoo" / "labelled" / "cars.csv")
    X = cars.drop(columns=["origin", "cylinders"])
    model = KDAC(random_state=0).fit((X - X.mean()) / X.std(), cars["cylinders"])
    tuning = model.tuning_
    trial = tuning.trials[best(tuning)]
    assert is_thin(trial)
    assert nmi(model.labels_[tuning.rows], trial.labels) > 0.95
    assert np.bincount(model.labels_).min() > 0.05 * len(cars)


def test_large_tables_are_looked_at_in_part():
    data = views(FEW_ROWS + 50, ("blobs", "blobs"), (2, 2), random_state=0)
    tuning = tune(data.X, data.given, n_clusters=2, subtract_given=True)
    assert len(tuning.rows) == len(set(tuning.rows)) == FEW_ROWS
    assert len(tuning.trials[0].labels) == FEW_ROWS


def test_directions_come_back_in_the_columns_of_the_table():
    """Also where the rows do not span all columns and the search works inside their span."""
    data = views(60, ("blobs", "blobs"), (2, 2), random_state=0)
    X = np.column_stack([data.X, data.X[:, 2] + data.X[:, 3]])
    W = tune(X, data.given, n_clusters=2, subtract_given=False).settings.init
    assert W.shape[0] == 7
    assert np.allclose(W.T @ W, np.eye(W.shape[1]), atol=1e-8)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_clusters": 0}, "n_clusters=0 must be a whole number of at least 1"),
        ({"n_components": 2.5}, "n_components=2.5 must be a whole number"),
        ({"novelty_weight": -1}, "novelty_weight=-1 must lie between 0 and 1e9"),
        ({"given": None, "subtract_given": True}, "subtract_given=True needs a given clustering"),
        ({"n_clusters": N}, "leaves nothing to search for"),
    ],
)
def test_wrong_values_get_a_sentence(data, options, words):
    with pytest.raises(InputError, match=words):
        tune(data.X, **({"given": data.given} | options))


def test_rows_that_are_all_explained_have_no_residual_view():
    rng = np.random.default_rng(0)
    given = rng.integers(3, size=60)
    X = np.column_stack([1.7 * given + 0.3, given == 1]).astype(float)
    assert not tune(X, given, n_clusters=2).settings.subtract_given


@pytest.mark.parametrize(("n", "most"), [(10, 10), (400, 400), (1_200, 400), (1_500, 500), (10**6, MOST_ROWS)])
def test_a_large_table_is_searched_in_more_rows(n, most):
    assert searched_rows(n) == most


def test_few_known_labels():
    data = views(60, ("blobs", "blobs"), (2, 2), random_state=0)
    given = np.full(60, -1)
    given[:2] = 0, 1
    model = KDAC(2, sigma=1.0, random_state=0, settings=Settings(subtract_given=True)).fit(data.X, given)
    assert np.array_equal(model.predict(data.X, given=given), model.labels_)
    with pytest.raises(InputError, match="given is needed: too few labels were given to guess the cluster of a row"):
        model.predict(data.X)
    assert KDAC(2, random_state=0, settings=Settings(subtract_given=False)).fit(data.X, given).n_clusters_ == 2


def test_the_reason_has_no_second_stability_or_overlap():
    row = {
        "n_clusters": 2,
        "n_components": 1,
        "sigma": 0.5,
        "contrast": 1.0,
        "again": 0.91,
        "score": 3.0,
        "overlap": 0.07,
    }
    told = explain_ranking(pd.Series(row | {"source": "direct"}), pd.DataFrame([row]))
    assert told.startswith("2 clusters in 1 direction at sigma=0.5 (direct): ")
    assert "NMI" not in told
    assert "overlap" not in told
