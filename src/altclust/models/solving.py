"""How one problem is solved: options, samples, starts, and the best of their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..base.backend import Array, to_numpy
from ..base.parallel import fitting_threads
from ..base.progress import Callback, Progress
from ..base.sampling import sample_rows
from ..core.alternation import quick_overlap, solve
from ..core.descent import descend
from ..core.engines import DenseEngine, make_engine
from ..core.initialization import make_starts
from ..core.kernel_choice import make_kernel
from ..core.problem import Embedding, ExactEngine, Objective, Problem, indicators, remove_given
from ..core.result import Result
from ..core.solvers import LBFGS, Solver, Status
from ..search.discriminants import alternate_discriminants
from ..search.kept import kept_directions
from ..search.short_fits import with_columns
from ..search.spec import Parameters

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
        quasi_newton = solver if isinstance(solver, LBFGS) else LBFGS(tol=options.tol / 10)
        return _best_descent(problem, engine, given, parameters, options, quasi_newton, rng)
    problem, starts = make_starts(problem, engine, parameters.init, choose_q, options.n_init, rng)
    starts += _kept_start(problem, engine, parameters)
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
    if kept := _kept_start(problem, engine, parameters):
        starts += kept
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
            keep=engine.keep,
            rng=rng,
        )
        if best is None or result.history["value"][-1] < best.history["value"][-1]:
            best = result
        if result.status is Status.CANCELLED:
            break
    assert best is not None
    return problem, best


def _kept_start(problem: Problem, engine: ExactEngine, parameters: Parameters) -> list[tuple[Array, Embedding | None]]:
    """The directions in which what is to be kept differs most, unless directions were passed."""
    if engine.keep is None or not len(engine.keep[1]) or not isinstance(parameters.init, str):
        return []
    X = to_numpy(engine.X)
    W = kept_directions(X, problem.n_clusters, engine.keep)
    return [(with_columns(X, W, problem.n_components), None)]


def build_problem(rank: int, parameters: Parameters, basis: Array | None) -> Problem:
    """The problem of rows with `rank` coordinates in the basis; q is the rank if it is still to be chosen."""
    q = min(parameters.n_components or rank, rank)
    kernel = make_kernel(parameters.kernel, parameters.sigma)
    return Problem(parameters.n_clusters, q, parameters.novelty_weight, kernel, basis)


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
    engine = make_engine(X, problem.kernel, indicators(given, len(X), here.scaling))
    with fitting_threads(len(inside)):
        quick = replace(options.on_sample(), reduced=False)
        problem, result = best_of_starts(problem, engine, given, here, quick, rng)
    return replace(parameters, n_components=problem.n_components, init=problem.to_table(result.W))


def for_sample(parameters: Parameters, m: int, n: int) -> Parameters:
    """The parameters with λ adjusted from n to m rows: in the paper's scaling its effect grows with the rows."""
    factor = n / m if parameters.scaling == "paper" else 1.0
    return replace(parameters, novelty_weight=factor * parameters.novelty_weight)
