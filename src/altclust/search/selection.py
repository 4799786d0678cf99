"""Selection of a trial: criteria that need no labels, a score, the choice, and its explanation."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd

from ..base.backend import Array
from ..base.thresholds import ALTERNATIVE, SAME_CLUSTERS
from ..core.metrics import nmi
from .trajectories import Trial

SMALLEST = 0.03  # share of rows below which a cluster counts as outliers
FAINT = 1.0  # score below which a trial has no clear clusters
ARRAYS = ("W", "labels", "spectrum")  # of a trial


def tabulate(trials: list[Trial]) -> pd.DataFrame:
    """One row per trial, with every criterion that needs no labels."""
    columns = [f.name for f in fields(Trial) if f.name not in ARRAYS] + ["separation", "suggested"]
    table = pd.DataFrame([[getattr(t, c) for c in columns] for t in trials], columns=columns)
    table.insert(3, "n_components", [t.n_components for t in trials])
    table["persistence"], table["steadiness"] = persistence(trials)
    return table


def separation_score(table: pd.DataFrame) -> pd.Series:
    """Separation times persistence⁴; trials with clusters of outliers, or similar to a given clustering, come last."""
    score = table["separation"] * table["persistence"] ** 4
    return score - 1e3 * (table["smallest"] < SMALLEST) - 1e6 * (table["overlap"] > ALTERNATIVE)


def choose_by_separation(trials: list[Trial], table: pd.DataFrame) -> int:
    """The highest score, at the largest σ with the same clusters; if no score is clear, the steadiest residual trial.

    Clusters that overlap have no gap in the spectrum. The given clusters then tend to affect all directions, and the
    residuals are the better data. Steadiness is multiplied by 1 − 1/k, the share of pairs of rows that k clusters
    separate, because few clusters are steady more easily.
    """
    score = table["score"].to_numpy()
    new = ~(table["overlap"] > ALTERNATIVE)
    allowed = (new & (table["source"] == "residual") & (table["smallest"] >= SMALLEST)).to_numpy()
    if score.max() >= FAINT or not allowed.any():
        return _widest(trials, int(np.argmax(score)))
    steady = (table["steadiness"] * (1 - 1 / table["n_clusters"])).to_numpy()
    return int(np.argmax(np.where(allowed, steady, -1.0)))


def choose_highest(trials: list[Trial], table: pd.DataFrame) -> int:
    """The highest score."""
    return int(np.argmax(table["score"].to_numpy()))


def explain_separation(row: pd.Series, table: pd.DataFrame) -> str:
    """A sentence that explains the choice of this row of the table."""
    k, ratio, n = row["n_clusters"], float(np.exp(row["separation"])), len(table)
    clearer = f"a cut into {k + 1} costs {ratio:.1f} times as much" if ratio >= 1.05 else f"no clearer than {k + 1}"
    new = "" if np.isnan(row["overlap"]) else f", NMI {row['overlap']:.2f} with what is given"
    if table["score"].max() < FAINT and row["source"] == "residual":
        why = f"No clear gaps: the most stable of {n} candidates was taken, after removing group averages."
    elif row["score"] < table["score"].max():
        why = f"The largest sigma that gives the clusters of the best of {n} candidates."
    else:
        why = f"The best of {n} candidates."
    return (
        f"{k} clusters in {row['n_components']} direction(s) at sigma={row['sigma']:.3g} ({row['source']} path): "
        f"{clearer}, NMI {row['persistence']:.2f} with the labels at neighbouring sigmas{new}. {why}"
    )


def _widest(trials: list[Trial], best: int) -> int:
    """The trial with the largest σ whose clusters are those of the best, and at least half as well separated.

    The score favours a small σ, for which a longer fit on all rows has many poor local minima.
    """
    chosen = trials[best]
    same = [
        i
        for i, trial in enumerate(trials)
        if (trial.source, trial.n_clusters, trial.n_components)
        == (chosen.source, chosen.n_clusters, chosen.n_components)
        and trial.sigma >= chosen.sigma
        and trial.smallest >= min(SMALLEST, chosen.smallest)
        and not trial.overlap > max(ALTERNATIVE, chosen.overlap)
        and trial.separation >= chosen.separation / 2
        and nmi(trial.labels, chosen.labels) >= SAME_CLUSTERS
    ]
    return max(same, key=lambda i: trials[i].sigma, default=best)


def persistence(trials: list[Trial]) -> tuple[Array, Array]:
    """Agreement (NMI) of the labels of each trial with the neighbouring stages of the same kind of trajectory.

    The maximum and the mean over the two neighbours; 1 if there is only one stage.
    """
    beside: list[dict[int, float]] = [{} for _ in trials]
    for i, trial in enumerate(trials):
        for j, other in enumerate(trials[:i]):
            if other.source == trial.source and abs(other.stage - trial.stage) == 1:
                match = nmi(trial.labels, other.labels)
                beside[i][other.stage] = max(beside[i].get(other.stage, 0.0), match)
                beside[j][trial.stage] = max(beside[j].get(trial.stage, 0.0), match)
    found = [list(matches.values()) or [1.0] for matches in beside]
    return np.array([max(matches) for matches in found]), np.array([np.mean(matches) for matches in found])
