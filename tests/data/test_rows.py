"""Rows in blocks, wherever they live: the same sums and the same answers as one computation on all of them."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from array_api_compat import array_namespace
from scipy import sparse

from altclust import InputError, open_rows
from altclust.base.backend import host, like
from altclust.base.given import Given
from altclust.data import opening as sources
from altclust.data.dask_rows import DaskRows
from altclust.data.rows import ArrayRows, SparseRows

N, D = 1037, 3  # no multiple of any block
SOURCES = ("array", "memmap", "npy", "parquet", "torch", "dask", "frame")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Many tasks of few rows, and Dask without a cluster."""
    monkeypatch.setattr(ArrayRows, "task", 100)
    with suppress(ImportError):
        import dask

        with dask.config.set(scheduler="threads"):
            yield
            return
    yield


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((N, D))


def make(source, X, folder):
    """The same table, as each kind of source."""
    if source == "array":
        return ArrayRows(X)
    if source in ("memmap", "npy"):
        np.save(folder / "rows.npy", X)
        return open_rows(np.load(folder / "rows.npy", mmap_mode="r") if source == "memmap" else folder / "rows.npy")
    if source == "parquet":
        write_parquet(folder / "rows.parquet", X)
        return open_rows(folder / "rows.parquet")
    if source == "torch":
        return open_rows(pytest.importorskip("torch").asarray(X))
    da = pytest.importorskip("dask.array")
    if source == "dask":
        return open_rows(da.from_array(X, chunks=((400, 1, 136, 500), (1, 2))))
    dd = pytest.importorskip("dask.dataframe")
    return open_rows(dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=5))


def write_parquet(path, X, size=170):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(dict(zip("abcdefgh", X.T, strict=False))), path, row_group_size=size)


def sums(X, codes, shift):
    xp = array_namespace(X)
    return X.T @ (X - like(shift, X)), xp.sum(xp.astype(codes, X.dtype), axis=0)


def norms(X, codes, shift):
    xp = array_namespace(X)
    return xp.astype(xp.sum((X - like(shift, X)) ** 2, axis=1) > 3.0, xp.int64) + codes[:, 0]


def doubled(X, codes):
    return 2 * X[:, :2]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("step", [7, 64, 5000])
def test_sums_and_answers_are_those_of_one_array(source, step, X, tmp_path):
    codes = np.random.default_rng(1).integers(0, 3, (N, 2))
    table, shift = make(source, X, tmp_path), np.arange(3.0)
    assert (table.n, table.d) == (N, D)
    coded = table.encode(codes)
    own = coded.take(np.arange(N))[1].codes
    assert [one.size for one in coded.given.levels] == [3, 3]
    expected, found = sums(X, own, shift), coded.total(sums, shift, step=step)
    answers = np.asarray(coded.each(norms, shift, step=step))
    rows_out = np.asarray(coded.each(doubled, step=step, columns=2))
    for a, b in zip(found, expected, strict=True):
        assert type(a) is np.ndarray
        assert a.dtype == np.float64
        assert np.allclose(a, b, rtol=1e-12, atol=1e-10)
    assert np.array_equal(answers, norms(X, own, shift))
    assert np.array_equal(rows_out, 2 * X[:, :2])


@pytest.mark.parametrize("source", SOURCES)
def test_take_brings_rows_and_their_codes_in_order(source, X, tmp_path):
    labels = np.random.default_rng(2).integers(0, 4, N)
    indices = np.array([0, 1, 99, 100, 169, 170, 171, 400, 401, 1036])
    coded = make(source, X, tmp_path).encode(labels)
    some, given = coded.take(indices)
    assert type(some) is np.ndarray
    assert np.array_equal(some, X[indices])
    assert given.codes.shape == (10, 1)
    every = coded.take(np.arange(N))[1].codes[:, 0]
    assert np.array_equal(given.codes[:, 0], every[indices])
    assert np.array_equal(pd.crosstab(every, labels).to_numpy().astype(bool).sum(axis=0), [1] * 4)


