"""Search for views by short fits along three kinds of trajectories through the kernel width.

Spectral clustering finds compact clusters at a large σ and thin ones at a small σ, and the W problem has a good
start only for some of them. So a trajectory is a start of W and a sequence of σ:

- "cooled": from the spectral start at the median distance, with decreasing σ, each stage from the last W;
- "components": the plane of an independent component of X with light tails that does not depend on the given
  clusterings, and of the component that depends on it most;
- "residual": rows without the means of their given clusters, in the directions of their k-means centres. Only this
  one finds a view whose directions all depend on the given clustering as well.

Every stage is tried at two numbers of clusters and at the number that its spectrum suggests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from ..base.backend import Array
from ..core.alternation import solve
from ..core.embedding import fit_kmeans
from ..core.engines import DenseEngine
from ..core.initialization import spectral_start
from ..core.kernels import Gaussian
from ..core.metrics import overlap
from ..core.problem import Embedding, Problem, indicators, remove_given
from ..core.result import Result
from ..core.solvers import ISM
from ..core.solvers.grassmann import orthonormal
from .heuristics import MOST_CLUSTERS, median_distance
from .independent_components import independent_directions
from .spec import SearchSpec

MOST_ROWS = 400  # rows of the search; the fit that follows uses all
FIRST_CLUSTERS = (2, 3)
COOLED = 9  # stages
COOLING = 0.7
FANNED = (0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.085, 0.06)  # σ relative to the median distance of the projected rows
RESIDUAL = (0.7, 0.55, 0.45, 0.35)
RESIDUAL_CLUSTERS = (2, 3, 4)
ROUNDS, STEPS = 6, 6  # of a short fit
CLEAR = 3e-4  # 1 − eigenvalue, below which a cluster counts as disconnected


@dataclass(frozen=True)
class Trajectory:
    """A start of W and a sequence of σ.

    Attributes
    ----------
    source : {"cooled", "components", "residual", "fixed"}
    n_clusters : int
        k of the first fit at each stage.
    """

    source: str
    n_clusters: int


@dataclass(frozen=True)
class Trial:
    """A short fit and the criteria that can be computed without true labels.

    Attributes
    ----------
    source : str
        The source of its trajectory.
    stage : int
        Index of σ along the trajectory.
    n_clusters : int
    sigma : float
    novelty_weight : float
    W : array, shape (r, q)
    labels : int array, shape (n,)
        Labels of the rows of the search.
    spectrum : array
        Leading eigenvalues of the centred normalised kernel of the projected rows.
    overlap : float
    smallest : float
        Share of the rows in the smallest cluster.
    quality, cost : float
    inequality : float
        Left over right side of Theorem 1's inequality, if computed; it holds from 1 on.
    """

    source: str
    stage: int
    n_clusters: int
    sigma: float
    novelty_weight: float
    W: Array
    labels: np.ndarray
    spectrum: Array
    overlap: float
    smallest: float
    quality: float
    cost: float
    inequality: float = float("nan")

    @property
    def n_components(self) -> int:
        """Columns of W."""
        return self.W.shape[1]

    @property
    def separation(self) -> float:
        """How much more a cut into k + 1 clusters costs than one into k, see `separation`."""
        return separation(self.spectrum, self.n_clusters)

    @property
    def suggested(self) -> int:
        """The k with the largest separation in the same spectrum."""
        return max(range(2, len(self.spectrum) + 1), key=lambda k: separation(self.spectrum, k), default=2)


def trajectories(spec: SearchSpec) -> list[Trajectory]:
    """The trajectories of a search."""
    k = spec.fixed.n_clusters
    if spec.fixed.sigma is not None and k is not None:
        return [Trajectory("fixed", k)]
    sources = [] if spec.fixed.subtract_given else ["cooled", "components"]
    found = [Trajectory(source, c) for source in sources for c in ([k] if k else FIRST_CLUSTERS)]
    if spec.given and spec.fixed.subtract_given is not False and remove_given(spec.X, spec.given).any():
        found += [Trajectory("residual", c) for c in ([k] if k else RESIDUAL_CLUSTERS)]
    return [trajectory for trajectory in found if trajectory.n_clusters < len(spec.X)]


def run(spec: SearchSpec, trajectory: Trajectory, seed: int) -> list[Trial]:
    """The trials along a trajectory."""
    rng = np.random.default_rng(seed)
    return list(
        {"fixed": _fixed, "cooled": _cool, "components": _components, "residual": _residual}[trajectory.source](
            spec, trajectory, rng
        )
    )


def _fixed(spec: SearchSpec, trajectory: Trajectory, rng: np.random.Generator) -> Iterator[Trial]:
    assert spec.fixed.sigma is not None
    X = remove_given(spec.X, spec.given) if spec.fixed.subtract_given else spec.X
    k, q = trajectory.n_clusters, spec.directions(trajectory.n_clusters)
    start = spectral_start(*build_problem(spec, X, k, q, spec.fixed.sigma))
    yield short_fit(spec, X, trajectory.source, 0, k, start.vectors[:, :q], spec.fixed.sigma, rng, start.embedding)[0]


def _cool(spec: SearchSpec, trajectory: Trajectory, rng: np.random.Generator) -> Iterator[Trial]:
    k, X = trajectory.n_clusters, spec.X
    q = spec.directions(k)
    sigma = median_distance(X, rng)
    start = spectral_start(*build_problem(spec, X, k, q, sigma))
    W = start.vectors[:, :q]
    embedding: Embedding | None = start.embedding
    for stage in range(COOLED):
        trials = list(_stage(spec, X, trajectory, stage, W, sigma, rng, embedding))
        yield from trials
        W, embedding = trials[0].W, None
        sigma = median_distance(X @ W, rng) if stage == 0 else COOLING * sigma


def _components(spec: SearchSpec, trajectory: Trajectory, rng: np.random.Generator) -> Iterator[Trial]:
    q = spec.directions(2)
    W = independent_directions(spec.X, spec.given, q, rng)
    yield from _fan(spec, spec.X, trajectory, W, FANNED, rng, follow=True)


def _residual(spec: SearchSpec, trajectory: Trajectory, rng: np.random.Generator) -> Iterator[Trial]:
    X = remove_given(spec.X, spec.given)
    q = spec.directions(trajectory.n_clusters)
    yield from _fan(spec, X, trajectory, centre_directions(X, trajectory.n_clusters, q, rng), RESIDUAL, rng)


def centre_directions(X: Array, k: int, q: int, rng: np.random.Generator) -> Array:
    """Orthonormal directions of the k-means centres, then principal directions of the rows orthogonal to them."""
    labels = fit_kmeans(X, k, n_init=5, seed=int(rng.integers(2**31))).labels_
    sizes = np.bincount(labels, minlength=k)
    centres = np.array([X[labels == c].sum(axis=0) for c in range(k)]) / np.sqrt(np.maximum(sizes, 1))[:, None]
    _, _, between = svd(centres, full_matrices=False)
    between = between[: k - 1]
    _, _, within = svd(X - X @ between.T @ between, full_matrices=False)
    return orthonormal(np.vstack([between, within])[:q].T)


def _fan(
    spec: SearchSpec,
    X: Array,
    trajectory: Trajectory,
    W: Array,
    factors: tuple[float, ...],
    rng: np.random.Generator,
    follow: bool = False,
) -> Iterator[Trial]:
    """Fits at every σ from the same W; with `follow`, also from the W of the last σ, which thin clusters need."""
    unit = median_distance(X @ W, rng)
    last = None
    for stage, factor in enumerate(factors):
        trials = list(_stage(spec, X, trajectory, stage, W, factor * unit, rng))
        yield from trials
        if follow and last is not None:
            yield short_fit(spec, X, trajectory.source, stage, trajectory.n_clusters, last, factor * unit, rng)[0]
        last = trials[0].W


def _stage(
    spec: SearchSpec,
    X: Array,
    trajectory: Trajectory,
    stage: int,
    W: Array,
    sigma: float,
    rng: np.random.Generator,
    embedding: Embedding | None = None,
) -> Iterator[Trial]:
    """The trial at the trajectory's k, and another at the k that its spectrum suggests."""
    k = trajectory.n_clusters
    trial, _ = short_fit(spec, X, trajectory.source, stage, k, W, sigma, rng, embedding)
    yield trial
    if spec.fixed.n_clusters is None and trial.suggested not in (k, *FIRST_CLUSTERS):
        yield short_fit(spec, X, trajectory.source, stage, trial.suggested, trial.W, sigma, rng)[0]


