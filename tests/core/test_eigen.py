from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh
from tests.conftest import examples, random_problem, some

from altclust.core.kernels import Gaussian
from altclust.core.linalg.eigen import (
    METHODS,
    fix_signs,
    follow_eigenvectors,
    lapack_subset,
    leading_eigenvectors,
    smallest_eigenvectors,
)
from altclust.core.solvers import subspace_distance


@pytest.mark.parametrize("method", METHODS)
@given(seed=st.integers(0, 1000))
@examples(6)
def test_methods_agree_with_the_full_decomposition(method, seed):
    """Including the coordinate-wise power method, on matrices whose wanted eigenvalues are set apart."""
    rng = np.random.default_rng(seed)
    d, q = int(rng.integers(5, 60)), int(rng.integers(1, 4))
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spectrum = np.concatenate([-3 - np.arange(q), rng.uniform(-1, 1, d - q)])
    A = (V * spectrum) @ V.T
    values, vectors = smallest_eigenvectors((A + A.T) / 2, q, method=method, start=V[:, :q])
    assert np.allclose(values, np.sort(spectrum)[:q], atol=1e-6)
    assert np.allclose(vectors.T @ vectors, np.eye(q), atol=1e-10)
    assert subspace_distance(vectors, V[:, :q]) < 1e-4


@pytest.mark.parametrize(("method", "share"), [("subset", 1e-12), ("lobpcg", 1e-8), ("power", 1e-3)])
def test_methods_agree_on_phi(method, share):
    """The power method's rate is the ratio of neighbouring eigenvalues, so it stops short where they crowd."""
    for seed in range(some(3, 10)):
        _, _, objective, W = random_problem(seed)
        phi = objective.value_and_phi(W)[1]
        exact, _ = smallest_eigenvectors(phi, W.shape[1], method="full")
        values, _ = smallest_eigenvectors(phi, W.shape[1], method=method)
        assert values.sum() == pytest.approx(exact.sum(), abs=share * np.abs(phi).max())


def test_many_columns_are_found_from_a_start_that_is_the_wrong_eigenspace():
    """A warm start made of eigenvectors that are not the smallest is a stationary point; it must be left."""
    rng = np.random.default_rng(0)
    d, q = 300, 3
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    A = (V * np.linspace(-1, 1, d)) @ V.T
    values, vectors = smallest_eigenvectors((A + A.T) / 2, q, start=V[:, 100 : 100 + q])
    assert np.allclose(values, np.linspace(-1, 1, d)[:q], atol=1e-8)
    assert subspace_distance(vectors, V[:, :q]) < 1e-5


def test_unknown_method_is_refused():
    with pytest.raises(ValueError, match="method must be one of auto"):
        smallest_eigenvectors(np.eye(3), 1, method="magic")


@pytest.mark.parametrize("first", [0, 1, 10])
def test_leading_eigenvectors_from_an_exactly_invariant_start(first):
    rng = np.random.default_rng(0)
    K = Gaussian(0.02).gram(rng.uniform(size=(800, 1)))
    scale = 1 / np.sqrt(K.sum(axis=1))
    Q = scale[:, None] * K * scale
    exact, V = np.linalg.eigh(Q)
    V = V[:, ::-1]
    values, U = leading_eigenvectors(Q, 3, start=V[:, first : first + 3])
    assert np.allclose(values, exact[::-1][:3], atol=1e-6)
    assert subspace_distance(U, V[:, :3]) < 1e-2


def test_a_kernel_that_is_the_identity_still_gives_all_that_was_asked_for():
    n = 35
    Q = np.eye(n) - 1 / n
    values, U = leading_eigenvectors(Q, 3)
    assert np.allclose(values, 1)
    assert np.allclose(U.T @ U, np.eye(3), atol=1e-10)
    assert smallest_eigenvectors(np.eye(20), 4)[1].shape == (20, 4)


