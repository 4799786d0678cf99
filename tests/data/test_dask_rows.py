"""Rows on the workers of a cluster: the fit of the same rows in memory, while only sums and a sample travel."""

from __future__ import annotations

import os
import signal
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from altclust import KDAC, InputError, Settings
from altclust.core.metrics import nmi
from altclust.data.dask_rows import DaskRows

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N, D, SAMPLED = 24_000, 8, 1000
FIXED = {"n_clusters": 2, "n_components": 2, "sigma": 3.0, "sample_size": SAMPLED, "random_state": 0}
EDGES = (0, 4000, 4001, 11_000, 18_000, N)


@pytest.fixture(scope="module")
def client():
    settings = {"distributed.admin.large-graph-warning-threshold": "1MB", "distributed.worker.memory.spill": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def load(path, start, stop):
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[start:stop])


def lazily(path, width=None, dtype=float):
    """A Dask array whose blocks are read from the file where they are needed."""
    parts = [
        da.from_delayed(
            dask.delayed(load)(str(path), i, j), shape=(j - i,) if width is None else (j - i, width), dtype=dtype
        )
        for i, j in pairwise(EDGES)
    ]
    return da.concatenate(parts)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """The rows on disk and in memory, what is known of them, and the hidden clustering."""
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, N))
    X = rng.standard_normal((N, D))
    X[:, 0] += 8 * known
    X[:, 1] += 7 * hidden
    names = np.array(["north", "south"])[known]
    np.save(folder / "rows.npy", X)
    np.save(folder / "names.npy", names)
    return SimpleNamespace(folder=folder, X=X, known=known, hidden=hidden, names=names)


@pytest.fixture(scope="module")
def local(stored):
    with threadpool_limits(1):
        return KDAC(**FIXED).fit(stored.X, stored.known)


def nbytes(found):
    """All that arrays in nested lists and tuples hold."""
    if isinstance(found, list | tuple):
        return sum(map(nbytes, found))
    return getattr(found, "nbytes", 0)


def test_the_fit_is_that_of_the_same_rows_in_memory(client, stored, local, monkeypatch):
    taken, gathered = [], []
    take, gather = DaskRows.take, distributed.Client.gather

    def counted_take(self, indices):
        taken.append(len(indices))
        return take(self, indices)

    def counted_gather(self, *args, **kwargs):
        found = gather(self, *args, **kwargs)
        gathered.append(nbytes(found))
        return found

    monkeypatch.setattr(DaskRows, "take", counted_take)
    monkeypatch.setattr(distributed.Client, "gather", counted_gather)
    X, names = lazily(stored.folder / "rows.npy", D), lazily(stored.folder / "names.npy", dtype="<U5")
    model = KDAC(**FIXED).fit(X, names)

    assert taken == [SAMPLED]
    assert sorted(gathered)[-1] == SAMPLED * (D * 8 + 4)
    assert sorted(gathered)[-2] < 100_000  # sums; all rows are 1,536,000 bytes

    assert isinstance(model.labels_, da.Array)
    assert model.labels_.shape == (N,)
    assert model.engine_ == local.engine_
    assert model.engine_.startswith("fitted on 1,000 of 24,000 rows, with ")
    assert model.labels_.chunks == X.chunks[:1]
    labels = model.labels_.compute()
    assert labels.dtype == model.labels_.dtype
    assert np.array_equal(labels, local.labels_)
    assert nmi(labels, stored.hidden) > 0.95
    assert model.overlap_ == pytest.approx(nmi(labels, stored.known), abs=1e-9)
    assert model.cost_ == pytest.approx(local.cost_, abs=1e-9)
    assert np.allclose(model.components_, local.components_, atol=1e-9)
    assert np.allclose(model.mean_, local.mean_, atol=1e-12)

    predicted, projected = model.predict(X), model.transform(X)
    assert isinstance(predicted, da.Array)
    assert isinstance(projected, da.Array)
    assert projected.shape == (N, 2)
    assert np.array_equal(predicted.compute(), labels)
    assert np.array_equal(model.predict(stored.X), labels)
    assert np.allclose(projected.compute(), model.transform(stored.X), atol=1e-12)


@pytest.mark.slow
def test_labels_in_memory_and_a_persisted_array(client, stored, local):
    X = lazily(stored.folder / "rows.npy", D).persist()
    model = KDAC(**FIXED).fit(X, stored.known)
    assert np.array_equal(model.labels_.compute(), local.labels_)
    assert model.overlap_ < 0.05


@pytest.mark.slow
def test_a_worker_that_dies_does_not_lose_the_run(client, stored, local):
    X = lazily(stored.folder / "rows.npy", D).persist()
    distributed.wait(X)
    killed = []

    def kill(progress):
        if not killed:
            pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    model = KDAC(**FIXED, callback=kill).fit(X, stored.known)
    assert killed
    assert killed[0] not in client.run(os.getpid).values()
    assert np.array_equal(model.labels_.compute(), local.labels_)
    assert np.allclose(model.components_, local.components_, atol=1e-9)


