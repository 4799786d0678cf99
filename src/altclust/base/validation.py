"""Validation of tables and parameters; errors about the input are raised here, once, and those about labels in
`altclust.base.known`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from datetime import date, timedelta
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.validation import validate_data

from .backend import Array, fits_single
from .errors import FitWarning, InputError, ParameterError, one_line, short_repr
from .sklearn_compat import Interval, InvalidParameterError, Options, StrOptions, validate_constraints

AUTO = StrOptions({"auto"})
COUNT = Interval(Integral, 1, None, closed="left")
WIDTH = Interval(Real, 0, None, closed="neither")
WEIGHT = Interval(Real, 0, 1e9, closed="both")

DOMINANT = 0.99  # share of the variance from which one column is said to hide the others
LARGEST = 1e50  # fourth powers of distances stay far from overflow


def check_parameters(estimator: Any) -> None:
    """Check the parameters against the constraints of the estimator's class."""
    check_values(estimator.get_params(deep=False), estimator._parameter_constraints, type(estimator).__name__)


def check_values(values: dict[str, Any], constraints: dict[str, list[Any]], owner: str) -> None:
    """Check values against scikit-learn's constraints."""
    for name, value in values.items():
        try:
            with np.errstate(over="ignore"):  # bounds overflow when compared with a half-precision value
                validate_constraints({name: constraints[name]}, {name: value}, owner)
        except InvalidParameterError as error:
            allowed = " or ".join(map(_describe, constraints[name]))
            raise ParameterError(f"is not allowed: pass {allowed}.", argument=name, value=value) from error


