"""Alternate D, W and U until both subspaces rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from .eigen import fix_signs
from .kernels import Array
from .problem import Embedding, KernelEngine, Objective, Problem
from .result import Result
from .solvers import Solver, Status, subspace_distance
from .spectral import KernelMap, informative, round_to_labels

Callback = Callable[[int, float, float], Any]

ROUGHEST = 1e-2  # first-order residual that the earliest W steps are solved to
NEAR = 0.1  # change of W up to which the last U is a start for the next
LOOSER = 5.0  # how much further than W the subspace of U may move at rest


def solve(
    problem: Problem,
    engine: KernelEngine,
    solver: Solver,
    W: Array,
    embedding: Embedding | None = None,
    *,
    max_iter: int = 100,
    tol: float = 1e-2,
    rounding: str = "kmeans",
    rng: np.random.Generator,
    callback: Callback | None = None,
) -> Result:
    """Algorithm 1 of the paper.

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
        `altclust.solvers.subspace_distance`. U may move five times as far: where the eigenvalues behind it crowd,
        it turns further than anything that depends on it; and log D may lag as much.
    rounding : {"kmeans", "cluster_qr"}
    rng : Generator
        For the rounding.
    callback : callable, optional
        Called after each round with (round, F, change); a true answer ends the fit with what there is.

    Returns
    -------
    Result
    """
    k = problem.n_clusters
    if embedding is None:
        embedding = engine.embed(W, k)
    log_degrees = np.log(engine.degrees(W))
    share, accuracy, before = 1.0, max(solver.tol, ROUGHEST), W
    rounds: list[tuple[float, ...]] = []
    status = Status.MAX_ITER
    while len(rounds) < max_iter:
        gamma = problem.gamma(embedding.U, np.exp(log_degrees))
        step = replace(cast(Any, solver), tol=accuracy)(Objective(engine, gamma), W)
        change_W = subspace_distance(W, step.W)
        new = engine.embed(step.W, k, start=embedding if rounds and change_W < NEAR else None)
        change_U = subspace_distance(embedding.U, new.U)
        turned_back = subspace_distance(before, step.W) < change_W
        before, W, embedding = W, step.W, new
        change = max(change_W, change_U / LOOSER)
        rounds.append((step.value, step.history[-1][1], change_W, change_U, step.n_iter))
        if callback is not None and callback(len(rounds), step.value, change):
            status = Status.CANCELLED
            break
        # Rest must be real: the W step solved well (a rough one may not move at all) and not on a cycle that ended
        # where it began, and the D it was solved with caught up with the D it leads to.
        lag = np.sqrt(np.mean((np.log(embedding.degrees) - log_degrees) ** 2))
        solved = accuracy <= max(solver.tol, 0.1 * tol) and step.history[-1][2] <= tol
        if solved and change <= tol and lag <= LOOSER * tol:
            status = Status.CONVERGED if step.history[-1][1] <= ROUGHEST else Status.AT_REST
            break
        if turned_back and len(rounds) > 1:
            share = max(share / 2, 0.1)
        accuracy = max(solver.tol, min(ROUGHEST, 0.1 * change_W))
        log_degrees = (1 - share) * log_degrees + share * np.log(embedding.degrees)
    cost = problem.cost(W, embedding, engine)
    embedding = informative(embedding)
    labels, centres = round_to_labels(embedding.U, k, rounding, rng)
    W = _principal_axes(problem.X, W)
    kernel_map = KernelMap.fit(problem.X @ W, embedding, centres, problem.kernel)
    names = ("value", "residual", "change_W", "change_U", "solver_iterations")
    history = dict(zip(names, np.array(rounds).T, strict=True))
    return Result(labels, W, kernel_map, embedding.values, cost, gamma, history, status)


def _principal_axes(X: Array, W: Array) -> Array:
    """The same subspace with its columns along the principal axes of the projected rows, widest first."""
    Z = X @ W
    _, axes = np.linalg.eigh(Z.T @ Z)
    return fix_signs(W @ axes[:, ::-1])
