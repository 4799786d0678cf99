"""The result of a fit, as an immutable value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.backend import Array
from .embedding import KernelMap
from .problem import Gamma
from .reduced import ReducedObjective
from .solvers import Status


@dataclass(frozen=True)
class Result:
    """The result of the alternation.

    Attributes
    ----------
    labels : int array, shape (n,)
    X : array, shape (m, r)
        The rows that W was found on: all n, or some of them where that needs all pairs of rows.
    W : array, shape (r, q)
        Orthonormal, in the coordinates of the problem; columns in descending order of the variance along them.
    kernel_map : KernelMap
        Extends U and the labels to new projected rows.
    values : array, shape (k,)
        Eigenvalues of the U step; their sum is the cluster quality HSIC(XW, U).
    cost : float
        −HSIC(XW, U) + λ HSIC(XW, Y).
    gamma : Gamma
        The weights of the last W problem on the rows X, which W solves; the certificate refers to this problem.
    history : dict of arrays, shape (n_iter,)
        F, first-order residual, change of W, change of U and solver iterations per round.
    status : Status
    error : float
        Share of the kernel's trace that landmarks left out.
    objective : ReducedObjective or None
        The objective that W minimises, if U and D were eliminated; None after an alternation.
    """

    labels: np.ndarray
    X: Array
    W: Array
    kernel_map: KernelMap
    values: Array
    cost: float
    gamma: Gamma
    history: dict[str, Array]
    status: Status
    error: float = 0.0
    objective: ReducedObjective | None = None

    @property
    def n_iter(self) -> int:
        """Rounds of the alternation."""
        return len(self.history["value"])

    @property
    def quality(self) -> float:
        """Cluster quality HSIC(XW, U): the sum of the leading eigenvalues, at most k."""
        return float(np.sum(self.values))
