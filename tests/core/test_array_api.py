"""The dense engine on other array libraries: array_api_strict, which refuses all that the standard does not have, on
a device that numpy cannot reach, and torch.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from array_api_compat import array_namespace, device
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples, random_problem
from threadpoolctl import threadpool_limits

from altclust.base.backend import to_numpy
from altclust.core.engines import DenseEngine
from altclust.core.kernels import Gaussian
from altclust.core.linalg.eigen import fix_signs, leading_eigenvectors
from altclust.core.problem import Embedding, Gamma

LIBRARIES = ("array_api_strict", "torch")
TOLERANCE = {"array_api_strict": 1e-12, "torch": 1e-10}
seeds = st.integers(0, 10_000)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """The pools of two libraries wait for each other: on matrices this small that is nearly all of the time."""
    with suppress(ImportError):
        import torch  # noqa: F401  (before the limit, which holds for the libraries that are loaded)
    with threadpool_limits(1):
        yield


def move(A, library, dtype="float64"):
    """A numpy array in another library, for array_api_strict on a device of its own."""
    xp = pytest.importorskip(library)
    place = {"device": xp.Device("device1")} if library == "array_api_strict" else {}
    return xp.asarray(np.ascontiguousarray(A), dtype=getattr(xp, dtype), **place)


def same_kind(A, model):
    return array_namespace(A) is array_namespace(model) and A.dtype == model.dtype and device(A) == device(model)


def results(engine, W, Z, gamma):
    """All that an engine says of a W problem and that leaves the device."""
    value, phi = engine.value_and_phi(W, gamma)
    also, gradient = engine.value_and_gradient(W, gamma)
    return {
        "value": engine.value(W, gamma),
        "value with phi": value,
        "value with gradient": also,
        "phi": phi,
        "gradient": gradient,
        "hessian": engine.hessian(W, gamma, phi)(Z),
        "fourth moment": engine.fourth_moment(W, gamma),
    }


def check(found, expected, tolerance):
    for name, wanted in expected.items():
        if np.ndim(wanted):
            assert type(found[name]) is np.ndarray
            assert found[name].dtype == np.float64
        else:
            assert type(found[name]) is float
        assert np.max(np.abs(found[name] - wanted)) <= tolerance * np.max(np.abs(wanted)), name


def same_subspace(U, V, values, k, tolerance):
    """Equal up to rounding over the eigengap, below which a subspace is nobody's."""
    distance = np.linalg.norm(U @ U.T - V @ V.T)
    return distance * (values[k - 1] - values[k]) <= tolerance


@pytest.mark.parametrize("library", LIBRARIES)
@given(seed=seeds)
@examples(5)
def test_every_method_agrees_with_numpy(library, seed):
    problem, engine, objective, W = random_problem(seed)
    gamma, Z = objective.gamma, np.random.default_rng(seed).standard_normal(W.shape)
    X = move(engine.X, library)
    moved, theirs = Gamma(move(gamma.F, library), gamma.s), DenseEngine(X, problem.kernel)
    check(results(theirs, W, Z, moved), results(engine, W, Z, gamma), TOLERANCE[library])
    degrees = theirs.degrees(W)
    assert same_kind(degrees, X)
    assert np.allclose(to_numpy(degrees), engine.degrees(W), rtol=TOLERANCE[library])


@pytest.mark.parametrize("library", LIBRARIES)
@given(seed=seeds)
@examples(5)
def test_the_u_step_and_its_gamma_agree_with_numpy(library, seed):
    problem, engine, _, W = random_problem(seed)
    k, X = problem.n_clusters, move(engine.X, library)
    theirs = DenseEngine(X, problem.kernel)
    more = engine.embed(W, k + 1).values
    expected = engine.embed(W, k)
    for start in (None, theirs.embed(W, k)):
        found = theirs.embed(W, k, start)
        assert type(found.values) is np.ndarray
        assert same_kind(found.U, X)
        assert same_kind(found.degrees, X)
        assert np.allclose(found.values, expected.values, atol=TOLERANCE[library])
        assert same_subspace(to_numpy(found.U), expected.U, more, k, 10 * TOLERANCE[library])
    for given_columns in (engine.given, move(engine.given, library)):
        theirs = theirs.beside(given_columns)
        gamma = theirs.weigh(found, found.degrees, problem.novelty_weight)
        assert same_kind(gamma.F, X)
        plain = found.to_numpy()
        wanted = engine.weigh(plain, plain.degrees, problem.novelty_weight)
        assert type(gamma.s) is np.ndarray
        assert np.array_equal(gamma.s, wanted.s)
        assert np.allclose(to_numpy(gamma.F), wanted.F, atol=TOLERANCE[library])
        assert problem.cost(W, found, theirs) == pytest.approx(problem.cost(W, expected, engine), abs=1e-8)


