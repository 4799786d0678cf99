"""Significance of a view: is it stable under resampling, and clearer than views of shuffled rows?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from ..base.backend import Array
from ..base.progress import Callback, Progress
from ..core.metrics import nmi
from ..core.problem import remove_given, row_space
from .spec import SearchSpec
from .tuning import search_once

FEWEST_ROWS = 20
FAINT = 0.02  # lower scores count as equal
LEAST_SPREAD = 0.25  # standard deviation of log scores, at least: eight shuffles may agree by accident
SMALL_CELL = 10  # rows per cell of all given clusterings, below which rows are shuffled across cells
CERTAIN = 0.002  # p-value; at most this, instability only means that there are several views
SURE = 0.1  # p-value; all these thresholds were set on the tables of benchmarks/confidence.py
LIKELY = 0.3  # p-value up to which a stable view is accepted
FLEETING, STABLE, CONFIRMED = 0.5, 0.8, 0.9  # stability; normal noise stayed below 0.7


@dataclass(frozen=True)
class AssessOptions:
    """The size of the significance test.

    Attributes
    ----------
    rows : int
        Rows of the test: every shuffle is a full search.
    shuffles, resamples : int
    share : float
        Share of the rows in a resample.
    """

    rows: int = 300
    shuffles: int = 8
    resamples: int = 4
    share: float = 0.8


@dataclass(frozen=True)
class Confidence:
    """The significance of a view.

    Attributes
    ----------
    p_value : float
        Probability of a view as clear in data without one: a t test of the log score against those of shuffled rows.
    stability : float
        Mean NMI of the labels with those of searches on random 80 % of the rows.
    score : float
        Separation times persistence⁴ of the view on the rows of the test.
    reference : array
        The scores of shuffled rows.
    verdict : str
        A one-sentence summary.
    """

    p_value: float
    stability: float
    score: float
    reference: Array
    verdict: str

    @property
    def is_real(self) -> bool:
        """Whether the view is significant: the smaller the p-value, the less stability is required."""
        return _is_real(self.p_value, self.stability)

    def __str__(self) -> str:
        return self.verdict


def assess(
    spec: SearchSpec,
    labels: np.ndarray,
    options: AssessOptions,
    *,
    n_jobs: int | None = None,
    progress: Callback | None = None,
    rng: np.random.Generator,
) -> Confidence | None:
    """Test the significance of a view by searching again: on a sample, on shuffled rows, on resampled rows.

    Parameters
    ----------
    spec : SearchSpec
        The search of the fit, with all its centred rows and the k that was found.
    labels : int array, shape (n,)
        The labels of the fit.
    options : AssessOptions
    n_jobs : int, optional
        Number of parallel processes.
    progress : callable, optional
        Called with a `Progress` after every search. A true return value stops the test.
    rng : Generator

    Returns
    -------
    Confidence, or None if it was stopped
    """
    n = len(spec.X)
    if n < FEWEST_ROWS or (spec.fixed.n_clusters or 2) >= options.share * min(n, options.rows) - 1:
        return Confidence(np.nan, np.nan, np.nan, np.array([]), f"{n} rows are too few to test significance.")
    rows = rng.permutation(n)[: options.rows]
    sampled = _take(spec, rows)
    resamples = [rng.permutation(len(rows))[: int(options.share * len(rows))] for _ in range(options.resamples)]
    searches = [sampled]
    searches += [replace(sampled, X=shuffle(sampled.X, sampled.given, rng)) for _ in range(options.shuffles)]
    searches += [_take(sampled, sample) for sample in resamples]
    seeds = rng.integers(2**31, size=len(searches))
    answers = []
    for answer in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(search_once)(one, int(seed)) for one, seed in zip(searches, seeds, strict=True)
    ):
        answers.append(answer)
        if progress is not None and progress(Progress("test", len(answers), len(searches))):
            return None
    score = answers[0][1]
    reference = np.array([found for _, found in answers[1 : 1 + options.shuffles]])
    found = [answer[0] for answer in answers[1 + options.shuffles :]]
    stability = float(np.mean([nmi(a, labels[rows[s]]) for a, s in zip(found, resamples, strict=True)]))
    p_value = chance(score, reference)
    return Confidence(p_value, stability, score, reference, _verdict(p_value, stability))


def _take(spec: SearchSpec, rows: np.ndarray) -> SearchSpec:
    X = spec.X[rows]
    return replace(spec, X=row_space(X - X.mean(axis=0))[0], given=[codes[rows] for codes in spec.given])


def shuffle(X: Array, given: list[np.ndarray], rng: np.random.Generator) -> Array:
    """Rows with the same given clusters and the same covariance within them, but no other structure.

    The residuals of X after removing the means of the given clusters are rotated to uncorrelated directions of random
    orientation, and each direction is shuffled within the given clusters. Shuffling the original columns would keep
    a view that depends on a single column.
    """
    left = remove_given(X, given)
    U, singular, Vt = np.linalg.svd(left, full_matrices=False)
    rank = int(np.sum(singular > 1e-9 * singular[0])) if singular[0] > 0 else 0
    rotation = np.linalg.qr(rng.standard_normal((rank, rank)))[0]
    parts = U[:, :rank] @ rotation
    cells = _cells(given, len(X))
    for cell in np.unique(cells):
        members = np.flatnonzero(cells == cell)
        for j in range(rank):
            parts[members, j] = parts[rng.permutation(members), j]
    return X - left + (parts @ rotation.T * singular[:rank]) @ Vt[:rank]


def _cells(given: list[np.ndarray], n: int) -> np.ndarray:
    """One number per combination of given clusters; 0 for all rows if combinations have too few rows."""
    if not given:
        return np.zeros(n, dtype=int)
    cells = np.unique(np.column_stack(given), axis=0, return_inverse=True)[1].ravel()
    return cells if n >= SMALL_CELL * (cells.max() + 1) else np.zeros(n, dtype=int)


def chance(score: float, reference: Array) -> float:
    """The probability that another draw from the reference reaches the score, by a t test of logarithms."""
    logs = np.log(np.maximum(reference, FAINT))
    spread = max(float(logs.std(ddof=1)), LEAST_SPREAD) * np.sqrt(1 + 1 / len(logs))
    return float(stats.t.sf((np.log(max(score, FAINT)) - logs.mean()) / spread, len(logs) - 1))


def _is_real(p_value: float, stability: float) -> bool:
    bounds = ((CERTAIN, 0.0), (SURE, FLEETING), (LIKELY, CONFIRMED))
    return any(p_value <= p and stability >= least for p, least in bounds)


def _verdict(p_value: float, stability: float) -> str:
    figures = f"(p = {p_value:.2g}; NMI {stability:.2f} between samples of rows)"
    if not _is_real(p_value, stability) and p_value <= SURE:
        return f"Not significant: the clusters are unstable, another sample of rows gives other ones {figures}."
    if not _is_real(p_value, stability):
        return f"Not significant: shuffled data look this clear in {100 * p_value:.0f} of 100 cases {figures}."
    if stability < FLEETING:
        return f"Significant, but unstable: another sample of rows gives other clusters {figures}."
    if p_value > SURE:
        return f"Weakly significant, but stable: another sample of rows gives the same clusters {figures}."
    if stability < STABLE:
        return f"Significant, but partly unstable: cluster borders differ between samples of rows {figures}."
    return f"Significant and stable: another sample of rows gives the same clusters {figures}."
