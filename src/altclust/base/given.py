"""What is given about rows: labels, measurements, kernels and distances, all as codes with what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from scipy import stats
from scipy.linalg import eigh
from sklearn.metrics import mutual_info_score

from .backend import Array, host
from .errors import InputError

CELLS = 512  # intervals of equal width, into which values are rounded
QUARTILES = 1.35  # distance between the quartiles of a Gaussian, in standard deviations
WIDTH = 0.5  # of the Gaussian kernel, where the standard deviation is 1
LEFT_OUT = 1e-5  # share of the trace of a kernel that its factor leaves out
MOST_FEATURES = 30

T = TypeVar("T")


@dataclass(frozen=True)
class Levels:
    """What the codes of one given column mean, for its own rows and for others.

    The Gaussian kernel of a measurement is a low-rank product, K = A Aᵀ, whose rows depend only on the value; so a
    measurement is a column of codes, as labels are, and a table with the features of each code. Values are standardised
    first, with logarithmic tails, so that units and a few large values change little.

    The kind is "labels", "measurement", "kernel" or "distances". The `table` (size, m) are the features A of each code:
    None for labels, and in a loaded model. Labels have the label of each code in `labels`; a measurement has the values
    between its intervals in `edges` (size − 1,).
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
        return cls(name, "measurement", len(parts), factor(K, shares), edges=edges)

    @property
    def are_labels(self) -> bool:
        """Whether the column is a clustering."""
        return self.kind == "labels"

    @property
    def tell_new_rows(self) -> bool:
        """Whether other rows have codes: those of a matrix belong to the rows of the fit."""
        return self.labels is not None or self.edges is not None

    def of_codes(self, codes: np.ndarray) -> Array:
        """The features of these codes, NaN where unknown."""
        assert self.table is not None
        return np.vstack([self.table, np.full(self.table.shape[1], np.nan)])[codes]

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

    def overlap(self, counts: Array) -> float:
        """NMI, or the dependence on a measurement, from the numbers of rows with each label and code (k, size)."""
        if not counts.any():
            return 0.0
        return table_nmi(counts) if self.are_labels else self.dependence(counts)[0]

    def dependence(self, counts: Array) -> tuple[float, float]:
        """How far the column determines labels, and the p-value of independence, from the same numbers of rows."""
        A = np.eye(self.size) if self.table is None else self.table
        return dependence_of_sums(counts.sum(axis=1), counts @ A, (A.T * counts.sum(axis=0)) @ A)

    def __str__(self) -> str:
        if self.are_labels:
            return f"{self.name}: {self.size} clusters"
        return f"{self.name}: {'distances' if self.kind == 'distances' else f'a {self.kind}'}"


@dataclass(frozen=True, eq=False)
class Given:
    """What is given about n rows; it is true if that is anything.

    The `codes` (n, g) are −1 where unknown; on the device of the rows, or a Dask array beside them. The `levels` say
    what the codes of each column mean.
    """

    codes: Any
    levels: tuple[Levels, ...] = ()

    @classmethod
    def nothing(cls, n: int) -> Given:
        """About n rows."""
        return cls(np.zeros((n, 0), dtype=np.int32))

    @classmethod
    def from_codes(cls, *columns: np.ndarray) -> Given:
        """Clusterings, by codes from 0 on; −1 is unknown."""
        levels = tuple(Levels("given", "labels", int(np.max(codes)) + 1) for codes in columns)
        return cls(np.column_stack(columns), levels)

    @classmethod
    def joined(cls, parts: Sequence[Given], n: int) -> Given:
        """All that several parts say about the same n rows."""
        codes = np.column_stack([cls.nothing(n).codes, *(part.codes for part in parts)])
        return cls(codes, tuple(one for part in parts for one in part.levels))

    def __bool__(self) -> bool:
        return bool(self.levels)

    def __str__(self) -> str:
        return ", ".join(map(str, self.levels))

    def take(self, rows: Any) -> Given:
        """About some of the rows, in memory."""
        return Given(host(self.codes[rows]), self.levels)

    @property
    def clusterings(self) -> list[np.ndarray]:
        """The codes of labels, shape (n,) each."""
        return [codes for codes, one in zip(self.codes.T, self.levels, strict=True) if one.are_labels]

    @property
    def measurements(self) -> Given:
        """All but labels."""
        places = [g for g, one in enumerate(self.levels) if not one.are_labels]
        return Given(self.codes[:, places], tuple(self.levels[g] for g in places))

    def each(self, of_labels: Callable[[np.ndarray], T], of_features: Callable[[Array], T]) -> list[T]:
        """What a function of codes (n,) says of labels, and one of features (n, m) of all else; NaN is unknown."""
        columns = zip(self.codes.T, self.levels, strict=True)
        return [of_labels(codes) if one.are_labels else of_features(one.of_codes(codes)) for codes, one in columns]

    def indicators(self, scaling: str = "balanced") -> Array:
        """The columns (n, c) of H Y for everything that is given, side by side: YYᵀ is the kernel of what is given.

        An unknown row is zero here: centring runs over the known rows only, so the penalty is the HSIC of those rows
        and the others are not constrained. The scaling is that of unit columns Ŷ = Y (YᵀY)^(-1/2), "balanced", so that
        λ does not depend on n or the cluster sizes, or the one-hot Y of the "paper". The balanced features of a
        measurement have a kernel with the largest eigenvalue 1, as that of Ŷ has at most.
        """
        blocks = self.each(partial(_one_hot, scaling), partial(_centred, scaling))
        return np.hstack([np.zeros((len(self.codes), 0)), *blocks])

    def subtracted_from(self, X: Array) -> Array:
        """The residual of a regression of the centred rows X on the indicators.

        For one clustering, it subtracts the mean of each row's cluster. For a measurement, whose indicators are the
        features of its kernel, it subtracts a smooth function of the value.
        """
        if not self:
            return X
        Y = self.indicators()
        left = X - Y @ np.linalg.lstsq(Y, X, rcond=None)[0]
        return np.where(np.abs(left) > 1e-12 * np.abs(X).max(), left, 0.0)

    def crossed(self, labels: np.ndarray, k: int) -> list[Array]:
        """For each column, the numbers of rows with each of k labels and each code, shape (k, size)."""
        found = []
        for codes, one in zip(self.codes.T, self.levels, strict=True):
            places = (labels * one.size + codes)[codes >= 0]
            found.append(np.bincount(places, minlength=k * one.size).reshape(k, one.size).astype(float))
        return found

    def overlap(self, labels: np.ndarray) -> float:
        """The largest overlap with the labels, see `altclust.metrics.overlap`; NaN if nothing is given."""
        return max(overlaps(self.levels, self._crossed(labels)), default=float("nan"))

    def overlap_p_value(self, labels: np.ndarray) -> float:
        """The smallest p-value of independence of the labels, times the number of columns; NaN if nothing is given."""
        found = [one.dependence(counts)[1] for one, counts in zip(self.levels, self._crossed(labels), strict=True)]
        return min(1.0, len(found) * min(found)) if found else float("nan")

    def _crossed(self, labels: np.ndarray) -> list[Array]:
        kinds, codes = np.unique(labels, return_inverse=True)
        return self.crossed(codes, len(kinds))


