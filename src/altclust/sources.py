"""Where rows come from: files, mapped arrays, tensors, clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from .dask_rows import DaskRows
from .rows import ArrayRows, ParquetRows, Rows
from .validate import InputError


def open_rows(X: Any, columns: list[str] | None = None) -> Rows | None:
    """Rows that are better read in blocks where they are; None for everything that scikit-learn takes for a table.

    Parameters
    ----------
    X : Rows, path of an .npy or .parquet file, memory-mapped array, torch tensor, Dask array or Dask frame
    columns : list of str, optional
        Of a Parquet file.

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
    if hasattr(X, "total") and hasattr(X, "encode"):
        return X
    if isinstance(X, str | Path):
        return _open_file(Path(X), columns)
    if isinstance(X, np.memmap) or is_torch_array(X):
        if X.ndim != 2:
            raise InputError(f"X has shape {tuple(X.shape)}: pass a table with rows and columns.")
        if is_torch_array(X) and not X.is_floating_point():
            X = X.double()
        return ArrayRows(X.detach() if is_torch_array(X) else X)
    if hasattr(X, "dask") or hasattr(X, "to_dask_array"):
        return DaskRows.of(X)
    return None


def _open_file(path: Path, columns: list[str] | None) -> Rows:
    if not path.is_file():
        raise InputError(f"X={str(path)!r} is no file: check the path.")
    try:
        if path.suffix == ".npy":
            return open_rows(np.load(path, mmap_mode="r"))  # type: ignore[return-value]
        if path.suffix == ".parquet":
            return ParquetRows(path, columns)
    except InputError:
        raise
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"X={str(path)!r} cannot be read ({error}): write it again.") from error
    raise InputError(f"X={str(path)!r} is neither .npy nor .parquet: read it to memory first, or write one of these.")
