"""SM: gradient descent on the Stiefel manifold along Cayley curves (Wen and Yin 2013)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.backend import Array
from ..problem import Objective
from .grassmann import Solution, Status, first_order_residual, horizontal, orthonormal, subspace_distance


@dataclass(frozen=True)
class Stiefel:
    """SM, the method that the paper compares with.

    The curve W(τ) = (I + τA/2)⁻¹ (I − τA/2) W with A = ∇F Wᵀ − W ∇Fᵀ stays orthonormal; A has rank 2q, so the
    inverse is that of a 2q x 2q matrix. Step lengths are alternating Barzilai–Borwein lengths, with the non-monotone
    acceptance of Zhang and Hager; if backtracking fails, the search becomes monotone.

    Parameters
    ----------
    tol : float
        First-order residual at which W counts as stationary.
    max_iter : int
    memory : float
        Weight of the past in the non-monotone reference; 0 is a monotone search.
    """

    tol: float = 1e-4
    max_iter: int = 500
    memory: float = 0.85

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Lower F from W, shape (d, q); the best point seen is returned."""
        value, gradient = objective.value_and_gradient(W)
        residual = first_order_residual(W, gradient)
        history = [(value, residual, 0.0)]
        best = (value, W)
        reference, weight, memory = value, 1.0, self.memory
        tau = 0.1 / max(float(np.linalg.norm(gradient)), 1e-300)
        status = Status.MAX_ITER
        while len(history) <= self.max_iter:
            if residual <= self.tol:
                status = Status.CONVERGED
                break
            slope = -float(np.sum(horizontal(W, gradient) ** 2))
            for _ in range(30):
                trial = _cayley(W, gradient, tau)
                trial_value = objective.value(trial)
                if trial_value <= reference + 1e-4 * tau * slope:
                    break
                tau *= 0.25
            else:
                if memory == 0 or -slope * tau <= 1e-15 * abs(value):
                    status = Status.STALLED
                    break
                memory, reference, tau = 0.0, value, 0.1 / max(float(np.linalg.norm(gradient)), 1e-300)
                continue
            last, last_gradient = W, gradient
            W = trial
            value, gradient = objective.value_and_gradient(W)
            residual = first_order_residual(W, gradient)
            history.append((value, residual, subspace_distance(last, W)))
            if value < best[0]:
                best = (value, W)
            moved = W - last
            turned = horizontal(W, gradient) - horizontal(last, last_gradient)
            cross = abs(float(np.sum(moved * turned)))
            odd = len(history) % 2
            lengths = np.sum(moved**2) / max(cross, 1e-300), cross / max(float(np.sum(turned**2)), 1e-300)
            tau = float(np.clip(lengths[odd], 1e-20, 1e20))
            weight, previous = memory * weight + 1, weight
            reference = (memory * previous * reference + value) / weight
        if best[0] < value:  # the search is non-monotone: return to the best point
            last, (value, W) = W, best
            residual = first_order_residual(W, objective.value_and_gradient(W)[1])
            history.append((value, residual, subspace_distance(last, W)))
            status = Status.CONVERGED if residual <= self.tol else status
        return Solution(W, value, len(history) - 1, status, np.array(history))


def _cayley(W: Array, gradient: Array, tau: float) -> Array:
    q = W.shape[1]
    left, right = np.hstack([gradient, W]), np.hstack([W, -gradient])
    small = np.eye(2 * q) + 0.5 * tau * (right.T @ left)
    moved = W - tau * left @ np.linalg.solve(small, right.T @ W)
    return orthonormal(moved)  # the curve is orthonormal; this removes the rounding of long steps