def overlaps(levels: Iterable[Levels], tables: Iterable[Array]) -> tuple[float, ...]:
    """The overlap with each column, from the tables of `Given.crossed`."""
    return tuple(one.overlap(counts) for one, counts in zip(levels, tables, strict=True))


def _one_hot(scaling: str, codes: np.ndarray) -> Array:
    """Centred indicators of labels, zero where unknown."""
    known = codes >= 0
    Y = (codes[:, None] == np.unique(codes[known])).astype(float)
    if scaling == "balanced":
        Y /= np.sqrt(Y.sum(axis=0))
    Y[known] -= Y[known].sum(axis=0) / max(known.sum(), 1)
    return Y


def _centred(scaling: str, A: Array) -> Array:
    """Centred features of a measurement, zero where unknown."""
    known = ~np.isnan(A[:, 0])
    A = np.where(known[:, None], A - A[known].sum(axis=0) / max(known.sum(), 1), 0.0)
    largest = np.sqrt(max(np.linalg.eigvalsh(A.T @ A)[-1], 0.0)) or 1.0
    return A / largest if scaling == "balanced" else A


def standardised(values: Array) -> Array:
    """Values with mean 0 and variance 1, of which those far from the median grow like logarithms.

    Ranks would be more robust, but sampling makes them rough functions of the value, and what is a smooth effect of the
    value could no longer be removed.
    """
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    scores = np.arcsinh((values - middle) * (QUARTILES / (high - low or values.std())))
    return (scores - scores.mean()) / scores.std()


def factor(K: Array, shares: Array | None = None) -> Array:
    """A with A Aᵀ ≈ K, shape (n, m), from the leading eigenvectors of K, where rows count by their shares."""
    n = len(K)
    root = np.ones(n) if shares is None else np.sqrt(shares)
    weighted = root[:, None] * K * root
    values, V = eigh(weighted, subset_by_index=(max(0, n - MOST_FEATURES), n - 1))
    values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
    trace = float(np.trace(weighted))
    m = int(np.searchsorted(np.cumsum(values), (1 - LEFT_OUT) * trace)) + 1
    return (V * np.sqrt(values))[:, :m] / root[:, None]


def table_nmi(counts: Array) -> float:
    """`altclust.metrics.nmi` of two clusterings from their contingency table."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    entropies = stats.entropy(counts.sum(axis=1)), stats.entropy(counts.sum(axis=0))
    if min(entropies) == 0:
        return float(max(entropies) == 0)
    return float(mutual_info_score(None, None, contingency=counts) / np.sqrt(entropies[0] * entropies[1]))


def dependence_of_sums(sizes: np.ndarray, sums: Array, squares: Array) -> tuple[float, float]:
    """How far features A determine labels: 0 independent, 1 determined; and the p-value of independence.

    From the sizes (k,) of the clusters, the sums (k, m) of the features in them, and the squares AᵀA. See
    `altclust.metrics.overlap`; the p-value is that of Pillai's trace.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    n = int(sizes.sum())
    if len(sizes) < 2:
        return 0.0, 1.0
    mean = sums.sum(axis=0) / n
    gram = squares - n * np.outer(mean, mean)
    between = sums - sizes[:, None] * mean
    inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
    p, q = len(sizes) - 1, int(np.linalg.matrix_rank(gram, tol=1e-10 * np.trace(gram), hermitian=True))
    least, most = min(p, q), max(p, q)
    if least == 0 or n - 1 <= p + q:
        return 0.0, 1.0
    trace = float(np.clip(np.sum((between @ inverse) * between / sizes[:, None]), 0.0, least * (1 - 1e-12)))
    chance = most / (n - 1)
    degrees = least * most, least * (n - 1 - most)
    ratio = trace / (least - trace) * degrees[1] / degrees[0]
    return float(max(0.0, (trace / least - chance) / (1 - chance))), float(stats.f.sf(ratio, *degrees))
