"""Selection of a trial: a score that needs no labels, the choice, and explanations.

The score is a sum: what halves of the rows find again, clear gaps, the gain of a mixture of Gaussians, and even sizes.
docs/evidence.md says what each of them is worth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..base.thresholds import ALTERNATIVE
from ..core.metrics import nmi
from .halves import found_again
from .keep_starts import agreements
from .proposals import SOURCES
from .scores import scores
from .spec import SearchSpec
from .trials import Trial
from .verdict import STABLE

TERMS = ("again", "clear", "mixture", "evenness")  # of the score
OUTLIERS = 0.06  # share of a cluster of equal size, below which a cluster counts as outliers
REJECTED = 1e3  # what is subtracted from the score of clusters of outliers, or that resemble what is given
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
    repeats = _repeats(trials, ~(outliers | resembling).to_numpy())
    table["score"] -= REJECTED * (outliers | resembling | repeats) + REJECTED * resembling
    if spec.keep is not None:
        table["kept"] = agreements(spec, trials, rng)
        table["score"] += KEPT * len(spec.keep.rows) * table["kept"].clip(lower=0) ** 2
    return table


def _repeats(trials: list[Trial], usable: np.ndarray) -> np.ndarray:
    """Which trials of thin shapes, with a narrow kernel, have the clusters of a usable trial with a wide kernel.

    The directions and borders of the wide one are then less noisy, and its fit takes less time.
    """
    thin = [one.source in SOURCES and SOURCES[one.source].thin for one in trials]
    wide = [one.labels for one, narrow, fine in zip(trials, thin, usable, strict=True) if fine and not narrow]
    same = (
        narrow and any(nmi(one.labels, labels) >= STABLE for labels in wide)
        for one, narrow in zip(trials, thin, strict=True)
    )
    return np.array(list(same))


def rank(spec: SearchSpec, trials: list[Trial], seed: int) -> pd.DataFrame:
    """The table of the trials with a score by which to choose.

    Halves of the rows are searched only for trials that may be the best; the others count as not found again.
    """
    table = judge(spec, trials, np.random.default_rng(seed))
    score, again = table["score"].to_numpy(copy=True), np.full(len(trials), np.nan)
    while True:
        i = int(np.argmax(score + np.isnan(again)))
        if not np.isnan(again[i]):
            return table.assign(again=again, score=score)
        again[i] = found_again(spec, trials[i], seed)
        score[i] += again[i]


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
    return f"{found} ({row['source']}): {why}. The best of {len(table)} candidates."
