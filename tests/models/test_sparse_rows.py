"""Sparse matrices: the same as dense ones, and never made dense."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from altclust import KDAC, InputError, Settings
from altclust.core.feature_weights import between_shares
from altclust.core.metrics import nmi
from altclust.models.sparse_rows import Reduced

FIXED = {"n_clusters": 2, "n_components": 1, "sigma": 1.0, "random_state": 0}


def texts(n, d, words=60, topic=15):
    """Counts of words: some tell the given topic, some the hidden one, most neither."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 3, n), rng.integers(0, 2, n)
    columns = rng.integers(0, d, (n, words))
    columns[:, :topic] = 20 * given[:, None] + rng.integers(0, 20, (n, topic))
    columns[:, topic : 2 * topic] = 80 + 20 * hidden[:, None] + rng.integers(0, 20, (n, topic))
    counts = sparse.csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), columns.ravel())), shape=(n, d))
    counts.sum_duplicates()
    return counts, given, hidden


@pytest.fixture(scope="module")
def found():
    X, given, hidden = texts(300, 1000)
    return KDAC(2, random_state=0).fit(X, given), X, given, hidden


def test_the_hidden_topic_is_found_and_its_words_are_named(found):
    model, _, _, hidden = found
    assert nmi(model.labels_, hidden) > 0.9
    assert model.components_.shape == (model.n_components_, 1000)
    assert model.mean_.shape == model.feature_weights_.shape == (1000,)
    top = np.argsort(-model.feature_weights_)[:10]
    assert ((top >= 80) & (top < 120)).all()
    assert "100 leading directions of 1,000 sparse columns" in model.engine_
    assert all(80 <= int(name.removeprefix("column ")) < 120 for name in model.fitted_.columns)


@pytest.mark.parametrize("subtract", [True, False])
def test_new_rows_get_the_clusters_and_places_of_dense_ones(found, subtract, tmp_path):
    _, X, given, _ = found
    model = KDAC(settings=Settings(subtract_given=subtract), **FIXED).fit(X, given)
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.allclose(model.transform(X), model.transform(X.toarray()))
    assert np.array_equal(model.predict(X[:50]), model.predict(X[:50].toarray()))
    model.save(tmp_path / "model.npz")
    assert np.array_equal(KDAC.load(tmp_path / "model.npz").predict(sparse.csc_matrix(X)), model.labels_)


def test_few_columns_are_fitted_exactly():
    """All directions are kept, so that only the coordinates differ from those of a dense fit."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 150))
    X = np.column_stack([4.0 * given, 4.0 * hidden, np.zeros(150), np.zeros(150)])
    X += np.where(rng.random(X.shape) < 0.5, rng.normal(size=X.shape), 0)
    dense, thin = (KDAC(settings=Settings(n_init=1), **FIXED).fit(rows, given) for rows in (X, sparse.csr_matrix(X)))
    assert nmi(dense.labels_, thin.labels_) == pytest.approx(1)
    assert abs(dense.components_ @ thin.components_.T).item() == pytest.approx(1, abs=1e-3)
    assert np.allclose(dense.mean_, thin.mean_)
    assert np.allclose(dense.feature_weights_, thin.feature_weights_, atol=1e-6)


def test_the_reduction_is_a_principal_component_analysis():
    X, given, _ = texts(200, 300)
    reduced = Reduced.of(X, np.random.default_rng(0), directions=20)
    centred = X.toarray() - X.toarray().mean(axis=0)
    strengths = np.linalg.svd(centred, compute_uv=False)
    assert np.allclose(reduced.basis.T @ reduced.basis, np.eye(20))
    assert np.allclose(reduced.rows, centred @ reduced.basis)
    assert np.linalg.norm(reduced.rows[:, :4], axis=0) == pytest.approx(strengths[:4], rel=1e-3)
    assert reduced.share == pytest.approx(np.sum(strengths[:20] ** 2) / np.sum(strengths**2), rel=0.02)
    shares, variances = reduced.between_shares(given)
    assert np.allclose(shares, between_shares(X.toarray(), given))
    assert np.allclose(variances, centred.var(axis=0))


def test_other_columns_and_missing_rows_are_refused(found):
    model, X, given, _ = found
    with pytest.raises(InputError, match="X has 999 columns, but the fit had 1000"):
        model.predict(X[:, :999])
    with pytest.raises(InputError, match="or fitted to a sparse matrix"):
        model.plot()
    assert len(model.plot(X, given)) == 2


LARGE = """
from pathlib import Path
from altclust import KDAC
from altclust.core.metrics import nmi
from tests.models.test_sparse_rows import texts
def memory(name):  # in kB, without that of the process that started this one
    return int(Path("/proc/self/status").read_text().split(name)[1].split()[0])
X, given, hidden = texts(4000, 20000, words=100)
before = memory("VmRSS:")
model = KDAC(2, sigma=3.0, n_components=1, random_state=0).fit(X, given)
assert (model.predict(X) == model.labels_).mean() > 0.99
print(memory("VmHWM:") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
def test_a_large_matrix_is_never_made_dense():
    """4,000 rows of 20,000 columns would be 640 MB; see docs/scaling.md."""
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 400 * 1024
