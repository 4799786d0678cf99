"""The low-rank engine against the dense one, with a bound that holds always and to many digits where it must."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples
from threadpoolctl import threadpool_limits

from altclust.base.backend import to_numpy
from altclust.core.engines import DenseEngine
from altclust.core.engines.lowrank import LowRankEngine, _value_sums
from altclust.core.engines.recipes import Coordinates, RowGamma
from altclust.core.kernels import Gaussian
from altclust.core.problem import Gamma, indicators
from altclust.core.solvers import subspace_distance
from altclust.core.solvers.grassmann import orthonormal
from altclust.data.rows import ArrayRows
from altclust.data.sums import indicator_tables

seeds = st.integers(0, 10_000)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Threads that wait for each other are most of the time on matrices this small."""
    with suppress(ImportError):
        import torch  # noqa: F401  (before the limit, which holds for the libraries that are loaded)
    with threadpool_limits(1):
        yield


def random_rows(seed, unknown=0.2):
    """Centred rows, codes of one or two given clusterings with some unknown, σ from narrow to wide."""
    rng = np.random.default_rng(seed)
    n, d, g = int(rng.integers(60, 200)), int(rng.integers(2, 9)), int(rng.integers(1, 3))
    codes = rng.integers(0, 3, (n, g)).astype(np.int32)
    X = rng.standard_normal((n, d))
    X[:, 0] += 3 * codes[:, 0]
    X[:, -1] += 3 * rng.integers(0, 2, n)
    X -= X.mean(axis=0)
    codes[rng.random((n, g)) < unknown] = -1
    q = int(rng.integers(1, min(d, 4)))
    W = orthonormal(rng.standard_normal((d, q)))
    Z = orthonormal(rng.standard_normal((d, q)))
    kernel = Gaussian(10 ** rng.uniform(-0.3, 1.0))
    return SimpleNamespace(X=X, codes=codes, W=W, Z=Z, kernel=kernel, k=int(rng.integers(2, 4)), rng=rng)


def make(case, tolerance=2e-2, most=1000, rows=ArrayRows, step=37, **options):
    """The engine, the weights γ at the U step of W, and the dense engine with the same weights."""
    counts = [np.bincount(c[c >= 0], minlength=3) for c in case.codes.T]
    tables = indicator_tables(counts, "balanced")
    nothing = Coordinates(np.zeros(case.X.shape[1]), [], None)
    engine = LowRankEngine(
        rows(case.X, case.codes),
        nothing,
        case.kernel,
        case.X,
        case.codes,
        tables,
        tolerance=tolerance,
        most=most,
        step=step,
        rng=np.random.default_rng(0),
        **options,
    )
    embedding = engine.embed(case.W, case.k)
    s = np.concatenate([np.ones(case.k), np.full(sum(t.shape[1] for t in tables), -0.7)])
    gamma = RowGamma(embedding, tables, s)
    return engine, gamma, DenseEngine(case.X, case.kernel), Gamma(gamma.rows(case.X, case.codes), s)


def trace_error(engine, case, W):
    """1 − trace(C (M + ε)⁻¹ Cᵀ) / n."""
    C = np.exp(case.kernel.exponent(case.X @ W, engine.landmarks @ W))
    M = case.kernel.gram(engine.landmarks @ W) + 1e-8 * np.eye(len(engine.landmarks))
    return 1 - np.sum(C * np.linalg.solve(M, C.T).T) / len(C)


@given(seed=seeds)
@examples(10)
def test_the_value_is_off_by_no_more_than_what_was_left_out(seed):
    case = random_rows(seed)
    engine, gamma, dense, explicit = make(case, tolerance=10 ** case.rng.uniform(-6, -0.3))
    assert engine.approximation_error == pytest.approx(trace_error(engine, case, case.W), abs=1e-9)
    assert engine.approximation_error <= engine.tolerance + 1e-7
    weight = np.abs(gamma.s) @ np.sum(explicit.F**2, axis=0)
    for W in (case.W, case.Z):
        error = trace_error(engine, case, W)
        allowed = error * len(case.X) * weight + 1e-9
        assert abs(engine.value(W, gamma) - dense.value(W, explicit)) <= allowed


