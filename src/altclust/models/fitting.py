"""One fit at any size: a sample of the rows in memory is fitted, and all rows are labelled in one pass."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..base.backend import Array
from ..base.errors import FitWarning
from ..base.parallel import fitting_threads
from ..base.sampling import sample_rows
from ..base.validation import warn_of_dominant
from ..core.alternation import Result, extended
from ..core.certificate import Certificate, certify
from ..core.coordinates import Coordinates
from ..core.embedding import KernelMap
from ..core.engines import make_engine
from ..core.feature_weights import TELLING, between_shares, feature_weights
from ..core.guess import Guess
from ..core.metrics import nmi
from ..core.problem import Problem
from ..core.solvers import Status
from ..search.obvious import Obvious, as_they_were, column_name, left_aside, reproduced_by
from ..search.proposals import ALTERNATED, FIXED
from ..search.resolve import resolve_settings
from ..search.settings import Settings
from ..search.spec import SearchSpec
from ..search.tuning import Tuning
from .fitted_view import FittedView, label_block, overlaps_of
from .sample import Sample, visible_share
from .solving import SolveOptions, best_of_starts, build_problem, solve_again

logger = logging.getLogger(__name__)

MOST_COLUMNS = 3  # that tell clusters apart
MUCH_LEFT_OUT = 0.02  # share of the kernel's trace


@dataclass(frozen=True)
class Fit:
    """How views of a sample are fitted: what was searched for, and how the objective is minimised.

    `seen` is the sample without the columns that the search left aside.
    """

    sample: Sample
    options: SolveOptions
    search: SearchSpec
    tuning: Tuning | None
    seen: Array

    @classmethod
    def of(cls, sample: Sample, asked: Settings, options: SolveOptions, rng: Any) -> tuple[Fit, Settings]:
        """Search for what is open."""
        settings, search, tuning = resolve_settings(
            SearchSpec(sample.centred, sample.given, asked, sample.keep),
            rng,
            names=sample.names,
            originals=sample.originals,
            n_jobs=options.n_jobs,
            callback=options.callback,
        )
        return cls(sample, options, search, tuning, _without_obvious(sample, settings, tuning)), settings

    def view(self, settings: Settings, rng: np.random.Generator, guess: Guess | None = None) -> FittedView:
        """The view with these settings, with the labels of all rows."""
        sample = self.sample
        if settings.subtract_given and guess is None:
            guess = sample.guess()
        chosen, inside = sample.coordinates(settings, guess)
        problem, result = self._solve(chosen, inside, settings, rng)
        basis, labels, extension = chosen, result.labels, result.kernel_map
        chosen = chosen.along(result.W)
        if not sample.whole:
            extension = extension.thinned(inside @ result.W, rng)
            labels = sample.rows.each(label_block, chosen, extension)
        else:
            labels = sample.rows.beside(labels)
        W = chosen.to_table(np.eye(result.W.shape[1]))
        overlaps = overlaps_of(sample.rows, labels, problem.n_clusters)
        view = FittedView(
            labels=labels,
            coordinates=chosen,
            feature_weights=feature_weights(self.seen, result.labels, W),
            overlap=max(overlaps, default=float("nan")),
            overlaps=overlaps,
            overlap_p_value=sample.given.overlap_p_value(result.labels),
            known=str(sample.given),
            quality=result.quality,
            cost=result.cost,
            status=str(result.status),
            n_iter=result.n_iter,
            settings=replace(
                settings,
                n_components=W.shape[1],
                degree_floor=0.0 if result.objective is None else result.objective.floor,
            ),
            sample_size=len(sample.places),
            engine=_described(sample, result, problem.n_clusters),
            approximation_error=result.error,
            history=result.history,
            tuning=self.tuning,
            kernel_map=extension,
            levels=sample.given.levels,
            searched_labels=result.labels,
            places=sample.places,
            rule=self.rule(result.labels),
            find_rule=partial(self.rule, several=False),  # more always reproduce equal rows
            certify=partial(self._certify, problem, settings, basis, extension, result),
            columns=telling_columns(between_shares(self.seen, result.labels), sample.names),
            **self._found_again(settings, result),
        )
        return replace(view, guess_agreement=self._guess_agreement(chosen, extension, result.labels))

    def _solve(
        self, chosen: Coordinates, inside: Array, settings: Settings, rng: np.random.Generator
    ) -> tuple[Problem, Result]:
        """The best of all starts, on the sample."""
        sample, here = self.sample, settings
        if settings.scaling == "paper":  # there the effect of λ grows with the rows
            here = replace(here, novelty_weight=settings.weight * sample.rows.n / len(inside))
        if settings.has_start:
            here = replace(here, init=chosen.from_table(np.asarray(here.init, dtype=float)))
        problem = build_problem(inside.shape[1], here)
        engine = make_engine(inside, problem.kernel, sample.given.indicators(here.scaling))
        engine.keep = self.search.kept
        return best_of_starts(problem, engine, sample.given, here, self.options, rng)

    def _guess_agreement(self, chosen: Coordinates, extension: KernelMap, labels: np.ndarray) -> float:
        """The share of the sample that gets the same label if what is given about it is guessed."""
        if not chosen.effects or chosen.guess is None:
            return float("nan")
        guessed = chosen(self.sample.centred + self.sample.mean)
        return float(np.mean(extension.labels(guessed) == labels))

    def _certify(
        self, problem: Problem, settings: Settings, chosen: Coordinates, extension: KernelMap, result: Result
    ) -> Certificate:
        """Uses a new engine, because that of the fit would keep n x n arrays in memory as long as the model."""
        sample = self.sample
        engine = make_engine(result.X, problem.kernel, None)
        found = certify(problem, engine, result.W, result.gamma, result.objective, sample.rows.d)
        if sample.whole:
            return found
        places = sample_rows(sample.rows.n, len(sample.places), np.random.default_rng(len(sample.places)))
        raw, given = sample.rows.take(places)
        inside = chosen(np.asarray(raw, dtype=np.float64), given.codes)
        engine = make_engine(inside, problem.kernel, given.indicators(settings.scaling))
        again = solve_again(problem, engine, given, settings, self.options, result)
        there = extended(problem, engine, result, settings.rounding, np.random.default_rng(0))
        agreement = nmi(extension.labels(inside @ result.W), again.labels)
        told = (
            f" A second sample of {len(places):,} rows gives clusters that agree with NMI {agreement:.2f}; its cost in "
            f"these directions is {there.cost:.3g}, that of the sample {result.cost:.3g}."
        )
        return replace(
            found,
            sample_cost=result.cost,
            second_cost=there.cost,
            second_agreement=agreement,
            verdict=found.verdict + told,
        )

    def _found_again(self, settings: Settings, result: Result) -> dict[str, Any]:
        """The search and the source that find a view again in other rows."""
        tuning, search = self.tuning, self.search
        if tuning is None:
            source = "residual" if settings.subtract_given else "direct"  # directions that were passed as init
            if not settings.has_start:
                source = ALTERNATED if result.objective is None else FIXED
            floor = None if result.objective is None else result.objective.floor
            fixed = replace(search.fixed, n_components=result.W.shape[1], degree_floor=floor)
            return {"search": replace(search, fixed=fixed), "source": source, "rows": search.X}
        X = search.X if settings.subspace is None else search.X @ settings.subspace
        return {
            "search": replace(search, X=X, fixed=replace(search.fixed, n_clusters=settings.n_clusters)),
            "source": tuning.source,
            "rows": search.X,
        }

    def rule(self, labels: np.ndarray, several: bool = True) -> Obvious | None:
        """The columns that reproduce labels of the sample, if there are any; several: more than two may do it."""
        sample = self.sample
        before = as_they_were(sample.centred, sample.names, sample.originals)
        subspace = None if self.tuning is None else self.tuning.settings.subspace
        if subspace is not None:  # the search left some columns aside, and found the view in the others
            before = before.loc[:, np.any(subspace, axis=1)]
        beside = as_they_were(sample.centred, sample.names, None)
        return reproduced_by(labels, before, cuts=False, given=sample.given, beside=beside, several=several)

    def variant(self, seed: int, guess: Guess | None, n_clusters: int) -> FittedView:
        """The view with another number of clusters, from its trial of the search."""
        assert self.tuning is not None
        with fitting_threads(len(self.seen)):
            return self.view(self.tuning.variants[n_clusters], np.random.default_rng(seed), guess)


def fit_sample(sample: Sample, asked: Settings, options: SolveOptions, rng: np.random.Generator) -> FittedView:
    """The view of a sample; it is fitted with other numbers of clusters when they are asked for."""
    warn_of_dominant(sample.centred, sample.names)
    with fitting_threads(len(sample.centred)):
        fit, settings = Fit.of(sample, asked, options, rng)
        view = fit.view(settings, rng)
    if asked.n_components is not None and asked.n_components > view.n_components:
        spanned = "1 direction" if view.n_components == 1 else f"{view.n_components} directions"
        problem = f"is more than the {spanned} that the rows span."
        warnings.warn(FitWarning(problem, argument="n_components", value=asked.n_components), stacklevel=4)
    if view.approximation_error > MUCH_LEFT_OUT:
        problem = (
            f"is too narrow for a sample of {len(sample.places):,} rows: landmarks leave out "
            f"{view.approximation_error:.2g} of the kernel's trace; choose a larger one, or a smaller sample_size."
        )
        warnings.warn(FitWarning(problem, argument="sigma", value=view.settings.sigma), stacklevel=4)
    if fit.tuning is None or view.status == Status.CANCELLED:
        return view
    quiet, seed = replace(fit, options=replace(options, callback=None)), int(rng.integers(2**31))
    again = partial(quiet.variant, seed, view.coordinates.guess)
    return replace(view, variants=tuple(fit.tuning.variants), fit_variant=again)


def telling_columns(shares: Array, names: Sequence[str] | None) -> tuple[str, ...]:
    """The columns with the largest shares of their variance between clusters."""
    order = np.argsort(-shares, kind="stable")[:MOST_COLUMNS]
    return tuple(column_name(names, int(j)) for j in order if shares[j] >= TELLING)


def _described(sample: Sample, result: Result, k: int) -> str:
    """What was fitted, and what a sample can see."""
    n, m = sample.rows.n, len(sample.places)
    landmarks = None if result.objective is None else result.objective.landmarks
    kernel = "the exact kernel" if landmarks is None else f"{len(landmarks)} landmarks"
    if sample.whole:
        return f"fitted on all {n:,} rows, with {kernel}"
    return (
        f"fitted on {m:,} of {n:,} rows, with {kernel}; a cluster with less than {visible_share(k, m):.1%} of the rows "
        "may be missed"
    )


def _without_obvious(sample: Sample, settings: Settings, tuning: Tuning | None) -> Array:
    """The sample with 0 in the columns that the search left aside, so that a view is not said to be based on them."""
    if tuning is None or not tuning.obvious or settings.subspace is None:
        return sample.centred
    names = sample.names
    aside = left_aside(names, settings.subspace.T, tuning.obvious)
    return np.where([column_name(names, j) in aside for j in range(sample.rows.d)], 0.0, sample.centred)
