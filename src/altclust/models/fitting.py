"""One fit of rows in memory, from checked input to everything that an estimator publishes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..base.backend import Array, like
from ..base.parallel import fitting_threads
from ..core.alternation import Callback, solve
from ..core.certificate import Certificate, certify
from ..core.embedding import KernelMap
from ..core.engines import DenseEngine, make_engine
from ..core.initialization import make_starts
from ..core.kernels import Gaussian
from ..core.metrics import feature_weights, overlap
from ..core.problem import KernelEngine, Problem, indicators, remove_given, row_space
from ..core.result import Result
from ..core.solvers import Solver, Status
from ..search.resolve import Setting, settle
from ..search.trajectories import Question
from .residuals import GivenMeans

logger = logging.getLogger(__name__)

FIRST = 1500  # rows of a first sample, on which the kernel is exact
FEW_ROUNDS = 20  # on samples
ROUGH = 3e-2  # tolerance on samples: a larger one moves W further


@dataclass(frozen=True)
class Fit:
    """What a fit found.

    Attributes
    ----------
    labels : int array, shape (n,), or Dask array
    components : array, shape (q, d)
    mean : array, shape (d,)
    kernel_map : KernelMap
    values : array, shape (k,)
    cost, overlap : float
    weights : array, shape (d,)
        Share of each feature.
    history : dict of arrays
    status : Status
    setting : Setting
    question : Question
        For asking it again of other rows.
    answered : int array
        The labels of the question's rows.
    tuning : Tuning or None
    given_means : GivenMeans or None
    engine : str
        Which, and why.
    error : float
        Share of the kernel's trace that the engine left out.
    certify : callable
        Makes the certificate.
    """

    labels: Any
    components: Array
    mean: Array
    kernel_map: KernelMap
    values: Array
    cost: float
    overlap: float
    weights: Array
    history: dict[str, Array]
    status: Status
    setting: Setting
    question: Question
    answered: np.ndarray
    tuning: Any
    given_means: GivenMeans | None
    engine: str
    error: float
    certify: Callable[[], Certificate]


@dataclass(frozen=True)
class Procedure:
    """How a fit goes about it: the parameters of an estimator that are not part of the question."""

    solver: Solver
    n_init: int
    rounding: str
    max_iter: int
    tol: float
    callback: Callback | None
    memory_limit: float | None

    @property
    def limits(self) -> dict[str, Any]:
        """What bounds an alternation."""
        return {"max_iter": self.max_iter, "tol": self.tol, "callback": self.callback}


class Rounds:
    """A callback that counts on from sample to sample, and that says the same for ever once it was told to end."""

    def __init__(self, callback: Callback | None) -> None:
        self.callback, self.count, self.ended = callback, 0, False

    def __call__(self, _: int, *figures: float) -> bool:
        """After each round of a sample."""
        self.count += 1
        self.ended = self.ended or (self.callback is not None and bool(self.callback(self.count, *figures)))
        return self.ended


def best_of_starts(
    problem: Problem, engine: KernelEngine, setting: Setting, how: Procedure, rng: np.random.Generator
) -> tuple[Problem, Result]:
    """The best of the starts; the problem comes back with the q that was chosen."""
    problem, starts = make_starts(problem, engine, setting.init, setting.n_components is None, how.n_init, rng)
    best: Result | None = None
    for W, embedding in starts:
        result = solve(problem, engine, how.solver, W, embedding, rounding=how.rounding, rng=rng, **how.limits)
        if best is None or result.cost < best.cost:
            best = result
        if result.status is Status.CANCELLED:
            break
    assert best is not None
    return problem, best


def warn_of_rank(asked: int | str, rank: int) -> None:
    """Say so where more directions were asked for than the rows span."""
    if not isinstance(asked, str) and asked > rank:
        warnings.warn(
            f"n_components={asked} but the rows of X span only {rank} direction(s): {rank} are used.",
            UserWarning,
            stacklevel=5,
        )


def pose(rows: Array, given: list[np.ndarray], setting: Setting, basis: Array | None) -> Problem:
    """The problem of these rows, which are in coordinates of the basis; q is their rank where it is to be chosen."""
    rank = rows.shape[1]
    q = min(setting.n_components or rank, rank)
    Y, kernel = indicators(given, len(rows), setting.scaling), Gaussian(setting.sigma)
    return Problem(rows, basis, Y, setting.n_clusters, q, setting.novelty_weight, kernel, given)


def fit_in_memory(
    kdac: Any,
    centred: Array,
    mean: Array,
    given: list[np.ndarray],
    how: Procedure,
    kind: str,
    reason: str,
    model: Any,
    rng: np.random.Generator,
    settled: tuple[Setting, Question, Any] | None = None,
) -> Fit:
    """All rows at once, by an exact engine.

    model is an array whose library, device and dtype do the work, or None; settled is what `settle` said, if it was
    asked already.
    """
    logger.info("engine %s: %s", kind, reason)
    how = replace(how, callback=Rounds(how.callback)) if kind == "tiles" else how
    with fitting_threads(len(centred)):
        setting, question, tuning = settled or settle(kdac, centred, given, rng)
        problem, result, means = _fit_exactly(centred, given, setting, how, kind, model, rng)
    warn_of_rank(kdac.n_components, problem.X.shape[1])
    W = problem.to_table(result.W)
    return Fit(
        labels=result.labels,
        components=W.T,
        mean=mean,
        kernel_map=result.kernel_map,
        values=result.values,
        cost=result.cost,
        overlap=overlap(result.labels, given),
        weights=feature_weights(W, np.mean(centred**2, axis=0)),
        history=result.history,
        status=result.status,
        setting=setting,
        question=replace(question, n_components=question.n_components if tuning is not None else W.shape[1]),
        answered=result.labels,
        tuning=tuning,
        given_means=means,
        engine=f"{kind}: {reason}",
        error=0.0,
        certify=partial(_certify, problem, kind, how.memory_limit, result),
    )


def _certify(problem: Problem, kind: str, memory_limit: float | None, result: Result) -> Certificate:
    """With an engine of its own: that of the fit would keep its n x n arrays alive as long as the model."""
    return certify(problem, make_engine(problem.X, problem.kernel, kind, memory_limit), result.W, result.gamma)


def _fit_exactly(
    centred: Array,
    given: list[np.ndarray],
    setting: Setting,
    how: Procedure,
    kind: str,
    model: Any,
    rng: np.random.Generator,
) -> tuple[Problem, Result, GivenMeans | None]:
    means = GivenMeans.fit(centred, given) if setting.subtract_given else None
    inside, basis = row_space(remove_given(centred, given) if setting.subtract_given else centred)
    n = len(inside)
    cold = isinstance(setting.init, str)
    if kind == "tiles" and n > FIRST and cold:  # every round is dear: begin where a sample ended
        few = np.sort(rng.choice(n, FIRST, replace=False))
        setting = start_on_sample(inside[few], [codes[few] for codes in given], basis, setting, n, how, rng)
    problem = pose(inside if model is None else like(inside, model), given, setting, basis)
    engine = make_engine(problem.X, problem.kernel, kind, how.memory_limit)
    problem, result = best_of_starts(problem, engine, setting, how, rng)
    return problem, result, means


def start_on_sample(
    inside: Array,
    given: list[np.ndarray],
    basis: Array | None,
    setting: Setting,
    n: int,
    how: Procedure,
    rng: np.random.Generator,
) -> Setting:
    """The setting with q, and for its start the W of an exact fit of a few of the n rows."""
    here = for_sample(setting, len(inside), n)
    problem = pose(np.asarray(inside, dtype=float), given, here, basis)
    with fitting_threads(len(inside)):
        problem, result = best_of_starts(problem, DenseEngine(problem.X, problem.kernel), here, rough(how), rng)
    return replace(setting, n_components=problem.n_components, init=problem.to_table(result.W))


def rough(how: Procedure) -> Procedure:
    """The same with the tolerance that a sample deserves."""
    return replace(how, tol=max(how.tol, ROUGH), max_iter=min(how.max_iter, FEW_ROUNDS))


def for_sample(setting: Setting, m: int, n: int) -> Setting:
    """With the λ that does on m rows what it does on n: in the paper's scaling its effect grows with the rows."""
    factor = n / m if setting.scaling == "paper" else 1.0
    return replace(setting, novelty_weight=factor * setting.novelty_weight)
