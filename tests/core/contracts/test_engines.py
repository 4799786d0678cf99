"""What every engine promises: the explicit n x n formulas, and derivatives that match finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples, random_problem, some

from altclust.core.certificate import certify
from altclust.core.engines import ENGINES
from altclust.core.engines.lowrank import LowRankEngine
from altclust.core.engines.recipes import Coordinates
from altclust.core.problem import KernelObjective
from altclust.core.solvers import ISM
from altclust.core.solvers.newton import riemannian_hessian
from altclust.data.rows import ArrayRows
from altclust.data.sums import indicator_tables

seeds = st.integers(0, 10_000)


def low_rank(X, kernel, codes):
    """With every row a landmark: then only what is added to the diagonal of M, 1e-8, keeps it from being exact."""
    tables = indicator_tables([np.bincount(codes, minlength=3)], "balanced")
    here = Coordinates(np.zeros(X.shape[1]), [], None)
    column = codes[:, None].astype(np.int32)
    rows = ArrayRows(X, column)
    rng = np.random.default_rng(0)
    return LowRankEngine(rows, here, kernel, X, column, tables, X, tolerance=1e-6, most=len(X), step=17, rng=rng)


def used_embedding(engine, embedding, W):
    """U as γ uses it, with centred columns.

    A low-rank γ makes U again from the kernel to the landmarks. Where an eigenvalue is tiny, rounding leaves this U a
    few 1e-6 away from `embedding.U`, which is made orthonormal: without this, Φ would seem to be that inexact.
    """
    if not isinstance(engine, LowRankEngine):
        return embedding.U - embedding.U.mean(axis=0)
    return embedding.map.from_kernel(engine.kernel.between(engine.sample @ W, embedding.map.landmarks))[0]


NAMES = (*ENGINES, "lowrank")
EXACT = {"lowrank": 1e-4}  # how closely an engine follows the formulas; 1e-9 where nothing is said, and 1e-6 for any Φ


class Case:
    """A random problem, seen by one of the engines and by the explicit formulas."""

    def __init__(self, name, seed):
        self.problem, dense, _, self.W = random_problem(seed)
        self.X, self.sigma = dense.X, self.problem.kernel.sigma
        codes = np.unique(dense.given, axis=0, return_inverse=True)[1].ravel()
        kernel = self.problem.kernel
        self.engine = (
            low_rank(self.X, kernel, codes) if name == "lowrank" else ENGINES[name](self.X, kernel, dense.given)
        )
        self.embedding = self.engine.embed(self.W, self.problem.n_clusters)
        self.gamma = self.engine.weigh(self.embedding, self.embedding.degrees, self.problem.novelty_weight)
        self.objective = KernelObjective(self.engine, self.gamma)
        self.close = EXACT.get(name, 1e-9)
        self.given = dense.given

    def explicit(self):
        """K, γ and Φ by the formulas of the paper, pair by pair."""
        differences = self.X[:, None, :] - self.X[None, :, :]
        K = np.exp(-np.sum((differences @ self.W) ** 2, axis=2) / (2 * self.sigma**2))
        U = used_embedding(self.engine, self.embedding, self.W)
        scale = 1 / np.sqrt(K.sum(axis=1))
        A = U @ U.T - self.problem.novelty_weight * self.given @ self.given.T
        weights = scale[:, None] * A * scale
        phi = np.einsum("ij,ija,ijb->ab", weights * K, differences, differences) / self.sigma**2
        fourth = np.sum(np.abs(weights) * K * np.sum(differences**2, axis=2) ** 2)
        return K, weights, phi, fourth


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds)
@examples(10)
def test_against_the_explicit_formula(name, seed):
    case = Case(name, seed)
    engine, W, gamma = case.engine, case.W, case.gamma
    K, weights, phi, fourth = case.explicit()
    value, ours = engine.value_and_phi(W, gamma)
    size = np.sum(np.abs(weights * K))
    scale = np.max(np.abs(phi)) + 1e-10 * size / case.sigma**2
    assert np.allclose(engine.degrees(W), K.sum(axis=1), rtol=case.close / 100)
    assert value == pytest.approx(np.sum(weights * K), abs=case.close * size / 100)
    assert engine.value(W, gamma) == pytest.approx(value, abs=1e-11 * size)
    assert np.max(np.abs(ours - phi)) <= min(case.close, 1e-6) * scale
    also, gradient = engine.value_and_gradient(W, gamma)
    assert also == pytest.approx(value, abs=1e-11 * size)
    assert np.max(np.abs(gradient - phi @ W)) <= min(case.close, 1e-6) * scale
    assert engine.fourth_moment(W, gamma) == pytest.approx(fourth, rel=10 * case.close)


@pytest.mark.parametrize("name", NAMES)
@given(seed=seeds)
@examples(7)
def test_the_u_step_is_the_leading_eigenspace(name, seed):
    case = Case(name, seed)
    engine, W, k, embedding = case.engine, case.W, case.problem.n_clusters, case.embedding
    K, *_ = case.explicit()
    n = len(K)
    H = np.eye(n) - 1 / n
    scale = 1 / np.sqrt(K.sum(axis=1))
    Q = H @ (scale[:, None] * K * scale) @ H
    values = np.linalg.eigvalsh(Q)[::-1]
    assert np.allclose(embedding.values, values[:k], atol=case.close / 10)
    assert np.allclose(embedding.U.T @ embedding.U, np.eye(k), atol=1e-10)
    assert np.linalg.norm(Q @ embedding.U - embedding.U * embedding.values) < 10 * case.close
    warm = engine.embed(W, k, start=embedding)
    assert np.allclose(warm.values, embedding.values, atol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_match_finite_differences(name):
    checked, problems = 0, some(12, 40)
    for seed in range(problems):
        case = Case(name, seed)
        objective, W = case.objective, case.W
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal(W.shape)
        step = 1e-5 * case.sigma / np.linalg.norm(case.X @ Z, axis=1).max()
        ahead, behind = W + step * Z, W - step * Z
        gradient = objective.value_and_gradient(W)[1]
        slope = np.sum(gradient * Z)
        numeric = (objective.value(ahead) - objective.value(behind)) / (2 * step)
        F = case.engine.weigh(case.embedding, case.embedding.degrees, case.problem.novelty_weight)
        F = F.F if name != "lowrank" else F.rows(case.X, case.engine.codes)
        rounding = 1e-15 * np.sum(np.abs(F)) ** 2 / step  # what cancellation leaves in the numeric one
        rounding *= 1e4 if name == "lowrank" else 1.0  # M is inverted
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