@pytest.mark.parametrize("library", ["numpy", *LIBRARIES])
@pytest.mark.parametrize("seed", range(4))
def test_single_precision_stays_single_and_is_close(library, seed):
    problem, engine, _, W = random_problem(seed)
    rows, k = engine.X, problem.n_clusters
    kernel = Gaussian(np.float64(np.sqrt(np.mean(np.sum(rows**2, axis=1)))))
    engine = DenseEngine(rows, kernel, engine.given)
    embedding = engine.embed(W, k)
    gamma = engine.weigh(embedding, embedding.degrees, problem.novelty_weight)
    Z = np.random.default_rng(seed).standard_normal(W.shape)
    X = move(rows, library, "float32") if library != "numpy" else rows.astype(np.float32)
    theirs = DenseEngine(X, kernel, engine.given)
    found = theirs.embed(W, k, Embedding(embedding.U.astype(np.float32), embedding.values, embedding.degrees))
    assert same_kind(found.U, X)
    assert same_kind(found.degrees, X)
    assert found.values.dtype == np.float64
    assert np.allclose(found.values, embedding.values, atol=1e-5)
    assert np.allclose(to_numpy(found.degrees), embedding.degrees, rtol=1e-5)
    single = theirs.weigh(found, found.degrees, problem.novelty_weight)
    assert same_kind(single.F, X)
    F = move(gamma.F, library, "float32") if library != "numpy" else gamma.F.astype(np.float32)
    check(results(theirs, W, Z, Gamma(F, gamma.s)), results(engine, W, Z, gamma), 1e-4)
    assert same_kind(problem.kernel.gram(X), X)


def kernel_matrix(sigma, n, clusters=0):
    rng = np.random.default_rng(0)
    Z = rng.uniform(size=(n, 1)) + 3 * rng.integers(0, max(clusters, 1), (n, 1))
    K = Gaussian(sigma).gram(Z)
    scale = 1 / np.sqrt(K.sum(axis=1))
    return scale[:, None] * K * scale


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("sigma", "clusters"), [(0.5, 3), (0.02, 0)], ids=["settles", "does not settle"])
def test_many_rows_agree_where_krylov_settles_and_where_it_does_not(library, sigma, clusters):
    n, k = 520, 3
    Q = kernel_matrix(sigma, n, clusters)
    exact = np.linalg.eigvalsh(Q)[::-1]
    values, U = leading_eigenvectors(move(Q, library), k)
    assert np.allclose(values, exact[:k], atol=1e-8)
    warm, V = leading_eigenvectors(move(Q, library), k, start=U)
    assert np.allclose(warm, exact[:k], atol=1e-8)
    expected = leading_eigenvectors(Q, k)[1]
    assert same_subspace(to_numpy(U), expected, exact, k, 1e-4)
    assert same_subspace(to_numpy(V), expected, exact, k, 1e-4)


@pytest.mark.parametrize("library", LIBRARIES)
def test_signs_are_those_of_numpy(library):
    V = np.random.default_rng(0).standard_normal((20, 6))
    assert np.array_equal(to_numpy(fix_signs(move(V, library))), fix_signs(V))


def test_numpy_and_torch_write_where_the_last_kernel_was():
    torch = pytest.importorskip("torch")
    Z = np.random.default_rng(0).standard_normal((30, 2))
    out, moved = np.empty((30, 30)), torch.empty((30, 30), dtype=torch.float64)
    K, theirs = Gaussian(1.0).gram(Z, out=out), Gaussian(1.0).gram(move(Z, "torch"), out=moved)
    assert np.shares_memory(K, out)
    assert theirs.data_ptr() == moved.data_ptr()
    assert np.all(np.diag(K) == 1)
    assert np.allclose(theirs.numpy(), K, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_kernel_has_no_subnormal_values(dtype):
    """exp is three times slower where its values are subnormal."""
    Z = np.linspace(0, 200, 50, dtype=dtype)[:, None]
    assert Gaussian(1.0).gram(Z).min() >= np.finfo(dtype).smallest_normal
