"""Solvers of the W step. A solver depends on an `Objective`, never on an engine."""

from ..problem import Objective
from .grassmann import Solution, Solver, Status, first_order_residual, subspace_distance
from .growth import Growth
from .ism import ISM
from .newton import Newton
from .stiefel import Stiefel

SOLVERS: dict[str, type[Solver[Objective]]] = {
    "ism": ISM,
    "sm": Stiefel,
    "dg": Growth,
    "newton": Newton,
}

__all__ = [
    "ISM",
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
