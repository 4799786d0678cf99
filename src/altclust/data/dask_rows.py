"""Rows of a Dask array: every pass runs on the workers, and only small sums are transferred."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given, Levels
from ..base.known import is_measured, is_unknown, label_codes, read_given
from .rows import STEP, Rows, Sums, add, over_steps, rows_of

FAN_IN = 8  # partial sums that one task adds
LOOK = 2.0  # seconds between checks of the workers
PATIENCE = 300.0  # seconds to wait for a worker before giving up
SAMPLED = 10_000  # values from which the scale of a measurement is taken

logger = logging.getLogger(__name__)


class ClusterLost(RuntimeError):
    """The scheduler or the workers were lost; the message says what to do."""


class DaskRows:
    """Rows of a Dask array, in blocks of whole rows; the codes of what is given are a Dask array in the same blocks.

    A pass is a pure function of a block and of small arguments, so a block that is lost with its worker is computed
    again on another. Lazy arrays stay lazy: persist the array if it fits into the memory of the workers, otherwise
    every pass computes it again.
    """

    most_clusters = 10_000  # limit on distinct labels

    def __init__(self, X: Any, given: Given, columns: list[str] | None = None) -> None:
        self.X, self.given, self.columns = X, given, columns
        self.n, self.d = X.shape

    @classmethod
    def of(cls, X: Any) -> DaskRows:
        """From a Dask array or frame; unknown block lengths are computed."""
        import dask.array as da

        columns = None
        if hasattr(X, "to_dask_array"):
            columns = [str(name) for name in X.columns]
            X = _counted(X)
        if X.ndim != 2:
            raise InputError(f"X has shape {X.shape}: pass a table with rows and columns.")
        if np.isnan(X.shape[0]):
            X = _counted(X)
        if isinstance(X._meta, np.ma.MaskedArray):
            raise InputError("X is a Dask array with masked cells: fill them in, such as da.ma.filled(X, 0).")
        if X.dtype.kind not in "fiub":
            raise InputError(f"X has entries of type {X.dtype}: pass real numbers.")
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        X = X.rechunk({0: tuple(size for size in X.chunks[0] if size) or (0,), 1: -1})
        return cls(X, Given(da.zeros((X.shape[0], 0), chunks=(X.chunks[0], -1), dtype=np.int32)), columns)

    def encode(self, given: Any) -> Rows:
        """See `Rows`; labels may be a Dask array or series, of which only the distinct values are gathered."""
        if given is None:
            return self
        if hasattr(given, "to_dask_array"):
            given = _counted(given)
        if not hasattr(given, "dask"):
            found = read_given(given, self.n)
            return self._with(list(found.codes.T), found.levels)
        labels = self._beside(given)
        meant: list[Levels] = []
        for g in range(labels.shape[1]):
            name = "given" if labels.shape[1] == 1 else f"given {g + 1}"
            measured = _measured(labels[:, g], name)
            if measured is None:
                known = _distinct(labels[:, g], self.most_clusters)
                measured = Levels(name, "labels", len(known), labels=known)
            meant.append(measured)
        return self.coded([labels[:, g] for g in range(labels.shape[1])], meant)

    def _beside(self, given: Any) -> Any:
        """A Dask array of labels in the blocks of the rows, shape (n, g)."""
        if np.isnan(given.shape[0]):
            given = _counted(given)
        labels = given[:, None] if given.ndim == 1 else given
        if labels.shape[0] != self.n:
            raise InputError(f"given has {labels.shape[0]} rows but X has {self.n}: pass one label per row.")
        return labels.rechunk({0: self.X.chunks[0], 1: -1})

    def coded(self, columns: Sequence[Any], levels: Sequence[Levels]) -> Rows:
        """See `Rows`; columns of values may be Dask arrays."""
        codes = [
            values.map_blocks(one.codes, dtype=np.int64) if hasattr(values, "dask") else one.codes(values)
            for one, values in zip(levels, columns, strict=True)
        ]
        return self._with(codes, levels)

    def _with(self, codes: Sequence[Any], levels: Sequence[Levels]) -> DaskRows:
        import dask.array as da

        blocks = [
            one.rechunk((self.X.chunks[0],)) if hasattr(one, "dask") else da.from_array(one, chunks=(self.X.chunks[0],))
            for one in codes
        ]
        stacked = da.stack([one.astype(np.int32) for one in blocks], axis=1).rechunk((self.X.chunks[0], -1))
        return DaskRows(self.X, Given(stacked, tuple(levels)), self.columns)

    def beside(self, values: np.ndarray) -> Any:
        import dask.array as da

        return da.from_array(values, chunks=(self.X.chunks[0],))

    def crossed(self, labels: Any, k: int) -> list[Array]:
        """See `Rows`; labels are a Dask array in the blocks of the rows."""
        return list(DaskRows(labels[:, None], self.given).total(_crossed, self.given.levels, k))

    def _blocks(self) -> Iterator[tuple[Any, Any]]:
        """The blocks of the rows, and those of the codes."""
        blocks = (one.to_delayed(optimize_graph=False).ravel() for one in (self.X, self.given.codes))
        return zip(*blocks, strict=True)

    def total(self, function: Callable[..., tuple], *args: Any, step: int = STEP) -> Sums:
        import dask

        work, small = dask.delayed(over_steps, pure=False), dask.delayed(args, traverse=False)
        return _gathered(_added, [work(function, X, codes, small, step) for X, codes in self._blocks()])

    def each(self, function: Callable[..., Any], *args: Any, step: int = STEP, columns: int | None = None) -> Any:
        """See `Rows`; returns a Dask array that is persisted on the workers."""
        import dask
        import dask.array as da

        small = dask.delayed(args, traverse=False)
        work = dask.delayed(rows_of)
        width = () if columns is None else (columns,)
        kind = np.int64 if columns is None else self.X.dtype
        found = da.concatenate(
            [
                da.from_delayed(work(function, X, codes, small, step), shape=(size, *width), dtype=kind)
                for (X, codes), size in zip(self._blocks(), self.X.chunks[0], strict=True)
            ]
        )
        with _cluster_in_words():
            return dask.persist(found, optimize_graph=False)[0]

    def take(self, indices: np.ndarray) -> tuple[Array, Given]:
        """See `Rows`; no other method transfers rows from the workers."""
        rows, codes = _compute(self.X[indices], self.given.codes[indices])
        return np.asarray(rows), Given(np.asarray(codes), self.given.levels)


def _counted(X: Any) -> Any:
    """Convert a Dask frame or array to an array with known block lengths."""
    with _cluster_in_words():
        return X.to_dask_array(lengths=True) if hasattr(X, "to_dask_array") else X.compute_chunk_sizes()


def _compute(*wanted: Any) -> Any:
    """`dask.compute`, but raise `ClusterLost` if the cluster stays without workers."""
    import dask

    client: Any = getattr(dask.base.get_scheduler(), "__self__", None)
    if not hasattr(client, "scheduler_info"):  # local threads or processes, or a user-defined scheduler
        return dask.compute(*wanted)
    with _cluster_in_words(client):
        # Optimised graphs reuse keys of other tasks, which the scheduler may still be forgetting (dask issue 9888).
        futures = client.compute(wanted, optimize_graph=False)
        _await(client, futures)
        return client.gather(futures)


def _await(client: Any, futures: Any) -> None:
    """Wait until the futures are done; give up after `PATIENCE` seconds without a worker."""
    from distributed import wait

    alone: float | None = None
    while True:
        with suppress(TimeoutError):
            wait(futures, timeout=LOOK)
            return
        if client.scheduler_info().get("workers"):
            alone = None
        elif alone is None:
            alone = time.monotonic()
            logger.warning("The cluster has no worker: waiting for a new one, %g seconds at most.", PATIENCE)
        elif time.monotonic() > alone + PATIENCE:
            client.cancel(futures)
            raise ClusterLost(f"The cluster has had no worker for {PATIENCE:g} seconds: start workers and run again.")


@contextmanager
def _cluster_in_words(client: Any = None) -> Iterator[None]:
    """Replace Dask's errors about a lost cluster by one sentence with a remedy."""
    try:
        yield
    except (InputError, ClusterLost):
        raise
    except Exception as error:
        kind = type(error)
        if isinstance(error, CancelledError) or (client is not None and client.status not in ("running", "connecting")):
            why = (
                "The scheduler of the cluster was lost, or rows that only a lost worker had: restart the cluster, "
                "create the Dask array again and run again."
            )
        elif kind.__name__ == "KilledWorker":
            why = (
                "Several workers died one after the other on the same block of rows: give them more "
                "memory, or rechunk the rows into smaller blocks."
            )
        elif kind.__module__.startswith("distributed") and isinstance(error, OSError):
            why = f"The cluster cannot be reached ({error}): restart it and run again."
        else:
            raise
        raise ClusterLost(why) from None


