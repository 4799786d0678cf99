"""What every engine promises: the explicit n x n formulas, and derivatives that match finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import random_problem

from altclust.core.certificate import certify
from altclust.core.engines import ENGINES
from altclust.core.solvers import ISM
from altclust.core.solvers.newton import riemannian_hessian

seeds = st.integers(0, 10_000)


def explicit(problem, W, gamma):
    """K, γ and Φ by the formulas of the paper, pair by pair."""
    X, sigma = problem.X, problem.kernel.sigma
    differences = X[:, None, :] - X[None, :, :]
    K = np.exp(-np.sum((differences @ W) ** 2, axis=2) / (2 * sigma**2))
    weights = gamma.F @ np.diag(gamma.s) @ gamma.F.T
    phi = np.einsum("ij,ija,ijb->ab", weights * K, differences, differences) / sigma**2
    fourth = np.sum(np.abs(weights) * K * np.sum(differences**2, axis=2) ** 2)
    return K, weights, phi, fourth


@pytest.mark.parametrize("name", ENGINES)
@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_against_the_explicit_formula(name, seed):
    problem, _, objective, W = random_problem(seed)
    engine, gamma = ENGINES[name](problem.X, problem.kernel), objective.gamma
    K, weights, phi, fourth = explicit(problem, W, gamma)
    value, ours = engine.value_and_phi(W, gamma)
    size = np.sum(np.abs(weights * K))
    scale = np.max(np.abs(phi)) + 1e-10 * size / problem.kernel.sigma**2
    assert np.allclose(engine.degrees(W), K.sum(axis=1), rtol=1e-12)
    assert value == pytest.approx(np.sum(weights * K), abs=1e-11 * size)
    assert engine.value(W, gamma) == pytest.approx(value, abs=1e-11 * size)
    assert np.max(np.abs(ours - phi)) <= 1e-9 * scale
    also, gradient = engine.value_and_gradient(W, gamma)
    assert also == pytest.approx(value, abs=1e-11 * size)
    assert np.max(np.abs(gradient - phi @ W)) <= 1e-9 * scale
    assert engine.fourth_moment(W, gamma) == pytest.approx(fourth, rel=1e-8)


@pytest.mark.parametrize("name", ENGINES)
@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_the_u_step_is_the_leading_eigenspace(name, seed):
    problem, _, objective, W = random_problem(seed)
    engine, k = ENGINES[name](problem.X, problem.kernel), problem.n_clusters
    K, *_ = explicit(problem, W, objective.gamma)
    n = len(K)
    H = np.eye(n) - 1 / n
    scale = 1 / np.sqrt(K.sum(axis=1))
    Q = H @ (scale[:, None] * K * scale) @ H
    values = np.linalg.eigvalsh(Q)[::-1]
    embedding = engine.embed(W, k)
    assert np.allclose(embedding.values, values[:k], atol=1e-10)
    assert np.allclose(embedding.U.T @ embedding.U, np.eye(k), atol=1e-10)
    assert np.linalg.norm(Q @ embedding.U - embedding.U * embedding.values) < 1e-9
    warm = engine.embed(W, k, start=embedding)
    assert np.allclose(warm.values, embedding.values, atol=1e-8)


@pytest.mark.parametrize("name", ENGINES)
def test_derivatives_match_finite_differences(name):
    checked = 0
    for seed in range(40):
        problem, _, objective, W = random_problem(seed)
        objective = type(objective)(ENGINES[name](problem.X, problem.kernel), objective.gamma)
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal(W.shape)
        step = 1e-5 * problem.kernel.sigma / np.linalg.norm(problem.X @ Z, axis=1).max()
        ahead, behind = W + step * Z, W - step * Z
        gradient = objective.value_and_gradient(W)[1]
        slope = np.sum(gradient * Z)
        numeric = (objective.value(ahead) - objective.value(behind)) / (2 * step)
        rounding = 1e-15 * np.sum(np.abs(objective.gamma.F)) ** 2 / step  # what cancellation leaves in the numeric one
        assert abs(slope - numeric) <= 1e-6 * abs(slope) + rounding, seed
        bent = objective.hessian(W, objective.value_and_phi(W)[1])(Z)
        numeric_bent = (objective.value_and_gradient(ahead)[1] - objective.value_and_gradient(behind)[1]) / (2 * step)
        size = np.linalg.norm(bent)
        if size * step > 1e-7 * np.linalg.norm(gradient):
            assert np.linalg.norm(bent - numeric_bent) <= 1e-6 * size, seed
            checked += 1
    assert checked >= 30


def test_smallest_curvature_is_that_of_the_explicit_hessian():
    for seed in (0, 5, 11):
        problem, engine, objective, W = random_problem(seed)
        solution = ISM(tol=1e-8)(objective, W)
        certificate = certify(problem, engine, solution.W, objective.gamma)
        W = solution.W
        d, q = W.shape
        hessian = riemannian_hessian(objective, W, objective.value_and_phi(W)[1])
        complement = np.linalg.qr(W, mode="complete")[0][:, q:]
        basis = [complement @ e.reshape(d - q, q) for e in np.eye((d - q) * q)]
        H = np.array([[np.sum(a * hessian(b)) for a in basis] for b in basis])
        smallest = np.linalg.eigvalsh((H + H.T) / 2)[0]
        assert certificate.smallest_curvature == pytest.approx(smallest, rel=2e-2, abs=1e-6 * np.abs(H).max())
