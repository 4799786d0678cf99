"""The objective without U and D: its derivatives, its two ways to the kernel, and what a descent makes of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from altclust.base.given import Given
from altclust.core import reduced
from altclust.core.descent import descend
from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi
from altclust.core.problem import Problem
from altclust.core.reduced import ReducedObjective
from altclust.core.solvers import LBFGS, Status, first_order_residual
from altclust.core.solvers.grassmann import orthonormal
from altclust.datasets import views


def objective_of(problem, X, Y):
    return ReducedObjective(X, Y, problem.kernel, problem.n_clusters, problem.novelty_weight)


def rows(n=120, noise=4, seed=1):
    data = views(n, ("blobs", "blobs"), (3, 3), noise_columns=noise, random_state=seed)
    X = data.X - data.X.mean(axis=0)
    return X / X.std(axis=0), Given.from_codes(data.given).indicators(), data


def start(X, q=2, seed=0):
    return orthonormal(np.random.default_rng(seed).standard_normal((X.shape[1], q)))


def objective(sigma, landmarks, floor=0.3):
    X, Y, _ = rows()
    found = ReducedObjective(X, Y, Gaussian(sigma), 3, 0.7, floor)
    if landmarks:
        found.find_landmarks(start(X), np.random.default_rng(0))
        assert found.landmarks is not None
    return found


@pytest.mark.parametrize("floor", [0.0, 0.3])
@pytest.mark.parametrize(("sigma", "landmarks"), [(0.3, False), (1.5, False), (1.5, True)])
def test_the_gradient_is_that_of_finite_differences(sigma, landmarks, floor):
    f = objective(sigma, landmarks, floor)
    for seed in range(5):
        W = start(f.X, seed=seed)
        Z = np.random.default_rng(seed).standard_normal(W.shape)
        step = 1e-5 * sigma
        numeric = (f.value(W + step * Z) - f.value(W - step * Z)) / (2 * step)
        gradient = f.value_and_gradient(W)[1]
        assert np.sum(gradient * Z) == pytest.approx(numeric, rel=1e-6, abs=1e-8)
        assert np.allclose(f.value_and_phi(W)[1] @ W, gradient, atol=1e-10)


def test_the_pull_is_part_of_value_gradient_and_phi():
    X = np.random.default_rng(0).standard_normal((40, 5))
    X -= X.mean(axis=0)
    rng = np.random.default_rng(1)
    W, anchor = (np.linalg.qr(rng.standard_normal((5, 2)))[0] for _ in range(2))
    Y = np.zeros((len(X), 0))
    held = ReducedObjective(X, Y, Gaussian(1.5), 3, 1.0, anchor=anchor, pull=0.7)
    free = ReducedObjective(X, Y, Gaussian(1.5), 3, 1.0)
    assert free.value(W) - held.value(W) == pytest.approx(0.35 * np.sum((anchor.T @ W) ** 2))
    gradient = free.value_and_gradient(W)[1] - held.value_and_gradient(W)[1]
    assert np.allclose(gradient, 0.7 * anchor @ (anchor.T @ W))
    assert np.allclose(held.value_and_phi(W)[1] @ W, held.value_and_gradient(W)[1])


def centred_kernel(X, W, sigma, floor):
    """H D^(-1/2) K D^(-1/2) H, by its definition."""
    distances = np.sum(((X @ W)[:, None] - (X @ W)[None]) ** 2, axis=2)
    K = np.exp(-distances / (2 * sigma**2))
    degrees = K.sum(axis=1) + floor * K.sum(axis=1).mean()
    H = np.eye(len(X)) - 1 / len(X)
    return H @ (K / np.sqrt(np.outer(degrees, degrees))) @ H


def test_it_is_the_formula_of_eigenvalues():
    f = objective(0.8, landmarks=False)
    W = start(f.X)
    Q = centred_kernel(f.X, W, 0.8, 0.3)
    expected = 0.7 * np.trace(f.given.T @ Q @ f.given) - np.linalg.eigvalsh(Q)[-2:].sum()
    assert f.value(W) == pytest.approx(expected, abs=1e-10)
    assert f.at(W).error == 0


@pytest.mark.parametrize("landmarks", [False, True])
def test_what_is_to_be_kept_is_part_of_the_value_and_of_the_gradient(landmarks):
    free, rng = objective(1.5, landmarks), np.random.default_rng(2)
    B, s = rng.standard_normal((len(free.X), 3)), np.array([0.5, -1.0, 2.0])
    B -= B.mean(axis=0)
    kept = replace(free, keep=(B, s), _last=None)
    W, Z = start(free.X), rng.standard_normal((free.X.shape[1], 2))
    Q = centred_kernel(free.X, W, 1.5, 0.3)
    expected = np.trace(B.T @ Q @ B * s)
    assert free.value(W) - kept.value(W) == pytest.approx(expected, abs=0.01 if landmarks else 1e-10)
    numeric = (kept.value(W + 1e-5 * Z) - kept.value(W - 1e-5 * Z)) / 2e-5
    assert np.sum(kept.value_and_gradient(W)[1] * Z) == pytest.approx(numeric, rel=1e-6)


def test_rows_without_neighbours_have_the_degree_one_through_landmarks_too():
    X, Y, _ = rows()
    far = np.vstack([X, 50.0 * np.eye(X.shape[1])])
    f = ReducedObjective(far, np.vstack([Y, np.zeros((X.shape[1], Y.shape[1]))]), Gaussian(1.5), 3, 0.7, 0.0)
    W = start(far)
    exact = f.value(W)
    f.find_landmarks(W, np.random.default_rng(0))
    assert f.landmarks is not None
    assert f.value(W) == pytest.approx(exact, abs=5 * f.at(W).error + 1e-6)


def test_sparse_products_give_the_same_point(monkeypatch):
    X, Y, _ = rows(600)
    W, points = start(X), []
    for share in (0.0, 0.2):
        monkeypatch.setattr(reduced, "FEW_PAIRS", share)
        f = ReducedObjective(X, Y, Gaussian(0.03), 3, 0.7, 0.001)
        assert (type(reduced._near_pairs(f.kernel.gram(X @ W))) is np.ndarray) == (share == 0)
        points.append(f.value_and_gradient(W))
    assert points[0][0] == pytest.approx(points[1][0], abs=1e-9)
    assert np.allclose(points[0][1], points[1][1], atol=1e-6 * np.abs(points[0][1]).max())


def test_landmarks_change_the_value_by_what_they_leave_out():
    exact, approximate = objective(1.5, landmarks=False), objective(1.5, landmarks=True)
    W = start(exact.X)
    point = approximate.at(W)
    assert 0 < point.error <= 1e-3
    assert len(approximate.landmarks) <= 40
    assert point.value == pytest.approx(exact.value(W), abs=5 * point.error)
    ours, theirs = approximate.value_and_gradient(W)[1], exact.value_and_gradient(W)[1]
    assert np.linalg.norm(ours - theirs) <= 0.01 * np.linalg.norm(theirs)


@pytest.mark.parametrize("sigma", [0.4, 0.8, 1.6, 4.0])
def test_a_descent_is_monotone_and_ends_at_a_stationary_point(sigma):
    X, Y, _ = rows()
    for seed in range(3):
        problem = Problem(3, 2, 1.0, Gaussian(sigma))
        found = descend(objective_of(problem, X, Y), start(X, seed=seed), LBFGS(), rng=np.random.default_rng(0))
        assert found.status is Status.CONVERGED
        assert np.all(np.diff(found.history["value"]) <= 1e-12)
        exact = ReducedObjective(X, Y, problem.kernel, 3, 1.0)
        residual = first_order_residual(found.W, exact.value_and_gradient(found.W)[1])
        assert residual <= 2e-3  # of the exact kernel: one more exact step would hardly move W
        assert np.array_equal(found.kernel_map.labels(X @ found.W), found.labels)


def test_a_descent_finds_the_hidden_clusters_from_a_random_start():
    X, Y, data = rows(300)
    found = descend(
        objective_of(Problem(3, 2, 1.0, Gaussian(1.2)), X, Y), start(X, seed=1), LBFGS(), rng=np.random.default_rng(0)
    )
    assert nmi(found.labels, data.alternative) > 0.9
    assert nmi(found.labels, data.given) < 0.05


def test_a_callback_sees_every_step_and_can_stop_it():
    X, Y, _ = rows()
    seen = []

    def stop(number, value, embedding):
        seen.append((number, value, embedding.U.shape))
        return number == 3

    problem = Problem(3, 2, 1.0, Gaussian(0.8))
    found = descend(objective_of(problem, X, Y), start(X), LBFGS(), callback=stop, rng=np.random.default_rng(0))
    assert found.status is Status.CANCELLED
    assert [number for number, *_ in seen] == [1, 2, 3]
    assert {shape for *_, shape in seen} == {(120, 3)}


def test_one_cluster_and_two():
    X, Y, _ = rows()
    for k in (1, 2):
        found = descend(
            objective_of(Problem(k, 1, 1.0, Gaussian(1.0)), X, Y), start(X, 1), LBFGS(), rng=np.random.default_rng(0)
        )
        assert set(found.labels) == set(range(k))
        assert found.values.shape == (k,)


def test_both_roundings_find_the_clusters():
    X, Y, data = rows(200)
    for rounding in ("kmeans", "cluster_qr"):
        problem, rng = Problem(3, 2, 1.0, Gaussian(1.2)), np.random.default_rng(0)
        found = descend(objective_of(problem, X, Y), start(X, seed=1), LBFGS(), rounding=rounding, rng=rng)
        assert nmi(found.labels, data.alternative) > 0.9
        assert np.mean(found.kernel_map.labels(X @ found.W) == found.labels) > 0.98


def test_more_clusters_than_landmarks_use_the_exact_kernel():
    X, Y, _ = rows()
    found = descend(
        objective_of(Problem(30, 2, 1.0, Gaussian(50.0)), X, Y), start(X), LBFGS(), rng=np.random.default_rng(0)
    )
    assert found.values.shape == (30,)
    assert len(found.kernel_map.landmarks) == len(X)


@pytest.mark.parametrize("memory", [1, 3])
def test_memory_bounds_what_is_remembered(memory):
    X, Y, _ = rows()
    f = ReducedObjective(X, Y, Gaussian(1.0), 3, 1.0)
    assert LBFGS(memory=memory)(f, start(X)).status is Status.CONVERGED


@pytest.mark.parametrize("rounding", ["kmeans", "cluster_qr"])
def test_equal_rows_get_equal_labels_also_where_there_are_more_clusters_than_kinds_of_rows(rounding):
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 90)
    X = np.array([[0.0, 0.0, 1.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])[kinds]
    X -= X.mean(axis=0)
    objective = ReducedObjective(X, np.zeros((90, 0)), Gaussian(2.0), n_clusters=6, novelty_weight=1.0)
    found = descend(objective, np.eye(3)[:, :2], LBFGS(), rounding=rounding, rng=rng)
    assert all(len(np.unique(found.labels[kinds == kind])) == 1 for kind in range(3))
