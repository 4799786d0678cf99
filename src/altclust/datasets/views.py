"""Tables with any number of independent clusterings, each in its own two columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from altclust.datasets.dataset import Dataset
from altclust.datasets.generators import Seed, _whole

SHAPES = ("blobs", "moons", "rings")


def views(
    n: int = 400,
    shapes: Sequence[str] = ("blobs", "blobs"),
    clusters: Sequence[int] | None = None,
    *,
    noise_columns: int = 2,
    shares: Sequence[Sequence[float]] | None = None,
    echo: float = 0.0,
    degrees_of_freedom: float | None = None,
    random_state: Seed = None,
) -> Dataset:
    """One table that can be clustered in several ways, one per shape.

    Parameters
    ----------
    n : int
        Number of rows, at least 4.
    shapes : sequence of {"blobs", "moons", "rings"}
        The shape of each view in its two columns. Blobs are on a circle, neighbours six standard deviations apart;
        moons and rings have two clusters.
    clusters : sequence of int, optional
        Number of clusters of each view: any for blobs (default 3), 2 for the others.
    noise_columns : int
        Standard normal columns that belong to no view.
    shares : sequence of sequences of float, optional
        The share of rows in each cluster of each view. Default: equal shares.
    echo : float
        Probability with which a row takes its cluster from the view before, modulo the number of clusters.
    degrees_of_freedom : float, optional
        If set, blobs have Student's t noise instead of normal noise, with neighbours at a distance of 8 instead of 6.
    random_state : int, SeedSequence, Generator or None
        Seed of the random numbers.

    Returns
    -------
    Dataset
        X of shape (n, 2 * len(shapes) + noise_columns), standardised. Labels ``view_1`` (given), ``view_2``
        (alternative), and so on.

    Examples
    --------
    >>> from altclust.datasets import views
    >>> views(200, ("moons", "blobs"), (2, 4), random_state=0)
    <views: 200 x 6; view_1 (2 classes), view_2 (4 classes)>
    """
    n = _whole("n", n, at_least=4)
    unknown = [shape for shape in shapes if shape not in SHAPES]
    if unknown or not len(shapes):
        raise ValueError(f"shapes={tuple(shapes)!r}: every one must be among {', '.join(SHAPES)}.")
    clusters = [3 if shape == "blobs" else 2 for shape in shapes] if clusters is None else list(clusters)
    if len(clusters) != len(shapes) or any(
        k != 2 for k, shape in zip(clusters, shapes, strict=True) if shape != "blobs"
    ):
        raise ValueError(f"clusters={tuple(clusters)!r}: one number per shape, and 2 for moons and rings.")
    rng = np.random.default_rng(random_state)
    labels: list[NDArray[np.int64]] = []
    for i, k in enumerate(clusters):
        codes = rng.choice(k, n, p=None if shares is None else shares[i])
        codes[:k] = np.arange(k)  # no cluster is empty
        if labels and echo:
            codes = np.where(rng.random(n) < echo, labels[-1] % k, codes)
        labels.append(codes)
    columns = [
        _blobs(codes, k, degrees_of_freedom, rng) if shape == "blobs" else _SHAPE[shape](codes, rng)
        for shape, k, codes in zip(shapes, clusters, labels, strict=True)
    ]
    X = np.column_stack([*columns, rng.standard_normal((n, noise_columns))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    names = tuple(f"{v}{i}" for i in range(1, len(shapes) + 1) for v in "xy")
    names += tuple(f"noise{i}" for i in range(1, noise_columns + 1))
    return Dataset("views", X, {f"view_{i}": codes for i, codes in enumerate(labels, 1)}, names)


def _blobs(
    codes: NDArray[np.int64], k: int, degrees_of_freedom: float | None, rng: np.random.Generator
) -> NDArray[np.float64]:
    apart = 6.0 if degrees_of_freedom is None else 8.0
    angles = 2 * np.pi * np.arange(k) / k + rng.uniform(0, 2 * np.pi)
    radius = apart / (2 * np.sin(np.pi / k)) if k > 1 else 0.0
    size = (len(codes), 2)
    noise = rng.standard_normal(size) if degrees_of_freedom is None else rng.standard_t(degrees_of_freedom, size)
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])[codes] + noise


def _moons(codes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    angle = rng.uniform(0, np.pi, len(codes))
    x = np.where(codes == 0, np.cos(angle), 1 - np.cos(angle))
    y = np.where(codes == 0, np.sin(angle), 0.5 - np.sin(angle))
    return np.column_stack([x, y]) + 0.06 * rng.standard_normal((len(codes), 2))


def _rings(codes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    angle = rng.uniform(0, 2 * np.pi, len(codes))
    radius = np.where(codes == 0, 1.0, 0.4)
    ring = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return ring + 0.05 * rng.standard_normal((len(codes), 2))


_SHAPE = {"moons": _moons, "rings": _rings}
