"""One fit at any size: a sample is fitted, and all rows are labelled, with every setting and wherever the rows are."""

from __future__ import annotations

import pickle
import warnings
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from tests.conftest import examples, kdac
from threadpoolctl import threadpool_limits

from altclust import KDAC, InputError, Known, Settings
from altclust.core.metrics import nmi
from altclust.core.solvers import subspace_distance
from altclust.data.rows import ArrayRows
from altclust.data.sums import given_effects
from altclust.models.sample import visible_share

seeds = st.integers(0, 10_000)
FIXED: dict[str, Any] = {"n_clusters": 2, "n_components": 2, "sigma": 3.0, "sample_size": 300, "random_state": 0}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with suppress(ImportError):
        import torch  # noqa: F401  (before the limit, which holds for the libraries that are loaded)
    with threadpool_limits(1):
        yield


def blobs(n, seed=0, d=5):
    """Rows, a given clustering along the first column and a hidden one along the second."""
    rng = np.random.default_rng(seed)
    known, hidden = rng.integers(0, 2, (2, n))
    X = rng.standard_normal((n, d))
    X[:, 0] += 8 * known
    X[:, 1] += 7 * hidden
    return X, known, hidden


def shared(n, seed=0):
    """The same, but the given clustering moves the rows along the second column too, and some rows are near both."""
    X, known, hidden = blobs(n, seed)
    X[:, 0] -= 5 * known
    X[:, 1] += 4 * known
    return X, known, hidden


@pytest.fixture(scope="module")
def table():
    return blobs(2000)


@pytest.fixture(scope="module")
def fitted(table):
    X, known, _ = table
    return KDAC(**FIXED).fit(X, known)


def quiet(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*args, **kwargs)


def loaded(model, folder):
    model.save(folder / "model.npz")
    return KDAC.load(folder / "model.npz")


# --------------------------------------------------------------------------------------------------------- settings


def of_table(n):
    """Rows with a hidden and a weaker clustering, and all that a setting may need of them."""
    X, known, hidden = blobs(n)
    rng = np.random.default_rng(1)
    weak, t = rng.integers(0, 2, n), rng.uniform(-1, 1, n)
    X[:, 2] += 5 * weak
    start = np.linalg.qr(np.eye(5)[:, 1:3] + 0.1 * rng.standard_normal((5, 2)))[0]
    copies, shares = np.ones(n), 0.5 + hidden
    copies[:20] = np.tile([0, 2], 10)
    return SimpleNamespace(
        n=n, X=X, known=known, hidden=hidden, weak=weak, t=t, start=start, copies=copies, shares=shares
    )


def is_orthonormal(model):
    return np.allclose(model.components_ @ model.components_.T, np.eye(len(model.components_)), atol=1e-8)


def every_tenth(labels):
    return np.where(np.arange(len(labels)) % 10 == 0, labels, -1)


def moved(table):
    """Rows that a measurement moves, instead of the given clusters."""
    return table.X - 8 * np.outer(table.known, np.eye(5)[0]) + 8 * np.outer(table.t**2, [1, 0, 0, 0, 0])


