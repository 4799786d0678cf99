"""Geometry of the Grassmann manifold: F depends only on span W, so distances and steps are those of subspaces."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ...base.backend import Array
from ..problem import Objective


class Status(StrEnum):
    """Why a solver stopped, as a sentence."""

    CONVERGED = "converged"
    MAX_ITER = "stopped at the limit of iterations before it converged"
    STALLED = "stopped because F no longer falls in floating point"
    COLUMN_BY_COLUMN = "found every column in turn, but the subspace as a whole is not stationary"
    KEPT_START = "kept its start because the columns found one by one lie above it"
    AT_REST = "at rest, but the last W step did not reach a stationary point"
    CANCELLED = "cancelled by the callback"


class Solution(NamedTuple):
    """The result of a solver.

    W is (d, q) with WᵀW = I; history has a row (F, first-order residual, change of the subspace) for the
    start and for every iteration.
    """

    W: Array
    value: float
    n_iter: int
    status: Status
    history: Array


class Solver(Protocol):
    """A frozen dataclass with a tolerance, called with an objective and an orthonormal start."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def tol(self) -> float:
        """First-order residual at which W counts as stationary."""

    def __call__(self, objective: Objective, W: Array) -> Solution:
        """Lower F from W."""


def orthonormal(A: Array) -> Array:
    """The orthonormal factor of the QR decomposition of A with a positive diagonal of R."""
    Q, R = np.linalg.qr(A)
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)


def horizontal(W: Array, Z: Array) -> Array:
    """The part of Z that moves the subspace: (I − WWᵀ) Z."""
    return Z - W @ (W.T @ Z)


def first_order_residual(W: Array, gradient: Array) -> float:
    """‖ΦW − W(WᵀΦW)‖ / ‖ΦW‖, zero at a stationary point; gradient is ΦW."""
    size = np.linalg.norm(gradient)
    return float(np.linalg.norm(horizontal(W, gradient)) / size) if size > 0 else 0.0


def subspace_distance(A: Array, B: Array) -> float:
    """Root mean square sine of the principal angles between two orthonormal (d, q) matrices.

    The entries of W change with every sign or rotation of its columns; the projector does not. It is
    ‖AAᵀ − BBᵀ‖ / √(2q), computed as ‖(I − AAᵀ) B‖ / √q, which is accurate for tiny angles.
    """
    return float(np.linalg.norm(horizontal(A, B)) / np.sqrt(A.shape[1]))


def geodesic(W: Array, target: Array) -> tuple[Callable[[float], Array], Array, Array]:
    """The shortest curve t -> (d, q) of subspaces from span W (t = 0) to span target (t = 1), its start and velocity.

    The start is W rotated so that its columns pair with those of the target by principal angles; the velocity at 0 is
    orthogonal to it.
    """
    left, cosines, right = np.linalg.svd(W.T @ target)
    start, end = W @ left, target @ right.T
    sideways = end - start * cosines
    sines = np.linalg.norm(sideways, axis=0)
    angles = np.arctan2(sines, cosines)
    sideways = sideways / np.where(sines > 1e-15, sines, 1.0)

    def curve(t: float) -> Array:
        return orthonormal(start * np.cos(t * angles) + sideways * np.sin(t * angles))

    return curve, start, sideways * angles


def exponential(W: Array, Z: Array) -> Array:
    """The exponential map: the point at t = 1 of the geodesic from span W with horizontal velocity Z."""
    left, angles, right = np.linalg.svd(Z, full_matrices=False)
    return orthonormal((W @ right.T * np.cos(angles) + left * np.sin(angles)) @ right)
