"""Clusterings that do not depend on a measurement: of all rows, of a sample and on Dask, saved, tested and reported."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from altclust import KDAC, Known, Settings, tune
from altclust.base.known import read_given
from altclust.core.metrics import nmi, overlap

FIXED = {"sigma": 2.0, "n_components": 2, "random_state": 0}


def planted(n=240, seed=0):
    """Two hidden clusters; the square of t moves all columns."""
    rng = np.random.default_rng(seed)
    hidden, t = rng.integers(0, 2, n), rng.uniform(-1, 1, n)
    X = rng.normal(size=(n, 4))
    X[:, 0] += 6 * hidden
    return X + 15 * (t**2)[:, None] * rng.normal(size=4), t, hidden


def test_the_hidden_clusters_are_found_and_do_not_depend_on_the_measurement():
    X, t, hidden = planted()
    model = KDAC(2, random_state=0).fit(X, pd.DataFrame({"age": t}))
    assert nmi(model.labels_, hidden) > 0.9
    assert model.overlap_ <= 0.05
    assert model.overlap_p_value_ > 0.01
    assert model.known_ == "age: a measurement"


@pytest.mark.parametrize("bend", [lambda t: t, lambda t: t**2, lambda t: np.cos(np.pi * t)])
def test_residuals_do_not_depend_on_the_measurement(bend):
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 300)
    X = np.outer(bend(t), [3.0, -2.0]) + 0.01 * rng.normal(size=(300, 2))
    X -= X.mean(axis=0)
    left = read_given(t, 300).subtracted_from(X)
    assert left.std() < 0.01 * X.std() + 0.01


def test_dependence():
    rng = np.random.default_rng(0)
    t = rng.normal(size=400)
    assert overlap((t > 0).astype(int), t) > 0.85
    assert overlap((np.abs(t) > 0.7).astype(int), t) > 0.75  # not linear
    given, chance = read_given(t, 400), rng.integers(0, 3, (200, 400))
    assert np.mean([given.overlap(labels) for labels in chance]) < 0.01  # chance is subtracted
    assert 0.01 <= np.mean([given.overlap_p_value(labels) <= 0.05 for labels in chance]) <= 0.1
    t[:50] = np.nan
    labels = np.where(np.isnan(t), rng.integers(0, 2, 400), t > 0).astype(int)
    assert overlap(labels, t) > 0.85
    assert overlap(labels, pd.DataFrame({"t": t, "half": labels % 2})) == pytest.approx(1.0)


def test_mixed_with_labels_and_unknown_values():
    X, t, hidden = planted()
    site = np.random.default_rng(1).integers(0, 3, len(X))
    X = X + 8 * np.eye(3)[site] @ np.eye(3, 4)
    t = np.where(np.arange(len(t)) % 20 == 0, np.nan, t)
    model = KDAC(2, settings=Settings(subtract_given=True), **FIXED).fit(X, pd.DataFrame({"age": t, "site": site}))
    assert model.known_ == "age: a measurement, site: 3 clusters"
    assert nmi(model.labels_[~np.isnan(t)], hidden[~np.isnan(t)]) > 0.8
    assert model.overlap_ < 0.05


@pytest.mark.parametrize("sample_size", [200, 3000])
def test_given_as_a_kernel_or_as_distances(sample_size):
    X, t, hidden = planted()
    D = np.abs(t[:, None] - t)
    for known in (Known.distances(D), Known.kernel(np.exp(-5 * D**2))):
        model = KDAC(2, sample_size=sample_size, settings=Settings(subtract_given=True), **FIXED).fit(X, known)
        assert nmi(model.labels_, hidden) > 0.8
        assert model.overlap_ < 0.05


@pytest.mark.parametrize("subtract", [False, True])
def test_saved_and_loaded(tmp_path, subtract):
    X, t, _ = planted()
    model = KDAC(2, settings=Settings(subtract_given=subtract), **FIXED).fit(X, t)
    model.save(tmp_path / "model.npz")
    again = KDAC.load(tmp_path / "model.npz")
    other = planted(seed=1)[0]
    assert np.array_equal(again.predict(other), model.predict(other))
    assert (again.known_, again.overlap_p_value_) == (model.known_, model.overlap_p_value_)


@pytest.mark.parametrize("sample_size", [300, 3000])
def test_all_rows_a_sample_and_dask(sample_size):
    da = pytest.importorskip("dask.array")
    X, t, hidden = planted(400)
    model = KDAC(2, sample_size=sample_size, settings=Settings(subtract_given=True), **FIXED)
    labels = model.fit(X, t).labels_
    overlap, agreement = model.overlap_, model.guess_agreement_
    assert nmi(labels, hidden) > 0.8
    assert overlap < 0.05
    assert agreement > 0.8
    blocks = model.fit(da.from_array(X, chunks=(90, -1)), da.from_array(t, chunks=90))
    assert np.array_equal(np.asarray(blocks.labels_), labels)
    assert blocks.overlap_ == pytest.approx(overlap, abs=1e-6)
    assert blocks.known_ == "given: a measurement"


def test_significance_and_report(tmp_path):
    X, t, _ = planted()
    model = KDAC(2, random_state=0).fit(X, pd.DataFrame({"age": t}))
    assert model.significance_.is_real
    model.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "almost independent of age (overlap 0.0" in page
    assert "age" in page
    low = np.quantile(t, 0.2)
    assert f"to {low:.4g}" in page  # bands of the measurement


def test_noise_beside_a_measurement_is_not_significant(few_draws):
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 200)
    X = rng.normal(size=(200, 3)) + 6 * np.outer(t**2, rng.normal(size=3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KDAC(2, random_state=0).fit(X, t)
    assert not model.significance_.is_real


def test_views_and_tune_take_measurements():
    X, t, hidden = planted(160)
    fixed = {"sigma": 2.0, "n_components": 2}
    views = KDAC(2, settings=Settings(subtract_given=True), **fixed, random_state=0).fit(X, t).views_
    assert nmi(views[0].labels, hidden) > 0.8
    assert views[1].model.known_ == "given: a measurement, view 1: 2 clusters"
    tuning = tune(X, t, n_clusters=2)
    assert tuning.table["overlap"].between(0, 1).all()


def test_a_measurement_of_sparse_rows_is_subtracted_from_them_as_from_dense_ones(tmp_path):
    rng = np.random.default_rng(0)
    age, hidden = rng.normal(size=300), rng.integers(0, 2, 300)
    X = 0.5 * rng.normal(size=(300, 6)) + np.outer(age, [6, 3, 2, 0, 0, 0]) + np.outer(hidden, [0, 3, -3, 0, 0, 0])
    X[np.abs(X) < 0.1] = 0
    rows = sparse.csr_array(X)
    model = KDAC(2, sigma=2.0, random_state=0, settings=Settings(subtract_given=True)).fit(rows, Known.measurement(age))
    assert nmi(model.labels_, hidden) > 0.9
    model.save(tmp_path / "model.npz")
    for one in (model, KDAC.load(tmp_path / "model.npz")):
        assert np.array_equal(one.predict(rows, age), model.labels_)
        assert np.allclose(one.transform(rows, age), one.transform(X, age))
        other = one.transform(rows, -age)  # the same rows, if they had another age
        assert np.abs(other - one.transform(rows, age)).max() > 1
