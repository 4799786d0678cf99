"""Tables with a given clustering and a hidden one: the tasks of the benchmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

from altclust.core.metrics import nmi
from altclust.datasets import (
    load_faces,
    load_large_gaussians,
    load_moons,
    load_moons_noise,
    load_small_gaussians,
    load_webkb,
    views,
)
from altclust.datasets.dataset import Dataset

ROWS = 300
SEEDS = 10
FAMILIES = {
    "blobs x blobs": {},
    "blobs, then moons": {"shapes": ("blobs", "moons"), "clusters": (2, 2)},
    "moons, then blobs": {"shapes": ("moons", "blobs")},
    "moons, then rings": {"shapes": ("moons", "rings")},
    "rings, then moons": {"shapes": ("rings", "moons")},
    "unequal sizes": {"shares": ((0.6, 0.3, 0.1), (0.6, 0.25, 0.15))},
    "different k": {},
    "correlated": {"echo": 0.5},
    "rotated": {"noise_columns": 6},
    "noise columns": {},
    "heavy tails": {"degrees_of_freedom": 3},
    "three views": {"shapes": ("blobs", "blobs", "blobs")},
}
NOISE_COLUMNS = (2, 5, 10, 15, 20, 25, 30, 35, 40, 50)


@dataclass(frozen=True)
class Task:
    """X, the given clusterings (one column each), and the hidden truth."""

    family: str
    seed: int
    X: np.ndarray
    given: np.ndarray
    truth: np.ndarray

    @property
    def n_clusters(self) -> int:
        """The true k."""
        return len(np.unique(self.truth))

    def as_several(self) -> SeveralTask:
        """The same with its one hidden clustering under a name."""
        return SeveralTask(self.family, self.seed, self.X, self.given, {"hidden": self.truth})


@dataclass(frozen=True)
class SeveralTask:
    """X, one given clustering, and the hidden ones by name."""

    family: str
    seed: int
    X: np.ndarray
    given: np.ndarray
    truths: dict[str, np.ndarray]

    def hiding(self, name: str) -> Task:
        """The task with one of the hidden clusterings."""
        return Task(self.family, self.seed, self.X, self.given, self.truths[name])


def supervised(task: Task) -> float:
    """The NMI of a linear discriminant's 5-fold predictions with the truth."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    return nmi(cross_val_predict(model, task.X, task.truth, cv=folds), task.truth)


def family(name: str, seed: int, n: int = ROWS) -> Dataset:
    """One table of a generated family."""
    options = dict(FAMILIES[name])
    if name == "different k":
        options["clusters"] = (2 + seed % 5, 2 + (3 * seed + 1) % 5)
    if name == "noise columns":
        options["noise_columns"] = NOISE_COLUMNS[seed % SEEDS]
    rng = np.random.default_rng(1000 * list(FAMILIES).index(name) + seed)
    data = views(n, **options, random_state=rng)
    if name != "rotated":
        return data
    d = data.X.shape[1]
    return replace(data, X=data.X @ np.linalg.qr(rng.standard_normal((d, d)))[0])


def generated(name: str, seed: int, n: int = ROWS) -> Task:
    """The last view is hidden, the ones before it are given."""
    data = family(name, seed, n)
    *given, truth = data.labels.values()
    return Task(name, seed, data.X, np.column_stack(given), truth)


def stretched(seed: int, n: int = ROWS) -> Task:
    """Blobs in two planes, mixed by a matrix that stretches some directions up to ten times."""
    rng = np.random.default_rng([77, seed])
    d, (k, hidden) = int(rng.integers(4, 9)), rng.integers(2, 5, 2)
    given, truth = rng.integers(0, k, n), rng.integers(0, hidden, n)
    planes = [2.2 * rng.standard_normal((c, 2))[codes] for c, codes in ((k, given), (hidden, truth))]
    Z = np.column_stack([*planes, np.zeros((n, d - 4))]) + rng.standard_normal((n, d))
    first, second = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2))
    X = Z @ (first * np.exp(rng.uniform(-1.2, 1.2, d))) @ second
    return Task("stretched", seed, StandardScaler().fit_transform(X), given[:, None], truth)


def sized(seed: int, n: int = 200) -> Task:
    """A common size that dwarfs two labels of two values, in four to seven columns."""
    rng = np.random.default_rng([78, seed])
    d, given, truth = int(rng.integers(4, 8)), rng.integers(0, 2, n), rng.integers(0, 2, n)
    size = np.outer(rng.standard_normal(n), 1 + 0.15 * rng.standard_normal(d))
    apart = sum(np.outer(codes - 0.5, rng.standard_normal(d)) for codes in (given, truth))
    X = size + 0.25 * rng.uniform(0.8, 1.4) * apart + 0.1 * rng.standard_normal((n, d))
    return Task("size", seed, StandardScaler().fit_transform(X), given[:, None], truth)


