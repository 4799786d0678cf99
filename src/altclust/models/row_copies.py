"""Weights of rows: a row of weight 2 is two rows, and is repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..base.errors import InputError
from ..base.known import Known, given_frame, known_frame, known_parts, read_given
from ..base.validation import column_names
from ..data.opening import checked_rows, open_rows
from ..data.rows import ArrayRows, SparseRows
from .fitted_view import FittedView

MOST_COPIES = 10_000  # to which weights are scaled if they sum to more, or to four times the rows
FINE = 2_000  # copies, or twice the rows, to which weights that are not whole numbers are scaled


def copies(sample_weight: Any, n: int) -> np.ndarray:
    """The row of each copy, in order.

    Whole numbers are the numbers of copies. Other weights, and whole numbers with a very large sum, are scaled and
    rounded so that the number of copies of the first i rows is right to half a copy, for every i.
    """
    weights = check_weights(sample_weight, n)
    whole = bool(np.all(weights == np.round(weights)))
    most = max(MOST_COPIES, 4 * n)
    if not whole or weights.sum() > most:
        weights = weights / weights.max()  # whose sum does not overflow
        weights = weights * ((most if whole else max(FINE, 2 * n)) / weights.sum())
    return np.repeat(np.arange(n), np.diff(np.round(np.cumsum(weights)), prepend=0.0).astype(int))


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """The weights as numbers, shape (n,)."""
    try:
        weights = np.asarray(sample_weight, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("must be numbers: pass one weight for each row of X.", argument="sample_weight") from error
    if weights.shape != (n,):
        problem = f"has the shape {weights.shape} for {n} rows: pass one weight for each row of X, shape ({n},)."
        raise InputError(problem, argument="sample_weight")
    if not np.isfinite(weights).all() or weights.min() < 0:
        row = int(np.argmax(~(np.isfinite(weights) & (weights >= 0))))
        problem = f"has {weights[row]:g} in row {row}: pass finite weights of at least 0."
        raise InputError(problem, argument="sample_weight")
    if np.count_nonzero(weights) < 2:
        raise InputError("has fewer than two weights above zero: nothing can be clustered.", argument="sample_weight")
    return weights


@dataclass(frozen=True)
class Repeated:
    """Rows that are repeated by their weights, and the way back from a view of the copies.

    `rows` are all rows, once; `places` are the row of each copy, of which rows without weight have none.
    """

    rows: Any
    names: Sequence[str] | None
    places: np.ndarray

    @classmethod
    def of(cls, estimator: Any, X: Any, sample_weight: Any) -> Repeated:
        """Checked rows and weights."""
        if not sparse.issparse(X) and open_rows(X) is not None:
            problem = "needs an array, a frame or a sparse matrix in memory: files, Dask and tensors have no weights."
            raise InputError(problem, argument="sample_weight")
        rows: Any = checked_rows(estimator, X, reset=True)
        rows = rows.X
        return cls(rows, column_names(estimator), copies(sample_weight, rows.shape[0]))

    @property
    def n(self) -> int:
        """The number of rows without their copies."""
        return int(self.rows.shape[0])

    @property
    def X(self) -> Any:
        """The copies."""
        found = self.rows[self.places]
        return found if self.names is None else pd.DataFrame(found, columns=list(self.names))

    @property
    def _without(self) -> np.ndarray:
        """The rows of weight 0."""
        return np.setdiff1d(np.arange(self.n), self.places)

    def known(self, y: Any) -> list[Known] | None:
        """What is given about the copies."""
        return self._of_rows(y, self.places)

    def counted(self, y: Any) -> list[Known] | None:
        """What is given about all rows; unknown for rows of weight 0, which do not count."""
        without = self._without
        return self._of_rows(y, np.arange(self.n), without) if len(without) else y

    def _of_rows(self, y: Any, rows: np.ndarray, unknown: Any = ()) -> list[Known] | None:
        read_given(y, self.n)  # refuses what cannot be used
        found = []
        for part in known_parts(y):
            if part.kind in ("kernel", "distances"):
                found.append(replace(part, values=np.asarray(part.values, dtype=float)[np.ix_(rows, rows)]))
                continue
            frame = given_frame(part.values).iloc[rows].reset_index(drop=True)
            if len(unknown):
                frame = frame.astype(object)
                frame.iloc[unknown] = None
            found.append(replace(part, values=frame))
        return found or None

    def back(self, view: FittedView, y: Any) -> FittedView:
        """A view of the copies as a view of the rows; its test counts equal rows once, because copies prove nothing."""
        kept, first = np.unique(self.places, return_index=True)
        labels = np.zeros(self.n, dtype=view.labels.dtype)
        labels[kept] = view.labels[first]
        if len(without := self._without):
            labels[without] = self._predicted(view, without, y)
        search, searched, shown = view.search, view.searched_labels, view.rows
        places = None if view.places is None else self.places[view.places]
        if search is not None and searched is not None and places is not None:
            seen = search.X if shown is None else shown
            parts = [seen, *search.given.each(lambda codes: codes[:, None], lambda features: features)]
            once = np.flatnonzero(~pd.DataFrame(np.hstack(parts)).duplicated())
            search, searched, places = search.take(once), searched[once], places[once]
            shown = None if shown is None else shown[once]
        again = None if view.fit_variant is None else partial(self._variant, view, y)
        return replace(
            view, labels=labels, search=search, searched_labels=searched, places=places, rows=shown, fit_variant=again
        )

    def _variant(self, view: FittedView, y: Any, n_clusters: int) -> FittedView:
        return self.back(view.variant(n_clusters), y)

    def _predicted(self, view: FittedView, some: np.ndarray, y: Any) -> Any:
        rows = (SparseRows if sparse.issparse(self.rows) else ArrayRows)(self.rows[some])
        known = known_frame(y)
        given = view.codes_of(known)
        return view.predict(rows if given is None else view.coded(rows, given.iloc[some]))
