"""How one problem is solved: options, starts, ways to solve it, and the best of their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.backend import Array
from ..base.given import Given
from ..base.progress import Callback, Progress
from ..base.sampling import sample_rows
from ..base.thresholds import ALTERNATIVE
from ..core.alternation import Result, extended, quick_overlap, solve
from ..core.descent import descend
from ..core.engines import DenseEngine, make_engine
from ..core.initialization import make_starts
from ..core.kernels import make_kernel
from ..core.metrics import NO_CUT, normalised_cut
from ..core.problem import Embedding, KernelEngine, Problem
from ..core.reduced import FLOOR, ReducedObjective
from ..core.solvers import LBFGS, Solver, Status
from ..search.discriminants import alternate_discriminants
from ..search.keep_starts import kept_directions
from ..search.selection import fewest
from ..search.settings import Settings
from ..search.short_fits import with_columns

FEW_ROWS = 400  # on which starts, and ways to solve a problem, are compared
FEW_ROUNDS, FEW_STEPS = 10, 12  # of the alternations and descents that are compared
MOST_EXACT = 1500  # rows on which W is found where that needs all pairs of rows; U and D are those of all rows
FLOORS = (FLOOR, 1e-3)  # of degrees, where none is set: the second for thin shapes, which the first joins
DIGITS = 9  # in which equal rows are equal
CLEARER = 0.9  # share of the alternation's normalised cut, below which a descent is better


@dataclass(frozen=True)
class SolveOptions:
    """Options of the solution process: the parameters of an estimator that do not define the problem.

    With `reduced` and the Gaussian kernel, one objective of W alone is minimised, see `altclust.core.reduced`;
    otherwise the solver serves the W steps of an alternation. With `alternating`, both are tried where nothing but the
    problem is set.
    """

    solver: Solver
    max_iter: int
    tol: float
    callback: Callback | None = None
    n_jobs: int | None = None
    reduced: bool = False
    alternating: bool = False

    @property
    def cancelled(self) -> bool:
        """Whether the callback has stopped the fit."""
        return isinstance(self.callback, CountedRounds) and self.callback.ended

    def limits(self, given: Given) -> dict[str, Any]:
        """max_iter, tol and callback of `alternate`, for rows with this given."""

        def report(number: int, value: float, embedding: Embedding) -> Any:
            assert self.callback is not None
            return self.callback(Progress("fit", number, self.max_iter, value, quick_overlap(embedding, given)))

        callback = None if self.callback is None else report
        return {"max_iter": self.max_iter, "tol": self.tol, "callback": callback}


class CountedRounds:
    """A callback that counts rounds across starts, and stays cancelled."""

    def __init__(self, callback: Callback) -> None:
        self.callback, self.count, self.ended = callback, 0, False

    def __call__(self, progress: Progress) -> bool:
        """Called after each round."""
        self.count += 1
        total = self.count - progress.done + progress.total
        self.ended = self.ended or bool(self.callback(replace(progress, done=self.count, total=total)))
        return self.ended


def build_problem(rank: int, settings: Settings) -> Problem:
    """The problem of rows with `rank` coordinates; q is the rank if it is still to be chosen."""
    q = min(settings.n_components or rank, rank)
    return Problem(settings.k, q, settings.weight, make_kernel(settings.kernel, settings.width))


def best_of_starts(
    problem: Problem,
    engine: KernelEngine,
    given: Given,
    settings: Settings,
    options: SolveOptions,
    rng: np.random.Generator,
) -> tuple[Problem, Result]:
    """The best result over all starts, and the problem with the chosen q."""
    if options.callback is not None:
        options = replace(options, callback=CountedRounds(options.callback))
    starting = _Starting(engine, given, settings, options, rng)
    descends = options.reduced and isinstance(engine, DenseEngine)
    return starting.descended(problem) if descends else starting.alternated(problem)


def solve_again(
    problem: Problem,
    engine: KernelEngine,
    given: Given,
    settings: Settings,
    options: SolveOptions,
    found: Result,
) -> Result:
    """What other rows give, from the W of a result and in the same way."""
    starting = _Starting(engine, given, settings, replace(options, callback=None), np.random.default_rng(0))
    if found.objective is None:
        return starting._part(MOST_EXACT)._alternation(problem, [(found.W, None)])
    return starting._descent(problem, [found.W], found.objective.floor, options.max_iter, found.objective.anchor)


Starts = list[tuple[Array, Embedding | None]]


@dataclass(frozen=True)
class _Starting:
    """Solutions from all starts on a few rows, and from the best of them on all rows.

    Where no floor of the degrees is set, there are several ways to solve a problem, and none is best for all tables:
    a floor keeps rows far from all others from being clusters, but joins thin shapes; the paper's alternation has no
    floor, and finds thin shapes as long as it does not end at outliers. Their values are not comparable, but the
    normalised cuts of their clusters are. The alternation is taken unless another cut is clearly smaller, so that
    the paper's parameters give the paper's result.
    """

    engine: KernelEngine
    given: Given
    settings: Settings
    options: SolveOptions
    rng: np.random.Generator

    def alternated(self, problem: Problem) -> tuple[Problem, Result]:
        """The best alternation; where the solver may be chosen, on few rows first."""
        few = self._part(MOST_EXACT) if self.options.alternating else self
        here, starts = few._starts(few._scaled(problem, self), simple=False)
        problem, result = replace(problem, n_components=here.n_components), few._alternation(here, starts)
        if few is self:
            return problem, result
        return problem, extended(problem, self.engine, result, self.settings.rounding, self.rng)

    def descended(self, problem: Problem) -> tuple[Problem, Result]:
        """The best result on all rows, and the problem with the chosen q."""
        few, options = self._part(FEW_ROWS), self.options
        here, starts = few._starts(few._scaled(problem, self))
        problem = replace(problem, n_components=here.n_components)
        floor, anchor = self.settings.degree_floor, starts[0][0]
        floors: tuple[float, ...] = (FLOOR if floor is None else floor,)
        if floor is None and self.engine.keep is None:  # a cut says nothing of what is to be kept
            distinct = len(np.unique(few.engine.X.round(DIGITS), axis=0)) > problem.n_clusters
            floors = FLOORS if distinct else floors
        if len(floors) == len(starts) == 1 and self.settings.pull:  # there is nothing to compare
            return problem, self._descent(problem, [anchor], floors[0], options.max_iter)
        found = []
        if options.alternating and len(floors) > 1 and not self.settings.pull and not options.cancelled:
            found.append(few._alternation(here, starts[:1], FEW_ROUNDS))
        steps = min(options.max_iter, FEW_STEPS)
        clear = bool(found) and few._cut(here, found[0]) * CLEARER <= NO_CUT  # no other cut can be clearly smaller
        for floor in () if clear else floors:
            if not options.cancelled:
                rough = len(floors) > 1 and floor == FLOOR  # few landmarks are enough for compact clusters
                found.append(few._descent(here, [W for W, _ in starts], floor, steps, rough=rough))
        result = found[few._clearest(here, found)]
        if options.cancelled:
            ended = replace(result, status=Status.CANCELLED)
            return problem, ended if few is self else self._labelled(problem, ended)
        rough = result.objective is not None and result.objective.rough
        if few is self and result.status is Status.CONVERGED and not rough:
            return problem, result
        if result.objective is None:
            some = self._part(MOST_EXACT)
            result = some._alternation(some._scaled(problem, self), [(result.W, None)])
            if some is self:
                return problem, result
            return problem, extended(problem, self.engine, result, self.settings.rounding, self.rng)
        return problem, self._descent(problem, [result.W], result.objective.floor, options.max_iter, anchor)

    def _labelled(self, problem: Problem, found: Result) -> Result:
        """All rows along the directions of a comparison on a few of them that was cancelled."""
        if found.objective is None:
            return extended(problem, self.engine, found, self.settings.rounding, self.rng)
        quiet = replace(self, options=replace(self.options, callback=None))
        here = quiet._descent(problem, [found.W], found.objective.floor, 0, found.objective.anchor)
        return replace(here, history=found.history, status=found.status)

    def _part(self, most: int) -> _Starting:
        """The same on at most so many rows."""
        n = len(self.engine.X)
        if n <= most:
            return self
        rows = sample_rows(n, most, self.rng)
        X, given = self.engine.X[rows], self.given.take(rows)
        Y = given.indicators(self.settings.scaling)
        engine = make_engine(X - X.mean(axis=0), self.engine.kernel, Y)
        if self.engine.keep is not None:
            engine.keep = self.engine.keep[0][rows], self.engine.keep[1] * n / len(rows)
        return replace(self, engine=engine, given=given)

    def _scaled(self, problem: Problem, whole: _Starting) -> Problem:
        """The problem of all rows on these: in the paper's scaling, the effect of λ grows with the rows."""
        factor = len(whole.engine.X) / len(self.engine.X) if self.settings.scaling == "paper" else 1.0
        return replace(problem, novelty_weight=factor * problem.novelty_weight)

    def _starts(self, problem: Problem, simple: bool = True) -> tuple[Problem, Starts]:
        """All starts, and the problem with the chosen q; the costs of descents from different ones are comparable."""
        settings, X = self.settings, self.engine.X
        choose_q = settings.n_components is None
        problem, starts = make_starts(problem, self.engine, settings.init, choose_q, settings.n_init, self.rng)
        spectral, q = isinstance(settings.init, str) and settings.init == "spectral", problem.n_components
        left = self.given.subtracted_from(X)
        if simple and spectral and problem.n_clusters > 1 and left.any():
            starts.append((with_columns(X, alternate_discriminants(left, problem.n_clusters, self.rng), q), None))
        if self.engine.keep is not None and len(self.engine.keep[1]) and not settings.has_start:
            W = kept_directions(X, problem.n_clusters, self.engine.keep)
            starts.append((with_columns(X, W, q), None))
        return problem, starts

    def _alternation(self, problem: Problem, starts: Starts, most: int | None = None) -> Result:
        """The alternation with the lowest cost, after at most so many rounds from each start."""
        options = self.options
        limits: dict[str, Any] = {**options.limits(self.given), "rounding": self.settings.rounding, "rng": self.rng}
        limits["max_iter"] = min(options.max_iter, most or options.max_iter)
        found = (solve(problem, self.engine, options.solver, W, embedding, **limits) for W, embedding in starts)
        return min(_until_cancelled(found), key=lambda result: result.cost)

    def _descent(
        self,
        problem: Problem,
        starts: list[Array],
        floor: float,
        most: int,
        anchor: Array | None = None,
        rough: bool = False,
    ) -> Result:
        """The lowest minimum over the starts, after at most so many steps from each.

        If the kernel is too narrow for landmarks, the directions are those of fewer rows.
        """
        options, solver, before = self.options, self.options.solver, None
        if len(self.engine.X) > MOST_EXACT and self._is_narrow(problem, starts[0]):
            some = self._part(MOST_EXACT)
            before = some._descent(some._scaled(problem, self), starts, floor, most, anchor)
            starts, most = [before.W], 0
        solver = solver if isinstance(solver, LBFGS) else LBFGS(tol=options.tol / 10)
        tol, steps = min(solver.tol, options.tol / 10), min(solver.max_iter, most)
        objective = ReducedObjective(
            self.engine.X,
            self.engine.given,
            problem.kernel,
            problem.n_clusters,
            problem.novelty_weight,
            floor,
            anchor,
            self.settings.pull or 0.0,
            rough,
            keep=self.engine.keep,
        )
        report, rounding = options.limits(self.given)["callback"], self.settings.rounding
        solver = replace(solver, tol=tol, max_iter=steps, callback=None)
        found = (descend(objective, W, solver, callback=report, rounding=rounding, rng=self.rng) for W in starts)
        best = min(_until_cancelled(found), key=lambda result: result.history["value"][-1])
        if before is None:
            return best
        solved = {name: getattr(before, name) for name in ("X", "gamma", "objective", "history", "status")}
        return replace(best, **solved)

    def _is_narrow(self, problem: Problem, W: Array) -> bool:
        """Whether too many landmarks would be needed."""
        objective = ReducedObjective(self.engine.X, self.engine.given, problem.kernel, problem.n_clusters, 0.0)
        return not objective.find_landmarks(W, np.random.default_rng(0))

    def _clearest(self, problem: Problem, found: list[Result]) -> int:
        """The place of the result with the smallest cut; of an alternation, unless another is clearly smaller.

        Clusters of outliers, and those that resemble what is given, are taken only if all are.
        """
        if len(found) == 1 or self.options.cancelled:
            return 0
        cuts = [self._cut(problem, result) for result in found]
        best = int(np.argmin(cuts))
        return best if found[0].objective is not None or cuts[best] < CLEARER * cuts[0] else 0

    def _cut(self, problem: Problem, result: Result) -> float:
        """The normalised cut of the clusters; infinity for outliers, and for clusters that resemble what is given."""
        k, labels = problem.n_clusters, result.labels
        smallest = np.bincount(labels, minlength=k).min() / len(labels)
        if smallest < fewest(k) or self.given.overlap(labels) > ALTERNATIVE:
            return np.inf
        return normalised_cut(problem.kernel.gram(self.engine.X @ result.W), labels, k)


def _until_cancelled(results: Iterator[Result]) -> Iterator[Result]:
    """Results up to the first one that was cancelled."""
    for result in results:
        yield result
        if result.status is Status.CANCELLED:
            return
