"""DG: dimension growth, W column by column (Niu, Dy and Jordan 2014)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.backend import Array
from ..problem import Objective
from .grassmann import Solution, Status, first_order_residual, horizontal, orthonormal, subspace_distance


@dataclass(frozen=True)
class Growth:
    """The original solver of KDAC.

    Column j minimises F over unit vectors orthogonal to the columns before it. The Gaussian of j columns is the
    product of j Gaussians, so F of the first j columns is the objective that includes the kernels of the earlier
    columns. It uses projected gradient steps with backtracking; the first trial length is Barzilai and Borwein's,
    without which a column takes thousands of steps. Column j starts from the start's column j. As the columns are
    never revisited, the final F can be above that of the start: then the start is returned. Rows of the history refer
    to the columns so far, except the first and the last, which refer to all of W.

    Parameters
    ----------
    tol : float
        Residual of a column at which it counts as converged.
    max_iter : int
        Steps per column.
    """

    tol: float = 1e-4
    max_iter: int = 500

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Grow a new W from the columns of W, shape (d, q)."""
        start_value, start_gradient = objective.value_and_gradient(W)
        history = [(start_value, first_order_residual(W, start_gradient), 0.0)]
        found = W[:, :0]
        statuses = []
        for j in range(W.shape[1]):
            column, status = self._column(objective, found, W[:, [j]], history)
            statuses.append(status)
            found = np.hstack([found, column])
        found = orthonormal(found)
        value, gradient = objective.value_and_gradient(found)
        residual = first_order_residual(found, gradient)
        if value > start_value:
            found, (value, residual, _), status = W, history[0], Status.KEPT_START
        elif residual <= self.tol:
            status = Status.CONVERGED
        else:
            status = next((s for s in statuses if s is not Status.CONVERGED), Status.COLUMN_BY_COLUMN)
        history.append((value, residual, 0.0))
        return Solution(found, value, len(history) - 1, status, np.array(history))

    def _column(
        self, objective: Objective, found: Array, w: Array, history: list[tuple[float, float, float]]
    ) -> tuple[Array, Status]:
        w = orthonormal(np.hstack([found, w]))[:, -1:]
        value, gradient = objective.value_and_gradient(np.hstack([found, w]))
        slope = horizontal(np.hstack([found, w]), gradient[:, -1:])
        tau = 0.1 / max(float(np.linalg.norm(slope)), 1e-300)
        for _ in range(self.max_iter):
            residual = float(np.linalg.norm(slope) / max(float(np.linalg.norm(gradient[:, -1])), 1e-300))
            if residual <= self.tol:
                return w, Status.CONVERGED
            steepness = float(np.sum(slope**2))
            while True:
                trial = orthonormal(np.hstack([found, w - tau * slope]))[:, -1:]
                if objective.value(np.hstack([found, trial])) <= value - 1e-4 * tau * steepness:
                    break
                tau *= 0.5
                if tau * steepness <= 1e-15 * abs(value):
                    return w, Status.STALLED
            last, last_slope, w = w, slope, trial
            value, gradient = objective.value_and_gradient(np.hstack([found, w]))
            slope = horizontal(np.hstack([found, w]), gradient[:, -1:])
            history.append((value, residual, subspace_distance(last, w)))
            # the next trial length: Barzilai and Borwein's, safeguarded by backtracking
            moved, turned = w - last, slope - last_slope
            tau = float(np.clip(np.sum(moved**2) / max(abs(float(np.sum(moved * turned))), 1e-300), tau / 10, tau * 10))
        return w, Status.MAX_ITER
