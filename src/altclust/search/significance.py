"""How sure: does the view come back on other rows, and is it stronger than what shuffled rows show?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from ..base.backend import Array
from ..core.metrics import nmi
from ..core.problem import remove_given, row_space
from .trajectories import Question
from .tuning import Progress, search_once

ROWS = 300  # that the reference looks at: every shuffle is a whole search
FEWEST_ROWS = 20
SHUFFLES = 8
RESAMPLES = 4
SHARE = 0.8  # of the rows in a resample
FAINT = 0.02  # scores below are all alike
LEAST_SPREAD = 0.25  # of log scores: eight shuffles may agree by accident
SMALL_CELL = 10  # rows per cell of all given clusterings, below which rows are shuffled across cells
CERTAIN = 0.002  # p-value from which instability only means that there are several views
SURE = 0.1  # p-value; all these bounds were set with the tables of benchmarks/confidence.py at hand
LIKELY = 0.3  # p-value up to which a view that other rows confirm is believed
FLEETING, STABLE, CONFIRMED = 0.5, 0.8, 0.9  # stability; normal noise stayed below 0.7


@dataclass(frozen=True)
class Confidence:
    """What speaks for a view.

    Attributes
    ----------
    p_value : float
        How often data without a view would show one as clear: a t test of the log score against those of shuffles.
    stability : float
        Mean NMI of the labels with those of searches on random 80 % of the rows.
    score : float
        Separation times persistence⁴ of the view on the rows that were looked at.
    reference : array
        The same of shuffled rows.
    verdict : str
        All of it in one sentence.
    """

    p_value: float
    stability: float
    score: float
    reference: Array
    verdict: str

    @property
    def is_real(self) -> bool:
        """Whether the view is stronger than chance: the less likely by chance, the less stable it need be."""
        return _is_real(self.p_value, self.stability)

    def __str__(self) -> str:
        return self.verdict


def assess(
    question: Question,
    labels: np.ndarray,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    rng: np.random.Generator,
) -> Confidence | None:
    """Search again: on fewer rows, on shuffled rows, on resampled rows.

    Parameters
    ----------
    question : Question
        What the fit was asked, on all its centred rows; k is the one that was found.
    labels : int array, shape (n,)
        What the fit answered.
    n_jobs : int, optional
        Processes side by side.
    progress : callable, optional
        Called with (searches done, searches in all). A true answer gives it up.
    rng : Generator

    Returns
    -------
    Confidence, or None where it was given up
    """
    n = len(question.X)
    if n < FEWEST_ROWS or (question.n_clusters or 2) >= SHARE * min(n, ROWS) - 1:
        return Confidence(np.nan, np.nan, np.nan, np.array([]), f"{n} rows are too few to tell this view from chance.")
    rows = rng.permutation(n)[:ROWS]
    looked_at = _take(question, rows)
    resamples = [rng.permutation(len(rows))[: int(SHARE * len(rows))] for _ in range(RESAMPLES)]
    asked = [looked_at]
    asked += [replace(looked_at, X=shuffle(looked_at.X, looked_at.given, rng)) for _ in range(SHUFFLES)]
    asked += [_take(looked_at, sample) for sample in resamples]
    seeds = rng.integers(2**31, size=len(asked))
    answers = []
    for answer in Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(search_once)(one, int(seed)) for one, seed in zip(asked, seeds, strict=True)
    ):
        answers.append(answer)
        if progress is not None and progress(len(answers), len(asked)):
            return None
    score = answers[0][1]
    reference = np.array([found for _, found in answers[1 : 1 + SHUFFLES]])
    found = [answer[0] for answer in answers[1 + SHUFFLES :]]
    stability = float(np.mean([nmi(a, labels[rows[s]]) for a, s in zip(found, resamples, strict=True)]))
    p_value = chance(score, reference)
    return Confidence(p_value, stability, score, reference, _verdict(p_value, stability))


def _take(question: Question, rows: np.ndarray) -> Question:
    X = question.X[rows]
    return replace(question, X=row_space(X - X.mean(axis=0))[0], given=[codes[rows] for codes in question.given])


def shuffle(X: Array, given: list[np.ndarray], rng: np.random.Generator) -> Array:
    """Rows with the same given clusters, the same spread and correlation within them, and nothing else.

    What is left of X without the means of the given clusters is turned to uncorrelated directions of a random
    orientation, and each direction shuffled within the given clusters. Shuffling the columns as they are would keep
    a view that lives in a single column.
    """
    left = remove_given(X, given)
    U, singular, Vt = np.linalg.svd(left, full_matrices=False)
    rank = int(np.sum(singular > 1e-9 * singular[0])) if singular[0] > 0 else 0
    turn = np.linalg.qr(rng.standard_normal((rank, rank)))[0]
    parts = U[:, :rank] @ turn
    cells = _cells(given, len(X))
    for cell in np.unique(cells):
        members = np.flatnonzero(cells == cell)
        for j in range(rank):
            parts[members, j] = parts[rng.permutation(members), j]
    return X - left + (parts @ turn.T * singular[:rank]) @ Vt[:rank]


def _cells(given: list[np.ndarray], n: int) -> np.ndarray:
    """One number per combination of given clusters; all rows alike where combinations have too few rows."""
    if not given:
        return np.zeros(n, dtype=int)
    cells = np.unique(np.column_stack(given), axis=0, return_inverse=True)[1].ravel()
    return cells if n >= SMALL_CELL * (cells.max() + 1) else np.zeros(n, dtype=int)


def chance(score: float, reference: Array) -> float:
    """The probability that one more draw like the reference reaches the score, by their logarithms."""
    logs = np.log(np.maximum(reference, FAINT))
    spread = max(float(logs.std(ddof=1)), LEAST_SPREAD) * np.sqrt(1 + 1 / len(logs))
    return float(stats.t.sf((np.log(max(score, FAINT)) - logs.mean()) / spread, len(logs) - 1))


def _is_real(p_value: float, stability: float) -> bool:
    bounds = ((CERTAIN, 0.0), (SURE, FLEETING), (LIKELY, CONFIRMED))
    return any(p_value <= p and stability >= least for p, least in bounds)


def _verdict(p_value: float, stability: float) -> str:
    figures = f"(p = {p_value:.2g} against shuffled rows, labels agree to {stability:.2f} between resamples)"
    if not _is_real(p_value, stability):
        why = ": other rows show other clusters" if p_value <= SURE else ""
        return f"This view is no stronger than chance{why} {figures}."
    if stability < FLEETING:
        return f"This view is stronger than chance, and not the only one: other rows show another first {figures}."
    if p_value > SURE:
        return f"This view is barely clearer than chance, but comes back on other rows {figures}."
    if stability < STABLE:
        return f"There is a view stronger than chance, but its borders move from sample to sample {figures}."
    return f"This view is stronger than chance and comes back on other rows {figures}."
