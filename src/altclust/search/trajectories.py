"""Search for views by short fits from many starts.

One objective has many minima, and tables differ in what hides a view. So the rows are taken in several coordinates, and
in each of them short fits start from directions that simpler methods find:

- "residual": rows without the means of their given clusters, from k-means and discriminant directions in turn;
- "centroids": the same rows, from the directions between the centres of k-means clusters;
- "joined": the same rows, from a few more clusters than k that were joined to k, if k is told;
- "direct": the rows as they are, where only the penalty keeps the view away from the given clusters;
- "half-whitened" and "whitened": residuals in principal directions that are made more alike, or equal, in size, for
  views that a few large directions hide;
- "columns": a few columns of a wide table that stand out by themselves, see `altclust.search.screening`;
- "kept": residuals, from the directions in which rows with labels to keep differ, if there are any;
- "again": residuals once more, from the directions of the best views that all of these find;
- "components": the plane of independent components with light tails that do not depend on the given clusters, at ever
  smaller σ: only these fits find moons, rings and spirals. In few columns, those at the smallest σ start with a few
  rounds of the paper's alternation.

Some fits are held close to their start. In many columns a free fit finds gaps by chance, and its start is the better
view; in few columns it improves on its start. The ranking decides between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..base.backend import Array
from ..core.alternation import alternate
from ..core.initialization import spectral_start
from ..core.lloyd import best_lloyd
from ..core.problem import remove_given
from ..core.reduced import FLOOR
from ..core.solvers import ISM
from .discriminants import (
    DRAWN,
    ROWS_PER_CLUSTER,
    STARTS,
    alternate_discriminants,
    centroid_directions,
    in_turn,
    joined_discriminants,
    kmeans_directions,
)
from .heuristics import median_distance
from .independent_components import FEW_STARTS, MANY_STARTS, independent_directions
from .kept import KEPT, kept_start
from .short_fits import Setting, build_problem, in_coordinates, short_fit, with_columns
from .spec import SearchSpec
from .trials import Trial

CLUSTERS = (2, 3, 4, 5, 6, 8, 12, 20)  # the numbers of clusters that a search tries
MANY_CLUSTERS = 8  # from here on only the sources and fits that may serve many clusters
THIN_CLUSTERS = (2, 3)  # of the search for thin shapes, which have two directions
LOOSELY, CLOSELY = 0.3, 1.0  # pull over k − 1
THIN = (0.5, 0.25, 0.17, 0.12, 0.085)  # σ relative to the median distance of the projected rows
SMOOTH = 0.25  # from this width on, few landmarks are enough
SMOOTH_FLOOR, THIN_FLOOR = 0.03, 1e-3  # a larger one joins thin shapes
HELD = 3.0  # pull over k − 1, for directions in which thin shapes were found
ROUNDS, STEPS = 4, 4  # of the alternation, and of each of its W steps
# sources and stages of which the search makes use only where k is told
ONLY_TOLD = (("direct", 1), ("columns", 0), ("components", 1), ("columns, components", 1))


@dataclass(frozen=True)
class Source:
    """Coordinates of the rows, directions to start from, and the fits that start there.

    Attributes
    ----------
    subtract_given : bool
    whitening : float
    start : callable
        Finds directions in rows, for a number of clusters, from so many starts; independent components may help.
    fits : tuple of (float, float)
        σ over the median distance of the projected rows, and the pull over k − 1.
    columns : bool
        Whether only columns that stand out are used.
    """

    subtract_given: bool
    whitening: float
    start: Callable[[Array, int, np.random.Generator, Array, int], Array]
    fits: tuple[tuple[float, float], ...]
    columns: bool = False


SOURCES = {
    "residual": Source(True, 0.0, alternate_discriminants, ((0.7, CLOSELY),)),
    "centroids": Source(True, 0.0, centroid_directions, ((0.7, CLOSELY),)),
    "joined": Source(True, 0.0, joined_discriminants, ((0.7, CLOSELY),)),
    "direct": Source(False, 0.0, kmeans_directions, ((0.7, 0.0), (0.35, 0.0))),
    "half-whitened": Source(True, 0.5, alternate_discriminants, ((0.35, 0.0),)),
    "whitened": Source(True, 1.0, alternate_discriminants, ((0.7, CLOSELY),)),
    "columns": Source(True, 0.0, alternate_discriminants, ((0.7, CLOSELY), (0.35, 0.0)), columns=True),
    KEPT: Source(True, 0.0, alternate_discriminants, ((0.7, CLOSELY), (0.7, 0.0))),
}
FIXED, ALTERNATED = "fixed", "fixed, alternated"  # the spectral start with a fixed σ; then the paper's alternation
AGAIN = "again"  # residuals, from the directions of the best trials of all sources
LAST = {"centroids": 1, "joined": 2}  # the seeds of the others do not depend on them
FOR_MANY = ("residual", "centroids", "half-whitened", KEPT)
FOR_WIDE = ("residual", "half-whitened", "columns", KEPT)  # tables of so many columns that a search has to be short
WIDE_CLUSTERS = (2, 3, 4, 6, 10)


@dataclass(frozen=True)
class Trajectory:
    """A source of starts, and a number of clusters.

    Attributes
    ----------
    source : str
        One of `SOURCES`, "components", "fixed" or "fixed, alternated".
    n_clusters : int
    others : tuple of int
        Further numbers of clusters, for the same start.
    """

    source: str
    n_clusters: int
    others: tuple[int, ...] = ()


def trajectories(spec: SearchSpec) -> list[Trajectory]:
    """The trajectories of a search."""
    k, fixed, n = spec.fixed.n_clusters, spec.fixed, len(spec.X)
    if fixed.sigma is not None and k is not None:
        return [Trajectory(FIXED, k)]
    left = bool(spec.given) and remove_given(spec.X, spec.given).any()

    def allowed(source: Source) -> bool:
        asked = (fixed.subtract_given, source.subtract_given and bool(spec.given)), (fixed.whitening, source.whitening)
        possible = left or not source.subtract_given or not spec.given
        return (
            all(wanted in (None, has) for wanted, has in asked)
            and possible
            and (spec.columns is not None or not source.columns)
            and (spec.kept is not None or source is not SOURCES[KEPT])
            and (k is not None or source is not SOURCES["joined"])  # a search over k has finer clusters anyway
        )

    names = [name for name, source in SOURCES.items() if allowed(source)]
    if not spec.given:  # then residuals are the rows as they are
        names = [name for name in names if name != "residual"] or names
    wide = spec.columns is not None
    if wide:
        names = [name for name in names if name in FOR_WIDE] or names
    many = [name for name in names if name in FOR_MANY or not spec.given]
    found = [
        Trajectory(name, c)
        for c in ([k] if k else [c for c in (WIDE_CLUSTERS if wide else CLUSTERS) if c <= n / ROWS_PER_CLUSTER] or [2])
        for name in names
        if k or c < MANY_CLUSTERS or name in many
    ]
    if not fixed.subtract_given and not fixed.whitening and ((k or 2) < MANY_CLUSTERS or not found):
        name = "columns, components" if wide else "components"
        first, *others = [k] if k else [THIN_CLUSTERS[0], *(c for c in THIN_CLUSTERS[1:] if c < n)]
        found.append(Trajectory(name, first, tuple(others)))
    found.sort(key=lambda one: LAST.get(one.source, 0))
    return [trajectory for trajectory in found if trajectory.n_clusters < n]


def run(spec: SearchSpec, trajectory: Trajectory, seed: int) -> list[Trial]:
    """The trials along a trajectory."""
    return list(follow(spec, trajectory, np.random.default_rng(seed)))


def follow(
    spec: SearchSpec, trajectory: Trajectory, rng: np.random.Generator, only: int | None = None
) -> Iterator[Trial]:
    """The trials along a trajectory, one by one, or only that of one stage."""
    kinds = {FIXED: _fixed, ALTERNATED: _fixed, "components": _components, "columns, components": _components}
    return kinds.get(trajectory.source, _from_source)(spec, trajectory, rng, only)


def run_again(spec: SearchSpec, best: list[Trial], rng: np.random.Generator) -> list[Trial]:
    """The clusters of the best trials sought again, in their own directions and then in all residuals.

    There are none if residuals are not wanted, or nothing is left of them.
    """
    X, basis = in_coordinates(spec, True, 0.0)
    found: list[Trial] = []
    if spec.fixed.subtract_given is False or spec.fixed.whitening or spec.fixed.sigma is not None or not X.any():
        return found
    for trial in best:
        if trial.source == KEPT:  # what starts from it agrees with what is to be kept whether or not it is real
            continue
        k, shown = trial.n_clusters, (X if basis is None else X @ basis.T) @ trial.W
        W = in_turn(X, best_lloyd(shown, k, rng, 3)[0][None], k, rng)
        found += _fits(spec, AGAIN, SOURCES["residual"], k, X, basis, W, rng, None)
    return found


def _fixed(
    spec: SearchSpec, trajectory: Trajectory, rng: np.random.Generator, only: int | None = None
) -> Iterator[Trial]:
    assert spec.fixed.sigma is not None
    subtract, whitening = bool(spec.fixed.subtract_given), spec.fixed.whitening or 0.0
    X, basis = in_coordinates(spec, subtract, whitening)
    k, q = trajectory.n_clusters, spec.directions(trajectory.n_clusters)
    start = spectral_start(*build_problem(spec, X, k, q, spec.fixed.sigma))
    W, floor, steps = start.vectors[:, :q], FLOOR if spec.fixed.degree_floor is None else spec.fixed.degree_floor, None
    if trajectory.source == ALTERNATED:
        W, floor, steps = _alternated(spec, X, k, W, spec.fixed.sigma), THIN_FLOOR, 0
    setting = Setting(X, basis, subtract, whitening, floor, 0.0)
    yield short_fit(spec, trajectory.source, 0, k, setting, W, spec.fixed.sigma, rng, rough=False, steps=steps)


def _from_source(
    spec: SearchSpec, trajectory: Trajectory, rng: np.random.Generator, only: int | None = None
) -> Iterator[Trial]:
    source, k = SOURCES["residual" if trajectory.source == AGAIN else trajectory.source], trajectory.n_clusters
    X, basis = in_coordinates(spec, source.subtract_given, source.whitening, source.columns)
    if trajectory.source == KEPT and spec.kept is not None and len(spec.kept[1]):
        W = kept_start(X, k, spec.kept, rng)
    else:
        W = source.start(X, k, rng, spec.tails, DRAWN if spec.fixed.n_clusters else STARTS)
    return _fits(spec, trajectory.source, source, k, X, basis, W, rng, only)


def _fits(
    spec: SearchSpec,
    name: str,
    source: Source,
    k: int,
    X: Array,
    basis: Array | None,
    W: Array,
    rng: np.random.Generator,
    only: int | None,
) -> Iterator[Trial]:
    """The fits of a source from directions W."""
    W = with_columns(X, W, spec.fixed.n_components)
    unit = median_distance(X @ W, rng)
    for stage, (width, pull) in enumerate(source.fits):
        if not _wanted(spec, name, stage, only):
            continue
        strength = pull * max(k - 1, 1) if spec.fixed.pull is None else spec.fixed.pull
        floor = FLOOR if spec.fixed.degree_floor is None else spec.fixed.degree_floor
        setting = Setting(X, basis, source.subtract_given and bool(spec.given), source.whitening, floor, strength)
        yield short_fit(spec, name, stage, k, setting, W, width * unit, rng)


def _components(
    spec: SearchSpec, trajectory: Trajectory, rng: np.random.Generator, only: int | None = None
) -> Iterator[Trial]:
    basis = None if trajectory.source == "components" else spec.columns
    X = spec.X if basis is None else spec.X @ basis
    q = min(spec.directions(2), X.shape[1])
    W = independent_directions(X, spec.given, q, rng, MANY_STARTS if spec.has_few_columns else FEW_STARTS)
    unit, fixed = median_distance(X @ W, rng), spec.fixed
    for k, (stage, width) in product((trajectory.n_clusters, *trajectory.others), enumerate(THIN)):
        if not _wanted(spec, trajectory.source, stage, only):
            continue
        smooth = width >= SMOOTH
        alternated = not smooth and spec.has_few_columns
        start = _alternated(spec, X, k, W, width * unit) if alternated else W
        floor, pull = (THIN_FLOOR, HELD * max(k - 1, 1)) if alternated else (SMOOTH_FLOOR, 0.0)
        floor = floor if fixed.degree_floor is None else fixed.degree_floor
        setting = Setting(X, basis, False, 0.0, floor, pull if fixed.pull is None else fixed.pull)
        steps = 0 if alternated else None
        yield short_fit(spec, trajectory.source, stage, k, setting, start, width * unit, rng, smooth, steps)


def _alternated(spec: SearchSpec, X: Array, k: int, W: Array, sigma: float) -> Array:
    """The directions after a few rounds of the paper's alternation.

    It finds rings and spirals that the reduced objective does not: its k columns of U, and degrees without a floor, see
    the shape of a ring before they see its halves.
    """
    problem, engine = build_problem(spec, X, k, W.shape[1], sigma)
    engine.keep = spec.kept
    return alternate(problem, engine, ISM(max_iter=STEPS), W, max_iter=ROUNDS).W


def _wanted(spec: SearchSpec, source: str, stage: int, only: int | None) -> bool:
    """Whether a stage is the one that is asked for, or belongs to the search."""
    return stage == only if only is not None else bool(spec.fixed.n_clusters) or (source, stage) not in ONLY_TOLD