@given(seed=seeds)
@examples(6)
def test_with_all_of_the_trace_it_is_the_dense_engine(seed):
    case = random_rows(seed)
    engine, gamma, dense, explicit = make(case, tolerance=1e-10)
    exact = dense.embed(case.W, case.k + 1)
    size = np.sum(np.abs(explicit.F @ np.diag(explicit.s) @ explicit.F.T) * case.kernel.gram(case.X @ case.W))
    (value, phi), (expected, wanted) = engine.value_and_phi(case.W, gamma), dense.value_and_phi(case.W, explicit)
    scale = np.max(np.abs(case.X)) ** 2 * size * case.kernel.precision
    assert value == pytest.approx(expected, abs=1e-5 * size)
    assert np.max(np.abs(phi - wanted)) <= 1e-5 * scale
    assert np.allclose(phi, phi.T, atol=1e-9 * scale)
    also, gradient = engine.value_and_gradient(case.W, gamma)
    assert also == value
    assert np.array_equal(gradient, phi @ case.W)
    assert np.allclose(engine.degrees(case.W), exact.degrees, rtol=1e-5)
    embedding = gamma.embedding
    assert np.allclose(embedding.degrees, exact.degrees, rtol=1e-5)
    assert np.allclose(embedding.values, exact.values[:-1], atol=1e-5)
    gap = exact.values[-2] - exact.values[-1]
    assert subspace_distance(embedding.U, exact.U[:, :-1]) * gap <= 1e-5
    rows = embedding.map.rows(case.X @ case.W)
    assert np.allclose(rows.T @ rows, np.eye(case.k), atol=1e-4)
    assert np.allclose(rows.mean(axis=0), 0, atol=1e-9)


@given(seed=seeds)
@examples(5)
def test_hessian_products_are_those_of_the_dense_engine(seed):
    case = random_rows(seed)
    engine, gamma, dense, explicit = make(case, tolerance=1e-10)
    phi, wanted = engine.value_and_phi(case.W, gamma)[1], dense.value_and_phi(case.W, explicit)[1]
    bent, expected = engine.hessian(case.W, gamma, phi)(case.Z), dense.hessian(case.W, explicit, wanted)(case.Z)
    weights = np.abs(explicit.F @ np.diag(explicit.s) @ explicit.F.T) * case.kernel.gram(case.X @ case.W)
    length = np.linalg.norm(case.X, axis=1).max()
    scale = weights.sum() * case.kernel.precision * length**2 * max(1, case.kernel.precision * length**2)
    assert np.max(np.abs(bent - expected)) <= 1e-4 * scale
    assert np.array_equal(engine.hessian(case.W, gamma, phi)(0 * case.Z), 0 * case.Z)


@given(seed=seeds)
@examples(5)
def test_the_fourth_moment_of_all_rows_is_exact(seed):
    case = random_rows(seed)
    engine, gamma, dense, explicit = make(case)
    assert engine.fourth_moment(case.W, gamma) == pytest.approx(dense.fourth_moment(case.W, explicit), rel=1e-9)


@given(seed=seeds)
@examples(7)
def test_the_u_step_knows_the_sums_of_the_next_value(seed):
    case = random_rows(seed)
    engine, gamma, *_ = make(case)
    cloud = engine._cloud(case.W)
    sums, ones = engine.rows.total(_value_sums, cloud, gamma)
    assert np.allclose(gamma.embedding.sums, sums, rtol=1e-6, atol=1e-8 * np.abs(sums).max())
    assert np.allclose(gamma.embedding.ones, ones, rtol=1e-12)
    C = np.exp(case.kernel.exponent(case.X @ case.W, cloud.projected))
    assert np.allclose(sums, C.T @ gamma.rows(case.X, case.codes), rtol=1e-8, atol=1e-9)


def test_values_do_not_depend_on_what_was_asked_before():
    case = random_rows(3)
    engine, gamma, *_ = make(case)
    other = RowGamma(gamma.embedding, gamma.tables, 2 * gamma.s)
    first = [engine.value(W, g) for W in (case.W, case.Z) for g in (gamma, other)]
    second = [engine.value_and_phi(W, g)[0] for g in (other, gamma) for W in (case.Z, case.W)]
    assert first == pytest.approx([second[3], second[1], second[2], second[0]], rel=1e-9)
    assert first[1] == pytest.approx(2 * first[0])


def test_landmarks_stay_where_they_serve():
    case = random_rows(5)
    engine, *_ = make(case)
    before = engine.landmarks
    engine.embed(orthonormal(case.W + 1e-6 * case.Z), case.k)
    assert engine.landmarks is before
    engine.tolerance = 1e-9
    engine.embed(orthonormal(case.W - 1e-6 * case.Z), case.k)
    assert len(engine.landmarks) > len(before)


