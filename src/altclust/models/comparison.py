"""Every method on one table, side by side: each in a process of its own, which may fail or run out of time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.metrics import silhouette_score

from ..base.backend import Array
from ..base.errors import InputError
from ..base.validation import check_given, check_rows, check_sizes, given_frame
from ..core.kernels import Gaussian
from ..core.linalg.eigen import lapack_subset
from ..core.metrics import match_labels, nmi
from ..core.problem import indicators
from ..search.heuristics import median_distance
from .baselines import (
    ADFT,
    COALA,
    NACI,
    AlternativeTransform,
    ConditionalBottleneck,
    MinCEntropy,
    MultipleSpectralViews,
    OrthogonalClustering,
    OrthogonalProjection,
    Residual,
)
from .kdac import KDAC
from .worker import Answerer, Cancelled, Ended, TooLate

METHODS: dict[str, Callable[..., Any]] = {
    "KDAC": KDAC,
    "Residual": Residual,
    "Orth-1": OrthogonalClustering,
    "Orth-2": OrthogonalProjection,
    "ADFT": ADFT,
    "Qi-Davidson": AlternativeTransform,
    "minCEntropy": MinCEntropy,
    "COALA": COALA,
    "CIB": ConditionalBottleneck,
    "NACI": NACI,
    "mSC": MultipleSpectralViews,
}
MEASURED_ROWS = 2000  # that quality and silhouette are read from
Answer = tuple[np.ndarray | None, float, str]


@dataclass(frozen=True)
class Comparison:
    """What every method found.

    Attributes
    ----------
    table : DataFrame
        One row per method: clusters, quality, silhouette, the overlap against each given clustering, seconds, and a
        sentence where there is no result.
    labels : DataFrame
        One column per method that found something; clusters are numbered as in the first, as far as they agree.
    agreement : DataFrame
        NMI between the methods, and with what is given.
    """

    table: pd.DataFrame
    labels: pd.DataFrame
    agreement: pd.DataFrame


def compare(
    X: Any,
    given: Any = None,
    *,
    counts: Any = None,
    methods: Sequence[str] | None = None,
    n_clusters: int | None = None,
    timeout: float = 60.0,
    n_jobs: int = 1,
    progress: Callable[[int, int], Any] | None = None,
    random_state: int = 0,
) -> Comparison:
    """Ask every method for an alternative to what is given.

    Parameters
    ----------
    X : array or frame, shape (n_samples, n_features)
        Scale it first where columns have different units.
    given : None, labels, or several columns of labels
    counts : array or frame, shape (n_samples, n_features), optional
        The same rows as they were counted, neither centred nor scaled, for the method that needs that; X if left out.
    methods : sequence of str, optional
        Names in `METHODS`; all of them if left out.
    n_clusters : int, optional
        Asked of every method. If left out, KDAC searches for it and the others take as many as it found; without
        KDAC, as many as the first given clustering has.
    timeout : float
        Seconds that a method may take.
    n_jobs : int
        Methods that run side by side, each in a process of its own.
    progress : callable, optional
        Called with (methods done, methods in all), several times a second. A true answer ends the methods that are
        under way and those that have not begun.
    random_state : int

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
    asked_for = [methods] if isinstance(methods, str) else methods
    wanted = list(METHODS if asked_for is None else dict.fromkeys(asked_for))
    unknown = [name for name in wanted if name not in METHODS]
    if unknown or not wanted:
        wrong = repr(unknown[0] if unknown else wanted)
        raise InputError(f"methods={wrong} is not a method: choose among {', '.join(METHODS)}.")
    if not timeout > 0:
        raise InputError(f"timeout={timeout!r} must be more than 0 seconds.")
    rows = check_rows(BaseEstimator(), X, reset=True)
    counted = rows if counts is None else check_rows(BaseEstimator(), counts, reset=True)
    if len(counted) != len(rows):
        raise InputError(f"counts has {len(counted)} rows and X has {len(rows)}: pass the same rows.")
    codes = check_given(given, len(rows))
    check_sizes(len(rows), rows.shape[1], n_clusters or 1, None)
    names = [] if given is None else [str(name) for name in given_frame(given).columns]
    if len(set(names)) < len(names):
        raise InputError("given has two columns of the same name: rename one.")
    answers: dict[str, Answer] = {}
    given_up = threading.Event()

    def cancelled() -> bool:
        return given_up.is_set() or (progress is not None and bool(progress(len(answers), len(wanted))))

    def ask_for(mine: Iterable[str]) -> None:
        """Ask one method after the other of one process."""
        answerer = Answerer()
        for name in mine:
            table = counted if METHODS[name] is ConditionalBottleneck else rows
            asked = name, table, codes, n_clusters, random_state
            try:
                answers[name] = answerer.ask(answer, *asked, timeout=timeout, cancelled=cancelled)
            except TooLate:
                answers[name] = None, timeout, f"It was stopped after {timeout:g} seconds."
            except Cancelled:
                answers[name] = None, np.nan, "It was cancelled."
            except Ended:
                answers[name] = None, np.nan, "Its process ended without an answer: there may be too little memory."
        answerer.end()

    if n_clusters is None and "KDAC" in wanted:
        ask_for(["KDAC"])
        labels = answers["KDAC"][0]
        n_clusters = None if labels is None else len(np.unique(labels))
    left = iter([name for name in wanted if name not in answers])
    workers = [threading.Thread(target=ask_for, args=(left,)) for _ in range(max(1, n_jobs))]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    except BaseException:
        given_up.set()
        raise
    cancelled()
    return _compare(rows, dict(zip(names, codes, strict=True)), {name: answers[name] for name in wanted})


