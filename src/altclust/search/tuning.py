"""Choose σ, λ, q and k without labels: search, score, explain."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Integral, Real
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator

from ..base.backend import Array
from ..base.errors import InputError, shown
from ..base.parallel import end_with_parent, fitting_threads
from ..base.validation import centre, check_given, check_rows, check_sizes, generator
from ..core.metrics import nmi
from ..core.problem import remove_given, row_space
from .checkpoints import ARRAYS, KeptPaths
from .heuristics import check_outliers
from .paper_rule import explain_paper, grid_paths, paper_score, walk_grid
from .trajectories import MOST_ROWS, Path, Question, Trial, centre_directions, paths, persistence, walk

SMALLEST = 0.03  # share of rows below which a cluster is taken for outliers
FAINT = 1.0  # score below which no trial is clear
NEWEST = 0.3  # NMI with what is given above which a view is not an alternative
SAME = 0.9  # NMI from which two trials show the same clusters
Progress = Callable[[int, int], Any]
Watch = Callable[[int, int, Trial], Any]


@dataclass(frozen=True)
class Tuning:
    """What a search tried and what it chose.

    Attributes
    ----------
    table : DataFrame
        One row per trial: where it came from, its parameters, every criterion, its score, and whether it was chosen.
    parameters : dict
        The chosen point as keyword arguments of `altclust.KDAC`; ``init`` holds the directions that were found.
    reasons : str
        Why this one, in words.
    score : float
        Of the chosen point; comparable between tables of the same size only.
    rows : int array
        The rows of the table that were looked at.
    trials : list of Trial
    """

    table: pd.DataFrame
    parameters: dict[str, Any]
    reasons: str
    score: float
    rows: np.ndarray
    trials: list[Trial]


def tune(
    X: Any,
    given: Any = None,
    *,
    n_clusters: int | None = None,
    n_components: int | None = None,
    novelty_weight: float | None = None,
    subtract_given: bool | None = None,
    rule: str = "separation",
    n_jobs: int | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Tuning:
    """Search for the parameters with which `altclust.KDAC` finds the clearest view that is new.

    Parameters
    ----------
    X : array or frame, shape (n_samples, n_features)
        At most 400 of its rows are looked at.
    given : None, labels, or several columns of labels
    n_clusters, n_components, novelty_weight, subtract_given : optional
        What is fixed already.
    rule : {"separation", "paper"}
        "separation": clusters that stand apart and stay the same when σ moves, overlap as a constraint. "paper": the
        highest cluster quality among the points that satisfy Theorem 1's inequality or come closest, on a grid of σ
        and λ, with q at the largest eigengap.
    n_jobs : int, optional
        Processes side by side.
    progress : callable, optional
        Called with (paths done, paths in all). A true answer ends the search with what there is.
    resume : path, optional
        Folder that keeps every finished path, so that an interrupted search goes on where it stopped; needs
        `random_state` to be a number.
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
        raise InputError(f"rule={shown(rule)} is not a rule: choose among {', '.join(RULES)}.")
    if not isinstance(resume, str | os.PathLike | None):
        raise InputError(f"resume={shown(resume)} is not a folder: pass its path.")
    if resume is not None and not isinstance(random_state, Integral):
        raise InputError(
            f"resume={str(resume)!r} needs random_state to be a number: the search must be the same again."
        )
    if novelty_weight is not None and not (isinstance(novelty_weight, Real) and 0 <= novelty_weight <= 1e9):
        raise InputError(f"novelty_weight={shown(novelty_weight)} must lie between 0 and 1e9.")
    if not isinstance(n_jobs, Integral | None) or n_jobs == 0:
        raise InputError(f"n_jobs={shown(n_jobs)} must be a whole number but 0; -1 means all cores.")
    if progress is not None and not callable(progress):
        raise InputError(f"progress={shown(progress)} is not a function: pass one of (done, total), or leave it out.")
    if not isinstance(subtract_given, bool | np.bool_ | None):
        raise InputError(f"subtract_given={shown(subtract_given)} must be True, False or None.")
    holder = BaseEstimator()
    table = check_rows(holder, X, reset=True)
    codes = check_given(given, len(table))
    if subtract_given and (not codes or rule == "paper"):
        raise InputError('subtract_given=True needs something given, and the rule "separation".')
    n_clusters, n_components = _whole("n_clusters", n_clusters), _whole("n_components", n_components)
    check_sizes(len(table), table.shape[1], n_clusters or 1, n_components)
    centred, _ = centre(holder, table)
    check_outliers(centred)
    return search_parameters(
        centred,
        codes,
        n_clusters=n_clusters,
        n_components=n_components,
        novelty_weight=novelty_weight,
        subtract_given=subtract_given,
        rule=rule,
        n_jobs=n_jobs,
        watch=progress and (lambda done, total, _: progress(done, total)),
        resume=resume,
        rng=generator(random_state),
    )


