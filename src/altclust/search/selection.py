"""Selection of a trial: a ranking by criteria that need no labels, the choice, a menu of others, and explanations.

The weights of the ranking were fitted on pairs of real tables and on generated ones, so that the trial with the highest
score has a high NMI with the hidden clustering, see benchmarks/ranking.py and docs/choosing.md.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd

from ..base.thresholds import ALTERNATIVE, DISTINCT
from ..core.metrics import nmi_matrix
from .criteria import criteria
from .spec import SearchSpec
from .trials import Trial

SMALLEST = 0.03  # share of rows below which a cluster counts as outliers
ARRAYS = ("W", "labels", "spectrum")  # of a trial
WEIGHTS = {
    "agreement": 7.58,
    "agreement x gap": 7.91,
    "agreement x linear": 9.1,
    "agreement x silhouette": 8.65,
    "kernel": 5.32,
    "silhouette_all": 26.1,
    "log_k": 5.24,
    "evenness": 18.91,
    "persistence": 5.04,
}
REJECTED = 1e4  # what is subtracted from the score of clusters of outliers, or that resemble what is given
CURVED = 1e3  # what is added to the score of curved shapes that are clearly separate
# Curved shapes: apart and steady in the kernel, but hardly seen from other starts, by centres or by linear borders.
STEADY, EVEN, FULL = 0.92, 0.85, 0.4  # persistence and evenness at least, gap less than this
APART = ((0.5, 0.45, 0.6), (2.0, 0.65, 0.7))  # separation at least; agreement and linear less than this
MENU = 5


def tabulate(trials: list[Trial]) -> pd.DataFrame:
    """One row per trial, with its parameters and results."""
    columns = [f.name for f in fields(Trial) if f.name not in ARRAYS]
    table = pd.DataFrame([[getattr(t, c) for c in columns] for t in trials], columns=columns)
    table.insert(3, "n_components", [t.n_components for t in trials])
    return table


def rank(spec: SearchSpec, trials: list[Trial], rng: np.random.Generator) -> pd.DataFrame:
    """The table of the trials with all criteria, and a score by which to choose."""
    table = pd.concat([tabulate(trials), criteria(spec, trials, rng)], axis=1)
    table["separation"] = [trial.separation for trial in trials]
    table["curved"] = _are_curved(table)
    score = weighted(table) + table["curved"] * (CURVED + table["separation"])
    rejected = (table["smallest"] < SMALLEST) | (table["overlap"] > ALTERNATIVE)
    table["score"] = score - REJECTED * rejected - REJECTED * (table["overlap"] > ALTERNATIVE)
    return table


def weighted(table: pd.DataFrame) -> pd.Series:
    """The sum of the criteria, and of products of two, times their weights."""
    return sum(weight * term(table, name) for name, weight in WEIGHTS.items())


def term(table: pd.DataFrame, name: str) -> pd.Series:
    """A criterion, or a product of two."""
    return table[name.split(" x ")].prod(axis=1)


def _are_curved(table: pd.DataFrame) -> pd.Series:
    """Which trials show curved shapes, for which criteria by centres say nothing."""
    steady = (table["persistence"] >= STEADY) & (table["evenness"] >= EVEN) & (table["gap"] < FULL)
    bent = [
        (table["separation"] >= apart) & (table["agreement"] < alone) & (table["linear"] < straight)
        for apart, alone, straight in APART
    ]
    return table["source"].str.endswith("components") & steady & (bent[0] | bent[1])


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
    new = "" if np.isnan(row["overlap"]) else f", NMI {row['overlap']:.2f} with what is given"
    found = f"{row['n_clusters']} clusters in {row['n_components']} direction(s) at sigma={row['sigma']:.3g}"
    if row["curved"]:
        why = f"curved shapes that stay apart at several sigmas and that no straight border separates{new}"
    else:
        why = (
            f"other starts found them with NMI {row['agreement']:.2f}, the middle between neighbours is "
            f"{_percent(row['gap'])} emptier than their centres, and a linear rule predicts left-out rows with "
            f"NMI {row['linear']:.2f}{new}"
        )
    return f"{found} ({row['source']} path): {why}. The best of {len(table)} candidates."


def _percent(share: float) -> str:
    return f"{100 * max(share, 0.0):.0f} %"
