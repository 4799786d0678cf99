"""Descend the reduced objective from W, and round its minimum to labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.backend import Array
from .alternation import Result, principal_axes
from .embedding import KernelMap, round_to_labels, unit_rows
from .lloyd import best_lloyd
from .problem import Embedding
from .reduced import ReducedObjective
from .solvers import LBFGS, Solution, Status

FAINT = 1e-6  # share of the first eigenvalue, below which others are rounding of landmarks
DIGITS = 10


def descend(
    objective: ReducedObjective,
    W: Array,
    solver: LBFGS,
    *,
    callback: Callable[[int, float, Embedding], Any] | None = None,
    rounding: str = "kmeans",
    rng: np.random.Generator,
) -> Result:
    """The minimum of f that a solver finds from an orthonormal W, shape (r, q); f pulls to its anchor, or to W.

    The callback gets the number of every step, f and the U step; a true answer stops.
    """
    anchor = W if objective.anchor is None else objective.anchor
    objective = replace(objective, anchor=anchor if objective.pull else None)

    def report(number: int, value: float, W: Array) -> Any:
        assert callback is not None
        U = with_constant(objective.at(W).U)[:, : objective.n_clusters]
        return callback(number, value, Embedding(U, np.ones(U.shape[1]), np.ones(len(U))))

    solver = solver if callback is None else replace(solver, callback=report)
    for attempt in range(3):  # landmarks that are enough at the start may be too few at the end
        if attempt < 2:
            objective.find_landmarks(W, rng)
        else:
            objective = replace(objective, landmarks=None, _last=None)
        with objective.threads():
            solution = solver(objective, W)
        W = solution.W
        if solution.status is Status.CANCELLED or objective.are_enough(W):
            break
    with objective.threads():
        return _rounded(objective, solution, rounding, rng)


def _rounded(objective: ReducedObjective, solution: Solution, rounding: str, rng: np.random.Generator) -> Result:
    """Labels, the map to new rows, and the cost of the paper at the minimum."""
    X, W, kernel = objective.X, solution.W, objective.kernel
    Z = X @ W
    W = principal_axes(W, Z.T @ Z)
    Z, point, n, k = X @ W, objective.at(W), len(X), objective.n_clusters
    kept = point.values > FAINT * point.values[0]  # the others are rounding, and tell equal rows apart
    point = point._replace(U=point.U * kept, coefficients=point.coefficients * kept, offset=point.offset * kept)
    U = np.round(with_constant(point.U)[:, :k], DIGITS)  # so that equal rows stay equal
    labels, centres = best_lloyd(unit_rows(U), k, rng, 3) if objective.rough else round_to_labels(U, k, rounding, rng)
    landmarks = Z if objective.landmarks is None else Z[objective.landmarks]
    coefficients = np.column_stack([point.coefficients, np.zeros(len(landmarks))])[:, :k]
    offset = np.append(point.offset, -(n**-0.5))[:k]
    reach = 0.0
    if objective.landmarks is not None:
        reach = float(np.min(np.max(kernel.exponent(Z, landmarks), axis=1)))
    map = KernelMap(landmarks, coefficients, offset, centres, kernel, point.sums, reach, point.floor)
    paper = replace(objective, n_clusters=k + 1, floor=0.0, keep=None, _last=None)  # k columns, no floor
    plain = paper.at(W)
    values, residuals, changes = solution.history[min(1, solution.n_iter) :].T  # one row per step
    history = {"value": values, "residual": residuals, "change_W": changes, "change_U": np.full(len(values), np.nan)}
    history["solver_iterations"] = np.ones(len(values))
    minimised = replace(objective, _last=None, _around=None)
    return Result(
        labels, X, W, map, plain.values, plain.value, point.gamma, history, solution.status, point.error, minimised
    )


def with_constant(U: Array) -> Array:
    """U and the constant vector, which H has removed: with it, k − 1 eigenvectors tell k clusters apart."""
    return np.column_stack([U, np.full(len(U), len(U) ** -0.5)])