def _describe(constraint: Any) -> str:
    """A description of the values that one of scikit-learn's constraints allows."""
    if isinstance(constraint, StrOptions):
        return " or ".join(f'"{option}"' for option in sorted(constraint.options))
    if isinstance(constraint, Options):
        return " or ".join(map(str, sorted(constraint.options)))
    if isinstance(constraint, Interval):
        kind = "a whole number" if constraint.type is Integral else "a number"
        if constraint.right is None:
            return f"{kind} {'of at least' if constraint.closed == 'left' else 'above'} {constraint.left:g}"
        if constraint.left is None:
            return f"{kind} of at most {constraint.right:g}"
        return (
            f"{kind} {'above' if constraint.closed == 'right' else 'from'} {constraint.left:g} to {constraint.right:g}"
        )
    words = {None: "None", "boolean": "True or False", "array-like": "an array", "random_state": "a seed"}
    return words.get(constraint) or f"a {constraint.__name__}"


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Convert anything that scikit-learn accepts as a table to float64 or float32, shape (n, d), not yet scanned.

    The feature names and count of the estimator are set (reset, in `fit`) or compared (new rows).
    """
    if isinstance(X, str | PathLike):
        raise InputError(f"X={str(X)!r} is a path, which only KDAC reads: load the table first.")
    if sparse.issparse(X):
        raise InputError(
            "X is a sparse matrix, which only KDAC takes: pass X.toarray(), or reduce it first "
            "(sklearn.decomposition.TruncatedSVD)."
        )
    if np.ma.is_masked(X):
        raise InputError(f"X has {np.ma.count_masked(X)} masked cell(s): fill them in, such as X.filled(0).")
    try:
        if getattr(getattr(X, "dtype", None), "kind", "") in ("m", "M"):  # numpy would convert them to seconds
            raise TypeError("times are not numbers")
        table = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
    except MemoryError:
        raise
    except Exception as error:  # converting an arbitrary object may raise anything
        found = _first_foreign(X)
        if found is None:
            reason = one_line(str(error)).rstrip(".")
            wanted = "at least two rows and one column" if reset else "the columns of the fit"
            raise ParameterError(f"X cannot be used ({reason}): pass a table of real numbers with {wanted}.") from error
        name, entry = found
        kind = "text" if isinstance(entry, str) else f"a {type(entry).__name__}"
        such = short_repr(str(entry))
        raise InputError(
            f"X has {kind} in column {name!r} (such as {such}): drop the column or encode it as numbers."
        ) from error
    return table if table.dtype == np.float64 or fits_single(table) else table.astype(np.float64)


def check_originals(originals: Any, n: int, names: Sequence[str] | None) -> pd.DataFrame | None:
    """Check that a frame has n rows and columns that X has too; return it."""
    if originals is None:
        return None
    if not isinstance(originals, pd.DataFrame) or len(originals) != n:
        raise InputError(
            f"are not a frame of {n} rows: pass the rows of X before they were encoded, or nothing.",
            argument="originals",
        )
    strange = [str(name) for name in originals.columns if names is None or str(name) not in set(names)]
    if strange:
        raise InputError(f"have a column {strange[0]!r}, which X does not have: name them alike.", argument="originals")
    return originals


def column_names(estimator: Any) -> Sequence[str] | None:
    """The column names that scikit-learn stored during the fit, if any."""
    return getattr(estimator, "feature_names_in_", None)


def column_name(names: Sequence[str] | None, column: int) -> str:
    """The name of a column for messages; its index if there are no names."""
    return repr(str(names[column])) if names is not None else str(column)


def _first_foreign(X: Any) -> tuple[Any, Any] | None:
    """The name of the first column with text or times, and the first such entry."""
    try:
        frame = pd.DataFrame(X.to_dict(as_series=False) if hasattr(X, "to_dicts") else X)
    except Exception:
        return None
    for j, name in enumerate(frame.columns):
        for entry in frame.iloc[:, j]:
            if isinstance(entry, str | date | timedelta):
                return name, entry
    return None


def warn_of_constant(names: Sequence[str] | None, constant: np.ndarray) -> None:
    """Warn if there are constant columns, and name them."""
    if constant.any():
        some = ", ".join(column_name(names, j) for j in np.flatnonzero(constant)[:5])
        problem = f"has {int(constant.sum())} constant column(s) ({some}): they get no weight."
        warnings.warn(FitWarning(problem, argument="X"), stacklevel=4)


def warn_of_dominant(centred: np.ndarray, names: Sequence[str] | None) -> None:
    """Warn of one column that holds nearly all of the variance, so that the others hardly count."""
    size = float(np.abs(centred).max()) or 1.0  # its square may overflow
    variances = np.square(centred / size).mean(axis=0)
    most = int(np.argmax(variances))
    share = variances[most] / (variances.sum() or 1.0)
    if share > DOMINANT and np.count_nonzero(variances) > 1:
        problem = (
            f"Column {column_name(names, most)} holds {share:.1%} of the variance, so that other columns hardly count: "
            "scale the columns first, for example with StandardScaler, or use altclust.find."
        )
        warnings.warn(FitWarning(problem), stacklevel=4)


def check_sizes(n: int, d: int, n_clusters: int, n_components: int | None) -> None:
    """Refuse more clusters than rows and more directions than columns."""
    if n_clusters > n:
        raise InputError(f"is more than the {n} rows: ask for fewer clusters.", argument="n_clusters", value=n_clusters)
    if n_components is not None and n_components > d:
        problem = f"is more than the {d} column(s): ask for at most {d}."
        raise InputError(problem, argument="n_components", value=n_components)


@contextmanager
def enough_memory(doing: str) -> Iterator[None]:
    """Turn a MemoryError into an InputError with a remedy."""
    try:
        yield
    except MemoryError as error:
        raise InputError(
            f"There is not enough memory to {doing} even block by block: use fewer rows, or float32 rows in a file, or "
            "close other programs."
        ) from error


def generator(random_state: Any) -> np.random.Generator:
    """A Generator from any random state that scikit-learn accepts."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (ValueError, TypeError) as error:
        problem = "is not a seed: pass a whole number of at least 0."
        raise InputError(problem, argument="random_state", value=random_state) from error


def check_solver(solver: Any) -> Any:
    """Check a user-defined solver: a dataclass with a tolerance, which the alternation tightens."""
    if not is_dataclass(solver) or isinstance(solver, type) or not hasattr(solver, "tol"):
        problem = "is not a solver: pass a name, or a dataclass with `tol` such as ISM()."
        raise InputError(problem, argument="solver", value=solver)
    tol, steps = solver.tol, getattr(solver, "max_iter", 1)
    valid = isinstance(tol, int | float | np.integer | np.floating) and tol >= 0
    if not valid or not isinstance(steps, Integral) or steps < 0:
        raise InputError(
            f"has tol={short_repr(tol)} and max_iter={short_repr(steps)}: pass a tol of at least 0 and a whole number "
            "of steps.",
            argument="solver",
            value=solver,
        )
    return solver
