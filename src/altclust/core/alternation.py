"""Alternate D, W and U until both subspaces rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from ..base.backend import Array, to_numpy
from .embedding import KernelMap, informative, round_to_labels
from .linalg.eigen import fix_signs
from .metrics import overlap
from .problem import Embedding, Gamma, KernelEngine, Objective, Problem
from .result import Result
from .solvers import Solver, Status, subspace_distance

Callback = Callable[[int, float, float, float], Any]

ROUGHEST = 1e-2  # first-order residual that the earliest W steps are solved to
NEAR = 0.1  # change of W up to which the last U is a start for the next
LOOSER = 5.0  # how much further than W the subspace of U may move at rest


class Alternation(NamedTuple):
    """Where D, W and U came to rest: the last U step, the weights of the last W problem, and one row per round."""

    W: Array
    embedding: Embedding
    gamma: Gamma
    history: dict[str, Array]
    status: Status


def alternate(
    problem: Problem,
    engine: KernelEngine,
    solver: Solver,
    W: Array,
    embedding: Embedding | None = None,
    *,
    max_iter: int = 100,
    tol: float = 1e-2,
    callback: Callback | None = None,
) -> Alternation:
    """Algorithm 1 of the paper, without the labels.

    Three things are ours. W steps are solved only as far as the last change deserves. Rest is measured on
    subspaces. And since D is fixed in a W step but not a variable of the objective, the alternation can cycle:
    when W turns back towards where it was two rounds ago, D moves only part of the way (geometrically), which
    leaves every fixed point where it was.

    Parameters
    ----------
    problem : Problem
    engine : KernelEngine
    solver : Solver
    W : array, shape (r, q)
        Orthonormal start.
    embedding : Embedding, optional
        Start of U, as the spectral start has one; without it, the U step at W.
    max_iter : int
        Rounds.
    tol : float
        Root mean square sine of the principal angles by which W may still move, see
        `altclust.core.solvers.subspace_distance`. U may move five times as far: where the eigenvalues behind it crowd,
        it turns further than anything that depends on it; and log D may lag as much.
    callback : callable, optional
        Called after each round with (round, F, change, overlap), the last by a quick rounding of U and NaN where
        nothing is given or U is not kept; a true answer ends the fit with what there is.

    Returns
    -------
    Alternation
    """
    k = problem.n_clusters
    if embedding is None:
        embedding = engine.embed(W, k)
        log_degrees = np.log(to_numpy(embedding.degrees))
    else:
        log_degrees = np.log(to_numpy(engine.degrees(W)))
    finest = max(solver.tol, engine.accuracy)
    share, accuracy, before = 1.0, max(finest, ROUGHEST), W
    rounds: list[tuple[float, ...]] = []
    status = Status.MAX_ITER
    while len(rounds) < max_iter:
        gamma = problem.weigh(embedding, np.exp(log_degrees))
        step = replace(cast(Any, solver), tol=accuracy)(Objective(engine, gamma), W)
        change_W = subspace_distance(W, step.W)
        new = engine.embed(step.W, k, start=embedding if rounds and change_W < NEAR else None)
        change_U = subspace_distance(to_numpy(embedding.U), to_numpy(new.U))
        turned_back = subspace_distance(before, step.W) < change_W
        before, W, embedding = W, step.W, new
        change = max(change_W, change_U / LOOSER)
        rounds.append((step.value, step.history[-1][1], change_W, change_U, step.n_iter))
        if callback is not None and callback(len(rounds), step.value, change, _overlap(problem, embedding)):
            status = Status.CANCELLED
            break
        # Rest must be real: the W step solved well (a rough one may not move at all) and not on a cycle that ended
        # where it began, and the D it was solved with caught up with the D it leads to.
        degrees = np.log(to_numpy(embedding.degrees))
        lag = np.sqrt(np.mean((degrees - log_degrees) ** 2))
        verified = not np.isnan(step.history[-1][1])  # a solver that has not seen all rows there cannot say
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


def _overlap(problem: Problem, embedding: Embedding) -> float:
    """Of the labels that a quick rounding of U gives."""
    if not problem.codes:
        return float("nan")
    U = informative(Embedding(*map(to_numpy, embedding))).U
    return overlap(round_to_labels(U, problem.n_clusters, "cluster_qr", np.random.default_rng(0))[0], problem.codes)


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
    """Alternate from W and round U to labels.

    Parameters
    ----------
    problem, engine, solver, W, embedding
        As for `alternate`.
    rounding : {"kmeans", "cluster_qr"}
    rng : Generator
        For the rounding.
    limits : dict
        max_iter, tol and callback, as for `alternate`.

    Returns
    -------
    Result
    """
    W, embedding, gamma, history, status = alternate(problem, engine, solver, W, embedding, **limits)
    cost = problem.cost(W, embedding, engine)
    embedding = informative(Embedding(*map(to_numpy, embedding)))
    labels, centres = round_to_labels(embedding.U, problem.n_clusters, rounding, rng)
    X = to_numpy(problem.X)
    Z = X @ W
    W = principal_axes(W, Z.T @ Z)
    kernel_map = KernelMap.fit(X @ W, embedding, centres, problem.kernel)
    return Result(labels, W, kernel_map, embedding.values, cost, gamma, history, status)


def principal_axes(W: Array, squares: Array) -> Array:
    """The same subspace with its columns along the principal axes of the projected rows Z, widest first.

    squares is ZᵀZ, shape (q, q).
    """
    _, axes = np.linalg.eigh(squares)
    return fix_signs(W @ axes[:, ::-1])
