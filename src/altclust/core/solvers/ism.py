"""ISM: the iterative spectral method, W ← eig_min(Φ(W)), with a safeguard that makes it converge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.backend import Array
from ...base.errors import InputError, short_repr
from ..linalg.eigen import METHODS, smallest_eigenvectors
from ..problem import Objective
from .grassmann import Solution, Status, first_order_residual, geodesic, subspace_distance
from .newton import newton_steps

SUFFICIENT = 1e-4  # Armijo's constant: share of the decrease predicted by the slope
SHORTEST = 1e-10  # step length; if values and slopes disagree, shorter steps do not help
ACROSS = 0.9  # cosine of the largest angle to eig_min, below which W is another eigenspace, not merely close to it
ELSEWHERE = 1e-6  # share of ‖Φ‖ by which the trace exceeds the smallest one if W is another eigenspace


@dataclass(frozen=True)
class ISM:
    """Algorithm 2 of the paper with a safeguard.

    Φ is the gradient of F as a function of the projector WWᵀ, so eig_min(Φ(W)) minimises the linearised
    objective: ISM is a conditional-gradient step of length one. It converges for large σ and overshoots for
    small ones. So the full step is tried first, and if F does not decrease enough, the step is shortened along
    the geodesic towards the same target, which is a descent direction.

    Such steps are efficient far from the solution and slow near it (at small σ the residual shrinks by a few percent
    per iteration, overshooting or not). So when an iteration does not halve the residual, Newton steps on the same
    objective follow.

    Parameters
    ----------
    tol : float
        First-order residual at which W counts as stationary.
    max_iter : int
    safeguard : bool
        False is the paper's loop, which may cycle and may end with a larger F than it started with.
    finish : bool
        Whether to end with Newton steps (only with the safeguard).
    eigen : str
        How eig_min is computed, see `altclust.core.linalg.eigen.smallest_eigenvectors`.
    """

    tol: float = 1e-4
    max_iter: int = 100
    safeguard: bool = True
    finish: bool = True
    eigen: str = "auto"

    def __post_init__(self) -> None:
        if not isinstance(self.eigen, str) or self.eigen not in METHODS:
            raise InputError(f"eigen={short_repr(self.eigen)} is not a method: choose among {', '.join(METHODS)}.")

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Lower F from W, shape (d, q)."""
        value, phi = objective.value_and_phi(W)
        residual = first_order_residual(W, phi @ W)
        history = [(value, residual, 0.0)]
        status = Status.MAX_ITER
        slow = False
        while True:
            values, target = smallest_eigenvectors(phi, W.shape[1], start=W, method=self.eigen)
            stationary = residual <= self.tol
            if stationary:
                # Any invariant subspace of Φ is stationary; a fixed point is the one with the smallest eigenvalues.
                above = np.trace(W.T @ phi @ W) - values.sum() > ELSEWHERE * np.linalg.norm(phi)
                elsewhere = above and np.linalg.svd(W.T @ target, compute_uv=False)[-1] < ACROSS
                if not elsewhere or (self.safeguard and objective.value(target) >= value):
                    status = Status.CONVERGED
                    break
            left = self.max_iter - (len(history) - 1)
            if left <= 0:
                break
            if self.safeguard and self.finish and slow and not stationary:
                W, value, status = newton_steps(objective, W, value, phi, history, self.tol, left)
                break
            moved = target if stationary or not self.safeguard else _step(objective, W, value, phi, target)
            if moved is None:
                status = Status.STALLED
                break
            previous, W = W, moved
            value, phi = objective.value_and_phi(W)
            last, residual = residual, first_order_residual(W, phi @ W)
            slow = residual > last / 2
            history.append((value, residual, subspace_distance(previous, W)))
        return Solution(W, value, len(history) - 1, status, np.array(history))


def _step(objective: Objective, W: Array, value: float, phi: Array, target: Array) -> Array | None:
    """Backtracking towards the target: the first trial with a sufficient decrease of F, or None."""
    curve, start, velocity = geodesic(W, target)
    slope = float(np.sum((phi @ start) * velocity))
    t, trial = 1.0, target
    while True:
        rise = objective.value(trial) - value
        if rise < 0 and rise <= SUFFICIENT * t * slope:
            return trial
        if t < SHORTEST or -slope * t <= 1e-15 * abs(value):
            return None
        # the minimum of the parabola through F(0), F'(0), F(t), limited to 0.1 t to 0.5 t
        t = min(max(-slope * t * t / (2 * (rise - slope * t)), 0.1 * t), 0.5 * t)
        trial = curve(t)
