"""A fit of rows in memory, from validated input to a fitted view."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from ..base.backend import Array, like
from ..base.errors import FitWarning
from ..base.parallel import fitting_threads
from ..base.progress import Callback, Progress
from ..base.sampling import sample_rows
from ..core.alternation import quick_overlap, solve
from ..core.certificate import Certificate, certify
from ..core.descent import descend
from ..core.engines import DenseEngine, make_engine
from ..core.initialization import make_starts
from ..core.kernels import Gaussian
from ..core.metrics import feature_weights, overlap
from ..core.problem import Embedding, ExactEngine, Objective, Problem, coordinates, indicators, remove_given
from ..core.result import Result
from ..core.solvers import LBFGS, Solver, Status
from ..search.discriminants import alternate_discriminants
from ..search.resolve import resolve_parameters
from ..search.significance import Recipe
from ..search.spec import Parameters, SearchSpec, Spec
from ..search.trajectories import with_columns
from ..search.tuning import Tuning
from .candidates import candidate
from .fitted_view import FittedView
from .residuals import GivenMeans

logger = logging.getLogger(__name__)

STARTED = 1000  # rows of the spectral start of a descent


@dataclass(frozen=True)
class SampleOptions:
    """The samples of rows with which a fit of many rows starts.

    Attributes
    ----------
    first : int
        Rows of the first sample, on which the kernel is exact.
    growth : int
        Ratio of the sizes of consecutive samples.
    most, most_bytes : float
        Rows and bytes of the largest sample.
    searched : int
        Rows of the sample that the search, the rounding and the significance test use.
    pivoted : int
        Rows of the sample from which landmarks are chosen.
    rounds : int
        Limit on the rounds on a sample.
    tol : float
        Tolerance on a sample: larger samples change W anyway.
    """

    first: int = 1500
    growth: int = 8
    most: int = 100_000
    most_bytes: float = 64e6
    searched: int = 10_000
    pivoted: int = 8192
    rounds: int = 20
    tol: float = 3e-2


@dataclass(frozen=True)
class SolveOptions:
    """Options of the solution process: the parameters of an estimator that do not define the problem.

    With `reduced`, a numpy table and the dense engine, one objective of W alone is minimised, see
    `altclust.core.reduced`; otherwise the solver serves the W steps of an alternation.
    """

    solver: Solver[Objective]
    n_init: int
    rounding: str
    max_iter: int
    tol: float
    callback: Callback | None = None
    engine: str = "auto"
    memory_limit: float | None = None
    n_jobs: int | None = None
    reduced: bool = False
    samples: SampleOptions = field(default_factory=SampleOptions)

    def on_sample(self) -> SolveOptions:
        """The same with the tolerance and the limit of rounds for samples."""
        tol, rounds = max(self.tol, self.samples.tol), min(self.max_iter, self.samples.rounds)
        return replace(self, tol=tol, max_iter=rounds)

    def limits(self, given: Sequence[np.ndarray]) -> dict[str, Any]:
        """max_iter, tol and callback of `alternate`, for rows with these codes."""

        def report(number: int, value: float, embedding: Embedding) -> Any:
            assert self.callback is not None
            return self.callback(Progress("fit", number, self.max_iter, value, quick_overlap(embedding, given)))

        callback = None if self.callback is None else report
        return {"max_iter": self.max_iter, "tol": self.tol, "callback": callback}


class CountedRounds:
    """A callback that counts rounds across samples, and stays cancelled."""

    def __init__(self, callback: Callback) -> None:
        self.callback, self.count, self.ended = callback, 0, False

    def __call__(self, progress: Progress) -> bool:
        """Called after each round of a sample."""
        self.count += 1
        total = self.count - progress.done + progress.total
        self.ended = self.ended or bool(self.callback(replace(progress, done=self.count, total=total)))
        return self.ended


def counting(options: SolveOptions) -> SolveOptions:
    """The same options, with a callback that counts rounds across samples."""
    return options if options.callback is None else replace(options, callback=CountedRounds(options.callback))


def best_of_starts(
    problem: Problem,
    engine: ExactEngine,
    given: Sequence[np.ndarray],
    parameters: Parameters,
    options: SolveOptions,
    rng: np.random.Generator,
) -> tuple[Problem, Result]:
    """The result with the lowest cost over all starts, and the problem with the chosen q."""
    choose_q, limits = parameters.n_components is None, options.limits(given)
    solver, rounding = options.solver, options.rounding
    if options.reduced and isinstance(engine, DenseEngine) and isinstance(engine.X, np.ndarray):
        quasi_newton = solver if isinstance(solver, LBFGS) else LBFGS()
        return _best_descent(problem, engine, given, parameters, options, quasi_newton, rng)
    problem, starts = make_starts(problem, engine, parameters.init, choose_q, options.n_init, rng)
    best: Result | None = None
    for W, embedding in starts:
        result = solve(problem, engine, solver, W, embedding, rounding=rounding, rng=rng, **limits)
        if best is None or result.cost < best.cost:
            best = result
        if result.status is Status.CANCELLED:
            break
    assert best is not None
    return problem, best


def _best_descent(
    problem: Problem,
    engine: DenseEngine,
    given: Sequence[np.ndarray],
    parameters: Parameters,
    options: SolveOptions,
    solver: LBFGS,
    rng: np.random.Generator,
) -> tuple[Problem, Result]:
    """The lowest minimum of the reduced objective over all starts; a sample is enough for the spectral start."""
    X, n = engine.X, len(engine.X)
    rows = sample_rows(n, STARTED, rng)
    few, codes = X[rows] - X[rows].mean(axis=0), [one[rows] for one in given]
    sampled = DenseEngine(few, problem.kernel, indicators(codes, len(rows), parameters.scaling))
    begun = replace(problem, novelty_weight=for_sample(parameters, len(rows), n).novelty_weight)
    choose_q = parameters.n_components is None
    begun, starts = make_starts(begun, sampled, parameters.init, choose_q, options.n_init, rng)
    problem = replace(problem, n_components=begun.n_components)
    left = remove_given(few, codes) if codes else few
    if isinstance(parameters.init, str) and parameters.init == "spectral" and problem.n_clusters > 1 and left.any():
        simple = alternate_discriminants(left, problem.n_clusters, rng)  # costs of different starts are comparable
        starts.append((with_columns(few, simple, problem.n_components), None))
        options = counting(options)
    limited = replace(
        solver, tol=min(solver.tol, options.tol / 10), max_iter=min(solver.max_iter, options.max_iter), callback=None
    )
    callback = options.limits(given)["callback"]
    best: Result | None = None
    for W, _ in starts:
        result = descend(
            problem,
            X,
            engine.given,
            W,
            limited,
            floor=parameters.degree_floor,
            pull=parameters.pull,
            callback=callback,
            rounding=options.rounding,
            rng=rng,
        )
        if best is None or result.history["value"][-1] < best.history["value"][-1]:
            best = result
        if result.status is Status.CANCELLED:
            break
    assert best is not None
    return problem, best


def warn_of_rank(asked: int | None, rank: int) -> None:
    """Warn if more directions were requested than the rows span."""
    if asked is not None and asked > rank:
        problem = f"is more than the rows span: only {rank} direction(s) are used."
        warnings.warn(FitWarning(problem, argument="n_components", value=asked), stacklevel=5)


def build_problem(rank: int, parameters: Parameters, basis: Array | None) -> Problem:
    """The problem of rows with `rank` coordinates in the basis; q is the rank if it is still to be chosen."""
    q = min(parameters.n_components or rank, rank)
    return Problem(parameters.n_clusters, q, parameters.novelty_weight, Gaussian(parameters.sigma), basis)


def fit_in_memory(
    centred: Array,
    mean: Array,
    given: list[np.ndarray],
    spec: Spec,
    options: SolveOptions,
    kind: str,
    reason: str,
    model: Any,
    rng: np.random.Generator,
    resolved: tuple[Parameters, SearchSpec, Tuning | None] | None = None,
    names: Sequence[str] | None = None,
) -> FittedView:
    """Fit all rows at once with an exact engine; after a search, also the other views on its menu.

    model is an array whose library, device and dtype are used, or None; resolved is the result of
    `resolve_parameters`, if it has been called already; names are those of the columns.
    """
    logger.info("engine %s: %s", kind, reason)
    with fitting_threads(len(centred)):
        parameters, search, tuning = resolved or resolve_parameters(
            spec, centred, given, rng, n_jobs=options.n_jobs, callback=options.callback
        )
        means = cache(partial(GivenMeans.fit, centred, given))  # the same for all views
        view = _fitted(centred, mean, given, means, parameters, options, kind, reason, model, search, tuning, rng)
        warn_of_rank(spec.n_components, view.n_components)
        if tuning is None or view.status == Status.CANCELLED or kind != "dense":
            return view
        quiet = replace(options, callback=None)
        others = [
            _fitted(centred, mean, given, means, Parameters(**one), quiet, kind, reason, model, search, tuning, rng)
            for one in tuning.views[1:]
        ]
    stability = tuning.table["stability"].to_numpy()[tuning.menu]
    menu = [candidate(one, steady, centred, names) for one, steady in zip([view, *others], stability, strict=True)]
    return replace(view, candidates=tuple(menu))


def _fitted(
    centred: Array,
    mean: Array,
    given: list[np.ndarray],
    means: Callable[[], GivenMeans],
    parameters: Parameters,
    options: SolveOptions,
    kind: str,
    reason: str,
    model: Any,
    search: SearchSpec,
    tuning: Tuning | None,
    rng: np.random.Generator,
) -> FittedView:
    """One view, with all parameters set."""
    options = counting(options) if kind == "tiles" else options
    problem, engine, result = _fit_exactly(centred, given, parameters, options, kind, model, rng)
    W = problem.to_table(result.W)
    return FittedView(
        labels=result.labels,
        components=W.T,
        mean=mean,
        feature_weights=feature_weights(W, np.mean(centred**2, axis=0)),
        overlap=overlap(result.labels, given),
        quality=result.quality,
        cost=result.cost,
        status=str(result.status),
        n_iter=result.n_iter,
        sigma=parameters.sigma,
        novelty_weight=parameters.novelty_weight,
        subtract_given=parameters.subtract_given,
        whitening=parameters.whitening,
        degree_floor=parameters.degree_floor,
        pull=parameters.pull,
        n_components=W.shape[1],
        n_clusters=problem.n_clusters,
        engine=f"{kind}: {reason}",
        approximation_error=result.error,
        history=result.history,
        tuning=tuning,
        kernel_map=result.kernel_map,
        given_means=means() if parameters.subtract_given else None,
        search=search_of_view(search, parameters, W.shape[1], tuning is not None),
        recipe=recipe_of(tuning, parameters),
        searched_labels=result.labels,
        certify=partial(_certify, problem, engine.X, kind, options.memory_limit, result),
    )


def search_of_view(search: SearchSpec, parameters: Parameters, q: int, found: bool) -> SearchSpec:
    """The search with the parameters of one of its views, or with q fixed if nothing was searched for."""
    if not found:
        return replace(search, fixed=replace(search.fixed, n_components=q))
    X = search.X if parameters.subspace is None else search.X @ parameters.subspace
    return replace(search, X=X, fixed=replace(search.fixed, n_clusters=parameters.n_clusters))


def recipe_of(tuning: Tuning | None, parameters: Parameters) -> Recipe:
    """How the view with these parameters was found."""
    if tuning is None:
        fixed = isinstance(parameters.init, str)
        return Recipe("fixed" if fixed else "residual" if parameters.subtract_given else "direct", 0)
    place = next((i for i, view in enumerate(tuning.views) if view["init"] is parameters.init), 0)
    trial = tuning.trials[tuning.menu[place]]
    inside = {"columns": "residual", "columns, components": "components"}  # of the columns alone
    return Recipe(inside.get(trial.source, trial.source), trial.stage)


def _certify(problem: Problem, X: Array, kind: str, memory_limit: float | None, result: Result) -> Certificate:
    """Uses a new engine, because that of the fit would keep n x n arrays in memory as long as the model."""
    return certify(problem, make_engine(X, problem.kernel, None, kind, memory_limit), result.W, result.gamma)


def _fit_exactly(
    centred: Array,
    given: list[np.ndarray],
    parameters: Parameters,
    options: SolveOptions,
    kind: str,
    model: Any,
    rng: np.random.Generator,
) -> tuple[Problem, ExactEngine, Result]:
    left = remove_given(centred, given) if parameters.subtract_given else centred
    inside, basis = coordinates(left, parameters.whitening, parameters.subspace)
    n, first = len(inside), options.samples.first
    if kind == "tiles" and n > first and isinstance(parameters.init, str):  # every round is expensive
        few = sample_rows(n, first, rng)
        sampled = [codes[few] for codes in given]
        parameters = start_on_sample(inside[few], sampled, basis, parameters, n, options, rng)
    X = inside if model is None else like(inside, model)
    problem = build_problem(X.shape[1], parameters, basis)
    Y = indicators(given, n, parameters.scaling)
    engine = make_engine(X, problem.kernel, Y, kind, options.memory_limit)
    problem, result = best_of_starts(problem, engine, given, parameters, options, rng)
    return problem, engine, result


def start_on_sample(
    inside: Array,
    given: list[np.ndarray],
    basis: Array | None,
    parameters: Parameters,
    n: int,
    options: SolveOptions,
    rng: np.random.Generator,
) -> Parameters:
    """The parameters with q and a start W from an exact fit of a few of the n rows."""
    here = for_sample(parameters, len(inside), n)
    X = np.asarray(inside, dtype=float)
    problem = build_problem(X.shape[1], here, basis)
    engine = DenseEngine(X, problem.kernel, indicators(given, len(X), here.scaling))
    with fitting_threads(len(inside)):
        quick = replace(options.on_sample(), reduced=False)
        problem, result = best_of_starts(problem, engine, given, here, quick, rng)
    return replace(parameters, n_components=problem.n_components, init=problem.to_table(result.W))


def for_sample(parameters: Parameters, m: int, n: int) -> Parameters:
    """The parameters with λ adjusted from n to m rows: in the paper's scaling its effect grows with the rows."""
    factor = n / m if parameters.scaling == "paper" else 1.0
    return replace(parameters, novelty_weight=factor * parameters.novelty_weight)