def _gathered(function: Callable[[list[Any]], Any], parts: list[Any]) -> Any:
    """What a function makes of all parts, which are delayed, a few of them at a time."""
    import dask

    gather = dask.delayed(function, pure=False)
    while len(parts) > 1:
        parts = [gather(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return _compute(parts[0])[0]


def _added(parts: list[Sums]) -> Sums:
    return reduce(add, parts)


def _crossed(labels: np.ndarray, codes: np.ndarray, levels: tuple[Levels, ...], k: int) -> Sums:
    return tuple(Given(codes, levels).crossed(labels[:, 0], k))


def _measured(values: Any, name: str) -> Levels | None:
    """The intervals of a measurement, from a sample of a Dask array; None if it is a column of labels."""
    if values.dtype.kind not in "iuf":
        return None
    few = np.linspace(0, len(values) - 1, min(len(values), SAMPLED)).astype(int)
    numbers = np.asarray(_compute(values[few])[0], dtype=float)
    return Levels.measured(numbers, name) if is_measured(numbers) else None


def _distinct(labels: Any, most: int) -> np.ndarray:
    """The distinct known labels of a Dask array, in order of appearance."""
    import dask

    parts = [dask.delayed(_known)(block) for block in labels.to_delayed(optimize_graph=False).ravel()]
    found = _gathered(_union, parts)
    if len(found) > most:
        raise InputError(f"given has more than {most} distinct values: pass labels that rows share.")
    label_codes(pd.Series(np.repeat(found, 2)))  # refuses a single cluster with the usual message
    return found


def _known(block: np.ndarray) -> np.ndarray:
    return np.array(
        [value for value in pd.unique(np.asarray(block, dtype=object)) if not is_unknown(value)], dtype=object
    )


def _union(parts: list[np.ndarray]) -> np.ndarray:
    return pd.unique(np.concatenate(parts))
