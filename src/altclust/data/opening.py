"""Opening rows: files, memory-mapped arrays, tensors, Dask collections."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import is_dask_array, is_torch_array
from scipy import sparse

from ..base.errors import InputError, one_line, short_repr
from ..base.extras import missing_library
from ..base.validation import LARGEST, check_rows
from ..files.contained import contained
from ..files.npy import BadFile, check_fits
from .dask_rows import DaskRows
from .file_rows import NpyRows, ParquetRows
from .rows import ArrayRows, Rows, SparseRows

COPIES = 3  # of a row group in memory while it is read
SECONDS = 3600  # for the first reading of a Parquet file


def open_rows(X: Any, columns: list[str] | None = None) -> Rows | None:
    """Rows that are read in blocks from where they are stored; None for tables that scikit-learn accepts.

    Parameters
    ----------
    X : Rows, path of an .npy or .parquet file, memory-mapped array, torch tensor, Dask array or Dask frame
    columns : list of str, optional
        Columns of a Parquet file. Default: all.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from altclust import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/rows.npy", np.zeros((5, 2)))
    ...     rows = open_rows(f"{folder}/rows.npy")
    >>> rows.n, rows.d
    (5, 2)
    """
    if isinstance(X, ArrayRows | DaskRows):
        return X
    if isinstance(X, str | Path):
        return _open_file(Path(X), columns)
    if isinstance(X, np.memmap) or is_torch_array(X):
        if X.ndim != 2:
            raise InputError(f"X has shape {tuple(X.shape)}: pass a table with rows and columns.")
        return ArrayRows(_real_tensor(X) if is_torch_array(X) else X)
    if is_dask_array(X) or hasattr(type(X), "to_dask_array"):
        return DaskRows.of(X)
    return None


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """X as `Rows`; its columns are stored on the estimator (reset, in `fit`) or compared with those of the fit."""
    rows = SparseRows(_checked_sparse(X)) if sparse.issparse(X) else open_rows(X)
    if rows is None:
        return ArrayRows(check_rows(estimator, X, reset=reset))
    least = 2 if reset else 1
    if rows.n < least or rows.d < 1:
        problem = f"has {rows.n} row(s) and {rows.d} column(s): pass at least {least} row(s) and one column."
        raise InputError(problem, argument="X")
    if reset:
        estimator.n_features_in_ = rows.d
        estimator.__dict__.pop("feature_names_in_", None)
        if rows.columns is not None:
            estimator.feature_names_in_ = np.array(rows.columns, dtype=object)
        return rows
    if rows.d != estimator.n_features_in_:
        raise InputError(f"X has {rows.d} columns, but the fit had {estimator.n_features_in_}: pass the same.")
    names = rows.columns or []
    pairs = zip(names, getattr(estimator, "feature_names_in_", names), strict=False)
    other = next((pair for pair in pairs if pair[0] != pair[1]), None)
    if other is not None:
        raise InputError(
            f"X has the column {other[0]!r} where the fit had {other[1]!r}: pass the same columns in the same order "
            "(`open_rows(path, columns=[…])`)."
        )
    return rows


def _checked_sparse(X: Any) -> Any:
    """A sparse matrix as finite CSR of float64."""
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InputError(f"X is a sparse matrix of {X.dtype}, shape {X.shape}: pass real numbers in rows and columns.")
    X = sparse.csr_array(X, dtype=np.float64)
    if not np.isfinite(X.data).all() or np.abs(X.data).max(initial=0.0) > LARGEST:
        raise InputError(f"X has NaN, infinity or values beyond {LARGEST:g}: fill them in, or rescale the columns.")
    return X


def _open_file(path: Path, columns: list[str] | None) -> Rows:
    if not path.is_file():
        raise InputError(f"X={str(path)!r} is not a file: check the path.")
    try:
        if path.suffix == ".npy":
            return NpyRows(path)
        if path.suffix == ".parquet":
            return _check_parquet(ParquetRows(path, columns))
    except ModuleNotFoundError as error:
        raise missing_library(f"X={str(path)!r}", error) from error
    except BadFile as error:
        raise InputError(f"X={str(path)!r} {error}") from error
    except InputError:
        raise
    except Exception as error:  # a damaged file makes the libraries that read it fail in many ways
        raise InputError(f"X={str(path)!r} cannot be read ({one_line(str(error))}): write it again.") from error
    raise InputError(f"X={str(path)!r} is neither .npy nor .parquet: read it into memory first, or convert it.")


def _check_parquet(rows: ParquetRows) -> ParquetRows:
    """Check that every column is numeric and that every row group can be read in the free memory; return the rows."""
    from pyarrow import types
    from pyarrow.parquet import read_schema

    numeric = types.is_integer, types.is_floating, types.is_boolean, types.is_null, types.is_dictionary
    for field in read_schema(rows.path):
        if field.name in (rows.columns or ()) and not any(is_kind(field.type) for is_kind in numeric):
            kind = short_repr(str(field.type))
            raise InputError(f"X has entries of type {kind} in column {field.name!r}: pass real numbers.")
    check_fits(COPIES * 8 * rows.d * max((stop - start for start, stop in rows.spans()), default=0))
    with (
        rows.path.open("rb") as file,  # pages may be larger than the footer says
        contained("check_row_groups", file, math.inf, SECONDS, columns=rows.columns),
    ):
        return rows


def _real_tensor(X: Any) -> Any:
    """The tensor in single or double precision, detached from its gradient."""
    if X.is_complex():
        raise InputError(f"X has entries of type {X.dtype}: pass real numbers.")
    return X.detach() if X.is_floating_point() and X.dtype.itemsize in (4, 8) else X.detach().double()
