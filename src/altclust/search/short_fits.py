"""One short fit of the search: rows in the coordinates of a trial, a start, a few steps."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import svd

from ..base.backend import Array
from ..core.descent import descend
from ..core.engines import DenseEngine
from ..core.kernels import Gaussian
from ..core.problem import Problem, coordinates
from ..core.reduced import ReducedObjective
from ..core.solvers import LBFGS
from ..core.solvers.grassmann import orthonormal
from .settings import Settings
from .spec import SearchSpec
from .trials import Trial

STEPS = 12


class Placed(NamedTuple):
    """Rows in the coordinates of a trial, the map to those of the search, and whether X has only the columns of a wide
    table that stand out.
    """

    X: Array
    basis: Array | None
    in_columns: bool = False


def in_coordinates(
    spec: SearchSpec, subtract_given: bool, whitening: float, columns: bool = False
) -> tuple[Array, Array | None]:
    """The rows of a search in the coordinates of a trial, and the map to them."""
    left = spec.given.subtracted_from(spec.X) if subtract_given else spec.X
    return coordinates(left, whitening, spec.columns if columns else None)


def with_columns(X: Array, W: Array, q: int | None) -> Array:
    """W with q columns: its first ones, or more, from principal directions orthogonal to it."""
    if q is None or q == W.shape[1]:
        return W
    q = min(q, X.shape[1])
    rest = svd(X - X @ W @ W.T, full_matrices=False)[2].T
    return orthonormal(np.column_stack([W, rest])[:, :q])


def short_fit(
    spec: SearchSpec,
    source: str,
    placed: Placed,
    settings: Settings,
    W: Array,
    rng: np.random.Generator,
    rough: bool = True,
    steps: int = STEPS,
) -> Trial:
    """A few steps from W with these settings, or `steps` of them; rough ones use few landmarks."""
    objective = ReducedObjective(
        placed.X,
        spec.given.indicators(settings.scaling),
        Gaussian(settings.width),
        settings.k,
        settings.weight,
        settings.degree_floor or 0.0,
        pull=settings.pull or 0.0,
        rough=rough,
        keep=spec.kept,
    )
    result = descend(objective, W, LBFGS(tol=1e-2, max_iter=steps), rng=rng)
    return Trial(
        source=source,
        settings=replace(settings, novelty_weight=settings.weight),
        W=result.W if placed.basis is None else placed.basis @ result.W,
        labels=result.labels,
        spectrum=result.values,
        overlap=spec.given.overlap(result.labels),
        smallest=float(np.bincount(result.labels, minlength=settings.k).min() / len(result.labels)),
        quality=result.quality,
        cost=result.cost,
        in_columns=placed.in_columns,
    )


def build_problem(spec: SearchSpec, X: Array, k: int, q: int, sigma: float) -> tuple[Problem, DenseEngine]:
    """The problem on the rows of the search, and its engine."""
    kernel = Gaussian(sigma)
    return Problem(k, q, spec.fixed.weight, kernel), DenseEngine(X, kernel, spec.given.indicators(spec.fixed.scaling))