def test_weights_outlive_the_landmarks_that_they_were_made_with():
    case = random_rows(5)
    _, gamma, dense, explicit = make(case)
    engine, *_ = make(case, tolerance=1e-9)
    for W in (case.W, case.Z, case.W.copy()):
        assert engine.value(W, gamma) == pytest.approx(dense.value(W, explicit), rel=1e-4)


def test_at_most_so_many_landmarks():
    case = random_rows(8)
    engine, *_ = make(case, tolerance=1e-9, most=5)
    assert len(engine.landmarks) == 5
    assert engine.approximation_error == pytest.approx(trace_error(engine, case, case.W), abs=1e-9)


@given(seed=seeds)
@examples(5)
def test_indicators_by_code_span_those_by_row_and_unknown_rows_are_zero(seed):
    case = random_rows(seed, unknown=0.4)
    for scaling in ("balanced", "paper"):
        counts = [np.bincount(c[c >= 0], minlength=4) for c in case.codes.T]  # one cluster has no rows
        tables = indicator_tables(counts, scaling)
        Y = np.hstack([table[c] for table, c in zip(tables, case.codes.T, strict=True)])
        expected = indicators(list(case.codes.T), len(Y), scaling)
        assert np.allclose(Y @ Y.T, expected @ expected.T, atol=1e-10)
    _, gamma, _, explicit = make(case)
    starts = case.k + np.cumsum([0, *(table.shape[1] for table in gamma.tables)])
    for codes, (i, j) in zip(case.codes.T, pairwise(starts), strict=True):
        assert np.all(explicit.F[codes < 0, i:j] == 0)
        assert np.all(np.any(explicit.F[codes >= 0, i:j] != 0, axis=1))


def test_coordinates_subtract_rotate_and_leave_the_unknown():
    rng = np.random.default_rng(0)
    X, mean, basis = rng.standard_normal((50, 4)), rng.standard_normal(4), orthonormal(rng.standard_normal((4, 3)))
    codes = rng.integers(-1, 2, (50, 2))
    effects = [np.vstack([rng.standard_normal((2, 4)), np.zeros(4)]) for _ in range(2)]
    expected = X - mean
    for j in range(2):
        known = codes[:, j] >= 0
        expected[known] -= effects[j][codes[known, j]]
    assert np.allclose(Coordinates(mean, effects, basis)(X, codes), expected @ basis, atol=1e-12)
    assert np.allclose(Coordinates(mean, [], None)(X, codes), X - mean)


@dataclass
class ForeignRows:
    """Rows whose blocks are arrays of another library."""

    X: np.ndarray
    codes: np.ndarray
    library: str = ""

    @property
    def n(self):
        return len(self.X)

    def total(self, function, *args, step):
        xp = pytest.importorskip(self.library)
        place = {"device": xp.Device("device1")} if self.library == "array_api_strict" else {}
        found = None
        for i in range(0, self.n, step):
            block, codes = (xp.asarray(np.ascontiguousarray(A[i : i + step]), **place) for A in (self.X, self.codes))
            part = [to_numpy(a) for a in function(block, codes, *args)]
            found = part if found is None else [a + b for a, b in zip(found, part, strict=True)]
        return tuple(found)


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_blocks_may_be_of_another_library(library, seed):
    pytest.importorskip(library)
    case = random_rows(seed)
    engine, gamma, *_ = make(case)
    other, theirs, *_ = make(case, rows=lambda X, codes: ForeignRows(X, codes, library))
    assert np.allclose(theirs.embedding.values, gamma.embedding.values, atol=1e-8)
    assert np.allclose(theirs.embedding.degrees, gamma.embedding.degrees, rtol=1e-8)
    for W in (case.W, case.Z):
        value, phi = other.value_and_phi(W, theirs)
        expected, wanted = engine.value_and_phi(W, gamma)
        assert value == pytest.approx(expected, rel=1e-8)
        assert np.allclose(phi, wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())
    assert np.allclose(other.degrees(case.Z), engine.degrees(case.Z), rtol=1e-8)


def test_single_precision_rows_lose_single_precision():
    case = random_rows(4)
    engine, gamma, *_ = make(case)
    single = SimpleNamespace(**vars(case) | {"X": case.X.astype(np.float32)})
    other, theirs, *_ = make(single)
    other.landmarks = engine.landmarks.astype(np.float32)
    other._embedded = None
    theirs = RowGamma(other.embed(case.W, case.k), gamma.tables, gamma.s)
    assert np.allclose(theirs.embedding.values, gamma.embedding.values, atol=1e-3)
    assert other.value(case.W, theirs) == pytest.approx(engine.value(case.W, gamma), abs=2e-3)
