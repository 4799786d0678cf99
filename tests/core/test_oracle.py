"""Ten small problems in 50 digits: F, Φ, gradients and Hessians from their definitions, not from our derivatives.

Derivatives are differences, with steps so small that they have 15 digits.
"""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from altclust.base.given import Given
from altclust.core.certificate import _complement, eigengap
from altclust.core.engines import DenseEngine
from altclust.core.kernels import Gaussian
from altclust.core.problem import KernelObjective
from altclust.core.reduced import ReducedObjective
from altclust.core.solvers.newton import riemannian_hessian

STEP = mpf(10) ** -12
SEEDS = range(10)


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def problem(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(6, 9)), int(rng.integers(2, 4)), int(rng.integers(2, 4))
    q = int(rng.integers(1, d))
    X = rng.normal(size=(n, d)) + 2 * rng.integers(0, 2, (n, 1))
    given = Given.from_codes(rng.integers(0, 2, n)).indicators()
    W = np.linalg.qr(rng.normal(size=(d, q)))[0]
    return X - X.mean(axis=0), given, float(rng.uniform(0.5, 3)), float(rng.uniform(0.1, 3)), k, W


def exact(A):
    return mp.matrix(np.asarray(A).tolist())


def floats(A):
    return np.array([[float(A[i, j]) for j in range(A.cols)] for i in range(A.rows)])


def kernel(X, sigma, W):
    Z = X * W
    n = Z.rows
    squared = [[mp.fsum((Z[i, c] - Z[j, c]) ** 2 for c in range(Z.cols)) for j in range(n)] for i in range(n)]
    return mp.matrix([[mp.exp(-s / (2 * mpf(sigma) ** 2)) for s in row] for row in squared])


def derivative(function, A):
    """The matrix of central differences of a function of a matrix."""
    found = mp.matrix(A.rows, A.cols)
    for i in range(A.rows):
        for j in range(A.cols):
            up, down = A.copy(), A.copy()
            up[i, j] += STEP
            down[i, j] -= STEP
            found[i, j] = (function(up) - function(down)) / (2 * STEP)
    return found


def second_derivative(function, rows, columns):
    """The Hessian at 0 of a function of a matrix, entries in the order of rows."""
    places = [(i, j) for i in range(rows) for j in range(columns)]

    def at(*steps):
        A = mp.matrix(rows, columns)
        for (i, j), sign in steps:
            A[i, j] += sign * STEP
        return function(A)

    return mp.matrix(
        [
            [(at((a, 1), (b, 1)) - at((a, 1), (b, -1)) - at((a, -1), (b, 1)) + at((a, -1), (b, -1))) / (4 * STEP**2)
             for b in places]
            for a in places
        ]
    )  # fmt: skip


def on_manifold(function, W, complement):
    """The function of the subspace that W + W̄P spans, as a function of P."""

    def along(P):
        V = exact(W) + exact(complement) * P
        inverse = (V.T * V) ** -1
        return function(V * mp.cholesky(inverse))

    return along


def tangent_hessian(objective, W):
    complement = _complement(W)
    hessian = riemannian_hessian(objective, W, objective.value_and_phi(W)[1])
    units = np.eye(complement.shape[1] * W.shape[1]).reshape(-1, complement.shape[1], W.shape[1])
    return np.array([(complement.T @ hessian(complement @ unit)).ravel() for unit in units])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_w_problem(seed):
    X, given, sigma, weight, k, W = problem(seed)
    engine = DenseEngine(X, Gaussian(sigma), given)
    embedding = engine.embed(W, k)
    gamma = engine.weigh(embedding, embedding.degrees, weight)
    objective = KernelObjective(engine, gamma)
    F, n = exact(gamma.F), len(X)
    weights = F * mp.diag(gamma.s.tolist()) * F.T

    def value(V):
        K = kernel(exact(X), sigma, V)
        return -mp.fsum(weights[i, j] * K[i, j] for i in range(n) for j in range(n))

    K = kernel(exact(X), sigma, exact(W))
    phi = mp.zeros(X.shape[1])
    for i in range(n):
        for j in range(n):
            difference = exact(X[[i]]) - exact(X[[j]])
            phi += weights[i, j] * K[i, j] / mpf(sigma) ** 2 * difference.T * difference
    ours, matrix = objective.value_and_phi(W)
    scale = np.abs(floats(phi)).max()
    assert ours == pytest.approx(float(value(exact(W))), rel=1e-12, abs=1e-14)
    assert np.allclose(matrix, floats(phi), rtol=0, atol=1e-12 * scale)
    assert np.allclose(matrix @ W, floats(derivative(value, exact(W))), rtol=0, atol=1e-12 * scale)
    complement = exact(_complement(W))
    inside = mp.eigsy(exact(W).T * phi * exact(W), eigvals_only=True)
    outside = mp.eigsy(complement.T * phi * complement, eigvals_only=True)
    assert eigengap(matrix, W) == pytest.approx(float(min(outside) - max(inside)), rel=1e-11)
    along = on_manifold(value, W, _complement(W))
    true = floats(second_derivative(along, W.shape[0] - W.shape[1], W.shape[1]))
    assert np.allclose(tangent_hessian(objective, W), true, rtol=0, atol=1e-11 * max(scale, np.abs(true).max()))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_objective_of_w_alone(seed):
    X, given, sigma, weight, k, W = problem(seed)
    objective = ReducedObjective(X, given, Gaussian(sigma), k, weight)
    n, Y = len(X), exact(given)
    centring = mp.eye(n) - mp.ones(n) / n

    def value(V):
        K = kernel(exact(X), sigma, V)
        degrees = [mp.fsum(K[i, :]) for i in range(n)]
        floor = mpf(objective.floor) * mp.fsum(degrees) / n
        scale = mp.diag([1 / mp.sqrt(one + floor) for one in degrees])
        Q = centring * scale * K * scale * centring
        values = sorted(mp.eigsy(Q, eigvals_only=True))
        penalty = Y.T * Q * Y
        return mpf(weight) * mp.fsum(penalty[i, i] for i in range(Y.cols)) - mp.fsum(values[-max(1, k - 1) :])

    ours, gradient = objective.value_and_gradient(W)
    true = floats(derivative(value, exact(W)))
    assert ours == pytest.approx(float(value(exact(W))), rel=1e-12)
    assert np.allclose(gradient, true, rtol=0, atol=1e-10 * np.abs(true).max())
    along = on_manifold(value, W, _complement(W))
    curved = floats(second_derivative(along, W.shape[0] - W.shape[1], W.shape[1]))
    size = max(np.abs(true).max(), np.abs(curved).max())
    assert np.allclose(tangent_hessian(objective, W), curved, rtol=0, atol=1e-5 * size)  # differences of gradients
