"""W steps that read all rows once: a sample's objective, bent so that its slope at the start is that of all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..base.backend import Array
from .engines.lowrank import LowRankEngine
from .engines.recipes import RowGamma
from .problem import Objective
from .solvers import Solution, Solver, Status, first_order_residual, subspace_distance


@dataclass(frozen=True)
class Surrogate:
    """F of a sample, scaled to all rows, plus ½ Tr(Wᵀ Δ W), which makes Φ at one W that of all rows.

    Attributes
    ----------
    engine : LowRankEngine
        Over the sample.
    gamma : RowGamma
    scale : float
        (n / m)²: how many pairs of all rows stand behind a pair of the sample.
    shift : array, shape (r, r)
        Δ.
    """

    engine: LowRankEngine
    gamma: RowGamma
    scale: float
    shift: Array

    @property
    def accuracy(self) -> float:
        """That of the engine."""
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
    """A solver that lets another one work on a sample, and all rows decide whether that was enough.

    One Φ of all rows per W step. From there the sample's surrogate is solved (as Shamir, Srebro and Zhang 2014 do
    between machines), whose curvature is off by a few percent, and so is the step. Where that step is no longer than
    what counts as rest, W stays: that is the stopping rule. Elsewhere W moves, and the residual of all rows at the new
    W is not known until the next W step: it is NaN.

    Parameters
    ----------
    solver : Solver
    sample : LowRankEngine
        Over some of the rows.
    rest : float
        Distance of subspaces that counts as rest.
    tol : float
        First-order residual on all rows at which W counts as stationary.
    """

    solver: Solver
    sample: LowRankEngine
    rest: float
    tol: float = 1e-4

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Lower F from W, shape (r, q)."""
        value, phi = objective.value_and_phi(W)
        start = (value, first_order_residual(W, phi @ W), 0.0)
        if start[1] <= self.tol:
            return Solution(W, value, 0, Status.CONVERGED, np.array([start]))
        whole, gamma = cast(LowRankEngine, objective.engine), cast(RowGamma, objective.gamma)
        self.sample.landmarks = whole.landmarks
        scale = (whole.rows.n / self.sample.rows.n) ** 2
        surrogate = Surrogate(self.sample, gamma, scale, np.zeros_like(phi))
        surrogate = replace(surrogate, shift=phi - surrogate.value_and_phi(W)[1])
        inner = replace(cast(Any, self.solver), tol=min(self.tol, self.rest) / 2)(surrogate, W)
        moved = subspace_distance(W, inner.W)
        walked = inner.history[-1][1] <= 0.5 * start[1]  # one that could not walk says nothing of how far it is
        if moved <= self.rest and (walked or inner.n_iter == 0):
            status = Status.CONVERGED if walked else inner.status
            return Solution(W, value, 0, status, np.array([start]))
        return Solution(
            inner.W, inner.value, inner.n_iter, inner.status, np.array([start, (inner.value, np.nan, moved)])
        )
