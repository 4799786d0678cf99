from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import objective_at, random_problem

from altclust.base.given import Given
from altclust.core.certificate import _cluster_eigengap, _verdict, certify
from altclust.core.descent import descend
from altclust.core.engines import DenseEngine
from altclust.core.kernels import Gaussian
from altclust.core.problem import KernelObjective, Problem
from altclust.core.reduced import ReducedObjective
from altclust.core.solvers import ISM, LBFGS


def test_theorem_holds_for_a_huge_sigma_and_agrees_with_the_hessian():
    """As σ grows the inequality must come true, and then the Hessian must be positive: Theorem 1."""
    held = 0
    for seed in range(20):
        problem, engine, _, W = random_problem(seed)
        wide = replace(problem, kernel=Gaussian(1e4 * problem.kernel.sigma))
        objective = objective_at(wide, DenseEngine(engine.X, wide.kernel, engine.given), W)
        solution = ISM(tol=1e-9)(objective, W)
        certificate = certify(wide, objective.engine, solution.W, objective.gamma)
        assert certificate.residual < 1e-6
        if certificate.left >= certificate.right:
            held += 1
            assert certificate.smallest_curvature > -1e-9 * abs(certificate.eigengap)
    # pin: at this limit Φ has rank k + c at most: a q that cuts between two of its zeros has no gap, for any σ
    assert held >= 8


def test_both_sides_scale_with_the_data_and_the_verdict_speaks():
    problem, engine, objective, W = random_problem(1)
    rough = certify(problem, engine, W, objective.gamma)
    assert "Not stationary yet" in rough.verdict
    solution = ISM(tol=1e-8)(objective, W)
    fine = certify(problem, engine, solution.W, objective.gamma)
    assert fine.residual <= 1e-6  # what the rounding of F leaves to a search that compares its values
    assert fine.smallest_curvature > 0
    assert "A strict local minimum" in fine.verdict
    X = engine.X
    assert fine.rank <= fine.n_features == X.shape[1]
    assert 1 <= fine.best_n_components < X.shape[1]
    scaled = replace(problem, kernel=Gaussian(3 * problem.kernel.sigma))
    again = certify(scaled, DenseEngine(3 * X, scaled.kernel), solution.W, objective.gamma)
    assert again.right / again.left == pytest.approx(fine.right / fine.left, rel=1e-6)
    assert again.smallest_curvature == pytest.approx(fine.smallest_curvature, rel=1e-4)


