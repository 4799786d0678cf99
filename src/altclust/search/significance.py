"""Significance of a view: do its clusters exist in rows that had no part in finding it?

The rows are split in two halves. The view is found again in one half: directions, σ and clusters. In the other half all
of that is fixed, so that a test is valid whatever the search did: rows get the cluster of the rows near them, and the
normalised cut of these clusters is compared with that of rows without clusters (`NullRows`), in the columns of the
table and in the directions of the view. Both must be beaten. Halves swap roles, and several splits are combined.

Whether other rows give the same clusters is another question: the fit is repeated without a tenth of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from ..base.backend import Array
from ..base.parallel import end_with_parent, fitting_threads
from ..base.progress import Callback, Progress
from ..core.metrics import nmi
from ..core.problem import row_space
from .gap_test import connected
from .halves import Carried, cells_of, shown, split
from .heuristics import median_distance
from .null_views import null_in_columns, null_in_directions
from .obvious import Obvious
from .proposals import ALTERNATED, FIXED, Proposal, fit_proposal
from .screening import WIDE
from .serial import block_length, block_split
from .spec import SearchSpec, searched_rows
from .trials import Trial
from .verdict import REAL, ROWS_PER_CLUSTER, Verdict, judge
from .witnesses import Witness

NOT_THIN = 0.3  # σ over the median distance; thin shapes have gaps that no straight line crosses
STARTS = ("residual", "whitened")  # of simple fits that may find a view again


@dataclass(frozen=True)
class AssessOptions:
    """The size of the significance test.

    Attributes
    ----------
    rows : int
        Rows of the test; more if there are so many clusters that it needs them.
    splits : int
        Each gives two tests.
    draws : int
        Null tables of each test: the p-value is at least 1 / (draws + 1).
    """

    rows: int = 400
    splits: int = 3
    draws: int = 199


@dataclass(frozen=True)
class Significance:
    """The significance of a view.

    Attributes
    ----------
    p_value : float
        Probability of clusters as clear in rows without clusters; NaN if the rows are too few.
    smallest_p : float
        The smallest p-value that so many draws allow.
    stability : float
        Mean NMI of the labels with those that are found again in nine tenths of the rows that a search uses.
    halves : float
        Mean NMI of the labels with those of the halves, carried to the other half: if it is low, the test is one of
        other clusters.
    score : float
        Minus the log of the normalised cut, in one of the tests.
    reference : array
        The same of rows without clusters.
    rows : int
        Rows of the test: at most 400, or more if there are many clusters.
    without_gaps : bool
        Whether the p-value is that of gaps between neighbouring clusters, because it is the larger one.
    block : int
        Rows of a block, if consecutive rows are alike and halves are made of blocks; otherwise 0.
    views : int
        The number of views for which the p-value is corrected.
    overlap : float
        The largest overlap with what was given; NaN if nothing was.
    witnesses : tuple of Witness
        Columns that were not used and that nevertheless differ between the clusters; empty where no other columns were
        passed to `KDAC.assess_significance`.
    obvious : tuple of Obvious
        Clusterings that columns with few values reproduce, which the search found and did not choose.
    is_obvious : bool
        Whether this view is one of them, because nothing else was found.
    """

    p_value: float
    smallest_p: float
    stability: float
    halves: float
    score: float
    reference: Array
    rows: int
    without_gaps: bool = False
    block: int = 0
    views: int = 1
    overlap: float = float("nan")
    witnesses: tuple[Witness, ...] = ()
    obvious: tuple[Obvious, ...] = ()
    is_obvious: bool = False

    @property
    def judgement(self) -> Verdict:
        """The verdict in parts: its tone, the reason, and what to do."""
        return judge(self)

    @property
    def verdict(self) -> str:
        """The verdict in a few words, and the reason."""
        return str(self.judgement)

    @property
    def is_real(self) -> bool:
        """Whether the verdict is that the clusters exist: p ≤ 0.05, other rows show them, and they are not obvious."""
        return self.judgement.tone in REAL

    def with_obvious(self, rule: Obvious | None, others: Sequence[Obvious]) -> Significance:
        """The same with the obvious groups that the search left aside, and with the rule of this view if it has one."""
        if rule is None or not rule.few_valued:
            return replace(self, obvious=tuple(others))
        rest = tuple(one for one in others if one.columns != rule.columns)
        return replace(self, obvious=(rule, *rest), is_obvious=True)

    def corrected_for(self, views: int) -> Significance:
        """The same as that of the last of so many views, by Bonferroni's rule."""
        p_value, smallest = (min(views * p / self.views, 1.0) for p in (self.p_value, self.smallest_p))  # NaN stays NaN
        return replace(self, p_value=p_value, smallest_p=smallest, views=views)

    def __str__(self) -> str:
        return " ".join([self.verdict, self.judgement.advice, *map(str, self.witnesses)])


