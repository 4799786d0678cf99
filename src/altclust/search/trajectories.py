"""Where an alternative view may hide: short fits along three kinds of paths through the kernel width.

Spectral clustering sees compact clusters at a large σ and thin ones at a small σ, and the W problem has a good
start only for some of them. So a path fixes where W begins and walks through σ:

- "cooled": from the spectral start at the median distance, σ shrinking, each stage from the last W;
- "components": the plane of an independent component of X with light tails that tells nothing of what is given, and of
  the one that depends on it most;
- "residual": rows without the means of their given clusters, in the directions of their k-means centres. It is the
  only one that finds a view whose directions all carry what is given as well.

Every stage is tried at two numbers of clusters and at the one that the spectrum there suggests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.linalg import svd
from sklearn.cluster import KMeans

from ..base.backend import Array
from ..core.alternation import solve
from ..core.engines import DenseEngine
from ..core.initialization import spectral_start
from ..core.kernels import Gaussian
from ..core.metrics import nmi, overlap
from ..core.problem import Embedding, Problem, indicators, remove_given
from ..core.result import Result
from ..core.solvers import ISM, Solver
from ..core.solvers.grassmann import orthonormal
from .heuristics import MOST_CLUSTERS, median_distance
from .independent_components import independent_directions

MOST_ROWS = 400  # rows that the search looks at; the fit that follows uses all
FIRST_CLUSTERS = (2, 3)
COOLED = 9  # stages
COOLING = 0.7
FANNED = (0.7, 0.5, 0.35, 0.25, 0.17, 0.12, 0.085, 0.06)  # σ over the median distance of the projected rows
RESIDUAL = (0.7, 0.55, 0.45, 0.35)
RESIDUAL_CLUSTERS = (2, 3, 4)
ROUNDS, STEPS = 6, 6  # of a short fit
CLEAR = 3e-4  # 1 − eigenvalue below which a cluster is as good as cut off


@dataclass(frozen=True)
class Question:
    """What is searched for.

    Attributes
    ----------
    X : array, shape (n, r)
        Centred rows; a search is asked of `MOST_ROWS` at most.
    given : list of int arrays, shape (n,)
    n_clusters, n_components : int or None
        Fixed, or to be found.
    novelty_weight : float or None
        None where it may vary; 1 unless a rule says otherwise.
    scaling : {"balanced", "paper"}
    residual : bool or None
        Whether the means of the given clusters are to be removed; None where the search may decide.
    sigma : float or None
        Fixed, which leaves a single trial, or to be found.
    """

    X: Array
    given: list[np.ndarray]
    n_clusters: int | None = None
    n_components: int | None = None
    novelty_weight: float | None = None
    scaling: str = "balanced"
    residual: bool | None = None
    sigma: float | None = None

    def directions(self, wanted: int) -> int:
        """The q that is fixed; otherwise as wanted, but leaving something out, so that there is something to choose."""
        r = self.X.shape[1]
        return min(wanted, max(1, r - 1)) if self.n_components is None else min(self.n_components, r)


@dataclass(frozen=True)
class Path:
    """One walk through σ.

    Attributes
    ----------
    source : {"cooled", "components", "residual", "fixed"}
    n_clusters : int
        k of its first fits.
    """

    source: str
    n_clusters: int


@dataclass(frozen=True)
class Trial:
    """A short fit and what can be said of it without knowing the truth.

    Attributes
    ----------
    source : str
        The path that led here.
    stage : int
        Along the path.
    n_clusters : int
    sigma : float
    novelty_weight : float
    W : array, shape (r, q)
    labels : int array, shape (n,)
        Of the rows that were looked at.
    spectrum : array
        Leading eigenvalues of the centred normalised kernel of the projected rows.
    overlap : float
    smallest : float
        Share of the rows in the smallest cluster.
    quality, cost : float
    inequality : float
        Left over right side of Theorem 1's inequality, where it was asked for; it holds from 1 on.
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
        """How much less than one cut more the cuts between the k clusters cost, see `separation`."""
        return separation(self.spectrum, self.n_clusters)

    @property
    def suggested(self) -> int:
        """The k with the largest separation in the same spectrum."""
        return max(range(2, len(self.spectrum) + 1), key=lambda k: separation(self.spectrum, k), default=2)


def paths(question: Question) -> list[Path]:
    """All walks that a search makes."""
    k = question.n_clusters
    if question.sigma is not None and k is not None:
        return [Path("fixed", k)]
    sources = [] if question.residual else ["cooled", "components"]
    walks = [Path(source, c) for source in sources for c in ([k] if k else FIRST_CLUSTERS)]
    if question.given and question.residual is not False and remove_given(question.X, question.given).any():
        walks += [Path("residual", c) for c in ([k] if k else RESIDUAL_CLUSTERS)]
    return [walk for walk in walks if walk.n_clusters < len(question.X)]


def walk(question: Question, path: Path, seed: int) -> list[Trial]:
    """The trials along a path."""
    rng = np.random.default_rng(seed)
    return list(
        {"fixed": _fixed, "cooled": _cool, "components": _components, "residual": _residual}[path.source](
            question, path, rng
        )
    )


