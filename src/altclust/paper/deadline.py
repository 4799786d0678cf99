"""A solver with a time limit: at the deadline it returns the best W so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..base.backend import Array
from ..core.problem import Objective
from ..core.solvers import Solution, Solver, Status


class _TimeIsUp(Exception):
    """Ends a solver from inside an evaluation."""


@dataclass(frozen=True)
class Timed:
    """Any solver with a deadline on `time.monotonic`, checked at every evaluation of F; the solver is not changed.

    One W step of DG can take minutes, so it is not enough to check after each round.
    """

    solver: Solver
    deadline: float
    tol: float = 1e-4

    def over(self, *_: Any) -> bool:
        """Whether the deadline has passed; a callback for KDAC, which then stops with the best result so far."""
        return time.monotonic() > self.deadline

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Lower F from W until convergence or the deadline."""
        watched = _Watched(objective, self, W)
        try:
            return replace(self.solver, tol=self.tol)(watched, W)
        except _TimeIsUp:
            value, best = min(watched.seen, key=lambda pair: pair[0], default=(objective.value(W), W))
            return Solution(best, value, len(watched.seen), Status.CANCELLED, np.array([[value, np.nan, 0.0]]))


@dataclass(frozen=True)
class _Watched:
    """An objective that stores the best W with all its columns."""

    objective: Objective
    timed: Timed
    start: Array
    seen: list[tuple[float, Array]] = field(default_factory=list)

    def _noted(self, W: Array, found: tuple[float, Array]) -> tuple[float, Array]:
        if self.timed.over():
            raise _TimeIsUp
        if W.shape == self.start.shape and (not self.seen or found[0] < self.seen[0][0]):
            self.seen[:] = [(found[0], W)]
        return found

    def hessian(self, W: Array, phi: Array) -> Callable[[Array], Array]:
        return self.objective.hessian(W, phi)

    def value(self, W: Array) -> float:
        return self._noted(W, (self.objective.value(W), W))[0]

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        return self._noted(W, self.objective.value_and_gradient(W))

    def value_and_phi(self, W: Array) -> tuple[float, Array]:
        return self._noted(W, self.objective.value_and_phi(W))
