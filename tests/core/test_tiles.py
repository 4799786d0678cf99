"""The streamed engine against the dense one: same numbers, same bits for any number of threads, little memory."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import some

from altclust.core.engines import DenseEngine
from altclust.core.engines.tiles import FEW_COLUMNS, SMALLEST, TilesEngine
from altclust.core.kernels import Gaussian
from altclust.core.linalg.eigen import ANGLE, FEW
from altclust.core.problem import Gamma
from altclust.core.solvers import subspace_distance

TINY = 1.0  # bytes: as small as tiles can be
COLUMNS = (7, FEW_COLUMNS + 5)


def problem(n: int, d: int, seed: int = 0):
    """Three clusters in the first two columns, a W that nearly sees them, and random weights of the pairs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, :2] += 4 * np.array([[0, 0], [1, 0], [0, 1]])[rng.integers(0, 3, n)]
    X -= X.mean(axis=0)
    W = np.linalg.qr(np.eye(d)[:, :2] + 0.1 * rng.standard_normal((d, 2)))[0]
    F = rng.standard_normal((n, 5)) / n
    return X, W, Gamma(F - F.mean(axis=0), np.array([1.0, 1.0, 1.0, -0.7, -0.7]))


def everything(engine, W, gamma):
    """All that an engine can be asked for besides U, by name."""
    value, phi = engine.value_and_phi(W, gamma)
    also, gradient = engine.value_and_gradient(W, gamma)
    Z = np.random.default_rng(1).standard_normal(W.shape)
    return {
        "degrees": engine.degrees(W),
        "value": engine.value(W, gamma),
        "value with phi": value,
        "value with gradient": also,
        "phi": phi,
        "gradient": gradient,
        "hessian": engine.hessian(W, gamma, phi)(Z),
        "fourth": engine.fourth_moment(W, gamma),
    }


def close(ours, theirs, share):
    return np.max(np.abs(np.asarray(ours) - theirs)) <= share * np.max(np.abs(theirs))


@pytest.mark.parametrize("d", COLUMNS)
@pytest.mark.parametrize("n", [SMALLEST - 3, 10 * SMALLEST + 7, 650])
@pytest.mark.parametrize("memory", [TINY, 512e6])
def test_the_numbers_of_the_dense_engine(n, d, memory):
    X, W, gamma = problem(n, d)
    dense = everything(DenseEngine(X, Gaussian(1.3)), W, gamma)
    tiles = everything(TilesEngine(X, Gaussian(1.3), memory=memory), W, gamma)
    for name, theirs in dense.items():
        assert close(tiles[name], theirs, 1e-10), name


def test_a_kept_result_is_not_that_of_another_question():
    X, W, gamma = problem(100, 6)
    other, V = Gamma(2 * gamma.F, gamma.s), np.linalg.qr(W + 0.3)[0]
    engine = TilesEngine(X, Gaussian(1.0))
    for ask in ((W, gamma), (W, other), (V, other), (V, gamma), (W, gamma)):
        theirs = everything(DenseEngine(X, Gaussian(1.0)), *ask)
        assert all(close(ours, theirs[name], 1e-10) for name, ours in everything(engine, *ask).items())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", COLUMNS)
def test_the_number_of_threads_changes_no_bit(d, dtype):
    X, W, gamma = problem(FEW + 200, d)
    engines = [TilesEngine(X.astype(dtype), Gaussian(1.0), memory=TINY, threads=threads) for threads in (1, 2, 5)]
    first, *others = [everything(engine, W, gamma) | vars(engine.embed(W, 3)) for engine in engines]
    for other in others:
        assert all(np.array_equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize("d", COLUMNS)
def test_single_precision(d):
    X, W, gamma = problem(700, d)
    exact = everything(DenseEngine(X, Gaussian(1.3)), W, gamma)
    engine = TilesEngine(X.astype(np.float32), Gaussian(1.3), memory=TINY)
    for name, ours in everything(engine, W, gamma).items():
        assert np.asarray(ours).dtype == np.float64, name
        assert close(ours, exact[name], 1e-4), name
    assert subspace_distance(engine.embed(W, 3).U, DenseEngine(X, Gaussian(1.3)).embed(W, 3).U) < 1e-2


@pytest.mark.parametrize("sigma", [3.0, 1.0, 0.5])
@pytest.mark.parametrize("known_degrees", [False, True])
def test_the_u_step_of_many_rows(sigma, known_degrees):
    X, W, _ = problem(1500, 5)
    k = 3
    engine = TilesEngine(X, Gaussian(sigma))
    if known_degrees:
        engine.degrees(W)
    ours, theirs = engine.embed(W, k), DenseEngine(X, Gaussian(sigma)).embed(W, k)
    assert np.allclose(ours.degrees, theirs.degrees, rtol=1e-10)
    assert np.allclose(ours.values, theirs.values, atol=1e-6)
    assert np.allclose(ours.U.T @ ours.U, np.eye(k), atol=1e-10)
    assert subspace_distance(ours.U, theirs.U) < 2 * ANGLE
    turned = np.linalg.qr(W + 0.02)[0]
    warm, anew = engine.embed(turned, k, start=ours), DenseEngine(X, Gaussian(sigma)).embed(turned, k)
    assert np.allclose(warm.values, anew.values, atol=1e-6)
    assert subspace_distance(warm.U, anew.U) < 2 * ANGLE


@pytest.mark.parametrize("start", ["cold", "wrong"])
def test_the_u_step_finds_groups_that_hold_no_landmark(start):
    """Five rows far away are an eigenvector of value near 1 that a few hundred rows of 2000 miss (none of these)."""
    X, W, _ = problem(2000, 3)
    X[15:20, :2] += 30
    X[20:25, :2] -= 30
    X -= X.mean(axis=0)
    W = np.eye(3)[:, :2]
    engine, dense = TilesEngine(X, Gaussian(1.5)), DenseEngine(X, Gaussian(1.5))
    theirs = dense.embed(W, 6)
    wrong = None if start == "cold" else replace(theirs, U=theirs.U[:, 3:])
    ours = engine.embed(W, 3, start=wrong)
    assert np.allclose(ours.values, theirs.values[:3], atol=1e-6)
    assert subspace_distance(ours.U, theirs.U[:, :3]) < 1e-2


MEASURE = """
import sys
import numpy as np
from tests.core.test_tiles import problem
from altclust.core.engines.tiles import TilesEngine
from altclust.core.kernels import Gaussian

def peak():
    status = open("/proc/self/status").read()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])

small = TilesEngine(problem(1000, 20)[0], Gaussian(1.0))
small.embed(problem(1000, 20)[1], 3)
X, W, gamma = problem(int(sys.argv[2]), 20)
engine = TilesEngine(X, Gaussian(1.0), memory=float(sys.argv[1]))
before = peak()
engine.value_and_phi(W, gamma)
engine.embed(W, 3)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_memory_stays_within_the_budget():
    """The kernel of 6,000 rows would take 288 MB, that of 20,000 rows 3.2 GB."""
    budget, n = some(64e6, 128e6), some(6000, 20_000)
    run = [sys.executable, "-c", MEASURE, str(budget), str(n)]
    done = subprocess.run(run, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=True)
    assert int(done.stdout) < budget
