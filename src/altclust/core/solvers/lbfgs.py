"""L-BFGS on the Grassmann manifold, after a few steps of ISM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ...base.backend import Array
from ..problem import Objective
from .grassmann import Solution, Status, first_order_residual, geodesic, horizontal, orthonormal, subspace_distance
from .newton import newton_steps

SUFFICIENT = 1e-4  # Armijo's share of the decrease that the slope promises
LONGEST = 1.0  # step, in radians
SHORTEST = 1e-9
MANY_COLUMNS = 200  # from where Φ and its eigenvectors cost more than the steps they save
PATIENCE = 100  # steps, after which Newton's steps finish: each costs more, but they converge where these do not


@dataclass(frozen=True)
class LBFGS:
    """Quasi-Newton steps: a value and a gradient per step, and superlinear convergence near the end.

    The first steps go towards eig_min(Φ(W)), the target of ISM, which is a good direction far from a minimum; they are
    shortened along the geodesic if F does not decrease enough. Later steps use the last gradients, which are carried
    along by projection to the tangent space. Where a hundred of them do not converge, Newton's steps do.

    Parameters
    ----------
    tol : float
        First-order residual at which W counts as stationary.
    max_iter : int
    spectral_steps : int
        Steps towards eig_min(Φ(W)) at the start.
    memory : int
        Gradients that are remembered.
    callback : callable, optional
        Called after every step with its number, F and W; a true answer stops, and keeps W.
    """

    tol: float = 1e-3
    max_iter: int = 200
    spectral_steps: int = 2
    memory: int = 8
    callback: Callable[[int, float, Array], Any] | None = None

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Lower F from W, shape (d, q)."""
        value, gradient = objective.value_and_gradient(W)
        slope = horizontal(W, gradient)
        history = [(value, first_order_residual(W, gradient), 0.0)]
        moves: list[tuple[Array, Array]] = []
        spectral = self.spectral_steps if len(W) <= MANY_COLUMNS else 0
        status = Status.MAX_ITER
        while True:
            if history[-1][1] <= self.tol:
                status = Status.CONVERGED
                break
            if len(history) > self.max_iter:
                break
            if len(history) > PATIENCE and len(W) <= MANY_COLUMNS:
                phi, left = objective.value_and_phi(W)[1], self.max_iter + 1 - len(history)
                W, value, status = newton_steps(objective, W, value, phi, history, self.tol, left, self.callback)
                break
            found = None
            if len(history) <= spectral:
                moves, found = [], _towards_smallest(objective, W, value)
            if found is None:
                found = _search(objective, W, value, slope, _direction(W, slope, moves))
            if found is None and moves:  # what is remembered misleads
                moves, found = [], _search(objective, W, value, slope, _direction(W, slope, []))
            if found is None:
                status = Status.STALLED
                break
            last, last_slope, W = W, slope, found
            value, gradient = objective.value_and_gradient(W)
            slope = horizontal(W, gradient)
            moved, turned = horizontal(W, W - last), slope - horizontal(W, last_slope)
            moves = [(horizontal(W, a), horizontal(W, b)) for a, b in moves]
            if np.sum(moved * turned) > 1e-10 * np.linalg.norm(moved) * np.linalg.norm(turned):
                moves = [*moves, (moved, turned)][-max(self.memory, 1) :]
            history.append((value, first_order_residual(W, gradient), subspace_distance(last, W)))
            if self.callback is not None and self.callback(len(history) - 1, value, W):
                status = Status.CANCELLED
                break
        return Solution(W, value, len(history) - 1, status, np.array(history))


def _direction(W: Array, slope: Array, moves: list[tuple[Array, Array]]) -> Array:
    """The two-loop recursion: minus an approximate inverse Hessian times the slope, at most `LONGEST`."""
    if not moves:
        return -0.1 * slope / np.linalg.norm(slope)
    step, shares = slope.copy(), []
    for moved, turned in reversed(moves):
        shares.append(np.sum(moved * step) / np.sum(moved * turned))
        step -= shares[-1] * turned
    moved, turned = moves[-1]
    step *= np.sum(moved * turned) / np.sum(turned**2)
    for (moved, turned), share in zip(moves, reversed(shares), strict=True):
        step += (share - np.sum(turned * step) / np.sum(moved * turned)) * moved
    step = -horizontal(W, step)
    return step / max(1.0, float(np.linalg.norm(step, 2)) / LONGEST)


def _search(objective: Objective, W: Array, value: float, slope: Array, step: Array) -> Array | None:
    """The first of ever shorter steps on which F decreases enough, or None."""
    steepness = float(np.sum(slope * step))
    t = 1.0
    while steepness < 0 and t >= SHORTEST and -steepness * t > 1e-15 * abs(value):
        trial = orthonormal(W + t * step)
        rise = objective.value(trial) - value
        if rise <= SUFFICIENT * t * steepness:
            return trial
        t *= min(max(-steepness * t / (2 * (rise - steepness * t)), 0.1), 0.5)
    return None


def _towards_smallest(objective: Objective, W: Array, value: float) -> Array | None:
    """A step of ISM, shortened along the geodesic a few times at most, or None."""
    _, phi = objective.value_and_phi(W)
    _, target = eigh(phi, subset_by_index=(0, W.shape[1] - 1))
    curve, start, velocity = geodesic(W, target)
    steepness = float(np.sum((phi @ start) * velocity))
    for t in (1.0, 0.3, 0.1):
        trial = curve(t)
        if objective.value(trial) - value <= SUFFICIENT * t * min(steepness, 0.0):
            return trial
    return None