@pytest.mark.parametrize("source", SOURCES)
def test_labels_of_any_kind_become_codes(source, X, tmp_path):
    rng = np.random.default_rng(3)
    text = rng.choice(["red", "green", "blue"], N).astype(object)
    numbers = rng.choice([-1.0, np.nan, 2.5, 7.0], N).astype(object)
    text[::5] = None
    given = np.column_stack([text, numbers])
    if source in ("dask", "frame"):
        given = pytest.importorskip("dask.array").from_array(given, chunks=(300, 1))
    coded = make(source, X, tmp_path).encode(given)
    codes = coded.take(np.arange(N))[1].codes
    assert [one.size for one in coded.given.levels] == [3, 2]
    assert np.array_equal(codes[:, 0] == -1, [label is None for label in text])
    assert np.array_equal(codes[:, 1] == -1, [not value > 0 for value in numbers])
    for column, labels in zip(codes.T, (text, numbers), strict=True):
        known = column >= 0
        pairs = set(zip(column[known].tolist(), labels[known].tolist(), strict=True))
        assert len(pairs) == column.max() + 1


def positive(X, codes):
    xp = array_namespace(X)
    return xp.astype(X[:, 0] > 0, xp.int64)


@pytest.mark.parametrize("source", SOURCES)
def test_labels_are_counted_in_each_code_of_what_is_given(source, X, tmp_path):
    rng = np.random.default_rng(5)
    given = np.column_stack([rng.choice(["a", "b", "c"], N).astype(object), rng.choice([1, 2, None], N)])
    coded = make(source, X, tmp_path).encode(given)
    found = coded.crossed(coded.each(positive), 2)
    for counts, one, column in zip(found, coded.given.levels, given.T, strict=True):
        assert counts.shape == (2, one.size)
        for label, code in np.ndindex(counts.shape):
            assert counts[label, code] == np.sum((X[:, 0] > 0) == label, where=column == one.labels[code])


@pytest.mark.parametrize("source", SOURCES)
def test_other_rows_get_the_codes_of_the_same_labels_and_intervals(source, X, tmp_path):
    rng = np.random.default_rng(6)
    towns, ages = rng.choice(["Rome", "Oslo"], N).astype(object), rng.uniform(20, 80, N)
    levels = ArrayRows(X).encode(pd.DataFrame({"town": towns, "age": ages})).given.levels
    towns[::9], towns[1::9], ages[::7] = None, "Bern", np.nan
    columns = [towns, ages]
    if source in ("dask", "frame"):
        da = pytest.importorskip("dask.array")
        columns = [da.from_array(one, chunks=250) for one in columns]
    codes = make(source, X, tmp_path).coded(columns, levels).take(np.arange(N))[1].codes
    assert np.array_equal(codes[:, 0] == -1, [town in (None, "Bern") for town in towns])
    assert set(codes[towns == "Rome", 0]) == {int(np.flatnonzero(levels[0].labels == "Rome")[0])}
    assert np.array_equal(codes[:, 1], levels[1].codes(ages))
    assert np.array_equal(codes[:, 1] == -1, np.isnan(ages))


def test_sparse_rows_are_read_in_sparse_blocks(X):
    table = SparseRows(sparse.csr_array(np.where(X > 1, X, 0.0)), Given.from_codes(np.arange(N) % 3))

    def largest(X, codes):
        assert sparse.issparse(X)
        return X.toarray().max(axis=1) + 10 * codes[:, 0]

    expected = np.where(X > 1, X, 0.0).max(axis=1) + 10 * (np.arange(N) % 3)
    assert np.array_equal(table.each(largest, step=9), expected)
    some, given = table.take(np.array([2, 900]))
    assert np.array_equal(some.max(axis=1) + 10 * given.codes[:, 0], expected[[2, 900]])


