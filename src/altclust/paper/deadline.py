"""A solver that minds the clock: when time is up it hands back the best W it has seen."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from ..base.backend import Array
from ..core.problem import Objective
from ..core.solvers import Solution, Solver, Status


class _TimeIsUp(Exception):
    """Leaves a solver from inside an evaluation."""


@dataclass(frozen=True)
class Timed:
    """Any solver, with the clock looked at before every evaluation of F; the solver itself is not changed.

    One W step of DG can take minutes, so it is not enough to look after each round.

    Parameters
    ----------
    solver : Solver
    deadline : float
        In seconds of `time.monotonic`.
    tol : float
        Handed on to the solver.
    """

    solver: Solver
    deadline: float
    tol: float = 1e-4

    def over(self, *_: Any) -> bool:
        """Whether time is up; a callback for KDAC, which then ends the fit with what there is."""
        return time.monotonic() > self.deadline

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Lower F from W until it is solved or time is up."""
        watched = _Watched(objective.engine, objective.gamma, self, W)
        try:
            return replace(cast(Any, self.solver), tol=self.tol)(watched, W)
        except _TimeIsUp:
            value, best = min(watched.seen, key=lambda pair: pair[0], default=(objective.value(W), W))
            return Solution(best, value, len(watched.seen), Status.CANCELLED, np.array([[value, np.nan, 0.0]]))


@dataclass(frozen=True)
class _Watched(Objective):
    """The objective, remembering the best W of full width."""

    timed: Timed
    start: Array
    seen: list[tuple[float, Array]] = field(default_factory=list)

    def _note(self, W: Array, value: float) -> None:
        if self.timed.over():
            raise _TimeIsUp
        if W.shape == self.start.shape and (not self.seen or value < self.seen[0][0]):
            self.seen[:] = [(value, W)]

    def value(self, W: Array) -> float:
        value = super().value(W)
        self._note(W, value)
        return value

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        value, gradient = super().value_and_gradient(W)
        self._note(W, value)
        return value, gradient

    def value_and_phi(self, W: Array) -> tuple[float, Array]:
        value, phi = super().value_and_phi(W)
        self._note(W, value)
        return value, phi
