"""Odd sources of rows: each is understood, or refused in one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, InputError, open_rows, tune
from altclust.base.given import Given
from altclust.core.guess import Guess
from altclust.data.rows import ArrayRows


def table(n: int = 3200, d: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    given, hidden = rng.integers(0, 2, (2, n))
    X = rng.standard_normal((n, d))
    X[:, 0] += 6 * given
    X[:, 1] += 4 * hidden
    return X, given, hidden


def fixed(**others) -> KDAC:
    return KDAC(n_clusters=2, n_components=1, sigma=1.0, random_state=0, **others)


def test_columns_in_another_order_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    X, given, _ = table()
    pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "fit.parquet")
    pd.DataFrame(X, columns=list("bacd")).to_parquet(tmp_path / "new.parquet")
    model = fixed().fit(tmp_path / "fit.parquet", given)
    assert np.array_equal(model.predict(tmp_path / "fit.parquet"), model.labels_)
    with pytest.raises(InputError, match="column 'b' where the fit had 'a'"):
        model.predict(tmp_path / "new.parquet")
    turned = open_rows(tmp_path / "new.parquet", columns=list("abcd"))
    assert turned.columns == list("abcd")


def test_parquet_with_empty_row_groups_and_an_index(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, given, _ = table()
    frame = pa.table({name: X[:, j] for j, name in enumerate("abcd")})
    with parquet.ParquetWriter(tmp_path / "gaps.parquet", frame.schema) as writer:
        for part in (frame.slice(0, 1000), frame.slice(0, 0), frame.slice(1000)):
            writer.write_table(part)
    model = fixed().fit(tmp_path / "gaps.parquet", given)
    assert np.array_equal(model.labels_, fixed().fit(X, given).labels_)
    pd.DataFrame(X, columns=list("abcd"))[::-1].to_parquet(tmp_path / "indexed.parquet")
    assert open_rows(tmp_path / "indexed.parquet").d == 4


def test_dask_blocks_without_rows():
    da = pytest.importorskip("dask.array")
    X, given, _ = table()
    lazy = da.concatenate([da.from_array(X[:1600]), da.from_array(X[:0]), da.from_array(X[1600:])])
    lazy = lazy[da.from_array(np.ones(len(X), dtype=bool), chunks=lazy.chunks[0])]  # whose sizes are not known
    labels = np.asarray(fixed().fit(lazy, given).labels_)
    assert np.array_equal(labels, fixed().fit(X, given).labels_)


def test_tensors_of_other_precisions():
    torch = pytest.importorskip("torch")
    X, given, _ = table(200)
    model = fixed(solver="ism").fit(torch.from_numpy(X).half(), given)
    rounded = fixed(solver="ism").fit(X.astype(np.float16).astype(np.float32), given)
    assert np.array_equal(model.labels_, rounded.labels_)
    with pytest.raises(InputError, match="complex"):
        fixed().fit(torch.from_numpy(X).to(torch.complex64), given)


def test_frames_with_unlucky_column_names():
    X, given, _ = table(100)
    frame = pd.DataFrame(X, columns=["dask", "total", "encode", "to_dask_array"])
    model = fixed().fit(frame, given)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert np.array_equal(model.labels_, fixed().fit(X, given).labels_)


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (5, 0)])
def test_tables_without_anything(tmp_path, shape):
    np.save(tmp_path / "rows.npy", np.zeros(shape))
    with pytest.raises(InputError, match="pass at least 2 row"):
        fixed().fit(tmp_path / "rows.npy")


def test_paths_where_tables_are_wanted():
    with pytest.raises(InputError, match="which only KDAC reads"):
        tune("rows.npy")


@pytest.mark.parametrize("factor", [1e60, 1e-60])
def test_scales_beyond_reason(factor):
    X, given, _ = table()
    with pytest.raises(InputError, match="rescale"):
        fixed().fit(factor * X, given)


def test_memory_errors_become_sentences(monkeypatch):
    X, given, _ = table()
    model = fixed().fit(X, given)

    def fail(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(ArrayRows, "total", fail)
    monkeypatch.setattr(ArrayRows, "each", fail)
    with pytest.raises(InputError, match="not enough memory to fit"):
        fixed().fit(X, given)
    with pytest.raises(InputError, match="not enough memory to predict"):
        model.predict(X)


def test_given_clusters_that_the_sample_lacks():
    X, _, _ = table(300)
    codes = np.where(np.arange(300) % 3 == 1, 3, np.arange(300) % 3)  # 0, 2 and 3
    X = X - X.mean(axis=0)
    guess = Guess.fit(X, Given.from_codes(codes), np.zeros_like(X))
    assert guess.weights[0].shape == (4, 4)
    effects = np.eye(5, 4)
    assert set(np.flatnonzero(guess.effect(X, [effects]).any(axis=0))) <= {0, 2, 3}


def test_masked_cells_of_a_dask_array_are_not_read_as_numbers():
    da = pytest.importorskip("dask.array")
    X = da.ma.masked_greater(da.from_array(np.arange(20.0).reshape(10, 2), chunks=(5, 2)), 15)
    with pytest.raises(InputError, match=r"X is a Dask array with masked cells: fill them in, such as da\.ma\.filled"):
        open_rows(X)
    assert open_rows(da.ma.filled(X, 0)).n == 10
    hidden = da.from_array(np.arange(20.0).reshape(10, 2), chunks=(5, 2)).map_blocks(
        lambda block: np.ma.masked_greater(block, 15), meta=np.empty((0, 0))
    )
    with pytest.raises(InputError, match=r"X has 4 masked cell\(s\) in a block: fill them in"):
        KDAC(2, n_components=1, sigma=1.0).fit(hidden, np.arange(10) % 2)
