"""The loops of the authors' program: its order of updates, limits and tolerances.

Only for the reproduction: our loops differ on purpose. The program differs from the paper: D is recomputed at every
evaluation, also inside a W step, where the derivative treats it as fixed; U starts from W = I; changes are measured on
the entries of W and U, which change with every sign; and only the first q columns of Y are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..base.backend import Array
from ..base.given import Given
from ..core.embedding import round_to_labels
from ..core.engines import DenseEngine
from ..core.initialization import random_start, spectral_start
from ..core.problem import Embedding, Gamma, Problem
from .configs import Task

ROUNDS = 22
ISM_STEPS = 10
ISM_TOLERANCE = 1e-4
CAYLEY_STEPS = 200
CAYLEY_TOLERANCE = 1e-5
REST = 1e-3  # relative change of the entries of both W and U between two rounds

BY_ITS_RULE = "stopped by its own rule"
AT_ITS_LIMIT = "stopped at its limit of rounds while still moving"
CANCELLED = "cancelled"


@dataclass(frozen=True)
class AuthorsResult:
    """The result of a loop; W is (d, q), steps has the number of evaluations (of Φ or of trials) per round."""

    labels: np.ndarray
    W: Array
    quality: float
    cost: float
    steps: tuple[int, ...]
    status: str


def authors_loop(
    task: Task,
    method: str = "ISM",
    init: str = "SI",
    seed: int = 0,
    cancel: Callable[[], bool] = lambda: False,
) -> AuthorsResult:
    """Run ISM or SM as the authors' program does, until cancel() after a round is true.

    ISM: at most 10 unguarded steps per round. SM: a Cayley curve, step 2 shrunk by 0.2 until the cost falls at all, at
    most 200 steps per round; the next U is made at the last point that was tried. The start SI is W = 0, from which the
    first step of ISM gives the spectral start; SM starts from the spectral start. RI is random.
    """
    problem, engine = task.problem()
    d, q = engine.X.shape[1], problem.n_components
    rng = np.random.default_rng(seed)
    embedding = engine.embed(np.eye(d), problem.n_clusters)
    if init == "RI":
        W = random_start(d, q, rng)
    elif method == "ISM":
        W = np.zeros((d, q))
    else:
        counted = DenseEngine(engine.X, engine.kernel, engine.given[:, :q])
        W = spectral_start(problem, counted, embedding).vectors[:, :q]
    w_step = _ism_steps if method == "ISM" else _cayley_steps
    steps: list[int] = []
    status = AT_ITS_LIMIT
    while len(steps) < ROUNDS:
        last_W, last_U = W, embedding.U
        W, tried, count = w_step(problem, engine, W, embedding)
        steps.append(count)
        embedding = engine.embed(tried, problem.n_clusters)
        if len(steps) > 1 and _change(last_W, W) < REST and _change(last_U, embedding.U) < REST:
            status = BY_ITS_RULE
            break
        if cancel():
            status = CANCELLED
            break
    labels, _ = round_to_labels(embedding.U, problem.n_clusters, "kmeans", rng)
    end = Embedding(embedding.U, embedding.values, engine.degrees(W))
    F, s = engine.weigh(end, end.degrees, 0.0)
    quality = engine.value(W, Gamma(F[:, : problem.n_clusters], s[: problem.n_clusters]))
    return AuthorsResult(labels, W, quality, problem.cost(W, end, engine), tuple(steps), status)


def _weights(problem: Problem, engine: DenseEngine, W: Array, start: Embedding) -> Gamma:
    """γ with the D of W and the first q columns of Y."""
    F, s = engine.weigh(start, engine.degrees(W), problem.novelty_weight)
    counted = problem.n_clusters + problem.n_components
    return Gamma(F[:, :counted], s[:counted])


def _ism_steps(problem: Problem, engine: DenseEngine, W: Array, start: Embedding) -> tuple[Array, Array, int]:
    steps = 0
    while steps < ISM_STEPS:
        last, steps = W, steps + 1
        _, phi = engine.value_and_phi(W, _weights(problem, engine, W, start))
        W = np.linalg.eigh(phi)[1][:, : problem.n_components]
        if _change(last, W) < ISM_TOLERANCE:
            break
    return W, W, steps


def _cayley_steps(problem: Problem, engine: DenseEngine, W: Array, start: Embedding) -> tuple[Array, Array, int]:
    identity = np.eye(len(W))
    tried, count = W, 0
    for _ in range(CAYLEY_STEPS):
        value, gradient = engine.value_and_gradient(W, _weights(problem, engine, W, start))
        A = gradient @ W.T - W @ gradient.T
        length, moved = 2.0, 0.0
        while length > 1e-9:
            tried = np.linalg.solve(identity + length * A, (identity - length * A) @ W)
            rise = value - engine.value(tried, _weights(problem, engine, tried, start))
            count += 1
            if rise < 0 or abs(rise) < 1e-7 * abs(value):
                moved, W = float(np.linalg.norm(tried - W)), np.linalg.qr(tried)[0]
                break
            length *= 0.2
        if moved < CAYLEY_TOLERANCE * np.linalg.norm(W):
            break
    return W, tried, count


def printed_cost(task: Task, W: Array, labels: np.ndarray, quality: float) -> float:
    """The cost in the arithmetic of the printed table: −HSIC(XW, U) + λ HSIC(XW, first q columns of [Y, new]).

    The authors append the new labels to Y before they compute it and then keep q columns: where q is larger than
    the number of given clusters, the alternative is penalised for similarity to itself.
    """
    problem, engine = task.problem()
    Y = np.hstack([engine.given, Given.from_codes(labels).indicators("paper")])[:, : problem.n_components]
    F = Y / np.sqrt(engine.degrees(W))[:, None]
    return -quality + task.novelty_weight * engine.value(W, Gamma(F, np.ones(Y.shape[1])))


def _change(last: Array, new: Array) -> float:
    return float(np.linalg.norm(new - last) / np.linalg.norm(new))
