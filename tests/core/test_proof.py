from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.conftest import needs_files, random_problem

from altclust.core.certificate import certify
from altclust.core.engines import DenseEngine
from altclust.core.kernels import Gaussian
from altclust.core.problem import Gamma, KernelObjective
from altclust.core.proof import MOST_ROWS, prove
from altclust.core.solvers import ISM


def third_derivative_bound(X, sigma, gamma):
    """L of the theorem, in floating point."""
    tau = np.sum((X[:, None] - X) ** 2, axis=2) / sigma**2
    return np.sum(np.abs((gamma.F * gamma.s) @ gamma.F.T) * (4.8 * tau**1.5 + 19 * tau))


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_the_third_derivative_holds(seed):
    """By differences of F along lines of the chart, at the centre and far from it."""
    rng = np.random.default_rng(seed)
    n, d, q = 12, 4, int(rng.integers(1, 4))
    X, gamma = 3 * rng.normal(size=(n, d)), Gamma(rng.normal(size=(n, 2)), np.array([1.0, -0.7]))
    objective = KernelObjective(DenseEngine(X, Gaussian(1.3)), gamma)
    start, step = rng.exponential() * rng.normal(size=(d - q, q)), rng.normal(size=(d - q, q))
    step /= np.linalg.norm(step)

    def value(t):
        return objective.value(np.linalg.qr(np.vstack([np.eye(q), start + t * step]))[0])

    h = 1e-3
    third = (value(2 * h) - 2 * value(h) + 2 * value(-h) - value(-2 * h)) / (2 * h**3)
    assert abs(third) <= third_derivative_bound(X, 1.3, gamma)


def test_a_minimum_is_proved_and_its_curvature_enclosed():
    pytest.importorskip("flint")
    problem, engine, objective, W = random_problem(1)
    solution = ISM(tol=1e-6)(objective, W)
    certificate = certify(problem, engine, solution.W, objective.gamma)
    proof = prove(engine.X, problem.kernel.sigma, objective.gamma, solution.W)
    assert certificate.proved
    assert certificate.proof == proof.reason
    assert proof.reason.startswith("Proved: the W problem with these U and D has a strict local minimum")
    assert 0 < certificate.minimum_distance < 1e-4
    assert 0 < certificate.minimum_radius < 1
    assert proof.curvature <= certificate.smallest_curvature
    assert proof.curvature == pytest.approx(certificate.smallest_curvature, rel=1e-3)
    assert proof.eigengap == pytest.approx(certificate.eigengap, rel=1e-3)


def test_the_proved_minimum_is_where_descents_from_around_it_end():
    pytest.importorskip("flint")
    problem, engine, objective, W = random_problem(1)
    solution = ISM(tol=1e-10)(objective, W)
    proof = prove(engine.X, problem.kernel.sigma, objective.gamma, solution.W)
    rng = np.random.default_rng(0)
    for _ in range(5):
        shift = rng.normal(size=W.shape)
        near = np.linalg.qr(solution.W + 0.5 * proof.radius / np.linalg.norm(shift) * shift)[0]
        assert objective.value(near) > solution.value


def test_a_saddle_is_refused():
    """The negative of F has a maximum there, which is stationary."""
    pytest.importorskip("flint")
    problem, engine, objective, W = random_problem(1)
    solution = ISM(tol=1e-10)(objective, W)
    upside_down = objective.gamma._replace(s=-objective.gamma.s)
    found = prove(engine.X, problem.kernel.sigma, upside_down, solution.W)
    assert not found.proved or found.distance > 0.1  # Newton steps left the maximum


def test_a_flat_direction_is_refused():
    """A column without variance: W may turn into it or not, and F stays the same."""
    pytest.importorskip("flint")
    problem, engine, objective, _ = random_problem(1)
    X = engine.X * 0.0
    found = prove(X, problem.kernel.sigma, objective.gamma, np.eye(X.shape[1])[:, :1])
    assert not found.proved
    assert found.reason.startswith("Not proved: the smallest curvature is only known to be above")


def test_what_is_not_attempted_says_why(monkeypatch):
    problem, engine, objective, W = random_problem(0)
    many = np.zeros((MOST_ROWS + 1, len(W)))
    assert prove(many, 1.0, objective.gamma, W).reason.startswith("Not attempted: 1,001 rows")
    assert "spans all" in prove(engine.X, 1.0, objective.gamma, np.eye(len(W))).reason
    monkeypatch.setitem(sys.modules, "flint", None)
    missing = certify(problem, engine, W, objective.gamma)
    assert not missing.proved
    assert missing.proof == "A proof needs flint: pip install 'altclust[proof]'."


@needs_files
@pytest.mark.parametrize("name", ["SG", "LG"])
def test_minima_of_the_paper_are_proved(name):
    pytest.importorskip("flint")
    from altclust import KDAC
    from altclust.paper.configs import load_task

    task = load_task(name)
    model = KDAC(settings=task.settings, solver=ISM(), random_state=0).fit(task.X, task.given)
    found = model.certificate_
    assert found.proved, found.proof
