"""A list of all data sets."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from altclust.datasets import generators, loaders
from altclust.datasets.cache import data_folder
from altclust.datasets.dataset import Dataset
from altclust.datasets.penguins import penguins


@dataclass(frozen=True)
class CatalogueEntry:
    """One data set."""

    name: str  # that of the Dataset which `load` returns
    n_samples: int  # of the default arguments, for a generated set
    n_features: int
    labels: tuple[str, ...]  # the known clusterings, the given one first
    origin: Literal["generated", "package", "file"]  # a file is one of the authors
    description: str  # in one line
    load: Callable[[], Dataset] = field(repr=False)  # generates it with seed 0, or reads it
    files: tuple[str, ...] = ()  # the files that it reads from the data folder

    @property
    def at_hand(self) -> bool:
        """Whether it loads without a download."""
        return all((data_folder() / name).is_file() for name in self.files)


def _labelled(name: str) -> tuple[str, ...]:
    return f"{name}.csv", f"{name}_given.csv", f"{name}_alternative.csv"


_SIGNS = ("feature_1", "feature_2")
_MOONS = ("gaussians", "moons")
_LARGE = ("given", "alternative")
_WEBKB = ("university", "topic")
_DIAMOND = ("sum", "difference")

CATALOGUE: tuple[CatalogueEntry, ...] = (
    CatalogueEntry(
        "small_gaussians", 40, 2, _SIGNS, "generated",
        "four compact Gaussians at the corners of a square",
        partial(generators.small_gaussians, random_state=0),
    ),
    CatalogueEntry(
        "large_gaussians", 1000, 4, ("diagonal", "height"), "generated",
        "four Gaussians on a rotated plane in 3-D, plus noise columns",
        partial(generators.large_gaussians, random_state=0),
    ),
    CatalogueEntry(
        "moons", 400, 4, _MOONS, "generated",
        "two parabolas and two Gaussians in other columns, plus optional noise columns",
        partial(generators.moons, random_state=0),
    ),
    CatalogueEntry(
        "growth", 128, 64, _DIAMOND, "generated",
        "four Gaussians in two columns, all other columns noise",
        partial(generators.growth, random_state=0),
    ),
    CatalogueEntry(
        "penguins", 333, 4, ("species", "sex"), "package",
        "the Palmer penguins: four measurements of birds of three species",
        penguins,
    ),
    CatalogueEntry(
        "small_gaussian_40", 40, 2, _SIGNS, "file",
        "the paper's Small Gaussian (SG)",
        loaders.load_small_gaussians, ("small_gaussian.csv",),
    ),
    *(
        CatalogueEntry(
            f"large_gaussian_{n}", n, 4, _LARGE, "file",
            f"the paper's Large Gaussian (LG) with {n} rows",
            partial(loaders.load_large_gaussians, n), _labelled(f"large_gaussian_{n}"),
        )
        for n in (200, 1000)
    ),
    CatalogueEntry("moon_400", 400, 4, _MOONS, "file", "the paper's Moon", loaders.load_moons, _labelled("moon_400")),
    *(
        CatalogueEntry(
            f"moon_noise_{n}", n, 7, _MOONS, "file",
            f"the paper's Moon + Noise (MoonN) with {n} rows",
            partial(loaders.load_moons_noise, n), _labelled(f"moon_noise_{n}"),
        )
        for n in (200, 1000)
    ),
    CatalogueEntry(
        "faces", 624, 20, ("identity", "pose"), "file",
        "CMU faces: 20 people in 4 poses, after PCA",
        loaders.load_faces, ("faces.csv", "faces_identity.csv", "faces_pose.csv"),
    ),
    CatalogueEntry(
        "webkb_139", 1041, 139, _WEBKB, "file",
        "CMU web pages of 4 universities on 4 topics, the authors' reduced matrix",
        partial(loaders.load_webkb, 139), ("webkb_139.csv", "webkb_university.csv", "webkb_topic.csv"),
    ),
    CatalogueEntry(
        "webkb_500", 1041, 500, _WEBKB, "file",
        "the same pages as counts of 500 words (no download: data folder only)",
        partial(loaders.load_webkb, 500), ("webkb_500.npz",),
    ),
    *(
        CatalogueEntry(
            f"flower_{colours}", colours, 3, (), "file",
            f"the {colours} distinct colours of the Flower picture",
            partial(loaders.load_flower, colours), ("flower_106.png" if colours == 106 else "flower.png",),
        )
        for colours in (256, 106)
    ),
    *(
        CatalogueEntry(
            f"growth_{d}", 128, d, _DIAMOND, "file",
            f"the paper's growth in dimension at {d} columns",
            partial(loaders.load_growth, d), (f"growth/Dimond_gaussians_128_{d}.csv",),
        )
        for d in loaders.GROWTH_COLUMNS
    ),
)  # fmt: skip
"""All data sets: the generated ones, the penguins, then the authors' files."""
