"""Proposals: rows in several coordinates, directions to start from in each, and a short fit from there.

One objective has many minima, and tables differ in what hides a view. So short fits start from directions that simpler
methods find:

- "residual": rows without the means of their given clusters, from k-means and discriminant directions in turn;
- "centroids": the same rows, from the directions between the centres of k-means clusters;
- "direct": the rows as they are, where only the penalty keeps the view away from the given clusters;
- "whitened": residuals in principal directions of equal size, for views that a few large directions hide;
- "columns": a few columns of a wide table that stand out by themselves, see `altclust.search.screening`;
- "kept": residuals, from the directions in which rows with labels to keep differ, if there are any;
- "components": the plane of independent components with light tails that do not depend on the given clusters;
- "thin": the same plane at a small σ, after a few rounds of the paper's alternation: only this finds rings and
  spirals. In many columns it would find gaps by chance.

Most fits are held close to their start. In many columns a free fit finds gaps by chance, and its start is the better
view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..base.backend import Array
from ..core.alternation import alternate
from ..core.initialization import spectral_start
from ..core.reduced import FLOOR
from ..core.solvers import ISM
from .discriminants import alternate_discriminants, centroid_directions, kmeans_directions
from .heuristics import ROWS_EACH, median_distance
from .keep_starts import KEPT, kept_start
from .short_fits import STEPS, Placed, build_problem, in_coordinates, short_fit, with_columns
from .spec import FEW_ROWS, SearchSpec
from .trials import Trial

PLANE = 2  # independent components for shapes
WIDTH, THIN = 0.7, 0.085  # σ over the median distance of the projected rows
THIN_FLOOR = 1e-3  # of degrees; a larger one joins thin shapes
ROUNDS = 4  # of the alternation, and steps of each of its W steps

Start = Callable[[SearchSpec, Array, int, np.random.Generator], Array]


class Proposal(NamedTuple):
    """A source of starts, and a number of clusters."""

    source: str
    n_clusters: int


@dataclass(frozen=True)
class Source:
    """Coordinates of the rows, directions to start from, and the fit that starts there.

    Attributes
    ----------
    start : callable
        Finds directions in rows, for a number of clusters.
    subtract_given : bool
    whitened : bool
        Whether principal directions have equal size.
    held : bool
        Whether the fit is held close to its start: with a pull of k − 1, as much as all eigenvalues count.
    shapes : bool
        Whether it is a plane for shapes of few clusters; in a wide table, in columns that stand out.
    thin : bool
        Whether the fit is the paper's alternation.
    width : float
        σ over the median distance of the projected rows.
    """

    start: Start
    subtract_given: bool = True
    whitened: bool = False
    held: bool = True
    shapes: bool = False
    thin: bool = False
    width: float = WIDTH


def _components(spec: SearchSpec, X: Array, k: int, rng: np.random.Generator) -> Array:
    return spec.components


def _kept(spec: SearchSpec, X: Array, k: int, rng: np.random.Generator) -> Array:
    if spec.kept is None or not len(spec.kept[1]):  # in some rows, nothing of it may be left
        return alternate_discriminants(X, k, rng, spec.tails)
    return kept_start(X, k, spec.kept, rng)


def _in_turn(spec: SearchSpec, X: Array, k: int, rng: np.random.Generator) -> Array:
    return alternate_discriminants(X, k, rng, spec.tails)


SOURCES = {
    "residual": Source(_in_turn),
    "centroids": Source(lambda spec, X, k, rng: centroid_directions(X, k, rng)),
    "direct": Source(lambda spec, X, k, rng: kmeans_directions(X, k, rng), subtract_given=False, held=False),
    "whitened": Source(_in_turn, whitened=True),
    "columns": Source(_in_turn),
    KEPT: Source(_kept),
    "components": Source(_components, subtract_given=False, held=False, shapes=True),
    "thin": Source(_components, subtract_given=False, shapes=True, thin=True, width=THIN),
}
FIXED, ALTERNATED = "fixed", "fixed, alternated"  # the spectral start with a fixed σ; then the paper's alternation


def proposals(spec: SearchSpec) -> list[Proposal]:
    """The proposals of a search."""
    k, fixed, n = spec.fixed.n_clusters, spec.fixed, len(spec.X)
    if fixed.sigma is not None and k is not None:
        return [Proposal(FIXED, k)]
    left = not spec.given or spec.given.subtracted_from(spec.X).any()

    def allowed(name: str, source: Source) -> bool:
        subtract = source.subtract_given and bool(spec.given)
        return (
            fixed.subtract_given in (None, subtract)
            and fixed.whitening in (None, float(source.whitened))
            and (left or not subtract)
            and (name != "columns" or spec.columns is not None)
            and (name != KEPT or spec.kept is not None)
            and (not source.thin or spec.has_few_columns)
        )

    names = [name for name, source in SOURCES.items() if allowed(name, source)]
    tried = [k] if k else numbers_of_clusters(min(n, FEW_ROWS))
    found = [Proposal(name, c) for c in tried for name in names if k or c <= PLANE + 1 or not SOURCES[name].shapes]
    return [one for one in found if one.n_clusters < n]


def numbers_of_clusters(n: int) -> list[int]:
    """2 to 6, 8, 10, 13 and so on, each by a third larger than the last, as far as n rows are enough for them."""
    found = [2]
    while (more := found[-1] + max(1, found[-1] // 3)) <= n / ROWS_EACH:
        found.append(more)
    return found


def fit_proposal(spec: SearchSpec, proposal: Proposal, seed: int) -> Trial:
    """The trial of a proposal; its random numbers do not depend on the other proposals."""
    name, k = proposal
    place = list(SOURCES).index(name) if name in SOURCES else len(SOURCES)
    rng = np.random.default_rng([seed, place, k])
    if name in (FIXED, ALTERNATED):
        return _fixed(spec, name, k, rng)
    source, fixed = SOURCES[name], spec.fixed
    columns = spec.columns is not None and (source.shapes or name == "columns")
    if source.shapes:
        X, basis = spec.standing_out, spec.columns
    else:
        X, basis = in_coordinates(spec, source.subtract_given, float(source.whitened), columns)
    W = with_columns(X, source.start(spec, X, k, rng), fixed.n_components)
    sigma = source.width * median_distance(X @ W, rng)
    if source.thin:
        W = _alternated(spec, X, k, W, sigma)
    settings = replace(
        fixed,
        n_clusters=k,
        sigma=sigma,
        subtract_given=source.subtract_given and bool(spec.given),
        whitening=float(source.whitened),
        degree_floor=(THIN_FLOOR if source.thin else FLOOR) if fixed.degree_floor is None else fixed.degree_floor,
        pull=source.held * max(k - 1.0, 1.0) if fixed.pull is None else fixed.pull,
    )
    placed, steps = Placed(X, basis, columns), 0 if source.thin else STEPS
    return short_fit(spec, name, placed, settings, W, rng, rough=not source.thin, steps=steps)


def _fixed(spec: SearchSpec, name: str, k: int, rng: np.random.Generator) -> Trial:
    fixed, whitening = spec.fixed, spec.fixed.whitening or 0.0
    subtract = bool(fixed.subtract_given)
    X, basis = in_coordinates(spec, subtract, whitening)
    q = spec.directions(k)
    start = spectral_start(*build_problem(spec, X, k, q, fixed.width))
    W, floor, steps = start.vectors[:, :q], FLOOR if fixed.degree_floor is None else fixed.degree_floor, STEPS
    if name == ALTERNATED:
        W, floor, steps = _alternated(spec, X, k, W, fixed.width), THIN_FLOOR, 0
    settings = replace(fixed, n_clusters=k, subtract_given=subtract, whitening=whitening, degree_floor=floor, pull=0.0)
    return short_fit(spec, name, Placed(X, basis), settings, W, rng, rough=False, steps=steps)


def _alternated(spec: SearchSpec, X: Array, k: int, W: Array, sigma: float) -> Array:
    """The directions after a few rounds of the paper's alternation.

    It finds rings and spirals that the reduced objective does not: its k columns of U, and degrees without a floor, see
    the shape of a ring before they see its halves.
    """
    problem, engine = build_problem(spec, X, k, W.shape[1], sigma)
    engine.keep = spec.kept
    return alternate(problem, engine, ISM(max_iter=ROUNDS), W, max_iter=ROUNDS).W
