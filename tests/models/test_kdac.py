from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from tests.conftest import examples, objective_at, random_problem, some
from threadpoolctl import threadpool_limits

from altclust import ISM, KDAC, InputError, Newton, Settings
from altclust.base.given import Given
from altclust.core.alternation import solve
from altclust.core.engines import DenseEngine
from altclust.core.initialization import spectral_start
from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi
from altclust.core.problem import Problem
from altclust.core.solvers import Status, subspace_distance
from altclust.datasets import growth, moons, views

# scikit-learn itself skips this one unless SCIPY_ARRAY_API is set; arrays of other libraries become numpy's here
EXPLAINED_SKIPS = {"check_array_api_input"}
# These two checks shuffle the rows, and then ask for the same numbers of clusters and for projections equal to 1e-7.
# The clusters are the same, but their numbers and, up to the tolerance, the directions depend on the order of the rows.
# test_row_copies.py compares the same rows in the same order, bit for bit. scikit-learn declares the two for KMeans.
DENSE, SPARSE = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))

MEDIAN = 8.0  # about the median distance between the rows of two_views


def two_views(n=120, seed=0, noise_columns=2, hidden_clusters=2):
    """Columns 0 and 1 carry the given clustering, 2 and 3 an independent hidden one, the rest noise."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation(np.arange(n) % (2 * hidden_clusters))
    known, hidden = cells % 2, cells // 2
    angles = 2 * np.pi * hidden / hidden_clusters
    signal = np.column_stack([5 * known, 5 * known, 4 * np.cos(angles), 4 * np.sin(angles)])
    X = np.column_stack([signal, np.zeros((n, noise_columns))]) + rng.standard_normal((n, 4 + noise_columns))
    return X, known, hidden


@pytest.mark.parametrize(
    "estimator", [KDAC(sigma=1.0), pytest.param(KDAC(), marks=pytest.mark.slow)], ids=["fixed", "searched"]
)
def test_check_estimator(estimator):
    declared = dict.fromkeys((DENSE, SPARSE), "the same clusters, with other numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tiny random tables: constant columns, no convergence
        results = check_estimator(estimator, expected_failed_checks=declared, on_fail=None, on_skip=None)
    assert len(results) > 40
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    failed = {r["check_name"] for r in results if r["status"] == "xfail"}
    assert failed == set(declared) or (estimator.sigma == "auto" and failed < set(declared))  # searched: by chance
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= EXPLAINED_SKIPS


@pytest.mark.parametrize("solver", ["ism", "sm", "dg", "newton", ISM(finish=False)], ids=str)
def test_finds_the_hidden_view(solver):
    X, known, hidden = two_views()
    model = KDAC(2, n_components=2, sigma=MEDIAN, solver=solver, random_state=0).fit(X, known)
    assert nmi(model.labels_, hidden) > 0.95
    assert model.overlap_ < 0.02
    assert model.components_.shape == (2, 6)
    assert np.allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)


@pytest.mark.parametrize(
    ("fixed", "unknown"),
    [
        ({"n_clusters": 2}, 0),
        ({"n_clusters": 2, "n_components": 2}, 40),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (({}, 0), ({}, 40), ({"n_clusters": 2}, 40), ({"n_clusters": 2, "n_components": 2}, 0))
        ),
    ],
    ids=str,
)
def test_the_search_finds_the_hidden_view(fixed, unknown):
    X, known, hidden = two_views()
    partly = np.where(np.arange(len(X)) < unknown, -1, known)
    model = KDAC(**fixed, random_state=0).fit(X, partly)
    assert model.n_clusters_ == 2
    assert model.tuning_.settings.sigma == model.sigma_
    assert model.tuning_.reasons.startswith("2 clusters in")
    assert nmi(model.labels_, hidden) > 0.95
    assert model.overlap_ < 0.02


def test_rule_of_thumb_where_nothing_is_searched():
    X, known, hidden = two_views()
    model = KDAC(random_state=0, settings=Settings(init="random")).fit(X, known)
    assert model.tuning_ is None
    assert model.n_clusters_ == 2
    assert 1 <= model.n_components_ <= 2
    assert model.novelty_weight_ == 1
    assert model.subtract_given_ is False
    assert model.sigma_ == pytest.approx(np.median(pdist(X)))
    assert nmi(model.labels_, hidden) > 0.9


def test_nothing_given_finds_the_first_view():
    X, known, hidden = two_views(noise_columns=0)
    X[:, :2] *= 2
    model = KDAC(2, n_components=1, sigma=MEDIAN, random_state=0).fit(X)
    assert nmi(model.labels_, known) > 0.95
    assert np.isnan(model.overlap_)
    searched = KDAC(random_state=0).fit(X)
    assert searched.n_clusters_ in (2, 4)
    assert max(nmi(searched.labels_, truth) for truth in (known, hidden, 2 * known + hidden)) > 0.95


@pytest.mark.parametrize("init", ["random", "spectral", np.eye(6)[:, 2:4]], ids=["random", "spectral", "array"])
def test_starts(init):
    X, known, hidden = two_views()
    model = KDAC(2, n_components=2, sigma=MEDIAN, random_state=0, settings=Settings(init=init, n_init=5)).fit(X, known)
    assert nmi(model.labels_, hidden) > 0.95


def test_more_random_starts_never_cost_more():
    X, known, _ = two_views()
    models = [
        KDAC(2, n_components=2, random_state=3, settings=Settings(init="random", n_init=n)).fit(X, known)
        for n in (1, 6)
    ]
    lowest = [model.history_["value"][-1] for model in models]
    assert lowest[1] <= lowest[0] + 1e-9


def test_several_given_clusterings_are_all_avoided():
    rng = np.random.default_rng(0)
    views = rng.integers(0, 2, (3, 120))
    X = 6 * views.T + rng.standard_normal((120, 3))
    for hidden in range(3):
        others = [v for v in range(3) if v != hidden]
        model = KDAC(2, n_components=1, sigma=2.0, random_state=0).fit(X, views[others].T)
        assert nmi(model.labels_, views[hidden]) > 0.9
        assert model.overlap_ < 0.05


def test_unknown_labels_are_free():
    X, known, hidden = two_views()
    partly = known.astype(float)
    partly[::3] = np.nan
    model = KDAC(2, n_components=2, sigma=MEDIAN, random_state=0).fit(X, partly)
    assert nmi(model.labels_, hidden) > 0.9
    words = np.where(np.isnan(partly), None, np.where(known == 1, "yes", "no"))
    assert np.array_equal(KDAC(2, n_components=2, sigma=MEDIAN, random_state=0).fit(X, words).labels_, model.labels_)


def test_predict_agrees_with_labels_and_serves_new_rows():
    X, known, hidden = two_views(n=200)
    model = KDAC(2, n_components=2, sigma=MEDIAN, random_state=0).fit(X[:120], known[:120])
    assert np.mean(model.predict(X[:120]) == model.labels_) >= 0.99
    assert nmi(model.predict(X[120:]), hidden[120:]) > 0.9
    assert np.allclose(model.transform(X[120:]), (X[120:] - model.mean_) @ model.components_.T)


@pytest.mark.parametrize(
    ("k", "q", "rounding"),
    [
        (8, "auto", "kmeans"),
        (15, 6, "cluster_qr"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in product((10, 20), ("auto", 1), ("kmeans", "cluster_qr"))
        ),
    ],
)
def test_predict_agrees_where_k_asks_for_more_than_the_kernel_has(k, q, rounding):
    """The last eigenvalues of the U step are then rounding, and so would be what is divided by them."""
    rng = np.random.default_rng(0)
    n = some(150, 300)
    groups = rng.integers(0, k, n)
    X = 3 * rng.standard_normal((k, 6))[groups] + rng.standard_normal((n, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it finds the given clustering again, and says so
        model = KDAC(k, n_components=q, random_state=0, settings=Settings(rounding=rounding)).fit(X, groups)
    assert np.mean(model.predict(X) == model.labels_) >= 0.99


def test_one_column_that_hides_the_others_is_named():
    data = moons(100, random_state=0)
    X = pd.DataFrame(data.X, columns=[f"x{j}" for j in range(data.X.shape[1])]) * [1000, *[1] * (data.X.shape[1] - 1)]
    with pytest.warns(UserWarning, match=r"Column 'x0' holds (99|100)\.\d% of the variance.*scale the columns first"):
        KDAC(2, sigma=100.0, n_components=1, random_state=0).fit(X, data.given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KDAC(2, sigma=1.0, n_components=1, random_state=0).fit(StandardScaler().fit_transform(X), data.given)


def test_a_fitted_model_prints_its_result_and_keeps_its_repr():
    data = moons(100, random_state=0)
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0)
    assert str(model) == repr(model)
    before = repr(model)
    model.fit(data.X, data.given)
    assert repr(model) == before
    assert str(model).startswith(before)
    assert "clusters: 2, of " in str(model)


def test_a_pipeline_that_passes_frames_keeps_the_names():
    data = moons(100, random_state=0)
    X = pd.DataFrame(data.X, columns=[f"x{j}" for j in range(data.X.shape[1])])
    pipeline = make_pipeline(StandardScaler(), KDAC(2, sigma=1.0, n_components=2, random_state=0))
    pipeline.set_output(transform="pandas").fit(X, data.given)
    assert list(pipeline[-1].feature_names_in_) == list(X.columns)


def test_a_view_that_is_not_new_warns():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 100)
    X = 9 * groups[:, None] + rng.standard_normal((100, 1))
    with pytest.warns(
        UserWarning, match="^novelty_weight=1.0 gives a view that resembles what was given .overlap 1.00.: raise it"
    ):
        KDAC(2, sigma=5.0, random_state=0).fit(X, groups)


def test_a_cycle_of_the_papers_loop_is_not_called_convergence():
    """A cycle of even length ends a W step where it began; the residual tells."""
    for seed in (21, 50, 51, 62, 69, 98)[: some(3, 6)]:
        problem, engine, _, W = random_problem(seed)
        plain = solve(problem, engine, ISM(safeguard=False), W, max_iter=15, rng=np.random.default_rng(0))
        assert (plain.status is Status.CONVERGED) == (plain.history["residual"][-1] <= 1e-2), seed


def test_converged_means_that_one_more_step_hardly_moves():
    """Also where D was damped. Rest is within tol: a very shallow minimum may give way, and one of these 24 does."""
    moves, seeds = [], some(2, 6)
    for seed, sigma in product(range(seeds), (0.3, 0.6, 1.0, 3.0)):
        X, known, _ = two_views(some(120, 240), seed=seed)
        X = X - X.mean(axis=0)
        problem = Problem(2, 2, 1.0, Gaussian(sigma))
        engine = DenseEngine(X, problem.kernel, Given.from_codes(known).indicators())
        start = spectral_start(problem, engine)
        result = solve(problem, engine, ISM(), start.vectors[:, :2], start.embedding, rng=np.random.default_rng(0))
        if result.status is Status.CONVERGED:
            objective = objective_at(problem, engine, result.W)
            moves.append(subspace_distance(result.W, Newton()(objective, result.W).W))
    assert len(moves) >= 4 * seeds - 2  # pin
    assert sum(move > 0.02 for move in moves) <= 1  # pin


def test_feature_weights_name_the_columns_of_the_view():
    X, known, _ = two_views(noise_columns=4, hidden_clusters=3)
    model = KDAC(3, n_components=2, sigma=MEDIAN, random_state=0).fit(X, known)
    assert model.feature_weights_.sum() == pytest.approx(1)
    assert model.feature_weights_[2:4].sum() > 0.9


def test_pipeline_clone_set_output_and_frames():
    X, known, _ = two_views()
    names = [f"f{i}" for i in range(6)]
    pipeline = make_pipeline(StandardScaler(), KDAC(2, n_components=2, sigma=2.0, random_state=0))
    labels = pipeline.fit(X, known)[-1].labels_
    assert np.array_equal(pipeline.predict(X), labels)
    assert clone(pipeline[-1]).get_params() == pipeline[-1].get_params()
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = KDAC(2, n_components=2, sigma=MEDIAN, random_state=0).fit(frame, known)
        assert list(model.feature_names_in_) == names
        assert list(model.get_feature_names_out()) == ["kdac0", "kdac1"]
        assert np.array_equal(model.predict(frame), model.labels_)
    model.set_output(transform="pandas")
    assert list(model.transform(frame).columns) == ["kdac0", "kdac1"]


def test_float32_and_float64_agree():
    X, known, _ = two_views()
    X = X.astype(np.float32)
    model = KDAC(2, n_components=2, sigma=MEDIAN, random_state=0)
    assert np.array_equal(*(clone(model).fit(X.astype(kind), known).labels_ for kind in (np.float32, np.float64)))


@given(seed=st.integers(0, 50))
@examples(4)
def test_the_partition_does_not_depend_on_how_the_table_is_written(seed):
    """Shuffled rows and columns, renamed labels, shifted and sign-flipped features, scaled data with its σ."""
    rng = np.random.default_rng(seed)
    X, known, _ = two_views(n=120, seed=seed)

    def fit(X, labels, sigma=4.0):
        return KDAC(2, n_components=2, sigma=sigma, random_state=0).fit(X, labels).labels_

    labels = fit(X, known)
    rows, columns = rng.permutation(120), rng.permutation(6)
    assert nmi(fit(X[rows], known[rows]), labels[rows]) == pytest.approx(1)
    assert nmi(fit(X[:, columns], known), labels) == pytest.approx(1)
    assert nmi(fit(X, np.array(["red", "blue"])[known]), labels) == pytest.approx(1)
    assert nmi(fit(X + rng.uniform(-100, 100, 6), known), labels) == pytest.approx(1)
    assert nmi(fit(X * rng.choice([-1, 1], 6), known), labels) == pytest.approx(1)
    assert nmi(fit(1e6 * X, known, 4e6), labels) == pytest.approx(1)


def test_duplicated_rows_share_a_cluster():
    X, known, _ = two_views(n=120)
    labels = KDAC(2, n_components=2, sigma=MEDIAN, random_state=0).fit(np.vstack([X, X]), np.tile(known, 2)).labels_
    assert np.array_equal(labels[:120], labels[120:])


def test_same_seed_same_labels_with_one_or_two_threads():
    data = moons(1600, random_state=0)  # above the size up to which the fit keeps to one thread by itself
    X = StandardScaler().fit_transform(data.X)
    labels = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = KDAC(2, n_components=2, sigma=0.2, novelty_weight=10, random_state=7).fit(X, data.given)
            labels.append(model.labels_)
    assert np.array_equal(*labels)


def test_more_columns_than_rows():
    data = growth(n=60, d=200, random_state=0)
    X = data.X - data.X.mean(axis=0)
    model = KDAC(2, n_components=2, sigma=MEDIAN, random_state=0).fit(X, data.given)
    W = model.components_.T
    assert W.shape == (200, 2)
    assert np.allclose(W.T @ W, np.eye(2), atol=1e-10)
    basis = np.linalg.svd(X, full_matrices=False)[2][:59]
    assert np.allclose(basis.T @ (basis @ W), W, atol=1e-8)  # nothing of W lies outside the row space
    assert np.array_equal(model.predict(X), model.labels_)


def test_not_converging_is_a_status_and_a_warning():
    X, known, _ = two_views()
    with pytest.warns(ConvergenceWarning, match="stopped at the limit of iterations .*: raise max_iter or tol"):
        model = KDAC(2, n_components=2, sigma=MEDIAN, max_iter=1, tol=0, random_state=0).fit(X, known)
    assert model.status_.startswith("stopped at the limit")
    assert len(model.history_["value"]) == model.n_iter_ == 1


def test_callback_sees_every_round_and_can_cancel():
    X, known, _ = two_views()
    seen = []

    def watch(progress):
        seen.append(progress)
        return progress.stage == "fit" and progress.done == 2

    with pytest.warns(ConvergenceWarning, match="cancelled by the callback after 2 rounds"):
        model = KDAC(2, n_components=2, tol=0, callback=watch, random_state=0).fit(X, known)
    assert [(p.stage, p.done, p.total) for p in seen] == [
        *(("search", done, 6) for done in range(1, 7)),
        *(("fit", done, 100) for done in (1, 2)),
    ]
    assert [p.share for p in seen[:5:2]] == pytest.approx([1 / 6, 3 / 6, 5 / 6])
    assert np.isfinite([p.objective for p in seen]).all()
    assert all(0 <= p.overlap < 0.1 for p in seen[6:])  # the view is new
    assert len(model.labels_) == len(X)


@pytest.mark.parametrize("n", [300, 1600])
@pytest.mark.parametrize("last", [1, 2, 8, 13, 20])
@pytest.mark.parametrize("asked", [{"sigma": 1.0}, {"sigma": 0.05}, {"kernel": "polynomial"}, {"solver": "lbfgs"}])
def test_a_fit_that_is_cancelled_says_so_and_labels_all_rows(asked, last, n):
    X, known, _ = two_views(n)
    told = []

    def stop(progress):
        told.append(progress.done)
        return len(told) == last

    model = KDAC(2, n_components=2, callback=stop, random_state=0, **{"sigma": MEDIAN, **asked})
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, known)
    assert len(told) <= last
    assert ("cancelled" in model.status_) == (len(told) == last)
    assert len(model.labels_) == len(X)
    assert np.isfinite(model.quality_)
    assert np.mean(model.predict(X) == model.labels_) > 0.99  # a kernel as narrow is extended up to rounding


def test_callback_can_cancel_the_search():
    X, known, _ = two_views()
    model = KDAC(2, callback=lambda progress: progress.stage == "search", random_state=0).fit(X, known)
    assert model.tuning_.table["source"].nunique() == 1
    assert model.status_ == "converged"


def test_history_is_consistent():
    X, known, _ = two_views()
    model = KDAC(2, n_components=1, sigma=3.0, tol=1e-4, random_state=0).fit(X, known)
    assert set(model.history_) == {"value", "residual", "change_W", "change_U", "solver_iterations"}
    assert model.history_["residual"][-1] <= 1e-4
    assert model.status_ == "converged"
    assert model.quality_ <= 2


def test_one_objective_is_minimised_saved_and_predicts(tmp_path):
    X, known, hidden = two_views()
    model = KDAC(2, n_components=2, sigma=1.0, solver="lbfgs", random_state=0).fit(X, known)
    assert model.status_ == "converged"
    assert nmi(model.labels_, hidden) > 0.9
    assert model.overlap_ < 0.05
    assert np.all(np.diff(model.history_["value"]) <= 1e-12)
    assert model.certificate_.residual < 1e-2
    assert np.array_equal(model.predict(X), model.labels_)
    model.save(tmp_path / "view.npz")
    again = KDAC.load(tmp_path / "view.npz")
    assert np.array_equal(again.predict(X), model.labels_)
    assert again.solver == "lbfgs"


def test_one_objective_tells_its_progress_with_several_clusters():
    data = views(120, ("blobs", "blobs"), (2, 3), random_state=0)
    seen = []
    fixed = {"n_clusters": 3, "n_components": 2, "sigma": 1.5, "solver": "lbfgs", "random_state": 0}
    model = KDAC(**fixed, callback=seen.append).fit(data.X, data.given)
    assert [progress.done for progress in seen] == list(range(1, len(seen) + 1))
    assert len(seen) > model.n_iter_  # there are two starts
    assert all(0 <= progress.overlap <= 1 for progress in seen)
    with pytest.warns(ConvergenceWarning, match="after 2 rounds .W or U last moved by .*e"):
        KDAC(**fixed, max_iter=2, tol=1e-9).fit(data.X, data.given)


def test_witnesses_are_found_within_the_given_clusters_and_saved(tmp_path):
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 80))
    X = np.column_stack([6 * given, 6 * hidden]) + rng.normal(size=(80, 2))
    others = {"kind": np.array(["x", "y"])[hidden], "again": given, "nonsense": rng.choice(["a", "b"], 80)}
    model = KDAC(2, sigma=2.0, n_components=1, random_state=0).fit(X, given)
    found = model.assess_significance(witnesses=others)
    assert [witness.column for witness in found.witnesses] == ["kind"]
    assert "Also differs in kind, which these clusters do not use: " in str(found)
    model.save(tmp_path / "view.npz")
    loaded = KDAC.load(tmp_path / "view.npz")
    assert loaded.significance_.witnesses == found.witnesses
    with pytest.raises(InputError, match="witnesses need the given clusters"):
        loaded.assess_significance(witnesses=others)
    with pytest.raises(InputError, match="witnesses has 3 rows for 80 labels"):
        model.assess_significance(witnesses={"kind": ["x", "y", "x"]})
