"""One short fit of the search: rows in the coordinates of a trial, a start, a few steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from ..base.backend import Array
from ..core.descent import descend
from ..core.engines import DenseEngine
from ..core.kernels import Gaussian
from ..core.problem import Problem, coordinates
from ..core.solvers import LBFGS
from ..core.solvers.grassmann import orthonormal
from .spec import SearchSpec
from .trials import Trial

ROUGH_STEPS, EXACT_STEPS = 12, 8


@dataclass(frozen=True)
class Setting:
    """Rows in the coordinates of a trial, the map to those of the search, and how the fit treats them.

    `subtract_given`, `whitening`, `degree_floor` and `pull` are the parameters of `altclust.KDAC`; `in_columns` is
    whether X has only the columns of a wide table that stand out.
    """

    X: Array
    basis: Array | None
    subtract_given: bool
    whitening: float
    degree_floor: float
    pull: float
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
    k: int,
    setting: Setting,
    W: Array,
    sigma: float,
    rng: np.random.Generator,
    rough: bool = True,
    steps: int | None = None,
) -> Trial:
    """A few steps from W at this σ, or `steps` of them; rough ones use few landmarks."""
    n = len(setting.X)
    steps = (ROUGH_STEPS if rough else EXACT_STEPS) if steps is None else steps
    weight = 1.0 if spec.fixed.novelty_weight is None else spec.fixed.novelty_weight
    problem = Problem(k, W.shape[1], weight, Gaussian(sigma))
    result = descend(
        problem,
        setting.X,
        spec.given.indicators(spec.fixed.scaling),
        W,
        LBFGS(tol=1e-2, max_iter=steps),
        floor=setting.degree_floor,
        pull=setting.pull,
        rough=rough,
        keep=spec.kept,
        rng=rng,
    )
    return Trial(
        source=source,
        n_clusters=k,
        sigma=sigma,
        novelty_weight=weight,
        W=result.W if setting.basis is None else setting.basis @ result.W,
        labels=result.labels,
        spectrum=result.values,
        overlap=spec.given.overlap(result.labels),
        smallest=float(np.bincount(result.labels, minlength=k).min() / n),
        quality=result.quality,
        cost=result.cost,
        in_columns=setting.in_columns,
        subtract_given=setting.subtract_given,
        whitening=setting.whitening,
        degree_floor=setting.degree_floor,
        pull=setting.pull,
    )


def build_problem(spec: SearchSpec, X: Array, k: int, q: int, sigma: float) -> tuple[Problem, DenseEngine]:
    """The problem on the rows of the search, and its engine."""
    kernel = Gaussian(sigma)
    weight = 1.0 if spec.fixed.novelty_weight is None else spec.fixed.novelty_weight
    return Problem(k, q, weight, kernel), DenseEngine(X, kernel, spec.given.indicators(spec.fixed.scaling))
