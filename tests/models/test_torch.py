"""Tensors of torch go in where numpy arrays do, and the same comes out: a sample is fitted, all rows are labelled."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from altclust import KDAC, InputError, Settings
from altclust.core.metrics import nmi
from altclust.core.solvers import subspace_distance

torch = pytest.importorskip("torch")

FIXED = {"n_clusters": 2, "n_components": 2, "sigma": 3.0, "sample_size": 300, "random_state": 0}


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def blobs(n):
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, n))
    X = rng.standard_normal((n, 5))
    X[:, 0] += 8 * known
    X[:, 1] += 7 * hidden
    return X, known, hidden


@pytest.mark.parametrize("n", [300, 5000])
def test_double_tensors_give_what_numpy_gives(n):
    X, known, hidden = blobs(n)
    ours = KDAC(**FIXED, solver="ism").fit(X, known)
    theirs = KDAC(**FIXED, solver="ism").fit(torch.asarray(X), torch.asarray(known))
    assert theirs.engine_ == ours.engine_
    assert theirs.sample_size_ == ours.sample_size_ == 300
    assert np.array_equal(theirs.labels_, ours.labels_)
    assert nmi(theirs.labels_, hidden) > 0.95
    assert subspace_distance(theirs.components_.T, ours.components_.T) < 1e-8
    assert theirs.quality_ == pytest.approx(ours.quality_, abs=1e-8)
    assert theirs.cost_ == pytest.approx(ours.cost_, abs=1e-8)
    assert theirs.overlap_ == pytest.approx(ours.overlap_, abs=1e-12)
    for name in ("labels_", "components_", "mean_", "feature_weights_"):
        assert type(getattr(theirs, name)) is np.ndarray
    assert theirs.labels_.dtype == ours.labels_.dtype
    assert theirs.components_.dtype == np.float64


@pytest.mark.parametrize("n", [300, 5000])
def test_tensors_are_predicted_and_projected(n):
    X, known, _ = blobs(n)
    model = KDAC(**FIXED).fit(torch.asarray(X), known)
    new, _, hidden = blobs(700)
    assert np.array_equal(model.predict(torch.asarray(X)), model.labels_)
    assert np.array_equal(model.predict(torch.asarray(new)), model.predict(new))
    assert np.allclose(model.transform(torch.asarray(new)), model.transform(new), atol=1e-10)
    assert nmi(model.predict(torch.asarray(new)), hidden) > 0.95
    assert np.isfinite(model.certificate_.residual)


@pytest.mark.parametrize("n", [300, 2000])
def test_single_tensors_work(n):
    X, known, hidden = blobs(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KDAC(**FIXED).fit(torch.asarray(X, dtype=torch.float32), torch.asarray(known))
    assert nmi(model.labels_, hidden) > 0.95
    assert model.overlap_ < 0.05
    assert np.allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-5)
    again = model.predict(torch.asarray(X, dtype=torch.float32))
    assert np.mean(again == model.labels_) > 0.999


def test_given_means_are_subtracted_from_tensors():
    X, known, hidden = blobs(2000)
    labels = known.copy()
    labels[::9] = -1
    model = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(torch.asarray(X), torch.asarray(labels))
    plain = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(X, labels)
    assert np.array_equal(model.labels_, plain.labels_)
    assert nmi(model.labels_, hidden) > 0.9
    assert np.array_equal(model.predict(torch.asarray(X)), plain.predict(X))
    assert np.array_equal(model.predict(torch.asarray(X), labels), model.labels_)


def test_several_given_columns_as_a_tensor():
    X, known, hidden = blobs(1000)
    X[:, 2] += 7 * (third := np.random.default_rng(1).integers(0, 2, 1000))
    given = torch.asarray(np.column_stack([known, hidden]))
    model = KDAC(**FIXED).fit(torch.asarray(X), given)
    assert nmi(model.labels_, third) > 0.95


def test_tensors_may_be_given_for_a_numpy_table():
    X, known, hidden = blobs(400)
    assert nmi(KDAC(**FIXED).fit(X, torch.asarray(known)).labels_, hidden) > 0.95


def test_a_tensor_with_nan_is_refused():
    for n in (200, 400):
        X, known, _ = blobs(n)
        X[3, 2] = np.nan
        with pytest.raises(InputError, match="column 2"):
            KDAC(**FIXED).fit(torch.asarray(X), known)


def test_a_model_of_tensors_is_saved(tmp_path):
    X, known, _ = blobs(2000)
    model = KDAC(**FIXED).fit(torch.asarray(X), known)
    model.save(tmp_path / "model.npz")
    assert np.array_equal(KDAC.load(tmp_path / "model.npz").predict(X), model.labels_)
