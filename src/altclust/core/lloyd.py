"""k-means of a few hundred rows without overhead: all starts at once, for searches that call it a thousand times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base.backend import Array

ROUNDS = 30


class Partitions(NamedTuple):
    """Of each start: labels (s, n), centres (s, k, q) and the sum of squared distances (s,)."""

    labels: np.ndarray
    centres: Array
    inertia: Array


def lloyd(Z: Array, k: int, rng: np.random.Generator, labels: np.ndarray | None = None) -> Partitions:
    """k-means of each table of rows Z (s, n, q), from labels (s, n) or from seeds that lie far apart.

    The seeds are those of Arthur and Vassilvitskii (2007).
    """
    centres = _seeds(Z, k, rng) if labels is None else _means(Z, labels, np.zeros((len(Z), k, Z.shape[2])))
    for _ in range(ROUNDS):
        distances = _distances(Z, centres)
        found = distances.argmin(axis=2)
        if labels is not None and np.array_equal(found, labels):
            break
        labels = found
        centres = _means(Z, labels, centres)
    inertia = distances.min(axis=2).sum(axis=1) + np.einsum("snq,snq->s", Z, Z)
    return Partitions(found, centres, inertia)


def _means(Z: Array, labels: np.ndarray, before: Array) -> Array:
    """The mean of each cluster, shape (s, k, q); an empty one keeps its centre."""
    member = (labels[:, :, None] == np.arange(before.shape[1])).astype(Z.dtype)
    sizes = member.sum(axis=1)[:, :, None]
    return np.where(sizes > 0, member.transpose(0, 2, 1) @ Z / np.maximum(sizes, 1), before)


def best_lloyd(Z: Array, k: int, rng: np.random.Generator, starts: int) -> tuple[np.ndarray, Array]:
    """Labels and centres of the best of a few starts on the same rows, shape (n, q)."""
    found = lloyd(np.broadcast_to(Z, (starts, *Z.shape)), k, rng)
    best = int(np.argmin(found.inertia))
    return found.labels[best], found.centres[best]


def _distances(Z: Array, centres: Array) -> Array:
    """Squared distances, shape (s, n, k), up to the squared lengths of the rows."""
    return np.sum(centres**2, axis=2)[:, None, :] - 2 * (Z @ centres.transpose(0, 2, 1))


def _seeds(Z: Array, k: int, rng: np.random.Generator) -> Array:
    """Centres among the rows; of a few candidates, drawn by their squared distance, the one that helps most is next."""
    s, n, _ = Z.shape
    tries, each = 2 + int(np.log(k)), np.arange(s)
    lengths = np.einsum("snq,snq->sn", Z, Z)
    chosen = rng.integers(n, size=(s, 1))
    near = np.full((s, n), np.inf)
    centres = []
    for c in range(k):
        rows = Z[each[:, None], chosen]
        away = lengths[:, None, :] - 2 * (rows @ Z.transpose(0, 2, 1)) + np.sum(rows**2, axis=2)[:, :, None]
        left = np.minimum(near[:, None, :], np.maximum(away, 0))
        best = left.sum(axis=2).argmin(axis=1)
        near = left[each, best]
        centres.append(rows[each, best])
        if c < k - 1:
            sums = near.cumsum(axis=1)
            drawn = rng.random((s, tries)) * sums[:, -1:]
            chosen = np.minimum((sums[:, None, :] <= drawn[:, :, None]).sum(axis=2), n - 1)
    return np.stack(centres, axis=1)