def _whole(name: str, value: Any) -> int | None:
    if value is None or (isinstance(value, str) and value == "auto"):
        return None
    if not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name}={shown(value)} must be a whole number of at least 1; leave it out to search for it.")
    return int(value)


def search_parameters(
    X: Array,
    given: list[np.ndarray],
    *,
    n_clusters: int | None = None,
    n_components: int | None = None,
    novelty_weight: float | None = None,
    scaling: str = "balanced",
    subtract_given: bool | None = None,
    rule: str = "separation",
    n_jobs: int | None = None,
    watch: Watch | None = None,
    resume: str | os.PathLike | None = None,
    rng: np.random.Generator,
) -> Tuning:
    """`tune` on rows that are checked and centred; watch is told the clearest trial so far as well."""
    rows = np.arange(len(X)) if len(X) <= MOST_ROWS else np.sort(rng.choice(len(X), MOST_ROWS, replace=False))
    looked_at, basis = row_space(X[rows] - X[rows].mean(axis=0))
    codes = [c[rows] for c in given]
    question = Question(looked_at, codes, n_clusters, n_components, novelty_weight, scaling, subtract_given)
    seed = int(rng.integers(2**31))
    find, follow, score, choose, explain = RULES[rule]
    walks = find(question)
    if not walks:
        raise InputError(
            f"n_clusters={n_clusters} in {len(rows)} rows leaves nothing to search for: fix sigma, or lower it."
        )

    def judge(trials: list[Trial]) -> tuple[int, pd.DataFrame]:
        table = tabulate(trials)
        table["score"] = score(table)
        return choose(trials, table), table

    def report(found: dict[int, list[Trial]]) -> Any:
        trials = [trial for path in found.values() for trial in path]
        return watch is not None and watch(len(found), len(walks), trials[judge(trials)[0]])

    trials = [t for found in _follow(question, walks, follow, seed, n_jobs, report, resume) for t in found]
    best, table = judge(trials)
    table["chosen"] = np.arange(len(table)) == best
    chosen = trials[best]
    subtract = chosen.source == "residual"
    if subtract:  # centres of all rows are a better start than where the sample ended
        W = centre_directions(remove_given(X, given), chosen.n_clusters, chosen.n_components, rng)
    else:
        W = chosen.W if basis is None else basis @ chosen.W
    parameters = {
        "n_clusters": chosen.n_clusters,
        "n_components": chosen.n_components,
        "sigma": chosen.sigma,
        "novelty_weight": chosen.novelty_weight,
        "scaling": scaling,
        "subtract_given": subtract,
        "init": W,
    }
    row = table.iloc[best]
    return Tuning(table, parameters, explain(row, table), float(row["score"]), rows, trials)


def _widest(trials: list[Trial], best: int) -> int:
    """The trial with the largest σ that shows the same clusters nearly as clearly as the best.

    The score favours a small σ, where a longer fit on all rows has many ways to go astray.
    """
    chosen = trials[best]
    same = [
        i
        for i, trial in enumerate(trials)
        if (trial.source, trial.n_clusters, trial.n_components)
        == (chosen.source, chosen.n_clusters, chosen.n_components)
        and trial.sigma >= chosen.sigma
        and trial.smallest >= min(SMALLEST, chosen.smallest)
        and not trial.overlap > max(NEWEST, chosen.overlap)
        and trial.separation >= chosen.separation / 2
        and nmi(trial.labels, chosen.labels) >= SAME
    ]
    return max(same, key=lambda i: trials[i].sigma, default=best)


def search_once(question: Question, seed: int) -> tuple[np.ndarray, float]:
    """The labels and the score of the best trial, in one process."""
    end_with_parent()
    with fitting_threads(len(question.X)):
        trials = [trial for i, path in enumerate(paths(question)) for trial in walk(question, path, seed + i)]
    table = tabulate(trials)
    table["score"] = _separation_score(table)
    return trials[_choose_separation(trials, table)].labels, float(table["score"].max())


