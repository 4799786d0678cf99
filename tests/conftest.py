"""Random W problems, and what the tests need of the paper's files."""

from __future__ import annotations

import os

import matplotlib
import numpy as np
import pytest

from altclust.core.engines import DenseEngine
from altclust.core.initialization import random_start
from altclust.core.kernels import Gaussian
from altclust.core.problem import Objective, Problem, indicators
from altclust.search.heuristics import median_distance

matplotlib.use("Agg")

needs_files = pytest.mark.skipif(
    "ALTCLUST_DATA" not in os.environ, reason="the paper's files are not at hand: set ALTCLUST_DATA to their folder"
)


def random_problem(seed: int) -> tuple[Problem, DenseEngine, Objective, np.ndarray]:
    """A W problem from a wide family: σ from 0.1 to 10 times the median distance, d up to 30, q up to 6."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 80)), int(rng.integers(2, 31))
    k, q = int(rng.integers(2, 5)), int(rng.integers(1, min(6, d - 1) + 1))
    codes = rng.integers(0, 3, n)
    hidden = rng.integers(0, k, n)
    X = rng.standard_normal((n, d))
    X[:, 0] += 3 * codes
    X[:, -1] += 3 * hidden
    X -= X.mean(axis=0)
    sigma = median_distance(X, rng) * 10 ** rng.uniform(-1, 1)
    weight = 10 ** rng.uniform(-1, 1)
    problem = Problem(X, None, indicators([codes], n), k, q, weight, Gaussian(sigma))
    engine = DenseEngine(X, problem.kernel)
    W = random_start(problem, rng)
    embedding = engine.embed(W, k)
    return problem, engine, Objective(engine, problem.gamma(embedding.U, embedding.degrees)), W
