"""Rows in blocks: a function runs on every block, and the small matrices that it returns are added up."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import reduce
from itertools import islice
from typing import Any, Protocol

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array
from joblib import cpu_count

from ..base.backend import Array, host
from ..base.errors import InputError
from ..base.given import Given, Levels
from ..base.known import read_given
from ..base.parallel import fitting_threads

STEP = 2048  # rows per step: their kernel to a few hundred landmarks fits in the cache
BLOCK_BYTES = 64e6  # of temporary arrays per thread

CHANGED = "was changed or removed while it was read: leave the file unchanged and run again."

Sums = tuple[np.ndarray, ...]


class Rows(Protocol):
    """A table of n rows and d columns, with what is given about them, that is read block by block.

    A function is called with (X, codes, *small arguments): a block of rows, shape (b, d), and codes, shape (b, g).
    """

    n: int
    d: int
    given: Given
    columns: list[str] | None

    def total(self, function: Callable[..., tuple], *args: Any, step: int = STEP) -> Sums:
        """The sums over all blocks of the tuples that the function returns, as numpy arrays of float64."""

    def each(self, function: Callable[..., Any], *args: Any, step: int = STEP, columns: int | None = None) -> Any:
        """The function's values for each row, in order: a number, or `columns` numbers."""

    def take(self, indices: np.ndarray) -> tuple[Array, Given]:
        """The rows with these ascending indices, and what is given about them, in memory."""

    def encode(self, given: Any) -> Rows:
        """The same rows with what is given about them."""

    def coded(self, columns: Sequence[Any], levels: Sequence[Levels]) -> Rows:
        """The same rows with values of these columns given, whose codes are known."""

    def beside(self, values: np.ndarray) -> Any:
        """Values of all rows, shape (n,), where the rows are."""

    def crossed(self, labels: Any, k: int) -> list[Array]:
        """For each given column, the numbers of rows with each of k labels and each code, shape (k, size)."""


def add(total: Sums, part: Sums) -> Sums:
    """Add a partial sum to the total."""
    return tuple(a + b for a, b in zip(total, part, strict=True))


def over_steps(function: Callable[..., tuple], X: Any, codes: Any, args: tuple, step: int) -> Sums:
    """The sum over the steps of one block, in float64 on X's device, as numpy arrays."""
    xp = array_namespace(X)
    parts = (function(X[i : i + step], codes[i : i + step], *args) for i in range(0, len(X), step))
    total = reduce(add, (tuple(xp.astype(a, xp.float64, copy=False) for a in part) for part in parts))
    return tuple(host(a) for a in total)


def rows_of(function: Callable[..., Any], X: Any, codes: Any, args: tuple, step: int) -> np.ndarray:
    """The function's values for every row of one block, as numpy."""
    parts = [host(function(X[i : i + step], codes[i : i + step], *args)) for i in range(0, X.shape[0], step)]
    return np.concatenate(parts)