def _follow(
    question: Question,
    walks: list[Path],
    follow: Callable[[Question, Path, int], list[Trial]],
    seed: int,
    n_jobs: int | None,
    report: Callable[[dict[int, list[Trial]]], Any],
    resume: str | os.PathLike | None,
) -> list[list[Trial]]:
    """The trials of every path, in the order of the paths, from the folder where they are there already."""
    found: dict[int, list[Trial]] = {}
    kept = None if resume is None else KeptPaths(FilePath(resume), question, seed)
    if kept is not None:
        found = {i: trials for i, walk in enumerate(walks) if (trials := kept.read(walk)) is not None}
    open_paths = [i for i in range(len(walks)) if i not in found]
    done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_numbered)(follow, question, walks[i], i, seed) for i in open_paths
    )
    try:
        for i, trials in done:
            found[i] = trials
            if kept is not None:
                kept.write(walks[i], trials)
            if report(found):
                break
    finally:
        done.close()
    return [found[i] for i in sorted(found)]


def _numbered(
    follow: Callable[[Question, Path, int], list[Trial]], question: Question, path: Path, i: int, seed: int
) -> tuple[int, list[Trial]]:
    end_with_parent()
    with fitting_threads(len(question.X)):
        return i, follow(question, path, seed + i)


def tabulate(trials: list[Trial]) -> pd.DataFrame:
    """One row per trial, with every criterion that needs no labels."""
    columns = [f.name for f in fields(Trial) if f.name not in ARRAYS] + ["separation", "suggested"]
    table = pd.DataFrame([[getattr(t, c) for c in columns] for t in trials], columns=columns)
    table.insert(3, "n_components", [t.n_components for t in trials])
    table["persistence"], table["steadiness"] = persistence(trials)
    return table


def _separation_score(table: pd.DataFrame) -> pd.Series:
    """Separation times persistence⁴; trials with outliers for clusters, or with nothing new, come last."""
    score = table["separation"] * table["persistence"] ** 4
    return score - 1e3 * (table["smallest"] < SMALLEST) - 1e6 * (table["overlap"] > NEWEST)


def _choose_separation(trials: list[Trial], table: pd.DataFrame) -> int:
    """The highest score, at the widest σ that shows the same; if none is clear, the steadiest residual trial.

    Clusters that run into each other have no gap in the spectrum to score. What is given then tends to run through
    all directions, and the rows are best seen without it. Steadiness counts by the share of pairs of rows that so many
    clusters tell apart, since two clusters stay easily.
    """
    score = table["score"].to_numpy()
    new = ~(table["overlap"] > NEWEST)
    allowed = (new & (table["source"] == "residual") & (table["smallest"] >= SMALLEST)).to_numpy()
    if score.max() >= FAINT or not allowed.any():
        return _widest(trials, int(np.argmax(score)))
    told_apart = (table["steadiness"] * (1 - 1 / table["n_clusters"])).to_numpy()
    return int(np.argmax(np.where(allowed, told_apart, -1.0)))


def _choose_highest(trials: list[Trial], table: pd.DataFrame) -> int:
    return int(np.argmax(table["score"].to_numpy()))


def _explain_separation(row: pd.Series, table: pd.DataFrame) -> str:
    share = float(np.exp(row["separation"]))
    faint = table["score"].max() < FAINT and row["source"] == "residual"
    wider = row["score"] < table["score"].max()
    best = "the widest sigma that shows the clusters of the best" if wider else "the best"
    why = "none is clear, and this is the steadiest without the given means" if faint else best
    new = "" if np.isnan(row["overlap"]) else f", NMI {row['overlap']:.2f} with what is given"
    return (
        f"{row['n_clusters']} clusters in {row['n_components']} direction(s) at sigma={row['sigma']:.3g}, from the "
        f"{row['source']} path: cutting once more would cost {share:.1f} times as much, the labels agree to "
        f"{row['persistence']:.2f} (NMI) with those at the neighbouring sigmas{new}; {why} of {len(table)} trials."
    )


RULES: dict[str, tuple[Callable, Callable, Callable, Callable, Callable]] = {
    "separation": (paths, walk, _separation_score, _choose_separation, _explain_separation),
    "paper": (grid_paths, walk_grid, paper_score, _choose_highest, explain_paper),
}