def spirals(seed: int, n: int = ROWS) -> Task:
    """Two spirals are hidden, three blobs given, and there are up to three columns of noise."""
    rng = np.random.default_rng([79, seed])
    given, truth = rng.integers(0, 3, n), rng.integers(0, 2, n)
    blobs = 4 * np.array([[0, 0], [1, 0], [0, 1]])[given] + rng.standard_normal((n, 2))
    t = np.sqrt(rng.uniform(0.1, 1, n)) * 2.2 * np.pi
    arms = t[:, None] * np.column_stack([np.cos(t + np.pi * truth), np.sin(t + np.pi * truth)])
    arms += 0.35 * rng.standard_normal((n, 2))
    X = np.column_stack([blobs, arms, rng.standard_normal((n, int(rng.integers(0, 4))))])
    return Task("spirals", seed, StandardScaler().fit_transform(X), given[:, None], truth)


def shapes(kind: str, seed: int, n: int = ROWS) -> Task:
    """Two moons or rings are hidden, three blobs given, and there are up to three columns of noise."""
    data = views(n, shapes=("blobs", kind), clusters=(3, 2), noise_columns=seed % 4, random_state=9000 + seed)
    return Task(kind, seed, data.X, data.given[:, None], data.alternative)


def unequal(seed: int, n: int, share: float, apart: float = 6.0) -> Task:
    """A small cluster, so many standard deviations from a large one, in a direction across six columns."""
    rng = np.random.default_rng([91, seed, n])
    given, truth = rng.integers(0, 3, n), (rng.random(n) < share).astype(int)
    X = rng.standard_normal((n, 8))
    X[:, :2] += 4 * np.array([[0, 0], [1, 0], [0, 1]])[given]
    direction = rng.standard_normal(6)
    X[:, 2:] += apart * truth[:, None] * direction / np.linalg.norm(direction)
    return Task(f"unequal {share:g}", seed, StandardScaler().fit_transform(X), given[:, None], truth)


def related(seed: int, n: int = ROWS) -> Task:
    """A hidden clustering that agrees with the given one in half of the rows."""
    rng = np.random.default_rng([92, seed])
    k = int(rng.integers(2, 5))
    given = rng.integers(0, k, n)
    truth = np.where(rng.random(n) < 0.5, given, rng.integers(0, k, n))
    planes = [3.5 * rng.standard_normal((k, 2))[codes] for codes in (given, truth)]
    X = np.column_stack([*planes, np.zeros((n, int(rng.integers(0, 5))))])
    return Task(
        "related", seed, StandardScaler().fit_transform(X + rng.standard_normal(X.shape)), given[:, None], truth
    )


FRESH = (stretched, sized, spirals)
FACTORS = ((3, 4), (2, 5), (3, 3))  # clusters of the two views of a product, by seed
MANY = range(6, 13)  # clusters of a single view, by seed


def product(seed: int) -> SeveralTask:
    """Three given clusters and two hidden views, whose pairs of clusters are clear clusters as well."""
    counts = FACTORS[seed % len(FACTORS)]
    return _apart("product", seed, dict(zip(("first", "second"), counts, strict=True)), 4)


def single(seed: int) -> SeveralTask:
    """Three given clusters and one hidden view with 6 to 12 clusters."""
    return _apart("single", seed, {"only": MANY[seed % len(MANY)]}, 6)


def _apart(name: str, seed: int, hidden: dict[str, int], most: int) -> SeveralTask:
    """Blobs at random places in 2 to `most` columns for each view, up to three columns of noise, rotated if odd."""
    rng = np.random.default_rng([80 + len(hidden), seed])
    n = int(rng.choice([300, 500, 1000]))
    counts = {"given": 3} | hidden
    codes = {view: rng.integers(0, k, n) for view, k in counts.items()}
    parts = []
    for view, k in counts.items():
        centres = _centres(k, 2 if view == "given" else int(rng.integers(2, most + 1)), rng.uniform(4.5, 7), rng)
        parts.append(centres[codes[view]] + rng.standard_normal((n, centres.shape[1])))
    X = StandardScaler().fit_transform(np.column_stack([*parts, rng.standard_normal((n, int(rng.integers(0, 4))))]))
    if seed % 2:
        X = StandardScaler().fit_transform(X @ np.linalg.qr(rng.standard_normal((X.shape[1],) * 2))[0])
    given = codes.pop("given")
    return SeveralTask(name, seed, X, given[:, None], codes)


def _centres(k: int, d: int, apart: float, rng: np.random.Generator) -> np.ndarray:
    """Random places, any two at least so far apart."""
    spread = apart
    while True:
        centres = spread * rng.standard_normal((k, d))
        if pdist(centres).min() >= apart:
            return centres
        spread *= 1.01


def paper() -> Iterator[Task]:
    """The paper's sets in every meaningful direction, standardised as in the paper."""
    sets = {
        "SG": (load_small_gaussians, False),
        "LG": (load_large_gaussians, False),
        "Moon": (load_moons, True),
        "MoonN": (load_moons_noise, True),
        "Faces": (load_faces, True),
        "WebKB 139": (load_webkb, False),
        "WebKB 500": (lambda: load_webkb(500), False),
    }
    for name, (load, standardise) in sets.items():
        data = load()
        X = StandardScaler().fit_transform(data.X) if standardise else data.X.astype(float)
        if name == "MoonN":
            X[:, 4:] /= 3  # the paper's scale of its noise columns
        labels = list(data.labels.items())
        for (given, codes), (truth, hidden) in [labels, labels[::-1]][: 1 if name == "LG" else 2]:
            yield Task(f"{name}: {given} → {truth}", 0, X, codes[:, None], hidden)
