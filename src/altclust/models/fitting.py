"""A fit of rows in memory, from validated input to a fitted view."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ..base.backend import Array, like
from ..base.errors import FitWarning
from ..base.parallel import fitting_threads
from ..base.sampling import sample_rows
from ..core.certificate import Certificate, certify
from ..core.engines import make_engine
from ..core.feature_weights import between_shares, feature_weights
from ..core.metrics import overlap, overlap_p_value
from ..core.problem import ExactEngine, Problem, coordinates, indicators, remove_given
from ..core.result import Result
from ..core.solvers import Status
from ..search.obvious import Obvious, as_they_were, column_name, left_aside, reproduced_by
from ..search.resolve import resolve_parameters
from ..search.significance import Recipe
from ..search.spec import Parameters, SearchSpec, Spec
from ..search.tuning import Tuning
from .candidates import Candidate, candidate
from .fitted_view import FittedView
from .residuals import GivenMeans
from .solving import SolveOptions, best_of_starts, build_problem, counting, start_on_sample

logger = logging.getLogger(__name__)

MENU_TOL, MENU_STEPS = 10, 10  # times the tolerance, and the most steps, for the other views on the menu


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
    known: str = "",
) -> FittedView:
    """Fit all rows at once with an exact engine; the other views on the menu of a search are fitted when asked for.

    model is an array whose library, device and dtype are used, or None; resolved is the result of
    `resolve_parameters`, if it has been called already; names are those of the columns; known says what is given.
    """
    logger.info("engine %s: %s", kind, reason)
    with fitting_threads(len(centred)):
        parameters, search, tuning = resolved or resolve_parameters(
            spec, centred, given, rng, n_jobs=options.n_jobs, callback=options.callback, names=names
        )
        seen = _without_obvious(centred, names, parameters, tuning)
        table = Table(centred, mean, given, kind, reason, model, names, search, tuning, known, seen, spec.originals)
        view = table.fitted(0, parameters, options, rng)
    warn_of_rank(spec.n_components, view.n_components)
    if tuning is None or view.status == Status.CANCELLED or kind != "dense":
        return view
    few = min(options.max_iter, MENU_STEPS)
    quiet = replace(options, callback=None, tol=MENU_TOL * options.tol, max_iter=few)
    return replace(view, fit_menu=partial(table.menu, quiet, int(rng.integers(2**31))))


@dataclass(frozen=True)
class Table:
    """Centred rows with what is given, and how views of them are fitted, for the views on the menu of a search.

    seen are the rows without the columns that the search left aside; originals as in `altclust.KDAC.fit`.
    """

    centred: Array
    mean: Array
    given: list[np.ndarray]
    kind: str
    reason: str
    model: Any
    names: Sequence[str] | None
    search: SearchSpec
    tuning: Tuning | None
    known: str
    seen: Array
    originals: pd.DataFrame | None

    def fitted(
        self,
        place: int,
        parameters: Parameters,
        options: SolveOptions,
        rng: np.random.Generator,
        means: GivenMeans | None = None,
    ) -> FittedView:
        """The view in this place on the menu; means are those of the given clusters, if they are known already."""
        if parameters.subtract_given:
            means = means or GivenMeans.fit(self.centred, self.given)
        else:
            means = None
        found = _fitted(
            self.centred,
            self.mean,
            self.given,
            means,
            parameters,
            options,
            self.kind,
            self.reason,
            self.model,
            rng,
            self.known,
            self.search.kept,
        )
        again = how_found(self.tuning, place, self.search, parameters, found.n_components)
        if self.seen is not self.centred:
            found = replace(found, feature_weights=feature_weights(self.seen, found.labels, found.components.T))
        return replace(
            found, tuning=self.tuning, rule=self.rule(found.labels), find_rule=self.rule_of_equal_rows, **again
        )

    def rule_of_equal_rows(self, labels: np.ndarray) -> Obvious | None:
        """The columns that reproduce labels which equal rows share: enough of them always do, so at most two count."""
        return self.rule(labels, several=False)

    def rule(self, labels: np.ndarray, several: bool = True) -> Obvious | None:
        """The columns that reproduce labels, if there are any; several: more than two may do it together."""
        if self.tuning is None and self.originals is None:  # X may be standardised: cuts would mean nothing
            return None
        before = as_they_were(self.centred, self.names, self.originals)
        subspace = None if self.tuning is None else self.tuning.parameters["subspace"]
        if subspace is not None:  # the search left some columns aside, and found the view in the others
            before = before.loc[:, np.any(subspace, axis=1)]
        beside = as_they_were(self.centred, self.names, None)
        return reproduced_by(labels, before, cuts=False, given=self.given, beside=beside, several=several)

    def menu(self, options: SolveOptions, seed: int, view: FittedView) -> tuple[Candidate, ...]:
        """The view and the others on the menu of the search."""
        assert self.tuning is not None
        views, means, rng = [view], view.given_means, np.random.default_rng(seed)
        with fitting_threads(len(self.centred)):
            for place, one in enumerate(self.tuning.views[1:], 1):
                other = self.fitted(place, Parameters(**one, kernel=self.search.fixed.kernel), options, rng, means)
                views.append(other.labelled_at(view.middles, self.given))
                means = means or views[-1].given_means
        stability = self.tuning.with_stability().table["stability"].to_numpy()[self.tuning.menu]
        pairs = zip(views, stability, strict=True)
        return tuple(candidate(one, steady, between_shares(self.seen, one.labels), self.names) for one, steady in pairs)


def _without_obvious(
    centred: Array, names: Sequence[str] | None, parameters: Parameters, tuning: Tuning | None
) -> Array:
    """The rows with 0 in the columns that the search left aside, so that a view is not said to be based on them."""
    if tuning is None or not tuning.obvious or parameters.subspace is None:
        return centred
    aside = left_aside(names, parameters.subspace.T, tuning.obvious)
    return np.where([column_name(names, j) in aside for j in range(centred.shape[1])], 0.0, centred)


def _fitted(
    centred: Array,
    mean: Array,
    given: list[np.ndarray],
    means: GivenMeans | None,
    parameters: Parameters,
    options: SolveOptions,
    kind: str,
    reason: str,
    model: Any,
    rng: np.random.Generator,
    known: str,
    keep: tuple[Array, Array] | None,
) -> FittedView:
    """One view, with all parameters set; how it was found is not known here."""
    options = counting(options) if kind == "tiles" else options
    problem, engine, result = _fit_exactly(centred, given, parameters, options, kind, model, rng, keep)
    W = problem.to_table(result.W)
    return FittedView(
        labels=result.labels,
        components=W.T,
        mean=mean,
        feature_weights=feature_weights(centred, result.labels, W),
        overlap=overlap(result.labels, given),
        overlap_p_value=overlap_p_value(result.labels, given),
        known=known,
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
        tuning=None,
        kernel_map=result.kernel_map,
        given_means=means,
        searched_labels=result.labels,
        certify=partial(_certify, problem, engine.X, kind, options.memory_limit, result),
    )


def how_found(tuning: Tuning | None, place: int, search: SearchSpec, parameters: Parameters, q: int) -> dict[str, Any]:
    """The search and the recipe that find a view again in other rows, from its place on the menu of the search."""
    if tuning is None:
        source = "residual" if parameters.subtract_given else "direct"  # directions that were passed as init
        recipe = Recipe("fixed" if isinstance(parameters.init, str) else source, 0)
        again = replace(search, fixed=replace(search.fixed, n_components=q))
        return {"search": again, "recipe": recipe, "rows": search.X}
    X = search.X if parameters.subspace is None else search.X @ parameters.subspace
    trial = tuning.trials[tuning.menu[place]]
    inside = {"columns": "residual", "columns, components": "components"}  # of the columns alone
    return {
        "search": replace(search, X=X, fixed=replace(search.fixed, n_clusters=parameters.n_clusters)),
        "recipe": Recipe(inside.get(trial.source, trial.source), trial.stage),
        "rows": search.X,
    }


def _certify(problem: Problem, X: Array, kind: str, memory_limit: float | None, result: Result) -> Certificate:
    """Uses a new engine, because that of the fit would keep n x n arrays in memory as long as the model."""
    engine = make_engine(X, problem.kernel, None, kind, memory_limit)
    return certify(problem, engine, result.W, result.gamma, result.objective)


def _fit_exactly(
    centred: Array,
    given: list[np.ndarray],
    parameters: Parameters,
    options: SolveOptions,
    kind: str,
    model: Any,
    rng: np.random.Generator,
    keep: tuple[Array, Array] | None = None,
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
    engine.keep = keep
    problem, result = best_of_starts(problem, engine, given, parameters, options, rng)
    return problem, engine, result


def warn_of_rank(asked: int | None, rank: int) -> None:
    """Warn if more directions were requested than the rows span."""
    if asked is not None and asked > rank:
        problem = f"is more than the rows span: only {rank} direction(s) are used."
        warnings.warn(FitWarning(problem, argument="n_components", value=asked), stacklevel=5)
