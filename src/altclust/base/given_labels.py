"""Labels that a user gives, as integer codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from .errors import InputError, one_line, short_repr


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
