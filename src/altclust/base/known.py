"""What is known about rows: labels, measurements, kernels and distances, all as codes with features.

A measurement is a number: age, size, a score. Its Gaussian kernel is a low-rank product, K = A Aᵀ, whose rows depend
only on the value; so a measurement is a column of codes, as labels are, and a table with the features of each code.
Values are standardised first, with logarithmic tails, so that units and a few large values change little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import eigh

from .backend import Array
from .errors import InputError
from .given_labels import given_frame, label_codes

MOST_NUMBERED = 30  # different whole numbers that may be labels, whatever they are
MOST_FRACTIONS = 12  # different other numbers that may be labels
CELLS = 512  # intervals of equal width, into which values are rounded
QUARTILES = 1.35  # distance between the quartiles of a Gaussian, in standard deviations
WIDTH = 0.5  # of the Gaussian kernel, where the standard deviation is 1
LEFT_OUT = 1e-5  # share of the trace of a kernel that its factor leaves out
MOST_FEATURES = 30


@dataclass(frozen=True)
class Levels:
    """What the codes of one known column mean, for its own rows and for others.

    Attributes
    ----------
    name : str
    kind : {"labels", "measurement", "kernel", "distances"}
    size : int
        Number of codes.
    table : array, shape (size, m), or None
        Features A of each code: A Aᵀ is the kernel of a measurement or of a matrix. None for labels.
    labels : array, shape (size,), or None
        The label of each code.
    edges : array, shape (size − 1,), or None
        Values between the intervals of a measurement.
    """

    name: str
    kind: str
    size: int
    table: Array | None = None
    labels: np.ndarray | None = None
    edges: Array | None = None

    @classmethod
    def measured(cls, values: Array, name: str = "given", cells: int = CELLS) -> Levels:
        """The intervals of a measurement, from all of its values or from a sample of them; NaN is unknown."""
        if np.isinf(values).any():
            raise InputError(f"has infinity in {name!r}: leave those rows out.", argument="given")
        ordered = np.sort(values[~np.isnan(values)])
        if len(ordered) < 2 or ordered[0] == ordered[-1]:
            problem = f"has no two different numbers in {name!r}: leave it out."
            raise InputError(problem, argument="given")
        scores = standardised(ordered)
        numbers = np.floor((scores - scores[0]) / (scores[-1] - scores[0]) * cells)
        last = np.flatnonzero(np.diff(np.minimum(numbers, cells - 1)))  # of each interval but the last
        edges = ordered[last] / 2 + ordered[last + 1] / 2
        parts = np.split(scores, last + 1)
        centres = np.array([part.mean() for part in parts])
        shares = np.array([len(part) for part in parts]) / len(scores)
        K = np.exp(-0.5 * ((centres[:, None] - centres) / WIDTH) ** 2)
        return cls(name, "measurement", len(parts), _factor(K, shares), edges=edges)

    def codes(self, values: Any) -> np.ndarray:
        """The codes of other values of the same column; −1 for those that are unknown here."""
        if self.edges is not None:
            try:
                numbers = np.asarray(values, dtype=float)
            except (TypeError, ValueError) as error:
                problem = f"has something else than numbers in {self.name!r}, which is a measurement: pass numbers."
                raise InputError(problem, argument="given") from error
            return np.where(np.isnan(numbers), -1, np.searchsorted(self.edges, numbers, side="left"))
        if self.labels is None:
            problem = f"has a {self.kind} of the rows of the fit, which says nothing of other rows: leave it out."
            raise InputError(problem, argument="given")
        values = np.asarray(values, dtype=object)
        if self.labels.dtype.kind == "U":  # of a saved model, where labels of any kind are text
            values = np.array([str(value) for value in values], dtype=object)
        return pd.Index(self.labels.astype(object)).get_indexer(values)

    def __str__(self) -> str:
        if self.kind == "labels":
            return f"{self.name}: {self.size} clusters"
        return f"{self.name}: {'distances' if self.kind == 'distances' else f'a {self.kind}'}"


class Column(NamedTuple):
    """One thing that is known about n rows: codes, shape (n,), −1 where unknown, and what they mean."""

    codes: np.ndarray
    levels: Levels

    @property
    def features(self) -> np.ndarray:
        """The codes of labels, shape (n,), or the features of anything else, shape (n, m), with NaN where unknown."""
        return with_features(self.codes, self.levels.table)


@dataclass(frozen=True)
class Known:
    """Something to be independent of, with its kind stated: pass it, or a list of such, as y or `given`.

    Without it, a column of at most 30 different whole numbers, 12 different other numbers, or numbers counted from 0 or
    1 with three rows each is a clustering, and a column of more numbers is a measurement.

    Examples
    --------
    >>> import numpy as np
    >>> from altclust import KDAC, Known
    >>> rng = np.random.default_rng(0)
    >>> year, hidden = rng.integers(2015, 2024, 200), rng.integers(0, 2, 200)
    >>> X = np.column_stack([2.0 * year, 5.0 * hidden]) + rng.normal(size=(200, 2))
    >>> model = KDAC(2, random_state=0).fit(X, Known.measurement(year))
    >>> model.known_, bool(model.overlap_ < 0.05)
    ('given: a measurement', True)
    """

    kind: str
    values: Any
    name: str | None = None

    @classmethod
    def labels(cls, values: Any, name: str | None = None) -> Known:
        """One label per row, or several columns of labels, however many different values there are."""
        return cls("labels", values, name)

    @classmethod
    def measurement(cls, values: Any, name: str | None = None) -> Known:
        """One number per row, or several columns of numbers; NaN is unknown."""
        return cls("measurement", values, name)

    @classmethod
    def kernel(cls, K: Any, name: str = "kernel") -> Known:
        """A positive semidefinite matrix of similarities between rows, shape (n, n)."""
        return cls("kernel", K, name)

    @classmethod
    def distances(cls, D: Any, name: str = "distances") -> Known:
        """A matrix of distances between rows, shape (n, n); the width of its kernel is half the median distance."""
        return cls("distances", D, name)

    def columns(self, n: int) -> list[Column]:
        """Codes and features of all columns, for n rows."""
        if self.kind in ("kernel", "distances"):
            return [Column(np.arange(n), Levels(self.name or self.kind, self.kind, n, _factor(self._matrix(n))))]
        frame = given_frame(self.values)
        if len(frame) != n:
            raise InputError(f"given has {len(frame)} labels for {n} rows: pass one label for each row of X.")
        found, count = [], frame.shape[1]
        for j in range(count):
            name = str(frame.columns[j]) if self.name is None or count > 1 else self.name
            numbers = None if self.kind == "labels" else as_numbers(frame.iloc[:, j])
            if self.kind == "measurement" and numbers is None:
                raise InputError("is not a column of numbers: pass it as labels.", argument="given", value=name)
            if numbers is None or (self.kind == "auto" and not is_measured(numbers)):
                codes, labels = label_codes(frame.iloc[:, j], j, count, n, shared=self.kind != "labels")
                found.append(Column(codes, Levels(name, "labels", len(labels), labels=labels)))
            else:
                levels = Levels.measured(numbers, name)
                found.append(Column(levels.codes(numbers), levels))
        return found

    def _matrix(self, n: int) -> Array:
        """The kernel matrix."""
        try:
            M = np.asarray(self.values, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"given has a {self.kind} that is not an array of numbers: pass n x n numbers.") from error
        if M.shape != (n, n):
            raise InputError(f"given has a matrix of shape {M.shape} for {n} rows: pass one of shape ({n}, {n}).")
        if not np.isfinite(M).all() or not np.allclose(M, M.T, rtol=1e-6, atol=1e-9 * np.abs(M).max()):
            raise InputError("given has a matrix that is not finite and symmetric: check how it was computed.")
        if self.kind == "kernel":
            return M
        if M.min() < 0:
            raise InputError("given has negative distances: pass a kernel as Known.kernel.")
        width = float(np.median(M[np.triu_indices(n, 1)])) / 2 or float(M.mean()) or 1.0
        return np.exp(-0.5 * (M / width) ** 2)


def standardised(values: Array) -> Array:
    """Values with mean 0 and variance 1, of which those far from the median grow like logarithms.

    Ranks would be more robust, but sampling makes them rough functions of the value, and what is a smooth effect of the
    value could no longer be removed.
    """
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    scores = np.arcsinh((values - middle) * (QUARTILES / (high - low or values.std())))
    return (scores - scores.mean()) / scores.std()


def _factor(K: Array, shares: Array | None = None) -> Array:
    """A with A Aᵀ ≈ K, shape (n, m), from the leading eigenvectors of K, where rows count by their shares."""
    n = len(K)
    root = np.ones(n) if shares is None else np.sqrt(shares)
    weighted = root[:, None] * K * root
    values, V = eigh(weighted, subset_by_index=(max(0, n - MOST_FEATURES), n - 1))
    values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
    trace = float(np.trace(weighted))
    m = int(np.searchsorted(np.cumsum(values), (1 - LEFT_OUT) * trace)) + 1
    return (V * np.sqrt(values))[:, :m] / root[:, None]


def read_known(given: Any, n: int) -> list[Column]:
    """What is given, as columns of codes.

    Parameters
    ----------
    given : None, labels or numbers of shape (n,), several columns of them, a `Known`, or a list with some `Known`
    n : int
        Rows of the table.
    """
    return [column for part in known_parts(given) for column in part.columns(n)]


def known_parts(given: Any) -> list[Known]:
    """What is given, as a list; columns whose kind is not stated have the kind "auto"."""
    if given is None:
        return []
    if isinstance(given, Known):
        return [given]
    if isinstance(given, list | tuple) and any(isinstance(one, Known) for one in given):
        return [one if isinstance(one, Known) else Known("auto", one) for one in given]
    return [Known("auto", given)]


def known_arrays(columns: Sequence[Column]) -> list[np.ndarray]:
    """Codes of labels, shape (n,), and features of everything else, shape (n, m), with NaN where unknown."""
    return [column.features for column in columns]


def with_features(codes: np.ndarray, table: Array | None) -> np.ndarray:
    """The features of codes, NaN where unknown; codes themselves if there is no table."""
    if table is None:
        return codes
    return np.vstack([table, np.full(table.shape[1], np.nan)])[codes]


def known_frame(given: Any) -> pd.DataFrame | None:
    """Labels and measurements as they were passed, in the columns of a frame; None if there are none."""
    parts = [part for part in known_parts(given) if part.kind not in ("kernel", "distances")]
    frames = [given_frame(part.values) for part in parts]
    named = [
        frame if part.name is None or frame.shape[1] > 1 else frame.set_axis([part.name], axis=1)
        for part, frame in zip(parts, frames, strict=True)
    ]
    return pd.concat([one.reset_index(drop=True) for one in named], axis=1) if named else None


def as_numbers(column: pd.Series) -> Array | None:
    """The numbers of a column, NaN where missing; None if it has anything else."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf":
        return column.to_numpy(dtype=float)
    if column.dtype == object:
        column = column.infer_objects()
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column) or column.dtype.kind == "c":
        return None
    return column.to_numpy(dtype=float, na_value=np.nan)


def is_measured(numbers: Array) -> bool:
    """Whether a column of numbers is a measurement rather than a clustering: it has many different values.

    Numbers that count all rows are neither: they are identifiers.
    """
    known = numbers[~np.isnan(numbers)]
    values = np.unique(known)
    with np.errstate(invalid="ignore"):
        whole = bool(np.all(values == np.round(values)))
    if len(values) <= (MOST_NUMBERED if whole else MOST_FRACTIONS):
        return False
    numbered = whole and values[-1] - values[0] == len(values) - 1 and values[0] in (-1, 0, 1)
    return not (numbered and (3 * len(values) <= len(numbers) or len(values) == len(known)))