def symmetric_problem(sigma):
    """One hidden direction, and exactly orthogonal to it another stationary one, which is a saddle."""
    rng = np.random.default_rng(0)
    n = 100
    half = rng.standard_normal((n // 2, 2)) * [0.1, 1.0]
    shift = np.array([2.0, 0.0])
    X = np.vstack([half + shift, -half - shift])  # symmetric about the origin
    X = np.vstack([X, X * [1, -1]])  # and about the first axis: the second axis is stationary
    codes = np.zeros(len(X), dtype=int)
    codes[: len(X) // 2] = 1
    problem = Problem(2, 1, 0.0, Gaussian(sigma))
    engine = DenseEngine(X, problem.kernel, Given.from_codes(codes).indicators())
    return problem, engine, objective_at(problem, engine, np.array([[1.0], [0.0]])).gamma


@pytest.mark.parametrize("sigma", [3.0, 30.0])
def test_a_saddle_is_called_a_saddle(sigma):
    """Even where the inequality of Theorem 1 would hold for the smallest eigenvectors of Φ."""
    problem, engine, gamma = symmetric_problem(sigma)
    found = certify(problem, engine, np.array([[1.0], [0.0]]), gamma)
    assert "local minimum" in found.verdict
    stuck = certify(problem, engine, np.array([[0.0], [1.0]]), gamma)
    assert stuck.residual < 1e-6
    assert stuck.smallest_curvature < 0
    assert "saddle" in stuck.verdict
    assert not stuck.theorem_holds


@pytest.mark.parametrize("solver", [ISM(), ISM(safeguard=False)], ids=["safeguarded", "the paper's loop"])
def test_ism_leaves_an_eigenspace_that_is_not_the_smallest(solver):
    _, engine, gamma = symmetric_problem(3.0)
    saddle = np.array([[0.0], [1.0]])
    solution = solver(KernelObjective(engine, gamma), saddle)
    assert abs(solution.W[0, 0]) > 0.99
    assert solution.value < KernelObjective(engine, gamma).value(saddle) - 0.1


def test_all_columns_leave_nothing_to_choose():
    problem, engine, *_ = random_problem(2)
    W = np.eye(engine.X.shape[1])
    certificate = certify(problem, engine, W, objective_at(problem, engine, W).gamma)
    assert np.isnan(certificate.smallest_curvature)
    assert np.isnan(certificate.eigengap)
    assert "nothing to optimise" in certificate.verdict
    assert not certificate.theorem_holds


@pytest.mark.parametrize("pull", [0.0, 3.0])
def test_after_a_descent_the_certificate_is_about_what_was_minimised(pull):
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 120)
    X = rng.standard_normal((120, 4))
    X[:, 0] += 4 * hidden
    X -= X.mean(axis=0)
    start = np.linalg.qr(np.array([[1.0, 0.3, 0.2, 0.0]]).T)[0]
    problem = Problem(2, 1, 1.0, Gaussian(1.0))
    no_columns = np.zeros((120, 0))
    objective = ReducedObjective(X, no_columns, problem.kernel, problem.n_clusters, problem.novelty_weight, pull=pull)
    found = descend(objective, start, LBFGS(tol=1e-4), rng=rng)
    engine = DenseEngine(X, problem.kernel)
    certificate = certify(problem, engine, found.W, found.gamma, found.objective)
    assert found.status == "converged"
    assert certificate.residual == pytest.approx(found.history["residual"][-1], abs=1e-8)
    assert certificate.verdict.startswith("A strict local minimum")
    assert np.all(np.diff(found.history["value"]) <= 0)
    if pull:
        alone = certify(problem, engine, found.W, found.gamma)
        assert alone.verdict.startswith("Not stationary")  # the W problem does not know the pull


@pytest.mark.parametrize(
    ("values", "columns", "gap"),
    [
        ([4.0, 2.0, 1.0], 1, 0.5),
        ([4.0, 2.0, 0.5], 2, 0.75),
        ([4.0, 2.0], 2, np.nan),
        ([4.0, 1e-14, 1e-15], 2, np.nan),
    ],
)
def test_the_eigengap_behind_u_is_relative_to_the_last_eigenvalue_that_is_used(values, columns, gap):
    assert _cluster_eigengap(np.array(values), columns) == pytest.approx(gap, nan_ok=True)


def test_one_column_has_one_component():
    X = np.random.default_rng(0).standard_normal((30, 1))
    problem = Problem(2, 1, 0.0, Gaussian(1.0))
    engine = DenseEngine(X, problem.kernel, np.zeros((30, 0)))
    found = certify(problem, engine, np.eye(1), objective_at(problem, engine, np.eye(1)).gamma)
    assert found.best_n_components == 1


@pytest.mark.parametrize(
    ("residual", "theorem", "curvature", "said"),
    [
        (2e-3, True, 1.0, "Not stationary yet: the first-order residual is 0.002, above 0.001."),
        (1e-3, True, 1.0, "A local minimum by Theorem 1"),
        (0.0, True, -0.1, "A local minimum by Theorem 1"),
        (0.0, True, -0.2, "A saddle"),
        (0.0, True, np.nan, "A local minimum by Theorem 1"),
        (
            0.0,
            False,
            np.nan,
            "Stationary; the inequality is inconclusive, and the smallest curvature did not converge.",
        ),
        (0.0, None, np.nan, "Stationary; the smallest curvature did not converge."),
        (
            0.0,
            False,
            0.2,
            "A strict local minimum: stationary, and the Hessian is positive on the whole tangent space (",
        ),
        (0.0, None, 0.2, "A strict local minimum: stationary, and the Hessian is positive on the whole tangent space."),
        (0.0, None, 0.1, "Stationary, with a direction along which F is flat to second order."),
        (0.0, None, -0.1, "Stationary, with a direction along which F is flat to second order."),
        (0.0, None, -0.2, "A saddle: stationary, but there is a direction along which F still falls."),
    ],
)
def test_the_verdict_says_what_was_found_and_no_more(residual, theorem, curvature, said):
    assert _verdict(residual, 1e-3, theorem, curvature, 0.1, whole=False).startswith(said)