def test_signs_are_fixed():
    V = np.array([[0.1, -0.9], [-0.8, 0.2]])
    assert np.array_equal(fix_signs(V), fix_signs(-V))


@given(seed=st.integers(0, 1000), clusters=st.integers(2, 7))
@examples(6)
def test_leading_eigenvectors_find_every_copy_of_a_repeated_eigenvalue(seed, clusters):
    """Far apart clusters give equal eigenvalues, of which a single-vector Lanczos method misses some."""
    rng = np.random.default_rng(seed)
    n = 600
    X = 20 * rng.standard_normal((clusters, 3))[rng.integers(0, clusters, n)] + 0.3 * rng.standard_normal((n, 3))
    K = Gaussian(1.0).gram(X)
    scale = 1 / np.sqrt(K.sum(axis=1))
    Q = scale[:, None] * K * scale
    exact = np.linalg.eigvalsh(Q)[::-1][:clusters]
    cold, U = leading_eigenvectors(Q, clusters)
    warm, V = leading_eigenvectors(Q, clusters, start=np.linalg.qr(U + 1e-3 * rng.standard_normal(U.shape))[0])
    for values, vectors in ((cold, U), (warm, V)):
        assert np.allclose(values, exact, atol=1e-8)
        assert np.linalg.norm(Q @ vectors - vectors * values) < 1e-3


def test_where_the_subset_driver_fails_all_are_computed(monkeypatch):
    """LAPACK's driver for some eigenvectors gives up on matrices such as that of two distinct rows."""
    A = np.diag([3.0, 1.0, 2.0])

    def failing(matrix, **how):
        if "subset_by_index" in how:
            raise np.linalg.LinAlgError("Internal Error.")
        return eigh(matrix, **how)

    monkeypatch.setattr("altclust.core.linalg.eigen.eigh", failing)
    values, V = lapack_subset(A, 0, 1)
    assert values.tolist() == [1.0, 2.0]
    assert np.allclose(np.abs(V), np.eye(3)[:, [1, 2]])


def kernel(Z: np.ndarray) -> np.ndarray:
    """A narrow Gaussian kernel, whose leading eigenvalues are close."""
    squares = np.sum((Z[:, None] - Z) ** 2, axis=2)
    return np.exp(-squares / 0.05) / len(Z)


def angle(V: np.ndarray, Q: np.ndarray, k: int) -> float:
    """The sine of the largest angle between V and the leading eigenvectors."""
    exact = eigh(Q, subset_by_index=(len(Q) - k, len(Q) - 1))[1]
    return float(np.linalg.norm(V - exact @ (exact.T @ V), 2))


@pytest.mark.parametrize("n", [300, 700])  # LAPACK, and Krylov spaces
def test_it_follows_a_matrix_that_moves(n):
    rng = np.random.default_rng(0)
    Z, drift, k, around = rng.standard_normal((n, 2)), 0.02 * rng.standard_normal((n, 2)), 3, None
    for step in range(4):
        Q = kernel(Z + step * drift)
        values, around = follow_eigenvectors(Q.__matmul__, lambda Q=Q: Q, n, k, around)
        assert values == pytest.approx(eigh(Q, subset_by_index=(n - k, n - 1))[0][::-1], rel=1e-4)
        assert angle(around[:, :k], Q, k) < 3e-3


def test_it_finds_a_vector_that_was_not_among_the_last():
    n, k = 700, 2
    V = np.linalg.qr(np.random.default_rng(1).standard_normal((n, n)))[0]
    before = np.append([0.5, 0.45], np.linspace(0.1, 0, n - 2))
    after = before.copy()
    after[400] = 0.9

    def whole():
        raise AssertionError("the products converge")

    around = None
    for spectrum in (before, after):
        Q = (V * spectrum) @ V.T
        values, around = follow_eigenvectors(Q.__matmul__, whole, n, k, around)
        assert angle(around[:, :k], Q, k) < 3e-3
    assert values[0] == pytest.approx(0.9)
