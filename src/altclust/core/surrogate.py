"""W steps that read all rows once: a sample's objective, corrected to match Φ of all rows at the start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..base.backend import Array
from .engines.lowrank import LowRankEngine
from .engines.recipes import RowGamma
from .problem import KernelObjective, Objective
from .solvers import Solution, Solver, Status, first_order_residual, subspace_distance


@dataclass(frozen=True)
class Surrogate:
    """F of a sample, scaled to all rows, plus ½ Tr(Wᵀ Δ W), which makes its Φ at one W equal to that of all rows.

    Attributes
    ----------
    engine : LowRankEngine
        The engine of the sample.
    gamma : RowGamma
    scale : float
        (n / m)²: the number of pairs of all rows per pair of the sample.
    shift : array, shape (r, r)
        Δ.
    """

    engine: LowRankEngine
    gamma: RowGamma
    scale: float
    shift: Array

    @property
    def accuracy(self) -> float:
        """The accuracy of the engine."""
        return self.engine.accuracy

    def value(self, W: Array) -> float:
        """F(W)."""
        return -self.scale * self.engine.value(W, self.gamma) + 0.5 * float(np.sum(W * (self.shift @ W)))

    def value_and_phi(self, W: Array) -> tuple[float, Array]:
        """F(W) and Φ(W)."""
        phi = self.scale * self.engine.value_and_phi(W, self.gamma)[1] + self.shift
        return self.value(W), phi

    def value_and_gradient(self, W: Array) -> tuple[float, Array]:
        """F(W) and Φ(W) W."""
        value, phi = self.value_and_phi(W)
        return value, phi @ W

    def hessian(self, W: Array, phi: Array) -> Callable[[Array], Array]:
        """Z -> D∇F(W)[Z]."""
        product = self.engine.hessian(W, self.gamma, phi)
        return lambda Z: self.scale * product(Z) + self.shift @ Z


@dataclass(frozen=True)
class Subsampled:
    """A solver that runs another solver on a sample, corrected by Φ of all rows.

    Each W step computes Φ of all rows once and then solves the sample's surrogate (as Shamir, Srebro and Zhang 2014 do
    between machines). The curvature of the surrogate, and so the step, is off by a few percent. Stopping rule: if the
    step is at most `rest`, W stays. Otherwise W moves, and the residual of all rows at the new W is unknown (NaN)
    until the next W step.

    Parameters
    ----------
    solver : Solver
    whole, sample : LowRankEngine
        The engine of all rows, whose objective the solver is called with, and the engine of the sample.
    rest : float
        Distance of subspaces up to which W counts as unchanged.
    tol : float
        First-order residual on all rows at which W counts as stationary.
    """

    solver: Solver[Objective]
    whole: LowRankEngine
    sample: LowRankEngine
    rest: float
    tol: float = 1e-4

    def __call__(self, objective: KernelObjective[RowGamma], W: Array) -> Solution:
        """Lower F from W, shape (r, q)."""
        value, phi = objective.value_and_phi(W)
        start = (value, first_order_residual(W, phi @ W), 0.0)
        if start[1] <= self.tol:
            return Solution(W, value, 0, Status.CONVERGED, np.array([start]))
        self.sample.landmarks = self.whole.landmarks
        scale = (self.whole.rows.n / self.sample.rows.n) ** 2
        surrogate = Surrogate(self.sample, objective.gamma, scale, np.zeros_like(phi))
        surrogate = replace(surrogate, shift=phi - surrogate.value_and_phi(W)[1])
        inner = replace(self.solver, tol=min(self.tol, self.rest) / 2)(surrogate, W)
        moved = subspace_distance(W, inner.W)
        progressed = inner.history[-1][1] <= 0.5 * start[1]  # if it made no progress, a short step means nothing
        if moved <= self.rest and (progressed or inner.n_iter == 0):
            status = Status.CONVERGED if progressed else inner.status
            return Solution(W, value, 0, status, np.array([start]))
        return Solution(
            inner.W, inner.value, inner.n_iter, inner.status, np.array([start, (inner.value, np.nan, moved)])
        )
