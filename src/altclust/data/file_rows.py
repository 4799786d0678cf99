"""Rows of a file, read block by block, never memory-mapped; an error is raised if the file changes meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given
from ..files.npy import declared, file_size
from .rows import CHANGED, ArrayRows, as_floats


class FileRows(ArrayRows):
    """Base class of rows in files, which must not change after they were opened, when their stamp was taken."""

    def __init__(self, path: Path, n: int, d: int, stamp: tuple[int, ...]) -> None:
        self.path, self.n, self.d, self._stamp = path, n, d, stamp
        self.X, self.given = None, Given.nothing(n)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A context for reading the file; raises an error if the file has changed before or after."""
        try:
            self._check()
            yield
        except InputError:
            raise
        except (OSError, ValueError, LookupError) as error:
            self._check()
            raise InputError(f"X={str(self.path)!r} cannot be read ({error}): write it again.") from error
        self._check()

    def _check(self) -> None:
        try:
            same = stamp_of(self.path) == self._stamp
        except OSError:
            same = False
        if not same:
            raise InputError(f"X={str(self.path)!r} {CHANGED}")

    def take(self, indices: np.ndarray) -> tuple[Array, Given]:
        parts = [
            self.read(i, j)[inside - i]
            for i, j in self.spans()
            if len(inside := indices[slice(*np.searchsorted(indices, [i, j]))])
        ]
        return np.concatenate(parts), self.given.take(indices)


def stamp_of(path: Path) -> tuple[int, ...]:
    """A fingerprint that changes if a file is replaced, truncated or written to.

    The device number is not included: it can change when a network folder is reconnected.
    """
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns


class NpyRows(FileRows):
    """Rows of an .npy file."""

    def __init__(self, path: Path) -> None:
        stamp = stamp_of(path)
        with path.open("rb") as file:
            header = declared(file, file_size(file))
        if len(header.shape) != 2:
            raise InputError(f"X has shape {header.shape}: pass a table with rows and columns.")
        super().__init__(path, *header.shape, stamp)
        self.dtype, self.offset, self.by_columns = header.dtype, header.offset, header.fortran_order

    def read(self, start: int, stop: int) -> Array:
        """Floating-point rows."""
        block = np.empty((stop - start, self.d), self.dtype, order="F" if self.by_columns else "C")
        with self.reading(), FileIO(self.path) as file:
            if self.by_columns:
                for j in range(self.d):
                    self._fill(block[:, j], file, j * self.n + start)
            else:
                self._fill(block.reshape(-1), file, start * self.d)
        return as_floats(block)

    def _fill(self, line: np.ndarray, file: FileIO, entry: int) -> None:
        """Read consecutive entries, from this index on, into a contiguous array."""
        file.seek(self.offset + entry * self.dtype.itemsize)
        left = memoryview(cast(Any, line.view(np.uint8)))
        while left:
            count = file.readinto(left)
            if not count:
                raise ValueError("it ends too early")
            left = left[count:]


class ParquetRows(FileRows):
    """Rows of a Parquet file, one row group at a time; of these columns, or of all."""

    def __init__(self, path: Path, columns: list[str] | None = None) -> None:
        from pyarrow.parquet import ParquetFile

        stamp = stamp_of(path)
        with ParquetFile(path) as file:
            names, metadata = file.schema_arrow.names, file.metadata
        missing = set(columns or ()) - set(names)
        if missing:
            raise InputError(f"columns={sorted(missing)} are not in {str(path)!r}: it has {names}.")
        kept = [name for name in names if not name.startswith("__index_level_")]  # index columns of pandas
        self.columns = list(columns) if columns is not None else kept
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        super().__init__(path, int(self.starts[-1]), len(self.columns), stamp)

    def spans(self) -> list[tuple[int, int]]:
        return [(int(i), int(j)) for i, j in zip(self.starts[:-1], self.starts[1:], strict=True) if j > i]

    def read(self, start: int, stop: int) -> Array:
        """The row group that begins at `start`."""
        from pyarrow.parquet import ParquetFile

        group = int(np.searchsorted(self.starts, start, side="right")) - 1
        with self.reading(), ParquetFile(self.path) as file:
            table = file.read_row_group(group, columns=self.columns)
            return np.column_stack([as_floats(table[name].to_numpy(), name) for name in self.columns or ()])