@pytest.mark.parametrize("source", SOURCES)
def test_nothing_given_has_no_codes(source, X, tmp_path):
    given = make(source, X, tmp_path).encode(None).given
    assert not given
    assert given.codes.shape == (N, 0)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    ("labels", "words"),
    [(np.zeros(N), "pass at least two clusters"), (np.arange(N - 1) % 2, f"{N - 1}"), (np.arange(N), "labels that")],
)
def test_labels_that_are_no_clustering_are_refused(source, labels, words, X, tmp_path, monkeypatch):
    monkeypatch.setattr(DaskRows, "most_clusters", 500)
    table = make(source, X, tmp_path)
    for given in [labels, pytest.importorskip("dask.array").from_array(labels, chunks=300)]:
        if isinstance(given, np.ndarray) or source in ("dask", "frame"):
            with pytest.raises(InputError, match=words):
                table.encode(given)


def dtype_of(X, codes):
    xp = array_namespace(X)
    return xp.full((len(X),), X.dtype == xp.float32)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("kind", "single"), [("float32", True), ("float64", False), ("int16", False), ("bool", False)])
def test_single_precision_stays_and_integers_become_double(source, kind, single, X, tmp_path):
    table = make(source, (10 * X).astype(kind), tmp_path)
    assert np.all(np.asarray(table.each(dtype_of)) == single)
    some = table.take(np.array([3, 700]))[0]
    (total,) = table.total(column_sums)
    assert some.dtype == (np.float32 if single else np.float64)
    assert np.array_equal(some, (10 * X).astype(kind).astype(some.dtype)[[3, 700]])
    assert total.dtype == np.float64


def column_sums(X, codes):
    return (array_namespace(X).sum(X, axis=0),)


def test_results_do_not_depend_on_the_number_of_threads(X, monkeypatch, tmp_path):
    found = []
    for threads in (1, 2, 3, 8):
        monkeypatch.setattr(ArrayRows, "task", 100)
        monkeypatch.setattr(ArrayRows, "threads", threads)
        table = make("npy", X, tmp_path)
        shift = np.full(3, 0.1)
        coded = table.beside_given(Given.from_codes(np.arange(N) % 3))
        found.append((*coded.total(sums, shift, step=9), coded.each(norms, shift, step=9)))
    for others in found[1:]:
        for a, b in zip(found[0], others, strict=True):
            assert np.array_equal(a, b)


def test_an_error_in_a_block_reaches_the_caller(X, monkeypatch):
    monkeypatch.setattr(ArrayRows, "task", 100)
    monkeypatch.setattr(ArrayRows, "threads", 2)
    whole = X.copy()
    whole[1000, 1] = np.inf

    def fussy(X, codes):
        if not np.isfinite(X).all():
            raise InputError("infinity")
        return (X.sum(),)

    with pytest.raises(InputError, match="infinity"):
        ArrayRows(whole).total(fussy)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_changes_to_a_mapped_array_are_kept(mode, X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode=mode)
    expected = X.copy()
    if mode != "r":
        mapped[::7, 0] = expected[::7, 0] = 100.0
    table = open_rows(mapped)
    for _ in range(2):
        (total,) = table.total(column_sums)
        assert np.allclose(total, expected.sum(axis=0))
        assert np.array_equal(table.take(np.arange(0, N, 7))[0], expected[::7])
    assert np.array_equal(mapped, expected)
    mapped.flush()
    assert np.array_equal(np.load(tmp_path / "rows.npy"), X if mode == "c" else expected)