SETTINGS = {  # parameters, what is passed to fit, and what shows it in the model
    "whitening 0.5": ({"whitening": 0.5}, {}, lambda m, t: m.settings_.whitening == 0.5 and not is_orthonormal(m)),
    "whitening 1": (
        {"whitening": 1, "sigma": 1.0},
        {},
        lambda m, t: m.settings_.whitening == 1 and np.allclose(np.cov(m.transform(t.X).T), np.eye(2), atol=0.15),
    ),
    "pull": (
        lambda t: {"pull": 1e4, "init": t.start},
        {},
        lambda m, t: m.settings_.pull == 1e4 and subspace_distance(m.components_.T, t.start) < 1e-2,
    ),
    "subspace": (
        {"subspace": np.eye(5)[:, [1, 3, 4]]},
        {},
        lambda m, t: not m.components_[:, [0, 2]].any() and is_orthonormal(m),
    ),
    "degree_floor": ({"degree_floor": 0.1}, {}, lambda m, t: m.settings_.degree_floor == 0.1),
    "keep": (
        {"n_components": 1, "keep_weight": 5.0, "sigma": 2.0},
        {"keep": lambda t: every_tenth(t.weak)},
        lambda m, t: nmi(m.labels_, t.weak) > 0.9,
    ),
    "keep_weight 0": (
        {"n_components": 1, "keep_weight": 0.0, "sigma": 2.0},
        {"keep": lambda t: every_tenth(t.weak)},
        lambda m, t: nmi(m.labels_, t.hidden) > 0.9,
    ),
    "whole weights": (
        {},
        {"sample_weight": lambda t: t.copies},
        lambda m, t: np.allclose(m.mean_, np.average(t.X, axis=0, weights=t.copies), atol=1e-12 if t.n == 280 else 0.5),
    ),
    "fractional weights": (
        {},
        {"sample_weight": lambda t: t.shares},
        lambda m, t: np.allclose(m.mean_, np.average(t.X, axis=0, weights=t.shares), atol=0.5),
    ),
    "a measurement": (
        {"subtract_given": True},
        {"X": moved, "y": lambda t: t.t},
        lambda m, t: m.known_ == "given: a measurement" and m.overlap_ < 0.05 and m.guess_agreement_ > 0.9,
    ),
    "a kernel": (
        {"subtract_given": True},
        {"X": moved, "y": lambda t: Known.kernel(np.exp(-5 * (t.t[:, None] - t.t) ** 2))},
        lambda m, t: m.known_ == "kernel: a kernel" and m.overlap_ < 0.05,
    ),
    "subtract_given": ({"subtract_given": True}, {}, lambda m, t: m.subtract_given_ and m.guess_agreement_ > 0.9),
    "novelty_weight": ({"novelty_weight": 3}, {}, lambda m, t: m.novelty_weight_ == 3 and m.overlap_ < 0.05),
    "scaling": (
        lambda t: {"scaling": "paper", "novelty_weight": 20 / t.n, "init": t.start},
        {},
        lambda m, t: m.novelty_weight_ == 20 / t.n and m.overlap_ < 0.05,
    ),
    "init": (
        lambda t: {"init": t.start, "max_iter": 1},
        {},
        lambda m, t: m.n_iter_ == 1 and subspace_distance(m.components_.T, t.start) < 0.5,
    ),
    "rounding": ({"rounding": "cluster_qr"}, {}, lambda m, t: m.status_ == "converged"),
    "n_components": ({"n_components": 3}, {}, lambda m, t: m.n_components_ == len(m.components_) == 3),
} | {
    solver: ({"solver": solver, "max_iter": 20}, {}, lambda m, t: m.approximation_error_ == 0 and is_orthonormal(m))
    for solver in ("ism", "sm", "dg", "newton")
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_holds_for_all_rows_and_for_a_sample(name):
    parameters, passed, is_visible = SETTINGS[name]
    found = []
    for n in (280, 340):
        table = of_table(n)
        asked = parameters(table) if callable(parameters) else parameters
        data = {"X": table.X, "y": table.known} | {key: make(table) for key, make in passed.items()}
        model = quiet(kdac(**FIXED | asked), **data)
        assert model.labels_.shape == (n,)
        whole = n == 280 and name != "fractional weights"  # which are 2,000 copies
        assert model.engine_.startswith(f"fitted on {'all 280' if whole else f'{model.sample_size_} of'}")
        assert model.sample_size_ == 280 if whole else 300 <= model.sample_size_ < 310  # with those to keep
        assert is_visible(model, table)
        found.append(nmi(model.labels_, table.weak if name == "keep" else table.hidden))
    assert min(found) > 0.9
    assert abs(found[0] - found[1]) < 0.06


def test_what_a_sample_can_see_is_told(fitted):
    words = "fitted on 300 of 2,000 rows, with "
    assert fitted.engine_.startswith(words)
    assert fitted.engine_.endswith(f"; a cluster with less than {visible_share(2, 300):.1%} of the rows may be missed")
    assert 0.03 <= visible_share(2, 5000) < visible_share(2, 400) <= 0.06
    assert np.all(np.diff([visible_share(k, 5000) for k in range(2, 30)]) <= 0)
    assert visible_share(20, 5000) < visible_share(2, 5000)  # where a cluster of many may be smaller


def test_a_sample_with_fewer_rows_than_clusters_is_refused(table):
    X, known, _ = table
    with pytest.raises(InputError, match=r"n_clusters=150 is more than the 100 rows of the sample: raise sample_size"):
        KDAC(150, sigma=3.0, sample_size=100).fit(X, known)


def test_a_sample_whose_kernel_does_not_fit_in_memory_is_refused():
    X = np.random.default_rng(0).standard_normal((1_000_000, 1))
    with pytest.raises(InputError, match=r"sample_size=1000000 rows need 24,000\.0 GB for all pairs of them"):
        KDAC(2, sigma=1.0, solver="ism", sample_size=10**6).fit(X)


def test_rows_with_labels_to_keep_are_in_the_sample():
    X, known, hidden = blobs(2000)
    weak = np.random.default_rng(1).integers(0, 2, 2000)
    X[:, 2] += 5 * weak
    some = np.random.default_rng(2).choice(2000, 12, replace=False)
    keep = np.full(2000, -1)
    keep[some] = weak[some]
    model = KDAC(2, sample_size=200, random_state=0).fit(X, known, keep=keep)
    assert set(some) <= set(model.fitted_.places)
    assert 200 < model.sample_size_ <= 212
    assert nmi(model.labels_[some], weak[some]) > 0.99
    assert nmi(model.labels_, weak) > 0.9
    assert nmi(KDAC(2, sample_size=200, random_state=0).fit(X, known).labels_, hidden) > 0.9


# ---------------------------------------------------------------------------------------------------------- sources


def as_source(kind, X, folder):
    if kind == "float32":
        return X.astype(np.float32)
    if kind == "frame":
        return pd.DataFrame(X, columns=list("abcde"))
    if kind == "parquet path":
        pytest.importorskip("pyarrow")
        pd.DataFrame(X, columns=list("abcde")).to_parquet(folder / "rows.parquet", row_group_size=70)
        return folder / "rows.parquet"
    if kind == "torch":
        return pytest.importorskip("torch").asarray(X)
    if kind == "dask":
        return pytest.importorskip("dask.array").from_array(X, chunks=(90, -1))
    if kind == "sparse":
        return sparse.csr_matrix(X)
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r") if kind == "memmap" else str(folder / "rows.npy")


@pytest.mark.parametrize("size", [300, 3000])
@pytest.mark.parametrize("kind", ["frame", "float32", "memmap", "npy name", "parquet path", "torch", "dask", "sparse"])
def test_the_hidden_clustering_is_found_wherever_the_rows_are(kind, size, tmp_path, monkeypatch):
    monkeypatch.setattr(ArrayRows, "task", 100)
    X, known, hidden = blobs(400)
    asked = FIXED | {"n_components": 1, "sample_size": size}
    plain, source = KDAC(**asked).fit(X, known), as_source(kind, X, tmp_path)
    model = KDAC(**asked).fit(source, known)
    labels = np.asarray(model.labels_)
    assert nmi(labels, hidden) > 0.95
    assert model.overlap_ == pytest.approx(nmi(labels, known), abs=1e-12)
    assert model.engine_.startswith(plain.engine_)
    assert np.isclose(model.feature_weights_.sum(), 1)
    assert np.array_equal(np.asarray(model.predict(source)), labels)
    if kind in ("float32", "sparse"):
        assert nmi(labels, plain.labels_) > 0.99
        assert np.allclose(np.abs(model.components_), np.abs(plain.components_), atol=1e-2)
    else:
        assert np.array_equal(labels, plain.labels_)
        assert np.allclose(model.components_, plain.components_, atol=1e-7)
        assert np.array_equal(model.mean_, plain.mean_)
        assert np.allclose(np.asarray(model.transform(source)), plain.transform(X), atol=1e-6)
    named = kind in ("frame", "parquet path")
    assert getattr(model, "feature_names_in_", np.array([])).tolist() == (list("abcde") if named else [])


# ------------------------------------------------------------------------------------------- what is given about rows


def givens(kind, n):
    """Rows, what is given about them, and a hidden clustering."""
    X, known, hidden = shared(n)
    if kind == "labels":
        return X, np.array(["north", "south"])[known], hidden
    if kind == "unknown labels":
        return X, np.where(np.arange(n) % 7 == 0, np.nan, known), hidden
    t = np.random.default_rng(1).uniform(-1, 1, n)
    X = X + 6 * np.outer(t**2, [1.0, 1.0, 0.0, 0.0, 0.0])
    t[::9] = np.nan
    return X, pd.DataFrame({"age": t, "site": known}), hidden


@pytest.mark.parametrize("n", [280, 1000])
@pytest.mark.parametrize("kind", ["labels", "unknown labels", "a measurement and labels", "sparse"])
def test_rows_with_what_is_given_are_labelled_as_in_the_fit(kind, n, tmp_path):
    X, y, hidden = givens("labels" if kind == "sparse" else kind, n)
    X = sparse.csr_array(X) if kind == "sparse" else X
    model = quiet(KDAC(settings=Settings(subtract_given=True), **FIXED), X, y)
    assert nmi(model.labels_, hidden) > 0.6
    assert np.array_equal(model.predict(X, given=y), model.labels_)
    guessed = model.predict(X)
    assert 0.8 < model.guess_agreement_ < 1
    assert np.mean(guessed == model.labels_) == pytest.approx(model.guess_agreement_, abs=0.05)
    again = loaded(model, tmp_path)
    assert np.array_equal(again.predict(X, given=y), model.labels_)
    assert np.array_equal(again.predict(X), guessed)
    assert np.array_equal(again.transform(X, given=y), model.transform(X, given=y))
    few = np.arange(0, n, 17)
    some = y.iloc[few] if hasattr(y, "iloc") else y[few]
    assert np.array_equal(model.predict(X[few], given=some), model.labels_[few])


def test_what_is_given_matters_only_where_it_is_subtracted(table, fitted):
    X, known, _ = table
    assert np.isnan(fitted.guess_agreement_)
    assert np.array_equal(fitted.predict(X, given=1 - known), fitted.labels_)


def test_new_rows_are_treated_like_those_of_the_fit():
    X, known, hidden = shared(1000)
    model = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(X[:600], known[:600])
    assert nmi(model.predict(X[600:], known[600:]), hidden[600:]) > 0.95
    assert nmi(model.predict(X[600:]), hidden[600:]) > 0.8


MISTAKES = {
    "another number of columns": (lambda X, y: np.column_stack([y, y]), r"has 2 column\(s\) where fit had 1 \(given\)"),
    "another length": (lambda X, y: y[:-1], "has 399 labels for 400 rows: pass one label for each row of X"),
    "a kernel": (lambda X, y: Known.kernel(np.eye(len(X))), "has no labels of these rows"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_what_is_given_are_told(name):
    wrong, told = MISTAKES[name]
    X, known, _ = blobs(400)
    model = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(X, known)
    for ask in (model.predict, model.transform):
        with pytest.raises(InputError, match=told):
            ask(X, given=wrong(X, known))


def test_nothing_can_be_given_to_a_model_without_it_nor_to_one_of_a_kernel():
    X, known, _ = blobs(400)
    t = np.random.default_rng(0).uniform(size=400)
    with pytest.raises(InputError, match="given was not passed to fit: leave it out"):
        KDAC(**FIXED).fit(X).predict(X, given=known)
    kernel = Known.kernel(np.exp(-((t[:, None] - t) ** 2)))
    model = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(X, kernel)
    for again in (kernel, known):
        with pytest.raises(InputError, match="a kernel of the rows of the fit, which says nothing of other rows"):
            model.predict(X, given=again)
    assert model.predict(X).shape == (400,)


def test_values_that_are_no_numbers_are_no_measurement():
    X, known, _ = blobs(400)
    t = np.random.default_rng(0).uniform(size=400)
    model = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(X, t)
    with pytest.raises(InputError):
        model.predict(X, given=np.array(["a", "b"])[known])


# ------------------------------------------------------------------------------------------------------------ views


def test_all_views_label_all_rows():
    X, known, hidden = blobs(800)
    weak = np.random.default_rng(1).integers(0, 2, 800)
    X[:, 2] += 6 * weak
    model = KDAC(2, sample_size=300, random_state=0).fit(X, known)
    assert all(view.labels.shape == (800,) for view in model.views_)
    assert min(max(nmi(view.labels, truth) for view in model.views_) for truth in (hidden, weak)) > 0.9


# ------------------------------------------------------------------------------------------------------------ means


def left_of(X, given):
    """What the effects of what is given, from sums in blocks, leave of the centred rows."""
    rows = ArrayRows(X).encode(given)
    left = X - X.mean(axis=0)
    for effects, codes in zip(given_effects(rows, np.median(X[:50], axis=0)), rows.given.codes.T, strict=True):
        assert not effects[-1].any()  # of what is unknown
        left = left - effects[codes]
    return left, rows.given


@pytest.mark.parametrize("kind", ["labels", "two columns", "nested columns", "unknown", "a measurement", "both"])
@given(seed=seeds)
@examples(4)
def test_effects_are_those_of_a_regression(kind, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(200, 900))
    fine, other, t = rng.permutation(np.arange(n) % 4), rng.permutation(np.arange(n) % 3), rng.uniform(20, 80, n)
    X = rng.standard_normal((n, 4)) + rng.standard_normal((4, 4))[fine] + rng.standard_normal((3, 4))[other] + 5
    X += np.outer((t / 50 - 1) ** 2, rng.standard_normal(4))
    some = np.where(rng.random(n) < 0.3, -1, fine)
    t[rng.random(n) < 0.2] = np.nan
    known = {
        "labels": fine,
        "two columns": np.column_stack([fine, other]),
        "nested columns": np.column_stack([fine, fine // 2]),
        "unknown": np.column_stack([some, other]),
        "a measurement": t,
        "both": pd.DataFrame({"age": t, "site": some}),
    }[kind]
    left, read = left_of(X, known)
    assert np.allclose(left, read.subtracted_from(X - X.mean(axis=0)), atol=1e-8)
    if kind == "labels":
        assert np.allclose([left[fine == code].mean(axis=0) for code in range(4)], 0, atol=1e-10)


def test_a_huge_offset_leaves_the_digits():
    X, known, hidden = blobs(1000)
    far = X + 1e9
    left, read = left_of(far, known)
    exact = far - 1e9
    assert np.allclose(left, read.subtracted_from(exact - exact.mean(axis=0)), atol=1e-6)
    model = KDAC(**FIXED).fit(far, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert np.array_equal(model.predict(far), model.labels_)


# --------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("row", [7, 1501])
@pytest.mark.parametrize(("entry", "named"), [(np.nan, False), (np.inf, True), (-np.inf, False)])
def test_what_is_not_finite_is_named(entry, named, row, table):
    X, known, _ = table
    X = X.copy()
    X[[row, row + 1], 3] = entry
    X = pd.DataFrame(X, columns=list("vwxyz")) if named else X
    with pytest.raises(InputError, match=f"column {repr('y') if named else 3} .2 of 2000 rows.*fill it in"):
        KDAC(**FIXED).fit(X, known)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("size", [1e60, 1e160, 1e200])
def test_powers_that_overflow_are_refused(size, table):
    X, known, _ = table
    with pytest.raises(InputError, match="rescale"):
        KDAC(**FIXED).fit(X * size, known)
    X = X.copy()
    X[1501, 3] = size
    with pytest.raises(InputError, match="rescale"):
        KDAC(**FIXED).fit(X, known)


def test_equal_rows_are_refused():
    with pytest.raises(InputError, match="4000 equal rows"):
        KDAC(**FIXED).fit(np.full((4000, 3), 0.1), np.arange(4000) % 2)


def test_constant_columns_get_no_weight(table):
    X, known, hidden = table
    X = np.column_stack([np.full(2000, 0.1), X, np.full(2000, -1e6)])
    with pytest.warns(UserWarning, match=r"2 constant column\(s\) \(0, 6\)"):
        model = KDAC(**FIXED).fit(X, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert np.all(model.feature_weights_[[0, 6]] == 0)
    assert np.allclose(model.components_[:, [0, 6]], 0, atol=1e-9)


def test_a_column_that_only_the_sample_has_constant_is_no_direction(table):
    X, known, hidden = table
    rare = np.zeros(2000)
    rare[np.setdiff1d(np.arange(2000), KDAC(**FIXED).fit(X, known).fitted_.places)[0]] = 5.0
    X = np.column_stack([X, rare])
    model = KDAC(**FIXED).fit(X, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert np.allclose(model.components_[:, 5], 0, atol=1e-9)


def test_new_rows_are_checked(fitted, tmp_path):
    with pytest.raises(InputError, match="NaN or infinity"):
        fitted.predict(np.full((3, 5), np.nan))
    with pytest.raises(ValueError, match="5 features"):
        fitted.predict(np.zeros((3, 4)))
    np.save(tmp_path / "rows.npy", np.zeros((3, 4)))
    with pytest.raises(InputError, match="4 columns"):
        fitted.predict(tmp_path / "rows.npy")


# ------------------------------------------------------------------------------------------------------------ labels


def test_labels_are_what_predict_says_of_the_rows(table, fitted, tmp_path):
    X, *_ = table
    assert np.array_equal(fitted.predict(X), fitted.labels_)
    new, _, other = blobs(700, seed=1)
    assert nmi(fitted.predict(new), other) > 0.95
    again = loaded(fitted, tmp_path)
    for rows in (X, new, new + 100):
        assert np.array_equal(again.predict(rows), fitted.predict(rows))
        assert np.array_equal(again.transform(rows), fitted.transform(rows))
    for name in ("engine_", "sample_size_", "approximation_error_", "overlap_", "known_"):
        assert getattr(again, name) == getattr(fitted, name)


def test_blocks_and_threads_do_not_show(table, fitted, monkeypatch):
    X, known, _ = table
    new, *_ = blobs(537, seed=2)
    at_once, projected = fitted.predict(new), fitted.transform(new)
    assert np.array_equal(np.concatenate([fitted.predict(new[i : i + 100]) for i in range(0, 537, 100)]), at_once)
    assert np.array_equal([fitted.predict(row[None])[0] for row in new[:50]], at_once[:50])
    for task, threads in ((10, None), (300, 1), (300, 5)):
        monkeypatch.setattr(ArrayRows, "task", task)
        monkeypatch.setattr(ArrayRows, "threads", threads)
        assert np.array_equal(fitted.predict(new), at_once)
        assert np.allclose(fitted.transform(new), projected, atol=1e-12)
        assert np.array_equal(KDAC(**FIXED).fit(X, known).labels_, fitted.labels_)


def test_the_same_seed_gives_the_same_labels(table, fitted):
    X, known, _ = table
    again = KDAC(**FIXED).fit(X, known)
    assert np.array_equal(again.labels_, fitted.labels_)
    assert np.array_equal(again.components_, fitted.components_)
    other = KDAC(**FIXED | {"random_state": 1}).fit(X, known)
    assert not np.array_equal(other.fitted_.places, fitted.fitted_.places)
    assert nmi(other.labels_, fitted.labels_) > 0.95


def test_what_is_passed_in_is_not_changed(table):
    X, known, _ = (part.copy() for part in table)
    before = X.copy(), known.copy()
    KDAC(settings=Settings(subtract_given=True), **FIXED).fit(X, known).predict(X, given=known)
    assert np.array_equal(X, before[0])
    assert np.array_equal(known, before[1])


def test_more_columns_than_rank(table):
    X, known, hidden = table
    mixed = X @ np.random.default_rng(0).standard_normal((5, 12)) / 3
    with pytest.warns(UserWarning, match=r"more than the 5 directions that the rows span"):
        model = KDAC(**FIXED | {"n_components": 9}).fit(mixed, known)
    assert model.components_.shape == (5, 12)
    narrow = KDAC(**FIXED).fit(mixed, known)
    assert nmi(narrow.labels_, hidden) > 0.95
    assert is_orthonormal(narrow)
    assert np.array_equal(narrow.predict(mixed), narrow.labels_)


def test_duplicated_rows():
    X, known, hidden = (np.repeat(part[:80], 50, axis=0) for part in blobs(80))
    model = quiet(KDAC(**FIXED), X, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert all(len(set(model.labels_[i : i + 50])) == 1 for i in range(0, 4000, 50))


@pytest.mark.parametrize("k", [1, 12, 40])
def test_few_and_many_clusters(k, table):
    X, known, _ = table
    model = quiet(KDAC(k, n_components=2, sigma=2.0, sample_size=300, max_iter=3, random_state=0), X, known)
    assert set(model.labels_) <= set(range(k))
    assert len(set(model.labels_)) > k / 2
    assert np.isfinite([model.cost_, model.quality_, model.overlap_]).all()
    assert np.array_equal(model.predict(X), model.labels_)


def test_nothing_given_finds_the_first_view(table):
    X, known, _ = table
    model = KDAC(**FIXED | {"n_components": 1}).fit(X)
    assert np.isnan(model.overlap_)
    assert nmi(model.labels_, known) > 0.95


def test_several_given_clusterings(table):
    X, known, hidden = table
    X = X.copy()
    third = np.random.default_rng(9).integers(0, 2, 2000)
    X[:, 2] += 7 * third
    names = np.column_stack([np.array(["a", "b"])[known], np.array(["x", "y"])[hidden]]).astype(object)
    names[::10, 1] = np.nan
    model = KDAC(**FIXED).fit(X, names)
    assert nmi(model.labels_, third) > 0.95
    assert model.overlap_ < 0.05


def test_the_certificate_and_the_significance_are_there(table, few_draws):
    X, known, _ = table
    model = KDAC(**FIXED | {"n_components": 1}).fit(X, known)
    certificate, significance = model.certificate_, model.significance_
    numbers = [getattr(certificate, name) for name in ("residual", "eigengap", "left", "right", "smallest_curvature")]
    assert np.isfinite(numbers).all()
    assert certificate.residual < 0.05
    assert certificate.rank == certificate.n_features == 5
    assert significance.stability > 0.9
    assert significance.p_value < 0.05


def test_few_known_labels_among_many_rows_may_all_be_outside_the_sample(table, fitted):
    X, known, _ = table
    outside = np.setdiff1d(np.arange(2000), fitted.fitted_.places)[:20]
    few = np.full(2000, -1)
    few[outside] = known[outside]
    model = quiet(KDAC(**FIXED), X, few)
    assert model.labels_.shape == (2000,)
    assert model.overlap_ == pytest.approx(nmi(model.labels_[outside], known[outside]), abs=1e-12)


# --------------------------------------------------------------------------------------------------------- progress


@pytest.mark.parametrize("last", [1, 3])
def test_a_callback_ends_the_fit_with_what_there_is(last, table):
    X, known, _ = table
    told = []

    def stop(progress):
        told.append(progress.done)
        return progress.done >= last

    with pytest.warns(ConvergenceWarning, match="cancelled"):
        model = KDAC(**FIXED, callback=stop).fit(X, known)
    assert "cancelled" in model.status_
    assert model.labels_.shape == (2000,)
    assert set(model.labels_) <= {0, 1}
    assert np.array_equal(model.predict(X), model.labels_)
    assert told == list(range(1, last + 1))


def test_rounds_count_upwards(table):
    X, known, _ = table
    told = []
    model = KDAC(**FIXED, callback=told.append).fit(X, known)
    assert [progress.done for progress in told] == list(range(1, len(told) + 1))
    assert {progress.stage for progress in told} == {"fit"}
    assert np.isfinite([progress.objective for progress in told]).all()
    assert {len(values) for values in model.history_.values()} == {model.n_iter_}
    assert len(told) >= model.n_iter_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "ism", "pull": 1.0}, "pull=1.0 is not used by a solver that alternates"),
        ({"kernel": "linear", "degree_floor": 0.1}, "degree_floor=0.1 is not used by another kernel"),
        ({"n_clusters": 120, "sample_size": 100}, "n_clusters=120 is more than the 100 rows of the sample"),
        ({"solver": "sm", "sample_size": 10**6}, "sample_size=400 rows need .* for all pairs of them"),
    ],
)
def test_what_cannot_be_used_is_refused(parameters, message, monkeypatch):
    monkeypatch.setattr("altclust.models.fit_view.free_memory", lambda: 1e6)
    X, known, _ = blobs(400)
    with pytest.raises(InputError, match=message):
        kdac(**FIXED | parameters).fit(X, known)


def test_a_pickled_model_of_a_sample_has_no_rows():
    X, known, _ = blobs(600)
    model = pickle.loads(pickle.dumps(KDAC(2, sample_size=300, random_state=0).fit(X, known)))
    assert model.predict(X).shape == (600,)
    with pytest.raises(InputError, match="not a number of clusters with which this view is nearly as clear"):
        model.fitted_.variant(3)
    with pytest.raises(InputError, match="certificate_ was not computed"):
        _ = model.certificate_