def short_fit(
    spec: SearchSpec,
    X: Array,
    source: str,
    stage: int,
    k: int,
    W: Array,
    sigma: float,
    rng: np.random.Generator,
    embedding: Embedding | None = None,
) -> tuple[Trial, Result]:
    """A fit of a few rounds from W at this σ, and its criteria."""
    problem, engine = build_problem(spec, X, k, W.shape[1], sigma)
    result = solve(problem, engine, ISM(max_iter=STEPS), W, embedding, max_iter=ROUNDS, rng=rng)
    spectrum = engine.embed(result.W, min(max(MOST_CLUSTERS, k), len(X) - 1)).values
    trial = Trial(
        source=source,
        stage=stage,
        n_clusters=k,
        sigma=sigma,
        novelty_weight=problem.novelty_weight,
        W=result.W,
        labels=result.labels,
        spectrum=spectrum,
        overlap=overlap(result.labels, spec.given),
        smallest=float(np.bincount(result.labels, minlength=k).min() / len(X)),
        quality=result.quality,
        cost=result.cost,
    )
    return trial, result


def separation(spectrum: Array, k: int) -> float:
    """Log (1 − w_(k+1)) / (1 − w_k); the spectrum is that of the centred kernel, from w_2 on."""
    if k < 2 or k > len(spectrum):
        return 0.0
    return float(np.log((1 - spectrum[k - 1] + CLEAR) / (1 - spectrum[k - 2] + CLEAR)))


def build_problem(spec: SearchSpec, X: Array, k: int, q: int, sigma: float) -> tuple[Problem, DenseEngine]:
    """The problem on the rows of the search, and its engine."""
    kernel = Gaussian(sigma)
    weight = 1.0 if spec.fixed.novelty_weight is None else spec.fixed.novelty_weight
    given = indicators(spec.given, len(X), spec.fixed.scaling)
    return Problem(k, q, weight, kernel), DenseEngine(X, kernel, given)
