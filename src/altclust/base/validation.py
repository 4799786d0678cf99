"""Raw tables and labels -> clean arrays. Every input error is raised here, once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from datetime import date, timedelta
from numbers import Integral
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.validation import validate_data

from .backend import Array, fits_single
from .errors import InputError, ParameterError, one_line, shown
from .sklearn_compat import InvalidParameterError

LARGEST = 1e50  # fourth powers of distances stay far from overflow


def check_parameters(estimator: Any) -> None:
    """Hold the parameters against the constraints of the estimator's class."""
    try:
        with np.errstate(over="ignore"):  # bounds that a half-precision value is compared with
            estimator._validate_params()
    except InvalidParameterError as error:
        raise ParameterError(one_line(str(error))) from error


def check_rows(estimator: Any, X: Any, *, reset: bool, scan: bool = True) -> Array:
    """A finite float64 table, shape (n, d), from anything that scikit-learn takes for one.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose feature names and count are set (reset) or compared.
    X : array, frame or nested list
    reset : bool
        True in `fit`, False for new rows.
    scan : bool
        False leaves float32 as it is and the entries unread, for `scan_rows` or somebody else to look at.
    """
    if isinstance(X, str | PathLike):
        raise InputError(f"X={str(X)!r} is a path, which only KDAC reads: load the table first.")
    if sparse.issparse(X):
        raise InputError(
            "X is a sparse matrix: KDAC works on distances between projected rows, which are dense; "
            "pass X.toarray(), or reduce it first (sklearn.decomposition.TruncatedSVD)."
        )
    if np.ma.is_masked(X):
        raise InputError(f"X has {np.ma.count_masked(X)} masked cell(s): fill them in, such as X.filled(0).")
    try:
        if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):  # numpy would count their seconds
            raise TypeError("times are no numbers")
        table = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=np.float64 if scan else [np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
    except MemoryError:
        raise
    except Exception as error:  # an object may raise anything when it is asked for its rows
        found = _first_foreign(X)
        if found is None:
            reason = one_line(str(error)).rstrip(".")
            wanted = "at least two rows and one column" if reset else "the columns of the fit"
            raise ParameterError(f"X cannot be used ({reason}): pass a table of real numbers with {wanted}.") from error
        name, entry = found
        kind = "text" if isinstance(entry, str) else f"a {type(entry).__name__}"
        raise InputError(
            f"X has {kind} in column {name!r} (such as {shown(str(entry))}): drop the column or encode it as numbers."
        ) from error
    if scan:
        return scan_rows(estimator, table)
    return table if table.dtype == np.float64 or fits_single(table) else table.astype(np.float64)


def scan_rows(estimator: Any, table: Array) -> Array:
    """The table itself, if all its entries are finite and not too large."""
    if not np.abs(table, where=np.isfinite(table), out=np.zeros_like(table)).max() <= LARGEST:
        raise InputError(
            f"X has values beyond {LARGEST:g}, whose powers overflow: rescale it (sklearn's StandardScaler)."
        )
    if not np.isfinite(table).all():
        bad = ~np.isfinite(table)
        column = int(np.argmax(bad.any(axis=0)))
        kind = "NaN" if np.isnan(table[:, column]).any() else "infinity"
        raise InputError(
            f"X has {kind} in column {column_name(estimator, column)} ({int(bad[:, column].sum())} of {len(table)} "
            "rows): fill it in (sklearn.impute) or leave those rows out."
        )
    return table


def column_name(estimator: Any, column: int) -> str:
    """What the user calls a column."""
    names = getattr(estimator, "feature_names_in_", None)
    return repr(str(names[column])) if names is not None else str(column)


def _first_foreign(X: Any) -> tuple[Any, Any] | None:
    """The name of the first column with text or times in it, and the first of them."""
    try:
        frame = pd.DataFrame(X.to_dict(as_series=False) if hasattr(X, "to_dicts") else X)
    except Exception:
        return None
    for j, name in enumerate(frame.columns):
        for entry in frame.iloc[:, j]:
            if isinstance(entry, str | date | timedelta):
                return name, entry
    return None


def warn_of_constant(estimator: Any, constant: np.ndarray) -> None:
    """Name the columns without spread, if there are any."""
    if constant.any():
        names = ", ".join(column_name(estimator, j) for j in np.flatnonzero(constant)[:5])
        warnings.warn(
            f"X has {int(constant.sum())} constant column(s) ({names}): they carry nothing and get no weight.",
            UserWarning,
            stacklevel=4,
        )


def centre(estimator: Any, X: Array) -> tuple[Array, Array]:
    """X minus its column means, and the means; refuses tables without any spread.

    Returns
    -------
    centred : array, shape (n, d)
    mean : array, shape (d,)
    """
    low, high = X.min(axis=0), X.max(axis=0)
    constant = low == high
    if constant.all():
        raise InputError(
            f"X has {len(X)} equal rows: every clustering of them is as good as any other; check how it was read."
        )
    warn_of_constant(estimator, constant)
    mean = np.where(constant, low, X.mean(axis=0))
    centred = X - mean
    if np.max(np.abs(centred)) < 1 / LARGEST:
        raise InputError(
            f"X varies by less than {1 / LARGEST:g}, whose powers underflow: rescale it (sklearn's StandardScaler)."
        )
    return centred, mean


def check_given(given: Any, n: int) -> list[np.ndarray]:
    """Given clusterings as integer codes.

    Parameters
    ----------
    given : None, labels of shape (n,), or several columns of labels of shape (n, m)
        Strings, numbers, categories; NaN, None and −1 are unknown.
    n : int
        Rows of the table.

    Returns
    -------
    list of int arrays, shape (n,)
        Codes 0, 1, …; −1 is unknown.
    """
    if given is None:
        return []
    frame = given_frame(given)
    if len(frame) != n:
        raise InputError(f"given has {len(frame)} labels for {n} rows: pass one label for each row of X.")
    return [_codes(frame.iloc[:, j], j, frame.shape[1], n) for j in range(frame.shape[1])]


def given_frame(given: Any) -> pd.DataFrame:
    """Given clusterings as the columns of a frame, under their own names if they have any."""
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


def _codes(column: pd.Series, j: int, count: int, n: int) -> np.ndarray:
    where = "given" if count == 1 else f"given, column {j},"
    codes = np.full(n, -1, dtype=np.int64)
    known: Any
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":  # millions of numbers in no time
        numbers = column.to_numpy()
        unknown = (numbers != numbers) | (numbers == -1)
        known = numbers[~unknown]
        codes[~unknown] = pd.factorize(known)[0]
    else:
        values = column.astype(object).tolist()
        unknown = np.array([is_unknown(v) for v in values], dtype=bool)
        known = [value for value, skip in zip(values, unknown, strict=True) if not skip]
        nested = next((v for v in known if isinstance(v, list | tuple | dict | set | np.ndarray)), None)
        if nested is not None:
            raise InputError(f"{where} has {shown(nested)} as a label: pass one string or number per row.")
        try:
            codes[~unknown] = pd.factorize(pd.Series(known, dtype=object))[0]
        except Exception as error:  # labels may have comparisons of their own
            kinds = ", ".join(sorted({type(value).__name__ for value in known}))
            raise InputError(
                f"{where} has labels that cannot be compared (of type {kinds}): pass one string or number per row."
            ) from error
    clusters = int(codes.max()) + 1
    if clusters < 2:
        raise InputError(
            f"{where} has {clusters} cluster(s) in its {len(known)} known labels (NaN, None and -1 count as unknown): "
            "there is nothing to be different from; leave it out, or pass at least two clusters."
        )
    if clusters > max(2, len(known) // 2) and clusters > 10:
        raise InputError(
            f"{where} has {clusters} distinct values in {len(known)} rows: that is an identifier or a measurement, "
            "not a clustering; pass labels that rows share."
        )
    return codes


def is_unknown(value: Any) -> bool:
    """Whether a label says that nothing is known."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, str | bytes):
        return False
    try:
        return bool(value != value or value == -1)
    except Exception:  # an object may answer anything
        return False


def check_sizes(n: int, d: int, n_clusters: int, n_components: int | None) -> None:
    """Refuse more clusters than rows and more directions than columns."""
    if n_clusters > n:
        raise InputError(f"n_clusters={n_clusters} but X has n_samples={n}: ask for fewer clusters.")
    if n_components is not None and n_components > d:
        raise InputError(f"n_components={n_components} but X has {d} column(s): ask for at most {d}.")


def check_shape(n: int, d: int, least: int) -> None:
    """Refuse tables without columns or with fewer rows than there must be."""
    if n < least or d < 1:
        raise InputError(f"X has {n} row(s) and {d} column(s): pass at least {least} row(s) and one column.")


@contextmanager
def enough_memory(doing: str) -> Iterator[None]:
    """Turn a MemoryError into a sentence."""
    try:
        yield
    except MemoryError as error:
        raise InputError(
            f"There is not enough memory to {doing} even block by block: pass float32 rows or the path of a file, set "
            "memory_limit, or end other programs."
        ) from error


def generator(random_state: Any) -> np.random.Generator:
    """One Generator from whatever scikit-learn calls a random state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (ValueError, TypeError) as error:
        raise InputError(f"random_state={shown(random_state)} is no seed: pass a whole number from 0 on.") from error


def check_solver(solver: Any) -> Any:
    """A solver of the user's own must be a dataclass with a tolerance, which the alternation tightens."""
    if not is_dataclass(solver) or isinstance(solver, type) or not hasattr(solver, "tol"):
        raise InputError(
            f"solver={shown(solver)} is not a solver: pass a name, or a dataclass with `tol` such as ISM()."
        )
    tol, steps = solver.tol, getattr(solver, "max_iter", 1)
    real = isinstance(tol, int | float | np.integer | np.floating) and tol >= 0
    if not real or not isinstance(steps, Integral) or steps < 0:
        raise InputError(
            f"solver={shown(solver)} has tol={shown(tol)} and max_iter={shown(steps)}: pass a tol of at least 0 and a "
            "whole number of steps."
        )
    return solver
