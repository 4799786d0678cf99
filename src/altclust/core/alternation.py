"""Alternate D, W and U until both subspaces stop moving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.backend import Array
from ..base.given import Given
from .embedding import KernelMap, informative, round_to_labels
from .linalg.eigen import fix_signs
from .problem import Embedding, Gamma, KernelEngine, KernelObjective, Problem
from .reduced import ReducedObjective
from .solvers import Solver, Status, subspace_distance

RoundCallback = Callable[[int, float, Embedding], Any]

ROUGHEST = 1e-2  # first-order residual to which the first W steps are solved
NEAR = 0.1  # change of W up to which the last U is used as a start for the next
LOOSER = 5.0  # tolerance for the change of U, relative to that for W


@dataclass(frozen=True)
class Alternation:
    """The final W, the last U step, the weights of the last W problem, the history (one row per round), the status."""

    W: Array
    embedding: Embedding
    gamma: Gamma
    history: dict[str, Array]
    status: Status


@dataclass(frozen=True)
class Result:
    """The result of an alternation or a descent.

    `X` (m, r) are the rows that W (r, q) was found on: all n, or some of them where that needs all pairs of rows. W is
    orthonormal, with columns in descending order of the variance along them. `values` are the eigenvalues of the U
    step, `cost` is −HSIC(XW, U) + λ HSIC(XW, Y). `gamma` are the weights of the last W problem on X, to which the
    certificate refers. `history` has F, first-order residual, change of W, change of U and solver iterations per round.
    `error` is the share of the kernel's trace that landmarks left out, and `objective` what W minimises, if U and D
    were eliminated.
    """

    labels: np.ndarray
    X: Array
    W: Array
    kernel_map: KernelMap
    values: Array
    cost: float
    gamma: Gamma
    history: dict[str, Array]
    status: Status
    error: float = 0.0
    objective: ReducedObjective | None = None

    @property
    def n_iter(self) -> int:
        """Rounds of the alternation."""
        return len(self.history["value"])

    @property
    def quality(self) -> float:
        """Cluster quality HSIC(XW, U): the sum of the leading eigenvalues, at most k."""
        return float(np.sum(self.values))


def alternate(
    problem: Problem,
    engine: KernelEngine,
    solver: Solver,
    W: Array,
    embedding: Embedding | None = None,
    *,
    max_iter: int = 100,
    tol: float = 1e-2,
    callback: RoundCallback | None = None,
) -> Alternation:
    """Algorithm 1 of the paper, without the labels, from an orthonormal W (r, q) and, if it is known, its U step.

    Three things differ from the paper. The accuracy of a W step depends on the last change of W. Convergence is
    measured on subspaces: W moves by at most tol, see `altclust.core.solvers.subspace_distance`. For U and for the lag
    of log D the tolerance is five times as large: where eigenvalues are close, U rotates more than anything that
    depends on it. And since D is fixed in a W step but not a variable of the objective, the alternation can cycle: when
    W turns back towards its position two rounds ago, D is updated only in part (a geometric mean), which does not
    change the fixed points.

    The callback gets (round, F, the U step) after each round; a true return value stops and keeps the current state.
    """
    k = problem.n_clusters
    if embedding is None:
        embedding = engine.embed(W, k)
        log_degrees = np.log(embedding.degrees)
    else:
        log_degrees = np.log(engine.degrees(W))
    finest = solver.tol
    share, accuracy, before = 1.0, max(finest, ROUGHEST), W
    rounds: list[tuple[float, ...]] = []
    status = Status.MAX_ITER
    while len(rounds) < max_iter:
        gamma = engine.weigh(embedding, np.exp(log_degrees), problem.novelty_weight)
        step = replace(solver, tol=accuracy)(KernelObjective(engine, gamma), W)
        change_W = subspace_distance(W, step.W)
        new = engine.embed(step.W, k, start=embedding if rounds and change_W < NEAR else None)
        change_U = subspace_distance(embedding.U, new.U)
        turned_back = subspace_distance(before, step.W) < change_W
        before, W, embedding = W, step.W, new
        change = max(change_W, change_U / LOOSER)
        rounds.append((step.value, step.history[-1][1], change_W, change_U, step.n_iter))
        if callback is not None and callback(len(rounds), step.value, embedding):
            status = Status.CANCELLED
            break
        # Converged only if the W step was solved accurately (a rough one may not move at all) and did not return
        # to its start by a cycle, and if the D that it used agrees with the D at the new W.
        degrees = np.log(embedding.degrees)
        lag = np.sqrt(np.mean((degrees - log_degrees) ** 2))
        verified = not np.isnan(step.history[-1][1])  # NaN if the solver has not evaluated all rows at this W
        solved = verified and accuracy <= max(finest, 0.1 * tol) and step.history[-1][2] <= tol
        if solved and change <= tol and lag <= LOOSER * tol:
            stationary = step.status is Status.CONVERGED or step.history[-1][1] <= max(ROUGHEST, finest)
            status = Status.CONVERGED if stationary else Status.AT_REST
            break
        if turned_back and len(rounds) > 1:
            share = max(share / 2, 0.1)
        accuracy = max(finest, min(ROUGHEST, 0.1 * change_W))
        log_degrees = (1 - share) * log_degrees + share * degrees
    names = ("value", "residual", "change_W", "change_U", "solver_iterations")
    history = dict(zip(names, np.array(rounds).T, strict=True))
    return Alternation(W, embedding, gamma, history, status)


def quick_overlap(embedding: Embedding, given: Given) -> float:
    """Overlap of what is given with the labels from a quick rounding of U; NaN if nothing is given."""
    if not given:
        return float("nan")
    U = informative(embedding).U
    return given.overlap(round_to_labels(U, U.shape[1], "cluster_qr", np.random.default_rng(0))[0])


def solve(
    problem: Problem,
    engine: KernelEngine,
    solver: Solver,
    W: Array,
    embedding: Embedding | None = None,
    *,
    rounding: str = "kmeans",
    rng: np.random.Generator,
    **limits: Any,
) -> Result:
    """Alternate from W and round U to labels; limits are max_iter, tol and callback of `alternate`."""
    return rounded(problem, engine, alternate(problem, engine, solver, W, embedding, **limits), rounding, rng)


def extended(problem: Problem, engine: KernelEngine, found: Result, rounding: str, rng: np.random.Generator) -> Result:
    """A result for more rows: the same W, with the U and D of these rows."""
    embedding = engine.embed(found.W, problem.n_clusters)
    end = Alternation(found.W, embedding, found.gamma, found.history, found.status)
    return replace(rounded(problem, engine, end, rounding, rng), X=found.X)


def rounded(
    problem: Problem,
    engine: KernelEngine,
    end: Alternation,
    rounding: str,
    rng: np.random.Generator,
) -> Result:
    """The labels of a finished alternation, and the map to new rows."""
    cost = problem.cost(end.W, end.embedding, engine)
    embedding = informative(end.embedding)
    labels, centres = round_to_labels(embedding.U, problem.n_clusters, rounding, rng)
    X = engine.X
    Z = X @ end.W
    W = principal_axes(end.W, Z.T @ Z)
    kernel_map = KernelMap.fit(X @ W, embedding, centres, problem.kernel, getattr(engine, "widths", None))
    return Result(labels, engine.X, W, kernel_map, embedding.values, cost, end.gamma, end.history, end.status)


def principal_axes(W: Array, squares: Array) -> Array:
    """The same subspace with its columns along the principal axes of the projected rows Z, largest variance first.

    squares is ZᵀZ, shape (q, q).
    """
    _, axes = np.linalg.eigh(squares)
    return fix_signs(W @ axes[:, ::-1])