def test_a_slice_of_a_mapped_array_is_its_own_table(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    part = np.load(tmp_path / "rows.npy", mmap_mode="r")[100:700:2, 1:]
    table = open_rows(part)
    assert (table.n, table.d) == (300, 2)
    (total,) = table.total(column_sums)
    assert np.allclose(total, X[100:700:2, 1:].sum(axis=0))


def test_tables_of_scikit_learn_are_left_to_it(X):
    for table in (X, X.tolist(), pd.DataFrame(X)):
        assert open_rows(table) is None
    table = ArrayRows(X)
    assert open_rows(table) is table


def test_columns_of_a_parquet_file_can_be_chosen(X, tmp_path):
    write_parquet(tmp_path / "rows.parquet", X)
    table = open_rows(str(tmp_path / "rows.parquet"), columns=["c", "a"])
    assert table.columns == ["c", "a"]
    assert np.array_equal(table.take(np.array([5, 900]))[0], X[[5, 900]][:, [2, 0]])


def test_paths_that_lead_nowhere_are_named_with_a_remedy(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.npy.*check the path"):
        open_rows(tmp_path / "nowhere.npy")
    with pytest.raises(InputError, match="check the path"):
        open_rows(tmp_path)
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n")
    with pytest.raises(InputError, match=r"rows\.csv.*neither \.npy nor \.parquet"):
        open_rows(str(tmp_path / "rows.csv"))


@pytest.mark.parametrize("size", [0, 5, 60, 1000])
@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_files_that_were_cut_short_are_named_with_a_remedy(kind, size, X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    write_parquet(tmp_path / "rows.parquet", X)
    (tmp_path / f"short.{kind}").write_bytes((tmp_path / f"rows.{kind}").read_bytes()[:size])
    with pytest.raises(InputError, match=rf"short\.{kind}.*write it again"):
        open_rows(tmp_path / f"short.{kind}")


def test_tables_need_rows_and_columns(X, tmp_path):
    np.save(tmp_path / "line.npy", X[:, 0])
    np.save(tmp_path / "cube.npy", X[:, :, None])
    flat = [tmp_path / "line.npy", tmp_path / "cube.npy", np.load(tmp_path / "line.npy", mmap_mode="r")]
    flat.append(pytest.importorskip("torch").zeros(5))
    flat.append(pytest.importorskip("dask.array").zeros(5, chunks=2))
    for table in flat:
        with pytest.raises(InputError, match="rows and columns"):
            open_rows(table)


def test_an_array_of_objects_is_not_loaded(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([[1, "a"], [2, "b"]], dtype=object))
    with pytest.raises(InputError, match=r"objects\.npy"):
        open_rows(tmp_path / "objects.npy")


@pytest.mark.parametrize("kind", ["<U3", "complex128", "datetime64[s]"])
def test_a_mapped_array_of_no_numbers_is_refused(kind, tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((20, 2)).astype(kind))
    with pytest.raises(InputError):
        open_rows(tmp_path / "rows.npy").total(column_sums)


def test_a_text_column_of_a_parquet_file_is_refused(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": np.arange(4.0), "town": list("abcd")}), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="town"):
        open_rows(tmp_path / "rows.parquet").total(column_sums)
    with pytest.raises(InputError, match="missing"):
        open_rows(tmp_path / "rows.parquet", columns=["missing"]).total(column_sums)


def test_missing_values_of_a_parquet_file_are_nan(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": [1.0, None, 3.0], "b": [1, 2, None]}), tmp_path / "rows.parquet")
    some, _ = open_rows(tmp_path / "rows.parquet").take(np.arange(3))
    assert np.array_equal(some, [[1, 1], [np.nan, 2], [3, np.nan]], equal_nan=True)


def test_tensors_lose_their_gradient_and_integers_become_double(X):
    torch = pytest.importorskip("torch")
    table = open_rows(torch.asarray(X).requires_grad_())
    assert np.allclose(table.total(column_sums)[0], X.sum(axis=0))
    assert host(open_rows(torch.ones((4, 2), dtype=torch.int32)).X).dtype == np.float64


def test_blocks_of_unknown_length_are_counted(X):
    da = pytest.importorskip("dask.array")
    lazy = da.from_array(X, chunks=(300, 3))
    table = sources.open_rows(lazy[lazy[:, 0] > 0])
    assert table.n == np.sum(X[:, 0] > 0)
    assert np.allclose(table.total(column_sums)[0], X[X[:, 0] > 0].sum(axis=0))