class ArrayRows:
    """Rows of an array in memory (numpy, torch) or in a memory-mapped file, processed by several threads."""

    columns: list[str] | None = None
    task = 2 * STEP  # rows of one task; sums do not depend on the number of threads
    threads: int | None = None  # one per processor

    def __init__(self, X: Any, given: Given | None = None) -> None:
        self.X = X
        self.n, self.d = X.shape
        self.given = Given.nothing(self.n) if given is None else given
        self._size = _mapped_size(X)

    def encode(self, given: Any) -> Rows:
        return self.beside_given(read_given(given, self.n))

    def coded(self, columns: Sequence[Any], levels: Sequence[Levels]) -> Rows:
        codes = [one.codes(values) for one, values in zip(levels, columns, strict=True)]
        return self.beside_given(Given(np.column_stack(codes), tuple(levels)))

    def beside(self, values: np.ndarray) -> np.ndarray:
        return values

    def crossed(self, labels: Any, k: int) -> list[Array]:
        return self.given.take(slice(None)).crossed(labels, k)

    def beside_given(self, given: Given) -> ArrayRows:
        """The same rows with this given, in memory."""
        codes: Any = given.codes.astype(np.int32)
        if is_torch_array(self.X):
            codes = array_namespace(self.X).asarray(codes, device=device(self.X))
        other = copy(self)
        other.given = replace(given, codes=codes)
        return other

    def spans(self) -> list[tuple[int, int]]:
        """The start and the stop of the rows of every task."""
        return [(i, min(i + self.task, self.n)) for i in range(0, self.n, self.task)]

    def read(self, start: int, stop: int) -> Any:
        """Floating-point rows; a view if they are in memory."""
        X = self._mapped(slice(start, stop))
        return X if is_torch_array(X) else as_floats(X)

    def _mapped(self, rows: Any) -> Any:
        """Rows of the array; those of a mapped file are copied after its size is checked.

        Reading beyond the end of a truncated file would kill the process.
        """
        if self._size is None:
            return self.X[rows]
        size = _mapped_size(self.X)
        if size is not None and size < self._size:
            raise InputError(f"X is mapped to {str(self.X.filename)!r}, which {CHANGED}")
        return np.array(self.X[rows])

    def release(self) -> None:
        """Release the pages of a mapped file, which count as our memory; they are read again when needed."""
        if isinstance(self.X, np.memmap) and self.X.mode in ("r", "r+"):
            with suppress(OSError, ValueError, AttributeError):
                self.X._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]

    def _run(self, work: Callable[[int, int], Any]) -> Iterator[Any]:
        """Yield the results of all spans in order, computing a few ahead of the consumer."""

        def one(span: tuple[int, int]) -> Any:
            done = work(*span)
            self.release()
            return done

        spans = self.spans()
        threads = 1 if is_torch_array(self.X) else min(self.threads or cpu_count(), len(spans))
        if threads == 1:
            yield from map(one, spans)
            return
        with fitting_threads(1), ThreadPoolExecutor(threads) as pool:
            waiting = iter(spans)
            ahead = [pool.submit(one, span) for span in islice(waiting, 2 * threads)]
            while ahead:
                yield ahead.pop(0).result()
                ahead += [pool.submit(one, span) for span in islice(waiting, 1)]

    def total(self, function: Callable[..., tuple], *args: Any, step: int = STEP) -> Sums:
        return reduce(
            add, self._run(lambda i, j: over_steps(function, self.read(i, j), self.given.codes[i:j], args, step))
        )

    def each(
        self, function: Callable[..., Any], *args: Any, step: int = STEP, columns: int | None = None
    ) -> np.ndarray:
        return np.concatenate(
            list(self._run(lambda i, j: rows_of(function, self.read(i, j), self.given.codes[i:j], args, step)))
        )

    def take(self, indices: np.ndarray) -> tuple[Array, Given]:
        rows = host(self._mapped(indices))
        self.release()
        return as_floats(rows), self.given.take(indices)


class SparseRows(ArrayRows):
    """Rows of a sparse matrix in CSR format, for functions that take sparse blocks."""

    def read(self, start: int, stop: int) -> Any:
        """Sparse rows."""
        return self.X[start:stop]

    def take(self, indices: np.ndarray) -> tuple[Array, Given]:
        """See `Rows`; the rows are dense."""
        return as_floats(self.X[indices].toarray()), self.given.take(indices)


def _mapped_size(X: Any) -> int | None:
    """The size of the file of a mapped array in bytes; None if there is no such file."""
    if not isinstance(X, np.memmap) or X.filename is None:
        return None
    try:
        return os.stat(X.filename).st_size
    except OSError:  # it was deleted, but its content stays until it is unmapped
        return None


def as_floats(X: Any, name: str | None = None) -> Array:
    """Convert numbers to float64; float32 and float64 stay as they are."""
    X = np.asarray(X)
    if X.dtype.kind not in "fiub":
        where = "" if name is None else f" in column {name!r}"
        raise InputError(f"X has entries of type {X.dtype}{where}: pass real numbers.")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
