"""Comparison of all methods on one table; each runs in its own process, which may fail or time out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.metrics import silhouette_score

from . import baselines
from .base.backend import Array
from .base.errors import InputError, sentence
from .base.given import Given
from .base.known import read_given
from .base.progress import Callback, Progress
from .base.sampling import sample_rows
from .base.thresholds import ALTERNATIVE, DISTINCT
from .base.validation import check_sizes
from .core.kernels import Gaussian
from .core.linalg.eigen import lapack_subset
from .core.metrics import match_labels, nmi
from .data.sums import new_table
from .models.kdac import KDAC
from .models.worker import Cancelled, Ended, TooLate, Worker
from .search.heuristics import median_distance
from .search.selection import fewest

METHODS: dict[str, Callable[..., Any]] = {
    "KDAC": KDAC,
    "Residual": baselines.Residual,
    "Orth-1": baselines.OrthogonalClustering,
    "Orth-2": baselines.OrthogonalProjection,
    "ADFT": baselines.ADFT,
    "Qi-Davidson": baselines.AlternativeTransform,
    "minCEntropy": baselines.MinCEntropy,
    "COALA": baselines.COALA,
    "CIB": baselines.ConditionalBottleneck,
    "NACI": baselines.NACI,
    "mSC": baselines.MultipleSpectralViews,
}
MEASURED_ROWS = 2000  # from which quality and silhouette are computed
Answer = tuple[np.ndarray | None, float, str]


@dataclass(frozen=True)
class Comparison:
    """The results of all methods.

    Attributes
    ----------
    table : DataFrame
        One row per method: clusters, sizes (rows of each cluster, the largest first), quality (how well clusters are
        separated in all columns, as a share of the best possible separation into as many clusters), silhouette, the
        overlap with each given clustering, seconds, and a sentence if there is no result. Clusters of a few outliers
        have a high quality and a high silhouette.
    labels : DataFrame
        One column per method with a result; clusters are matched to those of the first method.
    agreement : DataFrame
        NMI between the methods, and with the given clusterings.
    conclusion : str
        Which methods find the same clusters, and which only outliers or what was given.
    """

    table: pd.DataFrame
    labels: pd.DataFrame
    agreement: pd.DataFrame
    conclusion: str


def named_methods(names: Iterable[str], random_state: int = 0) -> dict[str, Any]:
    """The methods with these names, unfitted."""
    wanted = list(dict.fromkeys([names] if isinstance(names, str) else names))
    unknown = [name for name in wanted if name not in METHODS]
    if unknown or not wanted:
        wrong = unknown[0] if unknown else wanted
        raise InputError(f"is not a method: choose among {', '.join(METHODS)}.", argument="methods", value=wrong)
    return {name: METHODS[name](random_state=random_state) for name in wanted}


def compare(
    X: Any,
    given: Any = None,
    *,
    counts: Any = None,
    methods: Iterable[str] | Mapping[str, Any] | None = None,
    n_clusters: int | None = None,
    timeout: float = 60.0,
    n_jobs: int = 1,
    progress: Callback | None = None,
) -> Comparison:
    """Find an alternative to the given clusterings with every method.

    Parameters
    ----------
    X : array or frame, shape (n_samples, n_features)
        Scale it first if columns have different units.
    given : None, labels, or several columns of labels
    counts : array or frame, shape (n_samples, n_features), optional
        The same rows as raw counts, neither centred nor scaled, for the method that needs them. Default: X.
    methods : sequence of str, or dict of str to estimator
        Names in `METHODS`, with random_state 0; or `KDAC` and estimators of `altclust.baselines`, with parameters of
        your own, by names of your own. Default: all.
    n_clusters : int, optional
        For every method. Default: KDAC searches for it and the others use the number that it found; without KDAC,
        that of the first given clustering.
    timeout : float
        Limit per method, in seconds.
    n_jobs : int
        Number of methods that run in parallel, each in its own process.
    progress : callable, optional
        Called with an `altclust.Progress` several times a second. A true return value cancels the methods that are
        running or have not started.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from altclust.comparison import compare
    >>> from altclust.datasets import views
    >>> data = views(120, ("blobs", "blobs"), (2, 2), random_state=0)
    >>> found = compare(data.X, data.given, methods=["Residual", "Orth-1"], n_clusters=2)
    >>> found.table["method"].tolist(), bool(found.agreement.loc["Residual", "Orth-1"] > 0.9)
    (['Residual', 'Orth-1'], True)
    """
    wanted = dict(methods) if isinstance(methods, Mapping) else named_methods(METHODS if methods is None else methods)
    strange = next((model for model in wanted.values() if type(model) not in METHODS.values()), None)
    if strange is not None:
        raise InputError("has to be KDAC or one of altclust.baselines.", argument="methods", value=strange)
    if not timeout > 0:
        raise InputError("must be more than 0 seconds.", argument="timeout", value=timeout)
    rows = new_table(BaseEstimator(), X, reset=True)
    counted = rows if counts is None else new_table(BaseEstimator(), counts, reset=True)
    if len(counted) != len(rows):
        raise InputError(f"counts has {len(counted)} rows and X has {len(rows)}: pass the same rows.")
    known = read_given(given, len(rows), "clusterings")
    check_sizes(len(rows), rows.shape[1], n_clusters or 1, None)
    names, codes = [one.name for one in known.levels], known.clusterings
    if len(set(names)) < len(names):
        raise InputError("given has two columns of the same name: rename one.")
    answers: dict[str, Answer] = {}
    given_up = threading.Event()

    def cancelled() -> bool:
        return given_up.is_set() or (
            progress is not None and bool(progress(Progress("compare", len(answers), len(wanted))))
        )

    def ask_for(mine: Iterable[str]) -> None:
        """Run methods one after the other in one process."""
        answerer = Worker()
        for name in mine:
            table = counted if isinstance(wanted[name], baselines.ConditionalBottleneck) else rows
            asked = wanted[name], table, codes, n_clusters
            try:
                answers[name] = answerer.ask(answer, *asked, timeout=timeout, cancelled=cancelled)
            except TooLate:
                answers[name] = None, timeout, f"It was stopped after {timeout:g} seconds."
            except Cancelled:
                answers[name] = None, np.nan, "It was cancelled."
            except Ended:
                answers[name] = None, np.nan, "Its process ended without a result: there may be too little memory."
        answerer.end()

    ours = next((name for name, model in wanted.items() if isinstance(model, KDAC)), None)
    if n_clusters is None and ours is not None:
        ask_for([ours])
        labels = answers[ours][0]
        n_clusters = None if labels is None else len(np.unique(labels))
    left = iter([name for name in wanted if name not in answers])
    with ThreadPoolExecutor(max(1, n_jobs)) as pool:
        try:
            list(pool.map(ask_for, [left] * max(1, n_jobs)))
        except BaseException:
            given_up.set()
            raise
    cancelled()
    return _compare(rows, dict(zip(names, codes, strict=True)), {name: answers[name] for name in wanted})


def answer(model: Any, X: Array, given: list[np.ndarray], k: int | None) -> Answer:
    """Run one method: its labels, the seconds, and why there are no labels."""
    start = time.perf_counter()
    try:
        model = model if k is None else model.set_params(n_clusters=k)
        labels = np.asarray(model.fit(X, np.column_stack(given) if given else None).labels_)
        return labels, time.perf_counter() - start, ""
    except InputError as error:
        why = sentence(error, "The table") if error.argument == "X" else str(error)
    except MemoryError:
        why = "There is not enough memory: pass fewer rows."
    except Exception as error:  # one method's failure must not end the comparison
        why = f"It failed ({type(error).__name__}): fit this method alone to see where."
    return None, time.perf_counter() - start, why


def _compare(X: Array, given: dict[str, np.ndarray], answers: dict[str, Answer]) -> Comparison:
    measure = _Measure(X)
    table = []
    for name, (labels, seconds, why) in answers.items():
        row: dict[str, Any] = {"method": name, "clusters": None, "sizes": None, "quality": None, "silhouette": None}
        if labels is not None:
            sizes = np.sort(np.unique(labels, return_counts=True)[1])[::-1]
            row |= {"clusters": len(sizes), "sizes": ", ".join(map(str, sizes)), **measure(labels)}
        row |= {f"overlap: {g}": None if labels is None else _agreement(labels, c) for g, c in given.items()}
        table.append(row | {"seconds": None if np.isnan(seconds) else seconds, "problem": why})
    found = {name: labels for name, (labels, _, _) in answers.items() if labels is not None}
    found = {name: match_labels(labels, next(iter(found.values()))) for name, labels in found.items()}
    everything = {**{f"given: {name}": codes for name, codes in given.items()}, **found}
    agreement = pd.DataFrame(
        [[_agreement(a, b) for b in everything.values()] for a in everything.values()],
        index=list(everything),
        columns=list(everything),
    )
    labels = pd.DataFrame(found, index=range(len(X)))
    return Comparison(pd.DataFrame(table).astype({"clusters": "Int64"}), labels, agreement, conclude(labels, agreement))


def conclude(labels: pd.DataFrame, agreement: pd.DataFrame) -> str:
    """Which methods find the same clusters, and which only outliers or what was given."""
    given = [name for name in agreement.columns if name not in labels.columns]
    shares = {name: np.bincount(codes) / len(codes) for name, codes in labels.items()}
    outliers = [name for name, share in shares.items() if share[share > 0].min() < fewest(len(share))]
    known = [name for name in labels if name not in outliers and (agreement.loc[name, given] > ALTERNATIVE).any()]
    left = [name for name in labels if name not in (*outliers, *known)]
    told = []
    if left:
        alike = {name: [other for other in left if agreement.loc[name, other] >= DISTINCT] for name in left}
        most = max(alike.values(), key=len)
        if len(most) > 1:
            same = ", ".join(most)
            told.append(f"{len(most)} of {labels.shape[1]} methods find similar clusters ({same}): start with these.")
        else:
            told.append("Every method finds other clusters: none is confirmed by another.")
    if outliers:
        told.append(f"Only outliers apart from the other rows: {', '.join(outliers)}; their figures say little.")
    if known:
        told.append(f"Similar to what was given: {', '.join(known)}.")
    return " ".join(told)


def _agreement(a: np.ndarray, b: np.ndarray) -> float:
    """NMI over the rows with known labels in both; NaN if there are none."""
    known = (a >= 0) & (b >= 0)
    return nmi(a[known], b[known]) if known.any() else float("nan")


class _Measure:
    """Quality measures of clusterings of these rows, the same for all methods."""

    def __init__(self, X: Array) -> None:
        rng = np.random.default_rng(0)
        n = len(X)
        self.rows = sample_rows(n, MEASURED_ROWS, rng)
        self.X = X[self.rows]
        K = Gaussian(median_distance(self.X, rng)).gram(self.X)
        scale = 1 / np.sqrt(K.sum(axis=1))
        self.K = scale[:, None] * K * scale
        self.K = self.K - self.K.mean(axis=0) - self.K.mean(axis=1, keepdims=True) + self.K.mean()

    def __call__(self, labels: np.ndarray) -> dict[str, float | None]:
        """Silhouette, and quality: the HSIC of rows and clusters relative to its maximum for k clusters."""
        codes = np.unique(labels[self.rows], return_inverse=True)[1]
        k, n = int(codes.max()) + 1, len(codes)
        if not 1 < k < n:
            return {"quality": None, "silhouette": None}
        member = Given.from_codes(codes).indicators()
        basis = np.linalg.svd(member, full_matrices=False)[0][:, : k - 1]
        most = float(lapack_subset(self.K, n - k + 1, n - 1)[0].sum())
        quality = float(np.sum(basis * (self.K @ basis))) / most if most > 0 else None
        return {"quality": quality, "silhouette": float(silhouette_score(self.X, codes))}
