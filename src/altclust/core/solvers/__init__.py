"""Solvers of the W step. A solver depends on an `Objective`, never on an engine."""

from .grassmann import Solution, Solver, Status, first_order_residual, subspace_distance
from .growth import Growth
from .ism import ISM
from .lbfgs import LBFGS
from .newton import Newton
from .stiefel import Stiefel

SOLVERS: dict[str, type[Solver]] = {
    "ism": ISM,
    "sm": Stiefel,
    "dg": Growth,
    "newton": Newton,
    "lbfgs": LBFGS,
}

__all__ = [
    "ISM",
    "LBFGS",
    "SOLVERS",
    "Growth",
    "Newton",
    "Solution",
    "Solver",
    "Status",
    "Stiefel",
    "first_order_residual",
    "subspace_distance",
]
