"""What people pass as given: labels, measurements, kernels and distances, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from array_api_compat import is_torch_array
from scipy import sparse

from .backend import Array, host
from .errors import InputError, one_line, short_repr
from .given import Given, Levels, factor

MOST_NUMBERED = 30  # different whole numbers that may be labels, whatever they are
MOST_FRACTIONS = 12  # different other numbers that may be labels


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

    def read(self, n: int) -> Given:
        """What it says about n rows."""
        if self.kind in ("kernel", "distances"):
            return Given(
                np.arange(n)[:, None], (Levels(self.name or self.kind, self.kind, n, factor(self._matrix(n))),)
            )
        frame = given_frame(self.values)
        if len(frame) != n:
            raise InputError(f"given has {len(frame)} labels for {n} rows: pass one label for each row of X.")
        return Given.joined([self._column(frame, j) for j in range(frame.shape[1])], n)

    def _column(self, frame: pd.DataFrame, j: int) -> Given:
        """What column j of the frame says."""
        column, count = frame.iloc[:, j], frame.shape[1]
        name = str(frame.columns[j]) if self.name is None or count > 1 else self.name
        numbers = as_numbers(column) if self.kind in ("auto", "measurement") else None
        if self.kind == "measurement" and numbers is None:
            raise InputError("is not a column of numbers: pass it as labels.", argument="given", value=name)
        if numbers is None or (self.kind == "auto" and not is_measured(numbers)):
            where = "given" if count == 1 else f"given, column {j},"
            codes, labels = label_codes(column, where, shared=self.kind != "labels")
            levels = Levels(name, "labels", len(labels), labels=labels)
        else:
            levels = Levels.measured(numbers, name)
            codes = levels.codes(numbers)
        return Given(codes[:, None], (levels,))

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


def read_given(given: Any, n: int, kind: str = "auto") -> Given:
    """What is given about n rows, as `altclust.KDAC.fit` takes it.

    A column whose kind is not stated is a measurement if it has many different numbers ("auto"), or in any case labels
    that rows share ("clusterings").
    """
    found = Given.joined([part.read(n) for part in known_parts(given, kind)], n)
    if kind == "clusterings" and found.measurements:
        raise InputError(f"has {found.measurements}: pass only labels here.", argument="given")
    return found


def known_parts(given: Any, kind: str = "auto") -> list[Known]:
    """What is given, as a list; columns whose kind is not stated have this kind, see `read_given`."""
    if given is None:
        return []
    given = host(given) if is_torch_array(given) else given
    if isinstance(given, Known):
        return [given]
    if isinstance(given, list | tuple) and any(isinstance(one, Known) for one in given):
        return [one if isinstance(one, Known) else Known(kind, one) for one in given]
    return [Known(kind, given)]


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


def given_frame(given: Any) -> pd.DataFrame:
    """Given clusterings as the columns of a frame, with their own names if they have any."""
    try:
        frame = _frame(given)
    except InputError:
        raise
    except Exception as error:  # labels may be anything
        raise InputError(f"given cannot be read ({one_line(str(error))}): pass one label per row.") from error
    if not frame.shape[1]:
        raise InputError("given has no columns: pass one label per row, or leave it out.")
    return frame


def _frame(given: Any) -> pd.DataFrame:
    if hasattr(given, "to_dicts"):  # polars frame
        given = given.to_dict(as_series=False)
    elif hasattr(given, "to_list"):  # pandas or polars series
        given = {getattr(given, "name", None) or "given": given.to_list()}
    if sparse.issparse(given):
        raise InputError("given is a sparse matrix: pass one label per row, such as given.toarray().argmax(1).")
    if isinstance(given, pd.DataFrame | dict):
        return pd.DataFrame(given)
    array = given if isinstance(given, np.ndarray) else np.array(given, dtype=object)
    if array.ndim not in (1, 2) or not array.size:
        raise InputError(f"given has {array.ndim} dimensions and {array.size} entries: pass one label per row.")
    columns = array.reshape(len(array), -1)
    names = ["given"] if columns.shape[1] == 1 else [f"given {j + 1}" for j in range(columns.shape[1])]
    return pd.DataFrame(columns, columns=names)


def label_codes(column: pd.Series, where: str = "given", shared: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """The codes of a column of labels, shape (n,), and the label of each code; where is its name in messages.

    By default, many labels must be shared by several rows.
    """
    codes = np.full(len(column), -1, dtype=np.int64)
    known: Any
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":  # fast path for millions of numbers
        numbers = column.to_numpy()
        unknown = (numbers != numbers) | (numbers == -1)
        known = numbers[~unknown]
        codes[~unknown], labels = pd.factorize(known)
    else:
        values = column.astype(object).tolist()
        unknown = np.array([is_unknown(v) for v in values], dtype=bool)
        known = [value for value, skip in zip(values, unknown, strict=True) if not skip]
        nested = next((v for v in known if isinstance(v, list | tuple | dict | set | np.ndarray)), None)
        if nested is not None:
            problem = f"has {short_repr(nested)} as a label: pass one string or number per row."
            raise InputError(problem, argument=where)
        try:
            codes[~unknown], labels = pd.factorize(pd.Series(known, dtype=object))
        except Exception as error:  # labels may define their own comparisons
            kinds = ", ".join(sorted({type(value).__name__ for value in known}))
            problem = f"has labels that cannot be compared (of type {kinds}): pass one string or number per row."
            raise InputError(problem, argument=where) from error
    clusters = len(labels)
    if clusters < 2:
        raise InputError(
            f"has {clusters} cluster(s) in its {len(known)} known labels (NaN, None and -1 count as unknown): "
            "leave it out, or pass at least two clusters.",
            argument=where,
        )
    if shared and clusters > max(2, len(known) // 2) and clusters > 10:
        raise InputError(
            f"has {clusters} distinct values in {len(known)} rows: that is an identifier or a measurement, "
            "not a clustering; pass labels that rows share.",
            argument=where,
        )
    return codes, np.asarray(labels)


def is_unknown(value: Any) -> bool:
    """Whether a label means unknown: NaN, None or −1."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, str | bytes):
        return False
    try:
        return bool(value != value or value == -1)
    except Exception:  # an object's comparison may raise anything
        return False
