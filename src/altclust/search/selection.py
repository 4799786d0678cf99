"""Selection of a trial: a score that needs no labels, the choice, and explanations.

The score is a sum: what halves of the rows find again, clear gaps, the gain of a mixture of Gaussians, and even sizes.
docs/evidence.md says what each of them is worth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..base.thresholds import ALTERNATIVE
from ..core.descent import DIGITS
from ..core.metrics import nmi
from .halves import Halves
from .keep_starts import agreements
from .proposals import SOURCES
from .scores import scores
from .spec import SearchSpec
from .trials import Trial

TERMS = ("again", "clear", "mixture", "evenness")  # of the score
OUTLIERS = 0.06  # share of a cluster of equal size, below which a cluster counts as outliers
REJECTED = 1e3  # what is subtracted from the score of clusters of outliers, or that resemble what is given
NEARLY = 0.25  # difference of scores, up to which two trials are nearly as clear
SAME = 0.85  # NMI from which two trials with equally many clusters have the same ones
KEPT = 0.25  # what full agreement with what is to be kept adds to the score, for each of its rows


def tabulate(trials: list[Trial]) -> pd.DataFrame:
    """One row per trial, with its parameters and results."""
    asked = ("n_clusters", "sigma", "novelty_weight", "subtract_given", "whitening", "degree_floor", "pull")
    columns = ("overlap", "smallest", "quality", "cost", "in_columns")
    rows = [
        {"source": t.source, "n_components": t.n_components}
        | {name: getattr(t.settings, name) for name in asked}
        | {name: getattr(t, name) for name in columns}
        for t in trials
    ]
    return pd.DataFrame(rows)


def judge(spec: SearchSpec, trials: list[Trial], rng: np.random.Generator) -> pd.DataFrame:
    """The table of the trials with their scores, but without what halves of the rows find again."""
    table = pd.concat([tabulate(trials), scores(spec, trials, rng)], axis=1)
    resembling = table["overlap"] > ALTERNATIVE
    outliers = table["smallest"] < fewest(table["n_clusters"])
    table["score"] = sum(table[name] for name in TERMS if name != "again")
    table["score"] -= REJECTED * (outliers | resembling) + REJECTED * resembling
    if spec.keep is not None:
        table["kept"] = agreements(spec, trials, rng)
        table["score"] += KEPT * len(spec.keep.rows) * table["kept"].clip(lower=0) ** 2
    return table


def rank(spec: SearchSpec, trials: list[Trial], seed: int) -> pd.DataFrame:
    """The table of the trials with a score by which to choose.

    Halves of the rows are searched only for trials that may be the best; the others count as not found again. Scores
    are rounded, so that of trials with the same clusters the first is taken, whatever their rounding errors.
    """
    table = judge(spec, trials, np.random.default_rng(seed))
    score, again = table["score"].to_numpy().round(DIGITS), np.full(len(trials), np.nan)
    halves = Halves(spec, seed)
    while True:
        i = int(np.argmax(score + np.isnan(again)))
        if not np.isnan(again[i]):
            return table.assign(again=again, score=score)
        again[i] = halves.found_again(trials[i])
        score[i] = np.round(score[i] + again[i], DIGITS)


def smoothest(trials: list[Trial], table: pd.DataFrame, place: int) -> int:
    """The place of a trial; for thin shapes, that of a wide kernel with the same clusters, if one is nearly as clear.

    The directions and borders of the wide one are less noisy, and its fit takes less time.
    """
    thin, score = trials[place], without_halves(table)
    for i in np.argsort(-table["score"].to_numpy(), kind="stable") if is_thin(thin) else ():
        one, near = trials[i], score[i] >= score[place] - NEARLY
        if near and not is_thin(one) and one.n_clusters == thin.n_clusters and nmi(one.labels, thin.labels) >= SAME:
            return int(i)
    return place


def without_halves(table: pd.DataFrame) -> np.ndarray:
    """The scores without the term that was computed for some trials only."""
    return (table["score"] - table["again"].fillna(0.0)).to_numpy()


def is_thin(trial: Trial) -> bool:
    """Whether a trial is an alternation in a plane of thin shapes, without steps of the descent."""
    return trial.source in SOURCES and SOURCES[trial.source].thin


def fewest(n_clusters: Any) -> Any:
    """The share of the rows below which a cluster counts as outliers, for a number of clusters or several."""
    return OUTLIERS / n_clusters


def explain_ranking(row: pd.Series, table: pd.DataFrame) -> str:
    """A sentence that explains the choice of this row of the table.

    The stability and the overlap are told by the test and the fit, on more rows: here they would be second numbers.
    """
    q = row["n_components"]
    found = f"{row['n_clusters']} clusters in {q} direction{'' if q == 1 else 's'} at sigma={row['sigma']:.3g}"
    times = "more than 20" if row["contrast"] > 3 else f"{np.exp(abs(row['contrast'])):.2g}"
    compared = f"{times} times {'smaller' if row['contrast'] >= 0 else 'larger'} than"
    compared = "as large as" if abs(row["contrast"]) < 0.05 else compared
    why = f"their normalised cut is {compared} that of a Gaussian cloud (which is no test)"
    chosen = "The best of" if row["score"] == table["score"].max() else "Chosen from"
    return f"{found} ({row['source']}): {why}. {chosen} {len(table)} candidates."
