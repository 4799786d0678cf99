"""The paper's way to parameters: a grid of σ and λ, q at the largest eigengap, Theorem 1's inequality as the guide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..core.certificate import eigengap
from ..core.engines import DenseEngine
from ..core.initialization import spectral_start
from ..core.kernels import Gaussian
from ..core.problem import Objective
from .heuristics import median_distance
from .trajectories import Path, Question, Trial, pose, short_fit

SIGMAS = (8.0, 4.0, 2.0, 1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12)  # over the median distance
WEIGHTS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def grid_paths(question: Question) -> list[Path]:
    """One path per σ: all λ share its kernel."""
    k = question.n_clusters or (int(question.given[0].max()) + 1 if question.given else 2)
    return [Path(f"grid {i}", k) for i in range(len(SIGMAS))]


def walk_grid(question: Question, path: Path, seed: int) -> list[Trial]:
    """The trials at one σ.

    The U step at the start does not depend on λ and Φ is linear in it: one kernel serves all weights, and each fit
    begins at the spectral start of its own λ.
    """
    rng = np.random.default_rng(seed)
    stage = int(path.source.split()[1])
    X, k = question.X, path.n_clusters
    sigma = SIGMAS[stage] * median_distance(X, rng)
    most = question.directions(k)
    engine = DenseEngine(X, Gaussian(sigma))
    trials, embedding = [], None
    for weight in WEIGHTS if question.novelty_weight is None else (question.novelty_weight,):
        asked = replace(question, novelty_weight=weight)
        start = spectral_start(pose(asked, X, k, most, sigma), engine, embedding)
        embedding = start.embedding
        q = most if question.n_components is not None else min(start.gap(most=k), most)
        trial, result = short_fit(asked, X, "grid", stage, k, start.vectors[:, :q], sigma, rng, embedding)
        objective = Objective(engine, result.gamma)
        gap = eigengap(objective.value_and_phi(result.W)[1], result.W)
        right = engine.fourth_moment(result.W, result.gamma) / sigma**2
        trials.append(replace(trial, inequality=float(sigma**2 * gap / right)))
    return trials


def paper_score(table: pd.DataFrame) -> pd.Series:
    """The quality where the inequality holds; elsewhere how close it comes to holding, below every quality."""
    if table["inequality"].isna().all():  # W spans everything
        return table["quality"]
    ratio = table["inequality"].fillna(-np.inf)
    return table["quality"].where(ratio >= 1, -1 / np.maximum(ratio, 1e-300))


def explain_paper(row: pd.Series, table: pd.DataFrame) -> str:
    """Why this row of the table, in words."""
    if np.isnan(row["inequality"]):
        why = "is silent, since W spans everything, and cluster quality is the highest"
    elif row["inequality"] >= 1:
        why = "holds there, and cluster quality is the highest of the points where it does"
    else:
        why = f"holds nowhere on the grid and comes closest there (left over right {row['inequality']:.2g})"
    return (
        f"{row['n_clusters']} clusters in {row['n_components']} direction(s) at sigma={row['sigma']:.3g} and "
        f"novelty_weight={row['novelty_weight']:g}: Theorem 1's inequality {why}; {len(table)} trials."
    )