def answer(name: str, X: Array, given: list[np.ndarray], k: int | None, seed: int) -> Answer:
    """What one method finds: labels, seconds, and why there are none."""
    start = time.perf_counter()
    try:
        method = METHODS[name]("auto" if k is None else k, random_state=seed)
        labels = np.asarray(method.fit(X, np.column_stack(given) if given else None).labels_)
        return labels, time.perf_counter() - start, ""
    except Exception as error:  # whatever it is, it is one method's row and not the end of the comparison
        return None, time.perf_counter() - start, " ".join(str(error).split()) or type(error).__name__


def _compare(X: Array, given: dict[str, np.ndarray], answers: dict[str, Answer]) -> Comparison:
    measure = _Measure(X)
    table = []
    for name, (labels, seconds, why) in answers.items():
        row: dict[str, Any] = {"method": name, "clusters": None, "quality": None, "silhouette": None}
        if labels is not None:
            row |= {"clusters": len(np.unique(labels)), **measure(labels)}
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
    return Comparison(
        pd.DataFrame(table).astype({"clusters": "Int64"}), pd.DataFrame(found, index=range(len(X))), agreement
    )


def _agreement(a: np.ndarray, b: np.ndarray) -> float:
    """NMI over the rows that both know; NaN where there are none."""
    known = (a >= 0) & (b >= 0)
    return nmi(a[known], b[known]) if known.any() else float("nan")


class _Measure:
    """How good a clustering of these rows is, whichever method found it."""

    def __init__(self, X: Array) -> None:
        rng = np.random.default_rng(0)
        n = len(X)
        self.rows = np.arange(n) if n <= MEASURED_ROWS else np.sort(rng.choice(n, MEASURED_ROWS, replace=False))
        self.X = X[self.rows]
        K = Gaussian(median_distance(self.X, rng)).gram(self.X)
        scale = 1 / np.sqrt(K.sum(axis=1))
        self.K = scale[:, None] * K * scale
        self.K = self.K - self.K.mean(axis=0) - self.K.mean(axis=1, keepdims=True) + self.K.mean()

    def __call__(self, labels: np.ndarray) -> dict[str, float | None]:
        """Quality: the HSIC of rows and clusters, as a share of the most that so many clusters could have."""
        codes = np.unique(labels[self.rows], return_inverse=True)[1]
        k, n = int(codes.max()) + 1, len(codes)
        if not 1 < k < n:
            return {"quality": None, "silhouette": None}
        member = indicators([codes], n)
        basis = np.linalg.svd(member, full_matrices=False)[0][:, : k - 1]
        most = float(lapack_subset(self.K, n - k + 1, n - 1)[0].sum())
        quality = float(np.sum(basis * (self.K @ basis))) / most if most > 0 else None
        return {"quality": quality, "silhouette": float(silhouette_score(self.X, codes))}
