"""A set of the table as the problem that the solvers see, with the start that the paper gives them."""

from __future__ import annotations

from typing import NamedTuple

from ...base.backend import Array
from ...core.engines import DenseEngine
from ...core.initialization import SpectralStart, spectral_start
from ...core.kernels import Gaussian
from ...core.problem import KernelEngine, Objective, Problem, indicators
from ..configs import Task


class Posed(NamedTuple):
    """The problem of a task, its engine, and the spectral start."""

    problem: Problem
    engine: KernelEngine
    start: SpectralStart

    @property
    def W(self) -> Array:
        """Where W begins, shape (d, q)."""
        return self.start.vectors[:, : self.problem.n_components]

    def first_objective(self) -> Objective:
        """The first W problem of the alternation: U from the spectral start, D at its W."""
        return Objective(self.engine, self.problem.gamma(self.start.embedding.U, self.engine.degrees(self.W)))


def pose(task: Task) -> Posed:
    """State the task as `altclust.KDAC` does, on all columns: none of the sets has fewer dimensions than columns."""
    X = task.X - task.X.mean(axis=0)
    Y = indicators([task.given], len(X), "paper")
    kernel = Gaussian(task.sigma)
    problem = Problem(X, None, Y, task.n_clusters, task.n_components, task.novelty_weight, kernel)
    engine = DenseEngine(X, kernel)
    return Posed(problem, engine, spectral_start(problem, engine))
