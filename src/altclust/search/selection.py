"""Selection of a trial: a ranking by criteria that need no labels, the choice, a menu of others, and explanations.

The weights of the ranking were fitted on pairs of real tables and on generated ones, so that the trial with the highest
score has a high NMI with the hidden clustering, see benchmarks/ranking.py and docs/choosing.md.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from ..base.thresholds import ALTERNATIVE, DISTINCT
from ..core.metrics import nmi_matrix
from .criteria import APART, ROUND, criteria
from .kept import agreements
from .obvious import Obvious, reproduced_by
from .spec import SearchSpec
from .trials import Trial

SMALLEST, OF_EQUAL = 0.03, 0.3  # share of rows, and of an equal share, below which a cluster counts as outliers
ARRAYS = ("W", "labels", "spectrum")  # of a trial
WEIGHTS = {"agreement": 3.8, "contrast": 5.1, "mixture": 6.6, "evenness": 25.0}
CLEAR = 1.5  # below this contrast clusters overlap
CLOUD = 0.03  # below this gain of a mixture, clusters that overlap are a cut through a cloud
CURVED, STEADY = 3.0, 0.75  # what curved clusters gain, and the steadiness below which clusters are there by chance
DOUBT = 4.0  # what overlapping clusters lose if the given means may blur them, and if they are a cut through a cloud
REJECTED = 1e4  # what is subtracted from the score of clusters of outliers, by chance, or that resemble what is given
KEPT, MOST_KEPT = 4.5, 100  # what full agreement with what is to be kept adds to the score, for each of so many rows
MENU = 5
CHECKED = 20  # trials that may be obvious groups


def tabulate(trials: list[Trial]) -> pd.DataFrame:
    """One row per trial, with its parameters and results."""
    columns = [f.name for f in fields(Trial) if f.name not in ARRAYS]
    table = pd.DataFrame([[getattr(t, c) for c in columns] for t in trials], columns=columns)
    table.insert(3, "n_components", [t.n_components for t in trials])
    return table


def rank(
    spec: SearchSpec, trials: list[Trial], rng: np.random.Generator, known: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The table of the trials with all criteria, and a score by which to choose; known is that of the first trials."""
    table = pd.concat([tabulate(trials), criteria(spec, trials, rng, known)], axis=1)
    resembling = table["overlap"] > ALTERNATIVE
    by_chance = table["steadiness"] < STEADY
    rejected = (table["smallest"] < fewest(table["n_clusters"])) | resembling | by_chance
    overlapping = table["contrast"] < CLEAR
    blurred = overlapping & ~table["subtract_given"] & bool(spec.given)
    cut = overlapping & (table["mixture"] < CLOUD)
    curved = (table["contrast"] >= APART) & (table["mixture"] < ROUND) & spec.has_few_columns
    table["score"] = weighted(table) + CURVED * curved - DOUBT * blurred - DOUBT * cut
    table["score"] -= REJECTED * rejected + REJECTED * resembling
    if spec.fixed.keep is not None:
        table["kept"] = agreements(spec, trials, rng)
        table["score"] += KEPT * min(len(spec.fixed.keep.rows), MOST_KEPT) * table["kept"].clip(lower=0) ** 2
    return table


def fewest(n_clusters: Any) -> Any:
    """The share of the rows below which a cluster counts as outliers, for a number of clusters or several."""
    return np.minimum(SMALLEST, OF_EQUAL / n_clusters)


def weighted(table: pd.DataFrame) -> pd.Series:
    """The sum of the criteria times their weights."""
    return sum(weight * table[name] for name, weight in WEIGHTS.items())


def obvious_trials(
    trials: list[Trial], table: pd.DataFrame, few: pd.DataFrame, given: list[np.ndarray], beside: pd.DataFrame
) -> dict[int, Obvious]:
    """Those of the best trials that columns with few values reproduce, and not the columns beside; with the rule."""
    best = np.argsort(-table["score"].to_numpy(), kind="stable")[:CHECKED]
    rules = {int(i): reproduced_by(trials[i].labels, few, cuts=False, given=given, beside=beside) for i in best}
    return {i: rule for i, rule in rules.items() if rule is not None and rule.few_valued}


def menu(trials: list[Trial], table: pd.DataFrame) -> list[int]:
    """The best trial and up to four others, best first, each distinct from all before it and not rejected."""
    score, alike = table["score"].to_numpy(), nmi_matrix([trial.labels for trial in trials])
    chosen = [int(np.argmax(score))]
    for i in np.argsort(-score, kind="stable"):
        if len(chosen) == MENU:
            break
        if score[i] > -REJECTED / 2 and np.all(alike[i, chosen] < DISTINCT):
            chosen.append(int(i))
    return chosen


def explain_ranking(row: pd.Series, table: pd.DataFrame) -> str:
    """A sentence that explains the choice of this row of the table."""
    new = "" if np.isnan(row["overlap"]) else f", overlap {row['overlap']:.2f} with what is given"
    found = f"{row['n_clusters']} clusters in {row['n_components']} direction(s) at sigma={row['sigma']:.3g}"
    compared = "smaller" if row["contrast"] >= 0 else "larger"
    times = "more than 20" if row["contrast"] > 3 else f"{np.exp(abs(row['contrast'])):.2g}"
    why = (
        f"other starts found them with NMI {row['agreement']:.2f}, their normalised cut is "
        f"{times} times {compared} than that of a Gaussian cloud (which is no test){new}"
    )
    return f"{found} ({row['source']} path): {why}. The best of {len(table)} candidates."
