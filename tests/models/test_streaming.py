"""Fits of rows that are seen in blocks: the hidden clustering from every source, and the sums that they rest on."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from tests.conftest import examples
from threadpoolctl import threadpool_limits

from altclust import KDAC, InputError
from altclust.core.engines import DenseEngine
from altclust.core.metrics import nmi
from altclust.core.problem import remove_given
from altclust.core.solvers import subspace_distance
from altclust.data.rows import STEP, ArrayRows, BlockOptions
from altclust.data.sums import Moments
from altclust.models.solving import SampleOptions
from altclust.models.streaming import step_for

seeds = st.integers(0, 10_000)
FIXED = {"n_clusters": 2, "n_components": 2, "sigma": 3.0, "random_state": 0}


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    """Samples that grow within thousands of rows, as they otherwise would within hundreds of thousands."""
    with suppress(ImportError):
        import torch  # noqa: F401  (before the limit, which holds for the libraries that are loaded)
    monkeypatch.setattr(KDAC, "_samples", SampleOptions(first=300))
    monkeypatch.setattr(ArrayRows, "blocks", BlockOptions(task=1000))
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


@pytest.fixture(scope="module")
def table():
    return blobs(6000)


@pytest.fixture(scope="module")
def fitted(table):
    X, known, _ = table
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
        patch.setattr(KDAC, "_samples", SampleOptions(first=300))
        patch.setattr(ArrayRows, "blocks", BlockOptions(task=1000))
        return KDAC(**FIXED, engine="lowrank").fit(X, known)


def quiet(model, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*args)


# ---------------------------------------------------------------------------------------------------------- moments


def moments_of(X, given=()):
    coded = ArrayRows(X).with_codes(np.column_stack([np.zeros((len(X), 0), dtype=int), *given]))
    return Moments.of(coded, np.median(X[:50], axis=0), [int(c.max()) + 1 for c in given])


@given(seed=seeds)
@examples(7)
def test_moments_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    n, d, g = int(rng.integers(50, 3000)), int(rng.integers(1, 6)), int(rng.integers(0, 3))
    X = rng.standard_normal((n, d)) * 10 ** rng.uniform(-3, 3, d) + rng.standard_normal(d) * 100
    codes = [rng.integers(-1, 3, n) for _ in range(g)]
    found, centred = moments_of(X, codes), X - X.mean(axis=0)
    size = np.sqrt(np.outer(*[np.sum(centred**2, axis=0)] * 2))
    assert found.n == n
    assert np.allclose(found.mean, X.mean(axis=0), rtol=1e-10)
    assert np.all(np.abs(found.scatter - centred.T @ centred) <= 1e-9 * size)
    assert [c.tolist() for c in found.counts] == [np.bincount(c[c >= 0], minlength=3).tolist() for c in codes]
    if codes:
        Y = np.hstack([(c[:, None] == np.arange(3)).astype(float) for c in codes])
        assert np.allclose(found.sums, Y.T @ centred, atol=1e-9 * np.sqrt(n * np.diag(size)))
        assert np.array_equal(found.pairs, Y.T @ Y)


@pytest.mark.parametrize("unknown", [0.0, 0.3])
@pytest.mark.parametrize("g", [1, 2])
@given(seed=seeds)
@examples(5)
def test_effects_are_the_regression_on_what_is_given(g, unknown, seed):
    rng = np.random.default_rng(seed)
    n = 400
    codes = [rng.permutation(np.arange(n) % 3) for _ in range(g)]
    X = rng.standard_normal((n, 4)) + 5
    for c in codes:
        X += rng.standard_normal((3, 4))[c]
        c[rng.random(n) < unknown] = -1
    found, centred = moments_of(X, codes), X - X.mean(axis=0)
    effects = found.effects()
    left = centred.copy()
    for effect, c in zip(effects, codes, strict=True):
        left[c >= 0] -= effect[c[c >= 0]]
    assert np.allclose(left, remove_given(centred, codes), atol=1e-8)
    assert np.allclose(found.without(effects), left.T @ left, atol=1e-7)


def test_nested_clusterings_have_effects_too():
    rng = np.random.default_rng(0)
    fine = rng.integers(0, 4, 500)
    X = rng.standard_normal((500, 3)) + 2 * fine[:, None]
    found, centred = moments_of(X, [fine, fine // 2]), X - X.mean(axis=0)
    first, second = found.effects()
    assert np.allclose(centred - first[fine] - second[fine // 2], remove_given(centred, [fine, fine // 2]), atol=1e-8)


def test_a_huge_offset_leaves_the_digits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3))
    far = X + 1e9
    exact = (far - 1e9) - (far - 1e9).mean(axis=0)
    found = moments_of(far, [np.arange(5000) % 2])
    assert np.allclose(found.scatter, exact.T @ exact, rtol=1e-6, atol=1e-3)
    assert np.allclose(found.mean - 1e9, (far - 1e9).mean(axis=0), atol=3e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("entry", "named"), [(np.nan, False), (np.inf, True), (-np.inf, False)])
def test_what_is_not_finite_is_named(entry, named, table):
    X, known, _ = table
    X = X.copy()
    X[[7, 5001], 3] = entry
    X = pd.DataFrame(X, columns=list("vwxyz")) if named else X
    with pytest.raises(InputError, match=f"column {repr('y') if named else 3} .2 of 6000 rows.*fill it in"):
        KDAC(**FIXED, engine="lowrank").fit(X, known)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("size", [1e160, 1e200])
def test_powers_that_overflow_are_refused(size, table):
    X, known, _ = table
    with pytest.raises(InputError, match="rescale"):
        KDAC(**FIXED, engine="lowrank").fit(X * size, known)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e200])
def test_a_refusal_comes_alone(entry, table):
    X, known, _ = table
    X = X.copy()
    X[5001, 3] = entry
    with pytest.raises(InputError):
        KDAC(**FIXED, engine="lowrank").fit(X, known)


def test_equal_rows_are_refused():
    with pytest.raises(InputError, match="4000 equal rows"):
        KDAC(**FIXED).fit(np.full((4000, 3), 0.1), np.arange(4000) % 2)


def test_constant_columns_get_no_weight(table):
    X, known, hidden = table
    X = np.column_stack([np.full(6000, 0.1), X, np.full(6000, -1e6)])
    with pytest.warns(UserWarning, match=r"2 constant column\(s\) \(0, 6\)"):
        model = KDAC(**FIXED, engine="lowrank").fit(X, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert np.all(model.feature_weights_[[0, 6]] == 0)
    assert np.allclose(model.components_[:, [0, 6]], 0, atol=1e-9)


# ---------------------------------------------------------------------------------------------------------- sources


def as_source(kind, X, folder):
    if kind == "float64":
        return X
    if kind == "float32":
        return X.astype(np.float32)
    if kind == "frame":
        return pd.DataFrame(X, columns=list("abcde"))
    if "parquet" in kind:
        pytest.importorskip("pyarrow")
        pd.DataFrame(X, columns=list("abcde")).to_parquet(folder / "rows.parquet", row_group_size=700)
        return str(folder / "rows.parquet") if kind == "parquet name" else Path(folder / "rows.parquet")
    np.save(folder / "rows.npy", X)
    if kind == "memmap":
        return np.load(folder / "rows.npy", mmap_mode="r")
    return str(folder / "rows.npy") if kind == "npy name" else Path(folder / "rows.npy")


@pytest.mark.parametrize(
    "kind",
    [
        *("float64", "float32", "memmap", "npy name", "parquet path", "frame"),
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("npy path", "parquet name")),
    ],
)
def test_the_hidden_clustering_is_found_wherever_the_rows_are(kind, table, fitted, tmp_path):
    X, known, hidden = table
    source = as_source(kind, X, tmp_path)
    model = KDAC(**FIXED, engine="lowrank").fit(source, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert model.overlap_ < 0.05
    assert model.overlap_ == pytest.approx(nmi(model.labels_, known), abs=1e-12)
    assert model.engine_.startswith("lowrank: as asked; ")
    assert 0 <= model.approximation_error_ <= 0.03
    assert model.components_.shape == (2, 5)
    assert np.allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-8)
    assert np.isclose(model.feature_weights_.sum(), 1)
    assert np.array_equal(model.predict(source), model.labels_)
    named = kind == "frame" or "parquet" in kind
    assert getattr(model, "feature_names_in_", np.array([])).tolist() == (list("abcde") if named else [])
    if kind != "float32":
        assert np.array_equal(model.labels_, fitted.labels_)
        assert np.allclose(model.components_, fitted.components_, atol=1e-9)
        assert np.allclose(model.transform(source), (X - X.mean(axis=0)) @ model.components_.T, atol=1e-9)
    else:
        assert model.transform(source).dtype == np.float32
        assert nmi(model.labels_, fitted.labels_) > 0.99


def test_it_agrees_with_the_dense_engine():
    X, known, _ = blobs(1500)
    dense = KDAC(**FIXED, engine="dense").fit(X, known)
    model = KDAC(**FIXED, engine="lowrank").fit(X, known)
    assert nmi(model.labels_, dense.labels_) > 0.98
    assert model.cost_ == pytest.approx(dense.cost_, abs=0.02)
    assert model.quality_ == pytest.approx(dense.quality_, abs=0.02)
    assert abs(model.components_[0] @ dense.components_[0]) > 0.99


@pytest.mark.slow
def test_the_search_settles_what_is_open(table):
    X, known, hidden = table
    model = KDAC(random_state=0).fit(X, known)
    assert model.tuning_ is not None
    assert model.n_clusters_ == 2
    assert nmi(model.labels_, hidden) > 0.95
    assert model.overlap_ < 0.05


def test_auto_is_dense_for_few_rows_and_linear_for_many():
    X, known, _ = blobs(3001)
    many = quiet(KDAC(**FIXED, max_iter=2), X, known)
    assert many.engine_.startswith("lowrank: 3001 rows are more than 3000; ")
    few = quiet(KDAC(**FIXED, max_iter=1, init=np.eye(5)[:, 1:3]), X[:3000], known[:3000])
    assert few.engine_.startswith("dense: 3000 x 3000")
    assert few.approximation_error_ < 1e-3


def test_a_memory_limit_decides_for_the_linear_engine():
    X, known, hidden = blobs(2000)
    with pytest.raises(InputError, match=r"needs 96000000 bytes for 2000 rows but memory_limit=10000000: raise it"):
        KDAC(**FIXED, engine="dense", memory_limit=1e7).fit(X, known)
    model = KDAC(**FIXED, memory_limit=1e7).fit(X, known)
    assert model.engine_.startswith("lowrank: 96000000 bytes would exceed the limit; ")
    assert nmi(model.labels_, hidden) > 0.95
    roomy = quiet(KDAC(**FIXED, memory_limit=1e8, max_iter=1, init=np.eye(5)[:, 1:3]), X, known)
    assert roomy.engine_.startswith("dense")


def test_steps_shrink_with_the_memory_limit():
    wide = step_for(None, 5, 3, 8)
    assert wide == STEP
    assert 16 <= step_for(1e6, 1000, 10, 8) < step_for(1e9, 1000, 10, 8) < wide


def test_an_exact_kernel_that_does_not_fit_is_not_the_end(monkeypatch):
    X, known, hidden = blobs(2000)
    honest = DenseEngine.embed

    def full(self, W, k, start=None):
        if len(self.X) > 1000:
            raise MemoryError
        return honest(self, W, k, start)

    monkeypatch.setattr(DenseEngine, "embed", full)
    model = KDAC(**FIXED, solver="ism").fit(X, known)
    assert model.engine_.startswith("lowrank: the exact kernel did not fit in memory; ")
    assert nmi(model.labels_, hidden) > 0.95
    with pytest.raises(InputError, match='engine="dense" does not fit in memory'):
        KDAC(**FIXED, solver="ism", engine="dense").fit(X, known)


NARROW = {"n_components": 3, "sigma": 0.1, "max_iter": 1, "memory_limit": 1e7, "random_state": 0}


def test_too_narrow_a_kernel_falls_back_to_exact_tiles():
    X, known, _ = blobs(1300)
    model = quiet(KDAC(2, **NARROW), X, known)
    assert model.engine_.startswith("tiles: 1000 landmarks would leave out 0.")
    assert model.approximation_error_ == 0
    assert len(model.labels_) == 1300


@pytest.mark.slow
def test_too_narrow_a_kernel_warns_where_landmarks_were_asked_for():
    X, known, _ = blobs(1300)
    with pytest.warns(UserWarning, match="1000 landmarks leave out 0.*choose a larger sigma"):
        rough = quiet(KDAC(2, **NARROW, engine="lowrank"), X, known)
    assert 0.04 < rough.approximation_error_ < 0.3


# ------------------------------------------------------------------------------------------------------ new rows


def test_labels_are_what_predict_says_of_the_training_rows(table, fitted):
    X, *_ = table
    assert np.array_equal(fitted.predict(X), fitted.labels_)
    new, _, other = blobs(1500, seed=1)
    assert nmi(fitted.predict(new), other) > 0.95


def test_blocks_do_not_show_in_what_is_predicted(table, fitted, monkeypatch):
    new, *_ = blobs(1037, seed=2)
    at_once, projected = fitted.predict(new), fitted.transform(new)
    assert np.array_equal(np.concatenate([fitted.predict(new[i : i + 100]) for i in range(0, 1037, 100)]), at_once)
    assert np.array_equal([fitted.predict(row[None])[0] for row in new[:50]], at_once[:50])
    monkeypatch.setattr(ArrayRows, "blocks", BlockOptions(task=10))
    assert np.array_equal(fitted.predict(new), at_once)
    assert np.allclose(fitted.transform(new), projected, atol=1e-12)


def test_new_rows_are_checked(fitted):
    with pytest.raises(InputError, match="NaN or infinity"):
        fitted.predict(np.full((3, 5), np.nan))
    with pytest.raises(ValueError, match="5 features"):
        fitted.predict(np.zeros((3, 4)))


def test_new_rows_from_a_file_are_checked(fitted, tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((3, 4)))
    with pytest.raises(InputError, match="4 columns"):
        fitted.predict(tmp_path / "rows.npy")


def test_a_saved_model_predicts_the_same(fitted, table, tmp_path):
    fitted.save(tmp_path / "model.npz")
    model = KDAC.load(tmp_path / "model.npz")
    new, *_ = blobs(2000, seed=3)
    far = new + 100
    assert np.array_equal(model.predict(new), fitted.predict(new))
    assert np.array_equal(model.predict(far), fitted.predict(far))
    assert np.array_equal(model.transform(new), fitted.transform(new))
    assert np.array_equal(model.labels_, fitted.labels_)
    assert model.approximation_error_ == fitted.approximation_error_ > 0
    assert model.engine_ == fitted.engine_
    assert model.history_["rows"].tolist() == fitted.history_["rows"].tolist()
    assert np.array_equal(model.predict(table[0]), model.labels_)


def test_the_certificate_is_there(fitted):
    certificate = fitted.certificate_
    numbers = [getattr(certificate, name) for name in ("residual", "eigengap", "left", "right", "smallest_curvature")]
    assert np.isfinite(numbers).all()
    assert certificate.residual < 0.05
    assert certificate.rank == certificate.n_features == 5
    assert certificate.right > 0


def test_the_significance_is_there(table):
    X, known, _ = table
    significance = KDAC(2, n_components=1, sigma=3.0, engine="lowrank", random_state=0).fit(X, known).significance_
    assert significance.stability > 0.9
    assert significance.p_value < 0.05


# --------------------------------------------------------------------------------------------------------- progress


def test_rounds_count_upwards_and_the_rows_grow(table):
    X, known, _ = table
    told = []
    model = KDAC(**FIXED, engine="lowrank", callback=told.append).fit(X, known)
    rounds = [progress.done for progress in told]
    assert rounds == list(range(1, len(rounds) + 1))
    assert {progress.stage for progress in told} == {"fit"}
    assert np.isfinite([progress.objective for progress in told]).all()
    assert told[-1].overlap == pytest.approx(model.overlap_, abs=0.02)  # of the sample that is in memory
    seen = model.history_["rows"]
    assert seen[0] == 2400
    assert seen[-1] == 6000
    assert np.all(np.diff(seen) >= 0)
    assert model.n_iter_ == len(seen)
    assert {len(values) for values in model.history_.values()} == {len(seen)}
    assert len(rounds) >= len(seen)


@pytest.mark.parametrize("last", [1, 3])
def test_a_callback_ends_the_fit_with_what_there_is(last, table):
    X, known, _ = table
    told = []

    def stop(progress):
        told.append(progress.done)
        return progress.done >= last

    with pytest.warns(ConvergenceWarning, match="cancelled"):
        model = KDAC(**FIXED, engine="lowrank", callback=stop).fit(X, known)
    assert "cancelled" in model.status_
    assert model.labels_.shape == (6000,)
    assert set(model.labels_) <= {0, 1}
    assert np.array_equal(model.predict(X), model.labels_)
    assert len(told) <= last + 3  # one more round at most for each size of sample


def test_the_same_seed_gives_the_same_labels(table, fitted):
    X, known, _ = table
    again = KDAC(**FIXED, engine="lowrank").fit(X, known)
    assert np.array_equal(again.labels_, fitted.labels_)
    assert np.array_equal(again.components_, fitted.components_)
    other = KDAC(**FIXED | {"random_state": 1}, engine="lowrank").fit(X, known)
    assert nmi(other.labels_, fitted.labels_) > 0.95


def test_threads_do_not_show_in_the_labels(table, fitted, monkeypatch):
    X, known, _ = table
    monkeypatch.setattr(ArrayRows, "blocks", BlockOptions(threads=1))
    alone = KDAC(**FIXED, engine="lowrank").fit(X, known)
    assert np.allclose(alone.components_, fitted.components_, atol=1e-6)
    assert np.array_equal(alone.labels_, fitted.labels_)


def test_what_is_passed_in_is_not_changed(table):
    X, known, _ = table
    X, known = X.copy(), known.copy()
    before = X.copy(), known.copy()
    KDAC(**FIXED, engine="lowrank", subtract_given=True).fit(X, known)
    assert np.array_equal(X, before[0])
    assert np.array_equal(known, before[1])


# -------------------------------------------------------------------------------------------------------- questions


@pytest.mark.parametrize("n", [1500, pytest.param(4000, marks=pytest.mark.slow)])
def test_the_scaling_of_the_paper_agrees_with_the_dense_engine(n):
    X, known, hidden = blobs(n)
    asked = FIXED | {"scaling": "paper", "novelty_weight": 20 / n, "init": np.eye(5)[:, 1:3]}
    model = quiet(KDAC(**asked, engine="lowrank"), X, known)
    dense = quiet(KDAC(**asked, engine="dense"), X, known)
    assert nmi(model.labels_, dense.labels_) > 0.98
    assert nmi(model.labels_, hidden) > 0.95
    assert model.cost_ == pytest.approx(dense.cost_, abs=0.02)
    assert model.novelty_weight_ == 20 / n


def test_given_means_are_subtracted_from_all_rows(table):
    X, known, hidden = table
    X = X.copy()
    X[:, 1] += 6 * known  # the hidden view shares its direction with what is given
    labels = known.astype(object)
    labels[::50] = None
    model = KDAC(**FIXED, engine="lowrank", subtract_given=True).fit(X, labels)
    assert model.subtract_given_
    assert nmi(model.labels_[labels != None], hidden[labels != None]) > 0.95  # noqa: E711
    assert nmi(model.predict(X), hidden) > 0.95
    exact = KDAC(**FIXED, engine="dense", subtract_given=True).fit(X[:2000], labels[:2000])
    assert subspace_distance(model.components_[:1].T, exact.components_[:1].T) < 0.1


def test_nothing_given_finds_the_first_view(table):
    X, known, _ = table
    model = KDAC(2, n_components=1, sigma=3.0, engine="lowrank", random_state=0).fit(X)
    assert np.isnan(model.overlap_)
    assert nmi(model.labels_, known) > 0.95


def test_several_given_clusterings(table):
    X, known, hidden = table
    X = X.copy()
    third = np.random.default_rng(9).integers(0, 2, 6000)
    X[:, 2] += 7 * third
    names = np.column_stack([np.array(["a", "b"])[known], np.array(["x", "y"])[hidden]]).astype(object)
    names[::10, 1] = np.nan
    model = KDAC(**FIXED, engine="lowrank").fit(X, names)
    assert nmi(model.labels_, third) > 0.95
    assert model.overlap_ < 0.05


def test_more_columns_than_rank(table):
    X, known, hidden = table
    mixed = X @ np.random.default_rng(0).standard_normal((5, 12)) / 3
    with pytest.warns(UserWarning, match=r"more than the rows span: only 5 direction"):
        model = KDAC(**FIXED | {"n_components": 9}, engine="lowrank").fit(mixed, known)
    assert model.components_.shape == (5, 12)
    narrow = KDAC(**FIXED, engine="lowrank").fit(mixed, known)
    assert nmi(narrow.labels_, hidden) > 0.95
    assert np.allclose(narrow.components_ @ narrow.components_.T, np.eye(2), atol=1e-8)
    assert np.array_equal(narrow.predict(mixed), narrow.labels_)


def test_duplicated_rows():
    X, known, hidden = (np.repeat(part[:80], 50, axis=0) for part in blobs(80))
    model = quiet(KDAC(**FIXED, engine="lowrank"), X, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert all(len(set(model.labels_[i : i + 50])) == 1 for i in range(0, 4000, 50))


@pytest.mark.parametrize("k", [1, 12, 40])
def test_few_and_many_clusters(k):
    X, known, _ = blobs(4000)
    model = quiet(KDAC(k, n_components=2, sigma=2.0, engine="lowrank", max_iter=3, random_state=0), X, known)
    assert set(model.labels_) <= set(range(k))
    assert len(set(model.labels_)) > k / 2
    assert np.isfinite([model.cost_, model.quality_, model.overlap_]).all()
    assert np.array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("solver", ["sm", "newton"])
def test_other_solvers(solver):
    X, known, hidden = blobs(5000)
    model = quiet(KDAC(**FIXED, engine="lowrank", solver=solver), X, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert model.overlap_ < 0.05


@pytest.mark.parametrize("options", [{"init": "random", "n_init": 2}, {"rounding": "cluster_qr"}, {"init": "array"}])
def test_other_starts_and_roundings(options, table):
    X, known, hidden = table
    if options.get("init") == "array":
        options = {"init": np.eye(5)[:, 1:3] + 0.2}
    model = quiet(KDAC(**FIXED, engine="lowrank", **options), X, known)
    assert nmi(model.labels_, hidden) > 0.95


def test_the_constants_of_everyday_find_it_too(table, monkeypatch):
    X, known, hidden = table
    monkeypatch.undo()
    model = KDAC(**FIXED, engine="lowrank").fit(X, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert set(model.history_["rows"]) == {6000}
