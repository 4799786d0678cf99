"""The paper's data sets as published by its authors: not centred, scaled or reordered.

The files come from the data folder, or are downloaded into it: see :func:`altclust.datasets.fetch`.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from altclust.base.extras import needed_by
from altclust.datasets.cache import fetch
from altclust.datasets.dataset import Dataset, ImageDataset

GROWTH_COLUMNS = (64, 128, 256, 512, 1024, 2048, 4096)


def load_small_gaussians() -> Dataset:
    """Load Small Gaussian (SG), shape (40, 2): four compact Gaussians.

    The file has no labels: they are the signs of the features. The paper's text has given and alternative the other way
    round, which is the same task.
    """
    X = _matrix("small_gaussian.csv")
    labels = {"feature_1": _positive(X[:, 0]), "feature_2": _positive(X[:, 1])}
    return Dataset("small_gaussian_40", X, labels, _numbered("x", 2))


def load_large_gaussians(n: int = 200) -> Dataset:
    """Load Large Gaussian (LG), shape (n, 4): four Gaussians on a rotated plane in 3-D, and a column of noise.

    n is 200 or 1000. The paper's text says 1000; its printed costs are those of 200. With n = 200, ``given`` is the
    side along the diagonal of columns 1 and 2 and ``alternative`` the side along column 3. With n = 1000,
    ``alternative`` is the side along the diagonal, but ``given`` joins opposite corners (the exclusive or of the two
    sides), so the task is meaningful only from given to alternative.
    """
    stem = f"large_gaussian_{_one_of('n', n, (200, 1000))}"
    labels = {side: _labels(f"{stem}_{side}.csv") for side in ("given", "alternative")}
    return Dataset(stem, _matrix(f"{stem}.csv"), labels, (*_numbered("x", 3), "noise1"))


def load_moons() -> Dataset:
    """Load Moon, shape (400, 4): two parabolas in columns 1 and 2, two Gaussians in columns 3 and 4."""
    return _moons("moon_400", noise_columns=0)


def load_moons_noise(n: int = 200) -> Dataset:
    """Load Moon + Noise (MoonN), shape (n, 7): Moon and three columns of uniform noise.

    n is 200 or 1000. The paper's text says 1000; its table is reproduced by 200, standardised, with the noise columns
    divided by 3.
    """
    return _moons(f"moon_noise_{_one_of('n', n, (200, 1000))}", noise_columns=3)


def load_faces() -> Dataset:
    """Load Faces: pictures of 20 people in four poses, reduced to 20 principal components.

    Returns
    -------
    Dataset
        X of shape (624, 20), whose columns are uncorrelated with mean 0 and variance 1 in the file. Labels
        ``identity`` (given; 20 classes) and ``pose`` (alternative; 4 classes), the direction of the paper's
        text. The figures in its table belong to the opposite one: pose given, identity sought.

    Examples
    --------
    >>> from altclust.datasets import load_faces
    >>> data = load_faces()
    >>> data
    <faces: 624 x 20; identity (20 classes), pose (4 classes)>
    >>> data.given is data.labels["identity"]
    True
    """
    labels = {which: _labels(f"faces_{which}.csv") for which in ("identity", "pose")}
    return Dataset("faces", _matrix("faces.csv"), labels, _numbered("component", 20))


def load_webkb(columns: int = 139) -> Dataset:
    """Load WebKB: web pages of four universities on four topics.

    Parameters
    ----------
    columns : {139, 500}
        139: the reduced matrix that the authors used, of uncorrelated centred columns. 500: the word counts
        that the paper describes, counted again from the same pages in another order; this file has no
        download, so it must be in the data folder.

    Returns
    -------
    Dataset
        X of shape (1041, columns). Labels ``university`` (given) and ``topic`` (alternative), 4 classes each.

    Examples
    --------
    >>> from altclust.datasets import load_webkb
    >>> load_webkb()
    <webkb_139: 1041 x 139; university (4 classes), topic (4 classes)>
    """
    which = ("university", "topic")
    if _one_of("columns", columns, (139, 500)) == 139:
        labels = {name: _labels(f"webkb_{name}.csv") for name in which}
        return Dataset("webkb_139", _matrix("webkb_139.csv"), labels, _numbered("component", 139))
    # Its fourth array, the words, is pickled, and reading it could run code: the columns are numbered instead.
    with np.load(fetch("webkb_500.npz"), allow_pickle=False) as arrays:
        counts = arrays["counts"].astype(np.float64)
        labels = {name: arrays[name].astype(np.int64) for name in which}
    return Dataset("webkb_500", counts, labels, _numbered("word", 500))


def load_flower(colours: int = 256) -> ImageDataset:
    """Load Flower: the distinct colours of a picture by Alain Nicolas.

    Parameters
    ----------
    colours : {256, 106}
        Number of distinct colours. The paper's text says 256; its table is reproduced by 106.

    Returns
    -------
    ImageDataset
        X of shape (colours, 3): red, green and blue from 0 to 255, in ascending order. There are no labels.
        ``image`` has shape (256, 350, 3), ``pixel_rows`` shape (256, 350).

    Examples
    --------
    >>> from altclust.datasets import load_flower
    >>> data = load_flower(106)
    >>> data
    <flower_106: 106 x 3; no labels>
    >>> bool((data.X[data.pixel_rows] == data.image).all())
    True
    """
    file = "flower.png" if _one_of("colours", colours, (256, 106)) == 256 else "flower_106.png"
    with needed_by("load_flower"):
        from matplotlib.image import imread

    # imread scales to 0..1 in single precision, which rounding reverts exactly; the fourth channel is opaque.
    image = np.rint(255 * imread(fetch(file))[..., :3]).astype(np.uint8)
    X, rows = np.unique(image.reshape(-1, 3), axis=0, return_inverse=True)
    return ImageDataset(
        f"flower_{colours}",
        X.astype(np.float64),
        {},
        ("red", "green", "blue"),
        image,
        rows.reshape(image.shape[:2]).astype(np.int64),
    )


def load_growth(d: int = 64) -> Dataset:
    """Load a set of the growth in dimension, shape (128, d): four Gaussians in two columns, the rest noise.

    The columns are centred in the file, which has no labels: they are the two ways to split the diamond of the four
    Gaussians, by the signs of x1 + x2 and of x1 - x2.
    """
    X = _matrix(f"growth/Dimond_gaussians_128_{_one_of('d', d, GROWTH_COLUMNS)}.csv")
    labels = {"sum": _positive(X[:, 0] + X[:, 1]), "difference": _positive(X[:, 0] - X[:, 1])}
    return Dataset(f"growth_{d}", X, labels, (*_numbered("x", 2), *_numbered("noise", d - 2)))


def _moons(stem: str, noise_columns: int) -> Dataset:
    labels = {"gaussians": _labels(f"{stem}_given.csv"), "moons": _labels(f"{stem}_alternative.csv")}
    names = (*_numbered("x", 4), *_numbered("noise", noise_columns))
    return Dataset(stem, _matrix(f"{stem}.csv"), labels, names)


def _matrix(file: str) -> NDArray[np.float64]:
    return np.loadtxt(fetch(file), delimiter=",", ndmin=2)


def _labels(file: str) -> NDArray[np.int64]:
    # Most of the label files write the classes as decimals: 1.000000.
    return np.loadtxt(fetch(file)).astype(np.int64)


def _positive(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return (values > 0).astype(np.int64)


def _numbered(word: str, count: int) -> tuple[str, ...]:
    return tuple(f"{word}{i + 1}" for i in range(count))


def _one_of(name: str, value: int, choices: Sequence[int]) -> int:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(str, choices))}, got {value!r}")
    return value