def _fixed(question: Question, path: Path, rng: np.random.Generator) -> Iterator[Trial]:
    assert question.sigma is not None
    X = remove_given(question.X, question.given) if question.residual else question.X
    k, q = path.n_clusters, question.directions(path.n_clusters)
    problem = pose(question, X, k, q, question.sigma)
    start = spectral_start(problem, DenseEngine(X, problem.kernel))
    yield short_fit(question, X, path.source, 0, k, start.vectors[:, :q], question.sigma, rng, start.embedding)[0]


def _cool(question: Question, path: Path, rng: np.random.Generator) -> Iterator[Trial]:
    k, X = path.n_clusters, question.X
    q = question.directions(k)
    sigma = median_distance(X, rng)
    problem = pose(question, X, k, q, sigma)
    start = spectral_start(problem, DenseEngine(X, problem.kernel))
    W = start.vectors[:, :q]
    embedding: Embedding | None = start.embedding
    for stage in range(COOLED):
        trials = list(_stage(question, X, path, stage, W, sigma, rng, embedding))
        yield from trials
        W, embedding = trials[0].W, None
        sigma = median_distance(X @ W, rng) if stage == 0 else COOLING * sigma


def _components(question: Question, path: Path, rng: np.random.Generator) -> Iterator[Trial]:
    q = question.directions(2)
    W = independent_directions(question.X, question.given, q, rng)
    yield from _fan(question, question.X, path, W, FANNED, rng, follow=True)


def _residual(question: Question, path: Path, rng: np.random.Generator) -> Iterator[Trial]:
    X = remove_given(question.X, question.given)
    q = question.directions(path.n_clusters)
    yield from _fan(question, X, path, centre_directions(X, path.n_clusters, q, rng), RESIDUAL, rng)


def centre_directions(X: Array, k: int, q: int, rng: np.random.Generator) -> Array:
    """Orthonormal directions of the centres of k-means, then those in which the rows spread furthest beside them."""
    labels = KMeans(k, n_init=5, random_state=int(rng.integers(2**31))).fit_predict(X)
    sizes = np.bincount(labels, minlength=k)
    centres = np.array([X[labels == c].sum(axis=0) for c in range(k)]) / np.sqrt(np.maximum(sizes, 1))[:, None]
    _, _, between = svd(centres, full_matrices=False)
    between = between[: k - 1]
    _, _, within = svd(X - X @ between.T @ between, full_matrices=False)
    return orthonormal(np.vstack([between, within])[:q].T)


def _fan(
    question: Question,
    X: Array,
    path: Path,
    W: Array,
    factors: tuple[float, ...],
    rng: np.random.Generator,
    follow: bool = False,
) -> Iterator[Trial]:
    """Every σ from the same W; and to follow, from where the σ before it ended, as thin clusters need."""
    unit = median_distance(X @ W, rng)
    last = None
    for stage, factor in enumerate(factors):
        trials = list(_stage(question, X, path, stage, W, factor * unit, rng))
        yield from trials
        if follow and last is not None:
            yield short_fit(question, X, path.source, stage, path.n_clusters, last, factor * unit, rng)[0]
        last = trials[0].W


def _stage(
    question: Question,
    X: Array,
    path: Path,
    stage: int,
    W: Array,
    sigma: float,
    rng: np.random.Generator,
    embedding: Embedding | None = None,
) -> Iterator[Trial]:
    """The trial at the path's k, and another at the k that its spectrum suggests."""
    k = path.n_clusters
    trial, _ = short_fit(question, X, path.source, stage, k, W, sigma, rng, embedding)
    yield trial
    if question.n_clusters is None and trial.suggested not in (k, *FIRST_CLUSTERS):
        yield short_fit(question, X, path.source, stage, trial.suggested, trial.W, sigma, rng)[0]


def short_fit(
    question: Question,
    X: Array,
    source: str,
    stage: int,
    k: int,
    W: Array,
    sigma: float,
    rng: np.random.Generator,
    embedding: Embedding | None = None,
) -> tuple[Trial, Result]:
    """A few rounds from W at this σ, and what can be said of their end."""
    problem = pose(question, X, k, W.shape[1], sigma)
    engine = DenseEngine(X, problem.kernel)
    solver = cast(Solver, ISM(max_iter=STEPS))
    result = solve(problem, engine, solver, W, embedding, max_iter=ROUNDS, rng=rng)
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
        overlap=overlap(result.labels, question.given),
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


def pose(question: Question, X: Array, k: int, q: int, sigma: float) -> Problem:
    """The problem on the rows that were looked at."""
    Y = indicators(question.given, len(X), question.scaling)
    weight = 1.0 if question.novelty_weight is None else question.novelty_weight
    return Problem(X, None, Y, k, q, weight, Gaussian(sigma))


def persistence(trials: list[Trial]) -> tuple[Array, Array]:
    """How well the labels of each trial agree (NMI) with those of the stages beside it on the same kind of path.

    With the better of the two, and with both on average; 1 where there is but one stage.
    """
    beside: list[dict[int, float]] = [{} for _ in trials]
    for i, trial in enumerate(trials):
        for j, other in enumerate(trials[:i]):
            if other.source == trial.source and abs(other.stage - trial.stage) == 1:
                match = nmi(trial.labels, other.labels)
                beside[i][other.stage] = max(beside[i].get(other.stage, 0.0), match)
                beside[j][trial.stage] = max(beside[j].get(trial.stage, 0.0), match)
    found = [list(matches.values()) or [1.0] for matches in beside]
    return np.array([max(matches) for matches in found]), np.array([np.mean(matches) for matches in found])
