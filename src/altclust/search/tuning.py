"""Choose σ, λ, q and k without labels: search, score and explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given
from ..base.known import read_given
from ..base.parallel import end_with_parent, fitting_threads
from ..base.progress import Callback, Progress
from ..base.sampling import own_order
from ..base.validation import check_sizes, column_names
from ..core.problem import row_space
from ..data.sums import centred_table
from .factors import factor, variants
from .heuristics import check_outliers
from .obvious import Obvious, as_they_were, column_name, few_valued, reproduced_by
from .proposals import Proposal, fit_proposal, proposals
from .screening import WIDE, screen
from .selection import explain_ranking, is_thin, rank, smoothest
from .settings import Settings
from .spec import SearchSpec, searched_rows
from .trials import Trial

HELD = 1e3  # pull of a fit that is to keep its start: a descent at the small σ of thin shapes moves to outliers


@dataclass(frozen=True)
class Tuning:
    """The result of a search: all trials and the choice.

    Attributes
    ----------
    table : DataFrame
        One row per trial: its source, parameters, criteria and score, and whether it was chosen.
    settings : Settings
        The chosen trial, for ``KDAC(settings=…)``; ``init`` holds its directions.
    reasons : str
        Why this trial was chosen.
    rows : int array
        Indices of the rows that the search used.
    trials : list of Trial
    source : str
        Where the start of the chosen trial came from.
    variants : dict of int to Settings
        For each other number of clusters with which the same view is nearly as clear.
    obvious : tuple of Obvious
        Views that columns with few values reproduce. They are not chosen.
    """

    table: pd.DataFrame
    settings: Settings
    reasons: str
    rows: np.ndarray
    trials: list[Trial]
    source: str
    variants: dict[int, Settings]
    obvious: tuple[Obvious, ...] = ()


def tune(
    X: Any,
    given: Any = None,
    *,
    n_clusters: int | None = None,
    n_components: int | None = None,
    novelty_weight: float | None = None,
    subtract_given: bool | None = None,
    keep_obvious: bool = False,
    n_jobs: int | None = None,
    progress: Callback | None = None,
) -> Tuning:
    """Search for the parameters with which `altclust.KDAC` finds the clearest new view.

    The result is a property of the table: what is drawn at random follows from the values of its rows, and not from
    their order or that of the columns.

    Parameters
    ----------
    X : array or frame, shape (n_samples, n_features)
        All of its rows are used up to 400, and of large tables a third, but at most 1,000.
    given : None, labels or measurements, or several columns of them, or `altclust.Known`
    n_clusters, n_components, novelty_weight, subtract_given : optional
        Fixed values; those left out are searched for.
    keep_obvious : bool
        Whether a view may be chosen that columns with few values reproduce, see `Tuning.obvious`.
    n_jobs : int, optional
        Number of parallel processes.
    progress : callable, optional
        Called with an `altclust.Progress` after every trial. A true return value stops the search; the choice is then
        among the trials so far.

    Returns
    -------
    Tuning

    Examples
    --------
    >>> from altclust import KDAC, tune
    >>> from altclust.datasets import views
    >>> data = views(150, ("blobs", "moons"), (2, 2), random_state=1)
    >>> tuning = tune(data.X, data.given, n_clusters=2)
    >>> model = KDAC(settings=tuning.settings, random_state=0).fit(data.X, data.given)
    """
    if novelty_weight is not None and not (isinstance(novelty_weight, Real) and 0 <= novelty_weight <= 1e9):
        raise InputError("must lie between 0 and 1e9.", argument="novelty_weight", value=novelty_weight)
    if not isinstance(n_jobs, Integral | None) or n_jobs == 0:
        raise InputError("must be a whole number other than 0; -1 means all cores.", argument="n_jobs", value=n_jobs)
    if progress is not None and not callable(progress):
        problem = "is not a function: pass one that takes a Progress, or leave it out."
        raise InputError(problem, argument="progress", value=progress)
    if not isinstance(subtract_given, bool | np.bool_ | None):
        raise InputError("must be True, False or None.", argument="subtract_given", value=subtract_given)
    holder = BaseEstimator()
    centred, _ = centred_table(holder, X)
    known = read_given(given, len(centred))
    if subtract_given and not known:
        raise InputError("needs a given clustering: pass one.", argument="subtract_given", value=True)
    n_clusters, n_components = _whole("n_clusters", n_clusters), _whole("n_components", n_components)
    check_sizes(len(centred), centred.shape[1], n_clusters or 1, n_components)
    check_outliers(centred)
    fixed = Settings(
        n_clusters,
        n_components,
        novelty_weight=novelty_weight,
        subtract_given=subtract_given,
        keep_obvious=keep_obvious,
    )
    names = column_names(holder)
    return search_parameters(SearchSpec(centred, known, fixed), names=names, n_jobs=n_jobs, callback=progress)


def _whole(name: str, value: Any) -> int | None:
    if value is None or (isinstance(value, str) and value == "auto"):
        return None
    if not isinstance(value, Integral) or value < 1:
        problem = "must be a whole number of at least 1; leave it out to search for it."
        raise InputError(problem, argument=name, value=value)
    return int(value)


def search_parameters(
    asked: SearchSpec,
    *,
    names: Sequence[str] | None = None,
    originals: pd.DataFrame | None = None,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    aside: tuple[Obvious, ...] = (),
) -> Tuning:
    """`tune` on validated and centred rows; for originals see `altclust.KDAC.fit`.

    If columns with few values reproduce the chosen trial, they are left aside and the search is repeated, once.
    What other columns then show is no obvious group, whether or not those left aside (`aside`) show it too.
    """
    order, across, seed, X, given = own_order(asked.X, asked.given)
    names = [column_name(names, int(j)) for j in across]
    keep = None if asked.keep is None else asked.keep.take(order)
    originals = None if originals is None else originals.iloc[order].sort_index(axis=1)
    subspace, columns = asked.fixed.subspace, None
    if subspace is not None:
        subspace = subspace[across]
    fixed = replace(asked.fixed, subspace=subspace)
    rows = np.arange(most := searched_rows(len(X)))
    if keep is not None:
        rows = np.concatenate([rows, np.setdiff1d(keep.rows[:most], rows)])
    searched = X if subspace is None else X @ subspace  # without the columns that are left aside
    if searched.shape[1] > WIDE:
        within, columns = screen(searched, given, seed)
        subspace = within if subspace is None else subspace @ within
    part = X[rows] if subspace is None else X[rows] @ subspace
    sampled, basis = row_space(part - part.mean(axis=0))
    if basis is not None and columns is not None:
        columns = np.linalg.qr(basis.T @ columns)[0]
    spec = SearchSpec(sampled, given.take(rows), fixed, None if keep is None else keep.take(rows), columns)
    found = proposals(spec)
    if not found:
        problem = f"in {len(rows)} rows leaves nothing to search for: set sigma, or ask for fewer clusters."
        raise InputError(problem, argument="n_clusters", value=fixed.n_clusters)
    with fitting_threads(len(sampled)):
        trials = _trials(spec, found, seed, n_jobs, callback)
        table = rank(spec, trials, seed)
        first = int(table["score"].argmax()) if fixed.n_clusters else factor(spec, trials, table, seed)
        first = smoothest(trials, table, first)
    told = aside
    if not fixed.keep_obvious:
        few = few_valued(X[rows], names, None if originals is None else originals.iloc[rows], aside)
        beside = as_they_were(X[rows], names, None)
        if few.shape[1] and _rule(trials[first], few, spec.given, beside):
            rules = {i: _rule(trial, few, spec.given, beside) for i, trial in enumerate(trials)}
            told = (*aside, *{one.columns: one for one in rules.values() if one is not None}.values())
            rest = [j for j in range(X.shape[1]) if not any(column_name(names, j) in one.columns for one in told)]
            if fixed.subspace is None and np.ptp(X[rows][:, rest], axis=0).any():
                without = SearchSpec(X, given, replace(fixed, subspace=np.eye(X.shape[1])[:, rest]), keep)
                again = search_parameters(
                    without, names=names, originals=originals, n_jobs=n_jobs, callback=callback, aside=told
                )
                others = {k: _in_columns(one, across) for k, one in again.variants.items()}
                settings = _in_columns(again.settings, across)
                return replace(again, settings=settings, variants=others, rows=order[again.rows])
            best = np.argsort(-table["score"].to_numpy(), kind="stable")
            first = next((int(i) for i in best if rules[int(i)] is None), first)
    places = {} if fixed.n_clusters else variants(trials, table, first)
    table["chosen"] = np.arange(len(table)) == first
    # The variance of directions falls as 1/n, so the fit is held to those of the search by the ratio of the rows.
    loose = most / len(X)

    def settings_of(i: int) -> Settings:
        return _in_columns(_settings(trials[i], spec, basis, subspace, loose), across)

    return Tuning(
        table,
        settings_of(first),
        explain_ranking(table.iloc[first], table),
        order[rows],
        trials,
        trials[first].source,
        {k: settings_of(smoothest(trials, table, i)) for k, i in places.items()},
        told,
    )


def _rule(trial: Trial, few: pd.DataFrame, given: Given, beside: pd.DataFrame) -> Obvious | None:
    """The rule by which columns with few values reproduce a trial."""
    rule = reproduced_by(trial.labels, few, cuts=False, given=given, beside=beside)
    return rule if rule is not None and rule.few_valued else None


def _in_columns(settings: Settings, across: np.ndarray) -> Settings:
    """Settings of columns in this order, as those of the columns of the table."""
    back, own = np.argsort(across), settings.subspace
    return replace(settings, init=settings.init[back], subspace=None if own is None else own[back])


def _settings(trial: Trial, spec: SearchSpec, basis: Array | None, subspace: Array | None, loose: float) -> Settings:
    """The settings that fit this trial on all rows; loose is a factor of the pull."""
    W, own, asked = trial.W if basis is None else basis @ trial.W, subspace, trial.settings
    if subspace is not None and spec.columns is not None and trial.in_columns:
        own = subspace @ (spec.columns if basis is None else basis @ spec.columns)
    held = HELD if is_thin(trial) else loose * max(trial.n_clusters - 1, 1)
    pull = held if spec.fixed.pull is None else spec.fixed.pull
    init = W if subspace is None else subspace @ W
    return replace(asked, n_components=trial.n_components, pull=pull, subspace=own, init=init)


def _trials(
    spec: SearchSpec, found: list[Proposal], seed: int, n_jobs: int | None, callback: Callback | None
) -> list[Trial]:
    """The trials of all proposals, in order, or of those that are done when the callback stops the search."""
    if n_jobs not in (None, 1):
        spec.tails, spec.components  # noqa: B018 — computed once here, instead of once for each trial
    done: dict[int, Trial] = {}
    running = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_trial)(spec, one, seed, i) for i, one in enumerate(found)
    )
    try:
        for i, trial in running:
            done[i] = trial
            if callback is not None and callback(Progress("search", len(done), len(found), trial.cost, trial.overlap)):
                break
    finally:
        running.close()
    return [done[i] for i in sorted(done)]


def _trial(spec: SearchSpec, proposal: Proposal, seed: int, place: int) -> tuple[int, Trial]:
    end_with_parent()
    with fitting_threads(len(spec.X)):
        return place, fit_proposal(spec, proposal, seed)
