"""Synthetic sets with known clusterings, for any number of rows: `views`, and sets in the shapes of the paper's.

Each of the latter has four groups of rows, one for every pair (given, alternative), in four consecutive blocks
(0, 0), (1, 0), (0, 1), (1, 1) whose sizes differ by at most one row. So the two clusterings are independent:
exactly when n is a multiple of 4.

There are n rows, at least 4, and `random_state` is the seed: an int, a SeedSequence, a Generator or None. Noise columns
are drawn last and one by one, so adding noise columns does not change the other columns.
"""

import operator
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from altclust.datasets.dataset import Dataset

SHAPES = ("blobs", "moons", "rings")
Seed = int | np.random.SeedSequence | np.random.Generator | None


def small_gaussians(n: int = 40, *, random_state: Seed = None) -> Dataset:
    """Four compact Gaussians at the corners of a square: the paper's Small Gaussian (SG).

    X has shape (n, 2): centres (±2.5, ±2.5), standard deviation 0.1. Labels ``feature_1`` (given) and ``feature_2``
    (alternative): the sign of that feature.

    Examples
    --------
    >>> from altclust.datasets import small_gaussians
    >>> data = small_gaussians(random_state=0)
    >>> data
    <small_gaussians: 40 x 2; feature_1 (2 classes), feature_2 (2 classes)>
    >>> bool(((data.X[:, 0] > 0) == data.given).all())
    True
    """
    n = _whole("n", n, at_least=4)
    rng = np.random.default_rng(random_state)
    first, second = _four_blocks(n)
    X = 2.5 * np.column_stack([_sign(first), _sign(second)]) + 0.1 * rng.standard_normal((n, 2))
    return Dataset("small_gaussians", X, {"feature_1": first, "feature_2": second}, _names(2, 0))


def large_gaussians(n: int = 1000, noise_columns: int = 1, *, random_state: Seed = None) -> Dataset:
    """Four Gaussians on a plane rotated by 45 degrees in 3-D, plus noise: the paper's Large Gaussian (LG).

    X has shape (n, 3 + noise_columns): centres (a, a, b) with a, b = ±10, standard deviation 1, and noise that is
    uniform on (-20, 20), of which the paper has one column. Labels ``diagonal`` (given), the sign of a, and ``height``
    (alternative), the sign of b.

    Examples
    --------
    >>> from altclust.datasets import large_gaussians
    >>> data = large_gaussians(200, random_state=0)
    >>> data
    <large_gaussians: 200 x 4; diagonal (2 classes), height (2 classes)>
    >>> data.feature_names
    ('x1', 'x2', 'x3', 'noise1')
    """
    n = _whole("n", n, at_least=4)
    noise_columns = _whole("noise_columns", noise_columns, at_least=0)
    rng = np.random.default_rng(random_state)
    diagonal, height = _four_blocks(n)
    a, b = _sign(diagonal), _sign(height)
    signal = 10.0 * np.column_stack([a, a, b]) + rng.standard_normal((n, 3))
    X = np.hstack([signal, _noise(rng, n, noise_columns, half_width=20.0)])
    return Dataset("large_gaussians", X, {"diagonal": diagonal, "height": height}, _names(3, noise_columns))


def moons(n: int = 400, noise_columns: int = 0, *, random_state: Seed = None) -> Dataset:
    """Two intertwined parabolas and two Gaussians: the paper's Moon, or with three noise columns its MoonN.

    X has shape (n, 4 + noise_columns). Columns 1 and 2 lie on one of the curves y = x², -2 ≤ x ≤ 2, and
    y = 8 - 1.4 (x - 2)², 0 ≤ x ≤ 4, evenly spaced in x, plus Gaussian noise with standard deviation 0.1 in both
    coordinates. Columns 3 and 4 are Gaussian around ±(5, 5) with standard deviation 1; noise is uniform on (-10, 10).
    Labels ``gaussians`` (given) and ``moons`` (alternative).

    Examples
    --------
    >>> from altclust.datasets import moons
    >>> moons(1000, noise_columns=3, random_state=0)
    <moons: 1000 x 7; gaussians (2 classes), moons (2 classes)>
    """
    n = _whole("n", n, at_least=4)
    noise_columns = _whole("noise_columns", noise_columns, at_least=0)
    rng = np.random.default_rng(random_state)
    gaussian, moon = _four_blocks(n)
    t = _even_spacing(2 * moon + gaussian)
    curve = np.where(
        moon[:, None] == 0, np.column_stack([2 * t, 4 * t**2]), np.column_stack([2 + 2 * t, 8 - 5.6 * t**2])
    )
    curve += 0.1 * rng.standard_normal((n, 2))
    blob = 5.0 * _sign(gaussian)[:, None] + rng.standard_normal((n, 2))
    X = np.hstack([curve, blob, _noise(rng, n, noise_columns, half_width=10.0)])
    return Dataset("moons", X, {"gaussians": gaussian, "moons": moon}, _names(4, noise_columns))


def growth(n: int = 128, d: int = 64, *, random_state: Seed = None) -> Dataset:
    """Four Gaussians in two of d columns, the rest noise: the paper's growth in dimension and in rows.

    X has shape (n, d), d at least 2: the centres (±10, 0), (0, ±10) form a diamond, standard deviation 1; all other
    columns are uniform on (-30, 30). Labels ``sum`` (given), the sign of x1 + x2, and ``difference`` (alternative), the
    sign of x1 - x2. The columns are not centred, unlike those of the authors' files.

    Examples
    --------
    >>> from altclust.datasets import growth
    >>> growth(128, 1024, random_state=0)
    <growth: 128 x 1024; sum (2 classes), difference (2 classes)>
    """
    n = _whole("n", n, at_least=4)
    d = _whole("d", d, at_least=2)
    rng = np.random.default_rng(random_state)
    total, difference = _four_blocks(n)
    s, t = _sign(total), _sign(difference)
    signal = 5.0 * np.column_stack([s + t, s - t]) + rng.standard_normal((n, 2))
    X = np.hstack([signal, _noise(rng, n, d - 2, half_width=30.0)])
    return Dataset("growth", X, {"sum": total, "difference": difference}, _names(2, d - 2))


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


def _four_blocks(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    block = np.arange(n, dtype=np.int64) * 4 // n
    return block % 2, block // 2


def _sign(label: NDArray[np.int64]) -> NDArray[np.float64]:
    return 2 * label.astype(np.float64) - 1


def _even_spacing(block: NDArray[np.int64]) -> NDArray[np.float64]:
    # Evenly within each block, so that every pair of labels covers the whole curve.
    return np.concatenate([np.linspace(-1.0, 1.0, count) for count in np.bincount(block)])


def _noise(rng: np.random.Generator, n: int, columns: int, half_width: float) -> NDArray[np.float64]:
    return rng.uniform(-half_width, half_width, size=(columns, n)).T


def _names(signal: int, noise: int) -> tuple[str, ...]:
    return (*(f"x{i + 1}" for i in range(signal)), *(f"noise{i + 1}" for i in range(noise)))


def _whole(name: str, value: int, at_least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number of at least {at_least}, got {value!r}") from None
    if number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {number}")
    return number


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