def test_frames_give_their_names(client, stored):
    dd = pytest.importorskip("dask.dataframe")
    few = lazily(stored.folder / "rows.npy", D)[:11_000]
    frame = dd.from_dask_array(few, columns=list("abcdefgh"))
    given = dd.from_dask_array(lazily(stored.folder / "names.npy", dtype="<U5")[:11_000])
    model = KDAC(**FIXED).fit(frame, given)
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    assert model.get_feature_names_out().tolist() == ["kdac0", "kdac1"]
    labels = model.labels_.compute()
    assert nmi(labels, stored.hidden[:11_000]) > 0.95
    assert np.array_equal(model.predict(frame).compute(), labels)


def test_unknown_labels_several_givens_and_single_precision(client, stored):
    third = np.random.default_rng(1).integers(0, 2, N)
    both = np.column_stack([stored.names, np.array(["x", "y"])[third]]).astype(object)
    both[::7, 1] = None
    given = da.from_array(both[:11_000], chunks=(3000, 1))
    X = lazily(stored.folder / "rows.npy", D)[:11_000].astype(np.float32)
    model = KDAC(**FIXED).fit(X, given)
    labels = model.labels_.compute()
    assert nmi(labels, stored.hidden[:11_000]) > 0.95
    assert model.transform(X).dtype == model.transform(X[:10]).compute().dtype == np.float32
    single = stored.X[:11_000].astype(np.float32)
    assert np.mean(model.predict(single) == labels) > 0.999


@pytest.mark.slow
def test_the_certificate_is_that_of_the_same_rows_in_memory(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000].persist()
    asked = FIXED | {"max_iter": 2, "tol": 1.0}
    found = KDAC(**asked).fit(X, stored.known[:11_000]).certificate_
    expected = KDAC(**asked).fit(stored.X[:11_000], stored.known[:11_000]).certificate_
    for name in ("residual", "eigengap", "left", "right", "smallest_curvature"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-6, abs=1e-9)


def test_nothing_given(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    model = KDAC(**FIXED).fit(X)
    assert np.isnan(model.overlap_)
    assert set(model.labels_.compute()) == {0, 1}


def test_given_means_are_subtracted_on_the_workers(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    names = lazily(stored.folder / "names.npy", dtype="<U5")[:11_000]
    model = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(X, names)
    here = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(stored.X[:11_000], stored.names[:11_000])
    assert np.array_equal(model.labels_.compute(), here.labels_)
    assert np.array_equal(model.predict(X, names).compute(), here.labels_)
    assert np.array_equal(model.predict(X, stored.names[:11_000]).compute(), here.labels_)
    assert np.array_equal(model.predict(X).compute(), here.predict(stored.X[:11_000]))


def test_a_model_of_scattered_rows_is_saved(client, stored, tmp_path):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    model = KDAC(**FIXED).fit(X, stored.known[:11_000])
    model.save(tmp_path / "model.npz")
    again = KDAC.load(tmp_path / "model.npz")
    assert np.array_equal(again.predict(stored.X[:500]), model.predict(stored.X[:500]))
    assert np.array_equal(np.asarray(again.labels_), model.labels_.compute())


def test_few_rows_are_fitted_like_those_in_memory(client, stored):
    X, names = lazily(stored.folder / "rows.npy", D)[:900], lazily(stored.folder / "names.npy", dtype="<U5")[:900]
    model = KDAC(**FIXED).fit(X, names)
    here = KDAC(**FIXED).fit(stored.X[:900], stored.names[:900])
    assert isinstance(model.labels_, da.Array)
    assert np.array_equal(model.labels_.compute(), here.labels_)
    assert model.overlap_ == pytest.approx(here.overlap_, abs=1e-12)


def test_the_other_views_label_all_rows_too(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    model = KDAC(2, sample_size=400, random_state=0).fit(X)
    here = KDAC(2, sample_size=400, random_state=0).fit(stored.X[:11_000])
    assert len(model.views_) == len(here.views_) > 1
    for one, other in zip(model.views_, here.views_, strict=True):
        assert np.array_equal(one.labels, other.labels)
        assert one.sentence == other.sentence


def test_what_is_wrong_on_a_worker_is_an_input_error(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    with pytest.raises(InputError, match=r"column 3 \(11000 of 11000 rows\)"):
        KDAC(**FIXED).fit(da.where(da.arange(D) == 3, np.nan, X), stored.known[:11_000])
    with pytest.raises(InputError, match="10999"):
        KDAC(**FIXED).fit(X, lazily(stored.folder / "names.npy", dtype="<U5")[:10_999])
