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


def lloyd(
    Z: Array, k: int, rng: np.random.Generator, labels: np.ndarray | None = None, *, starts: int = 1
) -> Partitions:
    """k-means of each table of rows Z (s, n, q), or of one table (n, q) from several starts.

    It starts from labels (s, n) or from seeds that lie far apart (Arthur and Vassilvitskii 2007). A start whose labels
    have settled is left as it is. `starts` counts where there is one table and no labels.
    """
    s = len(Z) if Z.ndim == 3 else starts if labels is None else len(labels)
    n, q = Z.shape[-2:]
    lengths = np.broadcast_to(np.sum(Z * Z, axis=-1), (s, n))
    if labels is None:
        centres, labels = _seeds(Z, lengths, k, rng), np.full((s, n), -1)
    else:
        centres, labels = _means(Z, labels, np.zeros((s, k, q))), labels.astype(np.intp)
    inertia, moving, rows = np.zeros(s), np.arange(s), Z
    for _ in range(ROUNDS):
        distances = np.sum(centres[moving] ** 2, axis=2)[:, :, None] - 2 * _products(rows, centres[moving])
        found = distances.argmin(axis=1)
        inertia[moving] = lengths[moving].sum(axis=1) + distances.min(axis=1).sum(axis=1)
        changed = np.any(found != labels[moving], axis=1)
        if not changed.any():
            break
        labels[moving] = found
        moving = moving[changed]
        if Z.ndim == 3 and not changed.all():
            rows = rows[changed]
        centres[moving] = _means(rows, labels[moving], centres[moving])
    return Partitions(labels, centres, inertia)


def best_lloyd(Z: Array, k: int, rng: np.random.Generator, starts: int) -> tuple[np.ndarray, Array]:
    """Labels and centres of the best of a few starts on the same rows, shape (n, q)."""
    found = lloyd(Z, k, rng, starts=starts)
    best = int(np.argmin(found.inertia))
    return found.labels[best], found.centres[best]


def _products(Z: Array, vectors: Array) -> Array:
    """Inner products of the rows of each table with its vectors (s, k, q), shape (s, k, n)."""
    if Z.ndim == 3:
        return vectors @ Z.transpose(0, 2, 1)
    s, k, q = vectors.shape
    return (vectors.reshape(s * k, q) @ Z.T).reshape(s, k, -1)


def _means(Z: Array, labels: np.ndarray, before: Array) -> Array:
    """The mean of each cluster, shape (s, k, q); an empty one keeps its centre."""
    s, k, q = before.shape
    member = (labels[:, None, :] == np.arange(k)[:, None]).astype(Z.dtype)
    sizes = member.sum(axis=2)[:, :, None]
    sums = member @ Z if Z.ndim == 3 else (member.reshape(s * k, -1) @ Z).reshape(s, k, q)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), before)


def _seeds(Z: Array, lengths: Array, k: int, rng: np.random.Generator) -> Array:
    """Centres among the rows; of a few candidates, drawn by their squared distance, the one that helps most is next."""
    s, n = lengths.shape
    tries, each = 2 + int(np.log(k)), np.arange(s)
    chosen = rng.integers(n, size=(s, 1))
    near = np.full((s, n), np.inf)
    centres = []
    for c in range(k):
        rows = Z[chosen] if Z.ndim == 2 else Z[each[:, None], chosen]
        away = lengths[:, None, :] - 2 * _products(Z, rows) + np.sum(rows**2, axis=2)[:, :, None]
        left = np.minimum(near[:, None, :], np.maximum(away, 0))
        best = left.sum(axis=2).argmin(axis=1)
        near = left[each, best]
        centres.append(rows[each, best])
        if c < k - 1:
            sums = near.cumsum(axis=1)
            drawn = rng.random((s, tries)) * sums[:, -1:]
            chosen = np.minimum((sums[:, None, :] <= drawn[:, :, None]).sum(axis=2), n - 1)
    return np.stack(centres, axis=1)
