"""Data sets with more than one meaningful clustering: generated, part of the package, or the paper's files.

>>> from altclust.datasets import moons
>>> data = moons(400, random_state=0)
>>> data.X.shape, data.given.shape, list(data.labels)
((400, 4), (400,), ['gaussians', 'moons'])
"""

from altclust.datasets.cache import DatasetUnavailable, data_folder, fetch
from altclust.datasets.dataset import Dataset, ImageDataset
from altclust.datasets.generators import growth, large_gaussians, moons, small_gaussians, views
from altclust.datasets.loaders import (
    load_faces,
    load_flower,
    load_growth,
    load_large_gaussians,
    load_moons,
    load_moons_noise,
    load_small_gaussians,
    load_webkb,
)
from altclust.datasets.penguins import penguins

__all__ = [
    "Dataset",
    "DatasetUnavailable",
    "ImageDataset",
    "data_folder",
    "fetch",
    "growth",
    "large_gaussians",
    "load_faces",
    "load_flower",
    "load_growth",
    "load_large_gaussians",
    "load_moons",
    "load_moons_noise",
    "load_small_gaussians",
    "load_webkb",
    "moons",
    "penguins",
    "small_gaussians",
    "views",
]
