"""Newton's method on the Grassmann manifold: trust region, truncated CG, preconditioned by Φ's spectrum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.backend import Array
from ..problem import Objective
from .grassmann import Solution, Status, exponential, first_order_residual, horizontal, subspace_distance

WIDEST_SPECTRUM = 300  # columns up to which a full eigendecomposition of Φ costs less than the products it saves

Map = Callable[[Array], Array]


@dataclass(frozen=True)
class Newton:
    """Riemannian trust-region Newton–CG: fast near a solution; elsewhere it follows negative curvature.

    Parameters
    ----------
    tol : float
        First-order residual at which W counts as stationary.
    max_iter : int
    """

    tol: float = 1e-4
    max_iter: int = 100

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Lower F from W, shape (d, q)."""
        value, phi = objective.value_and_phi(W)
        history = [(value, first_order_residual(W, phi @ W), 0.0)]
        W, value, status = newton_steps(objective, W, value, phi, history, self.tol, self.max_iter)
        return Solution(W, value, len(history) - 1, status, np.array(history))


def newton_steps(
    objective: Objective,
    W: Array,
    value: float,
    phi: Array,
    history: list[tuple[float, float, float]],
    tol: float,
    max_iter: int,
    callback: Callable[[int, float, Array], Any] | None = None,
) -> tuple[Array, float, Status]:
    """Newton steps from W, with F and Φ at W, until the residual is below tol; appends to history.

    A callback is called after every step with its number, F and W; a true answer stops, and keeps W.
    """
    radius = 0.5  # radians
    for _ in range(max_iter):
        gradient = phi @ W
        multipliers = W.T @ gradient
        slope = gradient - W @ multipliers
        residual = history[-1][1]
        if residual <= tol:
            return W, value, Status.CONVERGED
        hessian = riemannian_hessian(objective, W, phi)
        precondition = _preconditioner(phi, W, multipliers)
        while True:
            step, curved, at_edge = _truncated_cg(hessian, precondition, slope, radius, min(0.1, np.sqrt(residual)))
            promised = -float(np.sum(slope * step) + 0.5 * np.sum(step * curved))
            trial = exponential(W, step)
            fall = value - objective.value(trial)
            ratio = fall / promised if promised > 0 else -1.0
            if ratio < 0.25:
                radius = 0.25 * min(radius, float(np.linalg.norm(step)))
            elif ratio > 0.75 and at_edge:
                radius = min(2 * radius, np.pi / 2)
            if fall > 0 and ratio > 0.01:
                break
            if radius < 1e-8 or promised <= 1e-15 * abs(value):
                return W, value, Status.STALLED
        previous, W = W, trial
        value, phi = objective.value_and_phi(W)
        history.append((value, first_order_residual(W, phi @ W), subspace_distance(previous, W)))
        if callback is not None and callback(len(history) - 1, value, W):
            return W, value, Status.CANCELLED
    return W, value, Status.CONVERGED if history[-1][1] <= tol else Status.MAX_ITER


def riemannian_hessian(objective: Objective, W: Array, phi: Array) -> Map:
    """Z -> (I − WWᵀ) D∇F(W)[Z] − Z (WᵀΦW) for horizontal Z."""
    product, multipliers = objective.hessian(W, phi), W.T @ phi @ W
    return lambda Z: horizontal(W, product(Z)) - Z @ multipliers


def _preconditioner(phi: Array, W: Array, multipliers: Array) -> Map:
    """Divide by the gaps between Φ's eigenvalues outside and inside span W: the Hessian without its last term."""
    if len(phi) > WIDEST_SPECTRUM:
        return lambda Z: Z
    inside, R = np.linalg.eigh((multipliers + multipliers.T) / 2)
    complement = horizontal(W, horizontal(W, phi).T)
    outside, V = np.linalg.eigh((complement + complement.T) / 2)
    gaps = np.abs(outside[:, None] - inside)
    gaps = np.maximum(gaps, 1e-3 * np.max(gaps) + np.finfo(float).tiny)
    return lambda Z: horizontal(W, V @ ((V.T @ Z @ R) / gaps) @ R.T)


def _truncated_cg(
    hessian: Map, precondition: Map, slope: Array, radius: float, accuracy: float
) -> tuple[Array, Array, bool]:
    """Steihaug's conjugate gradients for min ⟨slope, x⟩ + ½⟨x, Hx⟩ in ‖x‖ ≤ radius.

    Returns x, Hx and whether x is on the boundary, which negative curvature or a long step leads to.
    """
    x, Hx, r = np.zeros_like(slope), np.zeros_like(slope), slope
    z = precondition(r)
    p, rz = -z, float(np.sum(r * z))
    goal = accuracy * np.linalg.norm(slope)
    for _ in range(2 * slope.size):
        Hp = hessian(p)
        curvature = float(np.sum(p * Hp))
        length = rz / curvature if curvature > 0 else np.inf
        if not np.isfinite(length) or np.linalg.norm(x + length * p) >= radius:
            pp, xp, xx = float(np.sum(p * p)), float(np.sum(x * p)), float(np.sum(x * x))
            length = (-xp + np.sqrt(max(xp**2 + pp * (radius**2 - xx), 0.0))) / pp
            return x + length * p, Hx + length * Hp, True
        x, Hx, r = x + length * p, Hx + length * Hp, r + length * Hp
        if np.linalg.norm(r) <= goal:
            break
        z = precondition(r)
        rz, last = float(np.sum(r * z)), rz
        p = -z + (rz / last) * p
    return x, Hx, False
