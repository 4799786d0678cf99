"""The paper's choice of parameters: a grid of σ and λ, q at the largest eigengap, Theorem 1's inequality."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..core.alternation import solve
from ..core.certificate import eigengap
from ..core.initialization import spectral_start
from ..core.problem import KernelObjective
from ..core.solvers import ISM
from .heuristics import median_distance
from .proposals import Proposal
from .selection import tabulate
from .short_fits import build_problem
from .spec import SearchSpec
from .trials import Trial

SIGMAS = tuple(2.0**power for power in range(3, -4, -1))  # relative to the median distance
WEIGHTS = tuple(10 ** (power / 2) for power in range(-3, 3))
ROUNDS = 6  # of a short fit, and steps of each of its W steps


def grid(spec: SearchSpec) -> list[Proposal]:
    """One proposal for each σ: all λ share its kernel."""
    clusterings = spec.given.clusterings
    k = spec.fixed.n_clusters or (int(clusterings[0].max()) + 1 if clusterings else 2)
    return [Proposal(f"grid {i}", k) for i in range(len(SIGMAS))]


def run_grid(spec: SearchSpec, proposal: Proposal, seed: int) -> list[Trial]:
    """The trials at one σ.

    The U step at the start does not depend on λ and Φ is linear in it: one kernel serves all weights, and each fit
    starts from the spectral start of its own λ.
    """
    rng = np.random.default_rng(seed)
    X, k = spec.X, proposal.n_clusters
    sigma = SIGMAS[int(proposal.source.split()[1])] * median_distance(X, rng)
    most = spec.directions(k)
    problem, engine = build_problem(spec, X, k, most, sigma)
    trials, embedding = [], None
    plain = replace(spec.fixed, subtract_given=False, whitening=0.0, degree_floor=0.0, pull=0.0)
    for weight in WEIGHTS if spec.fixed.novelty_weight is None else (spec.fixed.novelty_weight,):
        start = spectral_start(replace(problem, novelty_weight=weight), engine, embedding)
        embedding = start.embedding
        q = most if spec.fixed.n_components is not None else min(start.gap(most=k), most)
        own = replace(problem, n_components=q, novelty_weight=weight)
        W = start.vectors[:, :q]
        result = solve(own, engine, ISM(max_iter=ROUNDS), W, embedding, max_iter=ROUNDS, rng=rng)
        objective = KernelObjective(engine, result.gamma)
        gap = eigengap(objective.value_and_phi(result.W)[1], result.W)
        right = engine.fourth_moment(result.W, result.gamma) / sigma**2
        trials.append(
            Trial(
                source="grid",
                settings=replace(plain, n_clusters=k, sigma=sigma, novelty_weight=weight),
                W=result.W,
                labels=result.labels,
                spectrum=result.values,
                overlap=spec.given.overlap(result.labels),
                smallest=float(np.bincount(result.labels, minlength=k).min() / len(X)),
                quality=result.quality,
                cost=result.cost,
                inequality=float(sigma**2 * gap / right),
            )
        )
    return trials


def rank_by_quality(spec: SearchSpec, trials: list[Trial], seed: int, n_jobs: int | None) -> pd.DataFrame:
    """The table of the trials, with `paper_score`."""
    table = tabulate(trials)
    table["score"] = paper_score(table)
    return table


def paper_score(table: pd.DataFrame) -> pd.Series:
    """The quality if the inequality holds; otherwise a negative score, higher the closer it comes to holding."""
    if table["inequality"].isna().all():  # W spans the whole space
        return table["quality"]
    ratio = table["inequality"].fillna(-np.inf)
    return table["quality"].where(ratio >= 1, -1 / np.maximum(ratio, 1e-300))


def explain_paper(row: pd.Series, table: pd.DataFrame) -> str:
    """A sentence that explains the choice of this row of the table."""
    if np.isnan(row["inequality"]):
        why = "is inconclusive, because W spans all directions; cluster quality is the highest"
    elif row["inequality"] >= 1:
        why = "holds, and cluster quality is the highest of all candidates where it holds"
    else:
        why = f"holds for no candidate and comes closest here (left over right side: {row['inequality']:.2g})"
    return (
        f"{row['n_clusters']} clusters in {row['n_components']} direction(s) at sigma={row['sigma']:.3g} and "
        f"novelty_weight={row['novelty_weight']:g}: Theorem 1's inequality {why}; {len(table)} candidates."
    )
