"""What every engine of the Gaussian kernel promises: the explicit formulas, and derivatives that match differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples, random_problem, some

from altclust.core.certificate import certify
from altclust.core.engines import DenseEngine
from altclust.core.problem import KernelObjective
from altclust.core.solvers import ISM
from altclust.core.solvers.newton import riemannian_hessian

seeds = st.integers(0, 10_000)
CLOSE = 1e-9  # how closely an engine follows the formulas
ENGINES = {"dense": DenseEngine}
kinds = pytest.mark.parametrize("kind", ENGINES)


class Case:
    """A random problem, seen by the engine and by the explicit formulas."""

    def __init__(self, kind, seed):
        self.problem, engine, _, self.W = random_problem(seed)
        self.engine = ENGINES[kind](engine.X, engine.kernel, engine.given)
        self.X, self.given, self.sigma = self.engine.X, self.engine.given, self.problem.kernel.sigma
        self.embedding = self.engine.embed(self.W, self.problem.n_clusters)
        self.gamma = self.engine.weigh(self.embedding, self.embedding.degrees, self.problem.novelty_weight)
        self.objective = KernelObjective(self.engine, self.gamma)

    def explicit(self):
        """K, γ and Φ by the formulas of the paper, pair by pair."""
        differences = self.X[:, None, :] - self.X[None, :, :]
        K = np.exp(-np.sum((differences @ self.W) ** 2, axis=2) / (2 * self.sigma**2))
        U = self.embedding.U - self.embedding.U.mean(axis=0)
        scale = 1 / np.sqrt(K.sum(axis=1))
        A = U @ U.T - self.problem.novelty_weight * self.given @ self.given.T
        weights = scale[:, None] * A * scale
        phi = np.einsum("ij,ija,ijb->ab", weights * K, differences, differences) / self.sigma**2
        fourth = np.sum(np.abs(weights) * K * np.sum(differences**2, axis=2) ** 2)
        return K, weights, phi, fourth


@kinds
@given(seed=seeds)
@examples(10)
def test_against_the_explicit_formula(kind, seed):
    case = Case(kind, seed)
    engine, W, gamma = case.engine, case.W, case.gamma
    K, weights, phi, fourth = case.explicit()
    value, ours = engine.value_and_phi(W, gamma)
    size = np.sum(np.abs(weights * K))
    scale = np.max(np.abs(phi)) + 1e-10 * size / case.sigma**2
    assert np.allclose(engine.degrees(W), K.sum(axis=1), rtol=CLOSE / 100)
    assert value == pytest.approx(np.sum(weights * K), abs=CLOSE * size / 100)
    assert engine.value(W, gamma) == pytest.approx(value, abs=1e-11 * size)
    assert np.max(np.abs(ours - phi)) <= CLOSE * scale
    also, gradient = engine.value_and_gradient(W, gamma)
    assert also == pytest.approx(value, abs=1e-11 * size)
    assert np.max(np.abs(gradient - phi @ W)) <= CLOSE * scale
    assert engine.fourth_moment(W, gamma) == pytest.approx(fourth, rel=10 * CLOSE)


@kinds
@given(seed=seeds)
@examples(7)
def test_the_u_step_is_the_leading_eigenspace(kind, seed):
    case = Case(kind, seed)
    engine, W, k, embedding = case.engine, case.W, case.problem.n_clusters, case.embedding
    K, *_ = case.explicit()
    n = len(K)
    H = np.eye(n) - 1 / n
    scale = 1 / np.sqrt(K.sum(axis=1))
    Q = H @ (scale[:, None] * K * scale) @ H
    values = np.linalg.eigvalsh(Q)[::-1]
    assert np.allclose(embedding.values, values[:k], atol=CLOSE / 10)
    assert np.allclose(embedding.U.T @ embedding.U, np.eye(k), atol=1e-10)
    assert np.linalg.norm(Q @ embedding.U - embedding.U * embedding.values) < 10 * CLOSE
    warm = engine.embed(W, k, start=embedding)
    assert np.allclose(warm.values, embedding.values, atol=1e-8)


@kinds
def test_derivatives_match_finite_differences(kind):
    checked, problems = 0, some(12, 40)
    for seed in range(problems):
        case = Case(kind, seed)
        objective, W = case.objective, case.W
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal(W.shape)
        step = 1e-5 * case.sigma / np.linalg.norm(case.X @ Z, axis=1).max()
        ahead, behind = W + step * Z, W - step * Z
        gradient = objective.value_and_gradient(W)[1]
        slope = np.sum(gradient * Z)
        numeric = (objective.value(ahead) - objective.value(behind)) / (2 * step)
        rounding = 1e-15 * np.sum(np.abs(case.gamma.F)) ** 2 / step  # what cancellation leaves in the numeric one
        assert abs(slope - numeric) <= 1e-6 * abs(slope) + rounding, seed
        bent = objective.hessian(W, objective.value_and_phi(W)[1])(Z)
        numeric_bent = (objective.value_and_gradient(ahead)[1] - objective.value_and_gradient(behind)[1]) / (2 * step)
        size = np.linalg.norm(bent)
        if size * step > 1e-7 * np.linalg.norm(gradient):
            assert np.linalg.norm(bent - numeric_bent) <= 1e-6 * size, seed
            checked += 1
    assert checked >= 0.75 * problems


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
