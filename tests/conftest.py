"""Random W problems, how many examples the properties are tried on, and what the tests need of the paper's files."""

from __future__ import annotations

import os

# Before numpy is imported: pytest-xdist has a process per core, and their threads would wait for each other.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import matplotlib
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from altclust import Settings
from altclust.base.given import Given
from altclust.core.engines import DenseEngine
from altclust.core.initialization import random_start
from altclust.core.kernels import Gaussian
from altclust.core.problem import KernelEngine, KernelObjective, Problem
from altclust.models.kdac import KDAC
from altclust.search.heuristics import median_distance
from altclust.search.significance import AssessOptions

matplotlib.use("Agg")

NIGHTLY = bool(os.environ.get("ALTCLUST_NIGHTLY"))  # set by `make nightly`


def some(quick: int, nightly: int) -> int:
    """How many cases of a kind this run tries."""
    return nightly if NIGHTLY else quick


def examples(quick: int, suppress: tuple[HealthCheck, ...] = ()) -> settings:
    """A few examples that are the same in every quick run, and ten times as many others in `make nightly`."""
    return settings(
        max_examples=some(quick, 10 * quick),
        derandomize=not NIGHTLY,
        database=None,
        deadline=None,
        suppress_health_check=suppress,
    )


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small significance test, where the test itself is not what is tested; the whole one nightly."""
    if not NIGHTLY:
        monkeypatch.setattr(KDAC, "_tests", AssessOptions(rows=120, splits=1, draws=39))


needs_files = pytest.mark.skipif(
    "ALTCLUST_DATA" not in os.environ, reason="the paper's files are not at hand: set ALTCLUST_DATA to their folder"
)


def random_problem(seed: int) -> tuple[Problem, DenseEngine, KernelObjective, np.ndarray]:
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
    problem = Problem(k, q, weight, Gaussian(sigma))
    engine = DenseEngine(X, problem.kernel, Given.from_codes(codes).indicators())
    W = random_start(d, q, rng)
    return problem, engine, objective_at(problem, engine, W), W


def objective_at(problem: Problem, engine: KernelEngine, W: np.ndarray) -> KernelObjective:
    """The W problem with U and D as they are at W."""
    embedding = engine.embed(W, problem.n_clusters)
    return KernelObjective(engine, engine.weigh(embedding, embedding.degrees, problem.novelty_weight))


def kdac(**parameters):
    """A KDAC with these parameters; those that are fields of Settings alone go there."""
    alone = vars(Settings()).keys() - KDAC().get_params().keys()
    own = {name: parameters.pop(name) for name in alone & parameters.keys()}
    return KDAC(settings=Settings(**own) if own else None, **parameters)
