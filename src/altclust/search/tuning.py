"""Choose σ, λ, q and k without labels: search, score and explain."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

from ..base.backend import Array
from ..base.errors import InputError
from ..base.known import known_arrays, read_known
from ..base.parallel import end_with_parent, fitting_threads
from ..base.progress import Callback, Progress
from ..base.sampling import sample_rows
from ..base.validation import centre, check_rows, check_sizes, column_names, generator
from ..core.problem import row_space
from .checkpoints import Checkpoints
from .heuristics import check_outliers
from .obvious import Obvious, as_they_were, column_name, few_valued
from .paper_rule import explain_paper, grid_trajectories, rank_by_quality, run_grid
from .screening import WIDE, screen
from .selection import REJECTED, explain_ranking, menu, obvious_trials, rank
from .spec import MOST_ROWS, SearchSpec, Spec
from .stability import stability
from .trajectories import LOOSELY, Trajectory, run, run_again, trajectories
from .trials import Trial

MOST_KEPT = 100  # rows about which something is said that are added to the sample
SOUGHT_AGAIN = 3  # views on the menu that a second round starts from

Follow = Callable[[SearchSpec, Trajectory, int], list[Trial]]


@dataclass(frozen=True)
class Tuning:
    """The result of a search: all trials and the choice.

    Attributes
    ----------
    table : DataFrame
        One row per trial: its source, parameters, criteria and score, and whether it was chosen.
    parameters : dict
        The chosen trial as keyword arguments of `altclust.KDAC`; ``init`` holds its directions.
    reasons : str
        Why this trial was chosen.
    score : float
        Score of the chosen trial; comparable only between tables of the same size.
    rows : int array
        Indices of the rows that the search used.
    trials : list of Trial
    menu : list of int
        The numbers of the best trial and of up to four others that are distinct from each other, best first.
    views : list of dict
        Their parameters, as in `parameters`.
    obvious : tuple of Obvious
        Views that columns with few values reproduce. They are not on the menu.
    spec : SearchSpec
        The input of the search.
    seed : int
    """

    table: pd.DataFrame
    parameters: dict[str, Any]
    reasons: str
    score: float
    rows: np.ndarray
    trials: list[Trial]
    menu: list[int]
    views: list[dict[str, Any]]
    spec: SearchSpec = field(repr=False)
    seed: int = field(repr=False)
    obvious: tuple[Obvious, ...] = ()

    def with_stability(self) -> Tuning:
        """The same result with a column "stability" in its table, for the trials on the menu."""
        steady = np.full(len(self.table), np.nan)
        with fitting_threads(len(self.spec.X)):
            steady[self.menu] = stability(
                self.spec, [self.trials[i] for i in self.menu], np.random.default_rng(self.seed)
            )
        return replace(self, table=self.table.assign(stability=steady))


def tune(
    X: Any,
    given: Any = None,
    *,
    n_clusters: int | None = None,
    n_components: int | None = None,
    novelty_weight: float | None = None,
    subtract_given: bool | None = None,
    keep_obvious: bool = False,
    rule: str = "ranking",
    n_jobs: int | None = None,
    progress: Callback | None = None,
    resume: str | os.PathLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Tuning:
    """Search for the parameters with which `altclust.KDAC` finds the clearest new view.

    Parameters
    ----------
    X : array or frame, shape (n_samples, n_features)
        At most 400 of its rows are used.
    given : None, labels or measurements, or several columns of them, or `altclust.Known`
    n_clusters, n_components, novelty_weight, subtract_given : optional
        Fixed values; those left out are searched for.
    keep_obvious : bool
        Whether a view may be chosen that columns with few values reproduce, see `Tuning.obvious`.
    rule : {"ranking", "paper"}
        "ranking": clusters that several starts find, with gaps between them, that can be predicted for left-out rows,
        with a limit on the overlap, see docs/choosing.md. "paper": the highest cluster quality among the points that
        satisfy Theorem 1's inequality or come closest, on a grid of σ and λ, with q at the largest eigengap.
    n_jobs : int, optional
        Number of parallel processes.
    progress : callable, optional
        Called with an `altclust.Progress` after every trajectory. A true return value stops the search; the choice is
        then among the trials so far.
    resume : path, optional
        Folder for finished trajectories, from which an interrupted search is resumed; `random_state` must be a number.
    random_state : int, Generator or None

    Returns
    -------
    Tuning

    Examples
    --------
    >>> from altclust import KDAC, tune
    >>> from altclust.datasets import views
    >>> data = views(150, ("blobs", "moons"), (2, 2), random_state=1)
    >>> tuning = tune(data.X, data.given, n_clusters=2, random_state=0)
    >>> model = KDAC(**tuning.parameters, random_state=0).fit(data.X, data.given)
    """
    if not isinstance(rule, str) or rule not in RULES:
        raise InputError(f"is not a rule: choose among {', '.join(RULES)}.", argument="rule", value=rule)
    if not isinstance(resume, str | os.PathLike | None):
        raise InputError("is not a folder: pass its path.", argument="resume", value=resume)
    if resume is not None and not isinstance(random_state, Integral):
        problem = "needs random_state to be a number, so that the search can be repeated: pass one."
        raise InputError(problem, argument="resume", value=str(resume))
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
    table = check_rows(holder, X, reset=True)
    codes = known_arrays(read_known(given, len(table)))
    if subtract_given and (not codes or rule == "paper"):
        raise InputError('subtract_given=True needs a given clustering and rule="ranking": pass both.')
    n_clusters, n_components = _whole("n_clusters", n_clusters), _whole("n_components", n_components)
    check_sizes(len(table), table.shape[1], n_clusters or 1, n_components)
    centred, _ = centre(table, column_names(holder))
    check_outliers(centred)
    return search_parameters(
        centred,
        codes,
        Spec(n_clusters, n_components, None, novelty_weight, subtract_given=subtract_given, keep_obvious=keep_obvious),
        rule=rule,
        n_jobs=n_jobs,
        callback=progress,
        resume=resume,
        names=column_names(holder),
        rng=generator(random_state),
    ).with_stability()


def _whole(name: str, value: Any) -> int | None:
    if value is None or (isinstance(value, str) and value == "auto"):
        return None
    if not isinstance(value, Integral) or value < 1:
        problem = "must be a whole number of at least 1; leave it out to search for it."
        raise InputError(problem, argument=name, value=value)
    return int(value)


def search_parameters(
    X: Array,
    given: list[np.ndarray],
    fixed: Spec,
    *,
    rule: str = "ranking",
    n_jobs: int | None = None,
    callback: Callback | None = None,
    resume: str | os.PathLike | None = None,
    names: Sequence[str] | None = None,
    aside: tuple[Obvious, ...] = (),
    rng: np.random.Generator,
) -> Tuning:
    """`tune` on validated and centred rows.

    If columns with few values reproduce the best trial, these columns are left out and the search is repeated. What
    other columns then show is no obvious group, whether or not those left aside (`aside`) show it too.
    """
    rows, searched = sample_rows(len(X), MOST_ROWS, rng), replace(fixed, originals=None)
    if fixed.keep is not None:
        rows = np.union1d(rows, fixed.keep.rows[:MOST_KEPT])
        searched = replace(searched, keep=fixed.keep.take(rows))
    subspace, columns = (fixed.subspace, None) if X.shape[1] <= WIDE or rule == "paper" else screen(X, given, rng)
    part = X[rows] if subspace is None else X[rows] @ subspace
    sampled, basis = row_space(part - part.mean(axis=0))
    if basis is not None and columns is not None:
        columns = np.linalg.qr(basis.T @ columns)[0]
    spec = SearchSpec(sampled, [c[rows] for c in given], searched, columns)
    seed = int(rng.integers(2**31))
    find, follow, judge, explain = RULES[rule]
    found = find(spec)
    if not found:
        problem = f"in {len(rows)} rows leaves nothing to search for: set sigma, or ask for fewer clusters."
        raise InputError(problem, argument="n_clusters", value=fixed.n_clusters)

    def report(done: dict[int, list[Trial]], last: Trial) -> Any:
        return callback is not None and callback(Progress("search", len(done), len(found), last.cost, last.overlap))

    finished = _follow(spec, found, follow, seed, n_jobs, report, resume)
    trials = [trial for one in finished for trial in one]
    with fitting_threads(len(sampled)):
        table = judge(spec, trials, np.random.default_rng(seed))
        if rule == "ranking" and len(finished) == len(found):
            best = [trials[i] for i in menu(trials, table)[:SOUGHT_AGAIN]]
            more = run_again(spec, best, np.random.default_rng(seed))
            trials, table = trials + more, rank(spec, trials + more, np.random.default_rng(seed), table)
    originals = None if fixed.originals is None else fixed.originals.iloc[rows]
    few = few_valued(X[rows], names, originals) if rule == "ranking" and not fixed.keep_obvious else None
    found_in = {}
    if few is not None:
        few = few.drop(columns=[column for one in aside for column in one.columns], errors="ignore")
    if few is not None and few.shape[1]:
        found_in = obvious_trials(trials, table, few, spec.given, as_they_were(X[rows], names, None))
    rules = tuple({one.columns: one for one in found_in.values()}.values())
    if found_in and int(table["score"].argmax()) in found_in and fixed.subspace is None:
        rest = [j for j in range(X.shape[1]) if not any(column_name(names, j) in one.columns for one in rules)]
        if rest and np.ptp(X[rows][:, rest], axis=0).any():
            without = replace(fixed, subspace=np.eye(X.shape[1])[:, rest])
            again = search_parameters(
                X, given, without, n_jobs=n_jobs, callback=callback, names=names, aside=rules, rng=rng
            )
            told = {one.columns for one in rules}
            return replace(again, obvious=(*rules, *(one for one in again.obvious if one.columns not in told)))
    table.loc[list(found_in), "score"] -= REJECTED
    order = menu(trials, table)
    first = order[0]
    table["chosen"] = np.arange(len(table)) == first
    row = table.iloc[first]
    # The variance of directions falls as 1/n, so the fit is held to those of the search by the ratio of the rows.
    loose = min(1.0, MOST_ROWS / len(X))
    views = [_parameters(trials[i], basis, subspace, columns, fixed, loose) for i in order]
    why = explain(row, table)
    return Tuning(table, views[0], why, float(row["score"]), rows, trials, order, views, spec, seed, rules)


def _parameters(
    trial: Trial, basis: Array | None, subspace: Array | None, columns: Array | None, fixed: Spec, loose: float
) -> dict[str, Any]:
    """The keyword arguments of KDAC that fit this trial on all rows; loose is a factor of the pull."""
    W = trial.W if basis is None else basis @ trial.W
    own = subspace
    if subspace is not None and columns is not None and trial.source.startswith("columns"):
        own = subspace @ (columns if basis is None else basis @ columns)
    return {
        "n_clusters": trial.n_clusters,
        "n_components": trial.n_components,
        "sigma": trial.sigma,
        "novelty_weight": trial.novelty_weight,
        "scaling": fixed.scaling,
        "subtract_given": trial.subtract_given,
        "whitening": trial.whitening,
        "degree_floor": trial.degree_floor,
        "pull": loose * max(trial.pull, LOOSELY * max(trial.n_clusters - 1, 1)) if fixed.pull is None else fixed.pull,
        "subspace": own,
        "init": W if subspace is None else subspace @ W,
    }


def _follow(
    spec: SearchSpec,
    found: list[Trajectory],
    follow: Follow,
    seed: int,
    n_jobs: int | None,
    report: Callable[[dict[int, list[Trial]], Trial], Any],
    resume: str | os.PathLike | None,
) -> list[list[Trial]]:
    """The trials of every trajectory, in order; finished ones are read from the folder."""
    done: dict[int, list[Trial]] = {}
    checkpoints = None if resume is None else Checkpoints(Path(resume), spec, seed)
    if checkpoints is not None:
        done = {i: trials for i, one in enumerate(found) if (trials := checkpoints.read(one)) is not None}
    running = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_numbered)(follow, spec, found[i], i, seed) for i in range(len(found)) if i not in done
    )
    try:
        for i, trials in running:
            done[i] = trials
            if checkpoints is not None:
                checkpoints.write(found[i], trials)
            if report(done, trials[-1]):
                break
    finally:
        running.close()
    return [done[i] for i in sorted(done)]


def _numbered(follow: Follow, spec: SearchSpec, trajectory: Trajectory, i: int, seed: int) -> tuple[int, list[Trial]]:
    end_with_parent()
    with fitting_threads(len(spec.X)):
        return i, follow(spec, trajectory, seed + i)


RULES: dict[str, tuple[Callable, Callable, Callable, Callable]] = {
    "ranking": (trajectories, run, rank, explain_ranking),
    "paper": (grid_trajectories, run_grid, rank_by_quality, explain_paper),
}
