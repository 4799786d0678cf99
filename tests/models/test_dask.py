"""Rows on the workers of a cluster: the fit of the same rows in memory, while only sums and a sample travel."""

from __future__ import annotations

import os
import signal
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from altclust import KDAC, InputError
from altclust.core.metrics import nmi
from altclust.data.dask_rows import DaskRows
from altclust.models.solving import SampleOptions

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N, D, SAMPLED = 24_000, 8, 5000
FEW = SampleOptions(first=300, most=SAMPLED)
FIXED = {"n_clusters": 2, "n_components": 2, "sigma": 3.0, "random_state": 0}
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
def few_sampled(monkeypatch):
    """A sample that is small beside the rows, as it is beside many millions."""
    monkeypatch.setattr(KDAC, "_samples", FEW)
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
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
        patch.setattr(KDAC, "_samples", FEW)
        return KDAC(**FIXED, engine="lowrank").fit(stored.X, stored.known)


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
    assert len(gathered) > 5
    assert sorted(gathered)[-1] == SAMPLED * (D * 8 + 4)
    assert sorted(gathered)[-2] < 100_000  # sums; all rows are 1,536,000 bytes

    assert isinstance(model.labels_, da.Array)
    assert model.labels_.shape == (N,)
    assert model.engine_.startswith("lowrank: the rows are spread over workers; ")
    assert model.labels_.chunks == X.chunks[:1]
    labels = model.labels_.compute()
    assert labels.dtype == model.labels_.dtype
    assert nmi(labels, local.labels_) >= 0.999
    assert nmi(labels, stored.hidden) > 0.95
    assert model.overlap_ == pytest.approx(nmi(labels, stored.known), abs=1e-9)
    assert model.cost_ == pytest.approx(local.cost_, abs=1e-6)
    assert np.allclose(model.components_, local.components_, atol=1e-5)
    assert np.allclose(model.mean_, stored.X.mean(axis=0))

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
    model = KDAC(**FIXED, engine="lowrank").fit(X, stored.known)
    assert nmi(model.labels_.compute(), local.labels_) >= 0.999
    assert model.overlap_ < 0.05


@pytest.mark.slow
def test_a_worker_that_dies_does_not_lose_the_run(client, stored, local):
    X = lazily(stored.folder / "rows.npy", D).persist()
    distributed.wait(X)
    killed = []

    def kill(progress):
        if progress.done >= 4 and not killed:
            pid = next(iter(client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    model = KDAC(**FIXED, callback=kill).fit(X, stored.known)
    assert killed
    assert killed[0] not in client.run(os.getpid).values()
    assert nmi(model.labels_.compute(), local.labels_) >= 0.999
    assert np.allclose(model.components_, local.components_, atol=1e-5)


def test_frames_give_their_names(client, stored):
    dd = pytest.importorskip("dask.dataframe")
    few = lazily(stored.folder / "rows.npy", D)[:11_000]
    frame = dd.from_dask_array(few, columns=list("abcdefgh"))
    given = dd.from_dask_array(lazily(stored.folder / "names.npy", dtype="<U5")[:11_000])
    model = KDAC(**FIXED, max_iter=2, tol=1.0).fit(frame, given)
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
    model = KDAC(**FIXED, max_iter=2, tol=1.0).fit(X, given)
    labels = model.labels_.compute()
    assert nmi(labels, stored.hidden[:11_000]) > 0.95
    assert model.transform(X).dtype == model.transform(X[:10]).compute().dtype == np.float32
    single = stored.X[:11_000].astype(np.float32)
    assert np.mean(model.predict(single) == labels) > 0.999


@pytest.mark.slow
def test_the_certificate_is_that_of_the_same_rows_in_memory(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000].persist()
    asked = FIXED | {"max_iter": 2, "tol": 1.0, "engine": "lowrank"}
    found = KDAC(**asked).fit(X, stored.known[:11_000]).certificate_
    expected = KDAC(**asked).fit(stored.X[:11_000], stored.known[:11_000]).certificate_
    for name in ("residual", "eigengap", "left", "right", "smallest_curvature"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-3, abs=1e-5)


def test_nothing_given(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    model = KDAC(**FIXED, max_iter=2, tol=1.0).fit(X)
    assert np.isnan(model.overlap_)
    assert set(model.labels_.compute()) == {0, 1}


def test_given_means_are_subtracted_on_the_workers(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    asked = FIXED | {"subtract_given": True, "max_iter": 2, "tol": 1.0, "engine": "lowrank"}
    model = KDAC(**asked).fit(X, stored.known[:11_000])
    here = KDAC(**asked).fit(stored.X[:11_000], stored.known[:11_000])
    assert nmi(model.labels_.compute(), here.labels_) >= 0.999


def test_a_model_of_scattered_rows_is_saved(client, stored, tmp_path):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    model = KDAC(**FIXED, max_iter=2, tol=1.0).fit(X, stored.known[:11_000])
    model.save(tmp_path / "model.npz")
    again = KDAC.load(tmp_path / "model.npz")
    assert np.array_equal(again.predict(stored.X[:500]), model.predict(stored.X[:500]))
    assert np.array_equal(np.asarray(again.labels_), model.labels_.compute())


@pytest.mark.parametrize("engine", ["dense", "tiles"])
def test_exact_engines_need_the_rows_in_one_place(engine, client, stored):
    with pytest.raises(InputError, match=f'engine="{engine}" needs the rows in one place'):
        KDAC(**FIXED, engine=engine).fit(lazily(stored.folder / "rows.npy", D), stored.known)


def test_what_is_wrong_on_a_worker_is_an_input_error(client, stored):
    X = lazily(stored.folder / "rows.npy", D)[:11_000]
    with pytest.raises(InputError, match=r"column 3 \(11000 of 11000 rows\)"):
        KDAC(**FIXED).fit(da.where(da.arange(D) == 3, np.nan, X), stored.known[:11_000])
    with pytest.raises(InputError, match="10999"):
        KDAC(**FIXED).fit(X, lazily(stored.folder / "names.npy", dtype="<U5")[:10_999])