def assess(
    spec: SearchSpec,
    labels: np.ndarray,
    source: str,
    options: AssessOptions,
    *,
    n_jobs: int | None = None,
    progress: Callback | None = None,
    rng: np.random.Generator,
) -> Significance | None:
    """Test the significance of a view.

    Parameters
    ----------
    spec : SearchSpec
        The search of the fit, with all its centred rows and the k that was found.
    labels : int array, shape (n,)
        The labels of the fit.
    source : str
        The source of its start, see `altclust.search.proposals`.
    options : AssessOptions
    n_jobs : int, optional
        Number of parallel processes.
    progress : callable, optional
        Called with a `Progress` after every half and every sample. A true return value stops the test.
    rng : Generator

    Returns
    -------
    Significance, or None if it was stopped
    """
    n, k = len(spec.X), spec.fixed.n_clusters or 2
    if k < 2 or n < fewest_rows(k):
        return untested(n)
    order = rng.permutation(n)
    sample, rows = (np.sort(order[:count]) for count in (searched_rows(n), max(options.rows, fewest_rows(k))))
    whole, clusters = _taken(spec, sample), labels[sample]
    spec, labels = _taken(spec, rows), labels[rows]
    cells = cells_of(spec)
    block = block_length(spec.X, cells, labels)
    tests = []
    for _ in range(options.splits):
        half = block_split(len(cells), block, rng) if block else split(cells, rng)
        tests += [half, ~half]
    seeds = rng.integers(2**31, size=len(tests)).tolist()
    jobs = [delayed(_test)(spec, labels, cells, source, *one, options.draws) for one in zip(tests, seeds, strict=True)]
    jobs += [delayed(_without_a_tenth)(whole, clusters, source, seed, block > 0) for seed in seeds]
    done: list[Any] = []
    for answer in Parallel(n_jobs=n_jobs, return_as="generator")(jobs):
        done.append(answer)
        if progress is not None and progress(Progress("test", len(done), len(jobs))):
            return None
    found = _combined(done[: len(tests)], len(labels), options.draws)
    return replace(found, stability=float(np.mean(done[len(tests) :])), block=block)


def _taken(spec: SearchSpec, rows: np.ndarray) -> SearchSpec:
    """The search of some rows; as many correlations as a wide table has columns could not be estimated."""
    spec = spec.take(rows)
    return replace(spec, X=row_space(spec.X)[0]) if spec.X.shape[1] > WIDE else spec


class Answer(NamedTuple):
    """One test: its p-value, the NMI with the labels of the fit, the statistic, the null's, and `connected`."""

    p_value: float
    agreement: float
    score: float
    reference: Array
    hang_together: float


def fewest_rows(k: int) -> int:
    """The rows that a test of k clusters needs."""
    return ROWS_PER_CLUSTER * k


def untested(n: int) -> Significance:
    """The answer where rows are too few to split."""
    return Significance(np.nan, np.nan, np.nan, np.nan, np.nan, np.array([]), n)


def _test(
    spec: SearchSpec,
    labels: np.ndarray,
    cells: np.ndarray,
    source: str,
    found: np.ndarray,
    seed: int,
    draws: int,
) -> Answer:
    """Find the view in some rows, and test its clusters in the others."""
    end_with_parent()
    rng = np.random.default_rng(seed)
    tested = ~found
    with fitting_threads(len(spec.X)):
        part = spec.take(np.flatnonzero(found))
        trial = _found_again(part, labels[found], source, seed)
        rows = shown(spec, trial)
        carrier = Carried(trial, rows[found])
        score, carried = carrier.score(rows[tested])
        nulls = [
            null_in_columns(spec, trial, cells, tested, draws, rng),
            null_in_directions(spec, trial, rows, found, tested, draws, rng),
        ]
        references = [np.array([carrier.score(one)[0] for one in null]) for null in nulls]
        hang_together = np.nan
        if trial.n_clusters > 2 and trial.sigma >= NOT_THIN * median_distance(rows, rng):
            hang_together = connected(rows[found], trial.labels, rows[tested], carried, draws, rng)
    p_values = [(1 + np.sum(reference >= score)) / (1 + draws) for reference in references]
    worst = int(np.argmax(p_values))
    return Answer(float(p_values[worst]), nmi(carried, labels[tested]), score, references[worst], hang_together)


def _without_a_tenth(spec: SearchSpec, labels: np.ndarray, source: str, seed: int, consecutive: bool) -> float:
    """The NMI of the labels with the view that is found again without a tenth of the rows."""
    end_with_parent()
    n, rng = len(labels), np.random.default_rng(seed)
    order = np.roll(np.arange(n), rng.integers(n)) if consecutive else rng.permutation(n)
    rows = np.sort(order[n // 10 :])
    with fitting_threads(n):
        trial = _found_again(spec.take(rows), labels[rows], source, seed)
    return nmi(trial.labels, labels[rows])


def _found_again(spec: SearchSpec, labels: np.ndarray, source: str, seed: int) -> Trial:
    """The view in some rows: of the same kind of fit and of simple ones, that which is most like it.

    A table may have other views of as many clusters, and a single start may find one of them instead.
    """
    sources = [source] if source in (FIXED, ALTERNATED) else dict.fromkeys([source, *STARTS])
    trials = [fit_proposal(spec, Proposal(one, spec.fixed.n_clusters or 2), seed) for one in sources]
    return max(trials, key=lambda trial: nmi(trial.labels, labels))


def _combined(answers: list[Answer], n: int, draws: int) -> Significance:
    """The Cauchy combination of the p-values, but at least the median of `connected`; and the mean agreement."""
    p = np.array([min(answer.p_value, 0.99) for answer in answers])
    smallest = 1 / (1 + draws)
    p_value = max(float(0.5 - np.arctan(np.mean(np.tan((0.5 - p) * np.pi))) / np.pi), smallest)
    told = [answer.hang_together for answer in answers if not np.isnan(answer.hang_together)]
    without_gaps = bool(told) and float(np.median(told)) > p_value
    p_value = float(np.median(told)) if without_gaps else p_value
    halves = float(np.mean([answer.agreement for answer in answers]))
    middle = answers[int(np.argsort(p)[len(p) // 2])]
    return Significance(p_value, smallest, np.nan, halves, middle.score, middle.reference, n, without_gaps=without_gaps)
