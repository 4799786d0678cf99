"""A set of the table as a problem for the solvers, with the paper's start."""

from __future__ import annotations

from typing import NamedTuple

from ...base.backend import Array
from ...base.given import Given
from ...core.engines import DenseEngine
from ...core.initialization import SpectralStart, spectral_start
from ...core.kernels import Gaussian
from ...core.problem import KernelObjective, Objective, Problem
from ..configs import Task


class PaperProblem(NamedTuple):
    """The problem of a task, its engine, and the spectral start."""

    problem: Problem
    engine: DenseEngine
    start: SpectralStart

    @property
    def W(self) -> Array:
        """The start of W, shape (d, q)."""
        return self.start.vectors[:, : self.problem.n_components]

    def first_objective(self) -> Objective:
        """The first W problem of the alternation: U from the spectral start, D at its W."""
        degrees = self.engine.degrees(self.W)
        gamma = self.engine.weigh(self.start.embedding, degrees, self.problem.novelty_weight)
        return KernelObjective(self.engine, gamma)


def paper_problem(task: Task) -> PaperProblem:
    """The problem that `altclust.KDAC` solves, on all columns: all sets have full column rank."""
    X = task.X - task.X.mean(axis=0)
    Y = Given.from_codes(task.given).indicators("paper")
    kernel = Gaussian(task.sigma)
    problem = Problem(task.n_clusters, task.n_components, task.novelty_weight, kernel)
    engine = DenseEngine(X, kernel, Y)
    return PaperProblem(problem, engine, spectral_start(problem, engine))
