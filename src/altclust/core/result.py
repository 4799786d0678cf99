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
    """The result of an alternation or a descent.

    `X` (m, r) are the rows that W (r, q) was found on: all n, or some of them where that needs all pairs of rows. W is
    orthonormal, with columns in descending order of the variance along them. `values` are the eigenvalues of the U
    step, `cost` is −HSIC(XW, U) + λ HSIC(XW, Y). `gamma` are the weights of the last W problem on X, to which the
    certificate refers. `history` has F, first-order residual, change of W, change of U and solver iterations per round.
    `error` is the share of the kernel's trace that landmarks left out, and `objective` what W minimises, if U and D
    were eliminated.
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
