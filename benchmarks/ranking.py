"""Fit the weights of the ranking, and print what it picks on sources that it did not see.

Every trial of a search has criteria without labels and an NMI with the hidden clustering. The weights maximise the mean
NMI under softmax(score), a smooth form of the NMI of the trial with the highest score. What is printed for a source was
chosen by weights that were fitted without it. ``--trials`` keeps the table of all trials, so that weights can be fitted
again.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

import tasks
import zoo
from altclust.base.sampling import sample_rows
from altclust.core.metrics import nmi
from altclust.core.problem import row_space
from altclust.search import selection
from altclust.search.spec import MOST_ROWS, SearchSpec, Spec
from altclust.search.trajectories import run, trajectories

PENALTY = 3e-4  # on the squares of the weights of standardised terms
GROUPS = {"natural": 1.5, "pairs": 1.0, "generated": 0.7}  # what a task counts


def all_tasks() -> list[tuple[str, str, str, tasks.Task]]:
    """The tasks with their group, the source of what is given and that of the truth."""
    found = [("natural", name, name, task) for name in zoo.NATURAL for task in zoo.natural(name)]
    found += [("pairs", a, b, zoo.pair(a, b, seed)) for a, b in permutations(zoo.SINGLE, 2) for seed in (20, 21)]
    found += [("generated", f, f, tasks.generated(f, seed)) for f in tasks.FAMILIES for seed in (20, 21, 22)]
    return found + [("generated", f.__name__, f.__name__, f(seed)) for f in tasks.FRESH for seed in range(6)]


def search(group: str, given: str, hidden: str, task: tasks.Task) -> pd.DataFrame:
    """The trials of one task, with their criteria and their NMI with the truth."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        rng = np.random.default_rng(0)
        rows = sample_rows(len(task.X), MOST_ROWS, rng)
        truth = task.truth[rows]
        k = len(np.unique(truth))
        X = row_space(task.X[rows] - task.X[rows].mean(axis=0))[0]
        spec = SearchSpec(X, list(task.given[rows].T), Spec())
        told = SearchSpec(X, spec.given, Spec(n_clusters=k))
        found = [*trajectories(spec), *trajectories(told)]
        trials = [trial for i, one in enumerate(dict.fromkeys(found)) for trial in run(spec, one, i)]
        table = selection.rank(spec, trials, rng)
        table["nmi"] = [nmi(trial.labels, truth) for trial in trials]
    return table.assign(task=f"{task.family} {task.seed}", group=group, given=given, hidden=hidden, true_k=k)


def terms(table: pd.DataFrame) -> pd.DataFrame:
    return table[list(selection.WEIGHTS)]


def fit(table: pd.DataFrame) -> dict[str, float]:
    """The weights; trials that are rejected do not count."""
    table = table[table["score"] > -selection.REJECTED / 2]
    D = terms(table)
    D = D - D.groupby(table["task"].to_numpy()).transform("mean")
    scales = D.std()
    order = np.argsort(pd.factorize(table["task"])[0], kind="stable")
    task = pd.factorize(table["task"])[0][order]
    Z, y = (D / scales).to_numpy()[order], table["nmi"].to_numpy()[order]
    begins = np.flatnonzero(np.diff(task, prepend=-1))
    counts = table["group"].map(GROUPS).to_numpy()[order][begins]
    counts = counts / counts.sum()

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        u = Z @ w
        e = np.exp(u - np.maximum.reduceat(u, begins)[task])
        p = e / np.add.reduceat(e, begins)[task]
        mean = np.add.reduceat(p * y, begins)
        slope = -(Z * (counts[task] * p * (y - mean[task]))[:, None]).sum(axis=0)
        return -float(counts @ mean) + PENALTY * float(w @ w), slope + 2 * PENALTY * w

    w = minimize(loss, np.full(Z.shape[1], 0.1), jac=True, method="L-BFGS-B").x
    return dict(zip(D, w / scales, strict=True))


def picked(table: pd.DataFrame, weights: dict[str, float]) -> pd.DataFrame:
    """The trial with the highest score of every task."""
    change = sum((weights[name] - selection.WEIGHTS[name]) * terms(table)[name] for name in weights)
    score = (table["score"] + change).groupby(table["task"]).idxmax()
    return table.loc[score]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=Path, default=Path("trials.parquet"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not options.trials.exists():
        found = Parallel(options.jobs, verbose=1)(delayed(search)(*one) for one in all_tasks())
        pd.concat(found, ignore_index=True).to_pickle(options.trials)
    table = pd.read_pickle(options.trials)
    for name, some in {"k told": table[table["n_clusters"] == table["true_k"]], "k free": table}.items():
        unseen = [
            picked(some[some["hidden"] == one], fit(table[(table["hidden"] != one) & (table["given"] != one)]))
            for one in some["hidden"].unique()
        ]
        best = some.groupby("task")["nmi"].max().groupby(some.groupby("task")["group"].first()).mean()
        chosen = pd.concat(unseen)
        print(name, "picked", chosen.groupby("group")["nmi"].mean().round(3).to_dict(), "best", best.round(3).to_dict())
        right = (chosen["n_clusters"] == chosen["true_k"]).groupby(chosen["group"]).mean()
        print("  k right", right.round(2).to_dict())
    for name, weight in fit(table).items():
        print(f'    "{name}": {weight:.2f},')


if __name__ == "__main__":
    main()
