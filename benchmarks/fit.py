"""A KDAC fit (ISM, spectral start, fixed parameters) compared with a SpectralClustering fit of the same rows.

Both run alternately in one process, so that a busy machine slows both; the ratio of their medians is reported. The
sets are generated in the shapes of the paper's, with its parameters; ``--files`` uses the authors' files instead.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import SpectralClustering
from sklearn.preprocessing import StandardScaler

from altclust import KDAC, Settings
from altclust.base import parallel
from altclust.core.metrics import nmi
from altclust.datasets import load_moons_noise, moons, views
from altclust.paper import load_task
from altclust.search.heuristics import median_distance

WIDTHS = (0.25, 0.5, 1.0, 2.0)  # σ over the median distance


@dataclass(frozen=True)
class Set:
    """Rows, the given clustering, and KDAC's settings."""

    name: str
    X: np.ndarray
    given: np.ndarray
    settings: Settings


def noisy_moons(X: np.ndarray) -> np.ndarray:
    X = StandardScaler().fit_transform(X)
    X[:, 4:] /= 3
    return X


def sets(files: bool) -> list[Set]:
    moon = Settings(2, 3, 0.1, 1.0, scaling="paper")
    noisy = replace(moon, n_components=6, sigma=0.2, novelty_weight=0.1)
    if files:
        task, faces, large = load_task("Moon"), load_task("Faces"), load_moons_noise(1000)
        return [
            Set("Moon", task.X, task.given, moon),
            Set("MoonN 1000", noisy_moons(large.X), large.given, noisy),
            Set("Faces", faces.X, faces.given, faces.settings),
        ]
    small, large = moons(400, random_state=0), moons(1000, noise_columns=3, random_state=0)
    rng = np.random.default_rng(0)
    cells = rng.permutation(np.arange(624) % 80)
    centres = 0.8 * rng.standard_normal((20, 20))[cells // 4] + 0.8 * rng.standard_normal((4, 20))[cells % 4]
    people = StandardScaler().fit_transform(centres + rng.standard_normal((624, 20)))
    faces = Settings(4, 17, 3.1715, 1.0, scaling="paper")
    return [
        Set("like Moon", StandardScaler().fit_transform(small.X), small.given, moon),
        Set("like MoonN 1000", noisy_moons(large.X), large.given, noisy),
        Set("like Faces", people, cells % 4, faces),
    ]


def threads(sizes: tuple[int, ...] = (400, 1000, 2000)) -> Table:
    """One BLAS thread compared with all: why small fits use one."""
    table = Table(title="The same fit with one thread and with all of them, ms")
    for column in ("rows", "one thread", "all threads", "ratio"):
        table.add_column(column, justify="right")
    keep = parallel.FEW_ROWS
    for n in sizes:
        data = moons(n, noise_columns=3, random_state=0)
        model = KDAC(
            2, n_components=6, sigma=0.2, novelty_weight=0.1, random_state=0, settings=Settings(scaling="paper")
        )
        X, medians = noisy_moons(data.X), []
        for few in (n + 1, 0):
            parallel.FEW_ROWS = few
            record = []
            for _ in range(5):
                start = time.perf_counter()
                model.fit(X, data.given)
                record.append(time.perf_counter() - start)
            medians.append(float(np.median(record)))
        table.add_row(str(n), *(f"{m * 1e3:.0f}" for m in medians), f"{medians[1] / medians[0]:.2f}")
    parallel.FEW_ROWS = keep
    return table


def grid(sizes: tuple[int, ...], solver: str, seeds: int) -> Table:
    """σ, q and k fixed, over widths from a quarter to twice the median distance, in fits of SpectralClustering."""
    table = Table(title=f'KDAC(solver="{solver}") with σ, q and k fixed, beside SpectralClustering of the same rows')
    for column in ("rows x 20", "median ratio", "worst ratio", "converged", "monotone", "mean NMI", "best σ: mean NMI"):
        table.add_column(column, justify="right")
    for n in sizes:
        ratios, converged, monotone, scores = [], [], [], []
        for seed in range(seeds):
            data = views(n, ("blobs", "blobs"), (3, 3), noise_columns=16, random_state=seed)
            X = StandardScaler().fit_transform(data.X)
            unit = median_distance(X, np.random.default_rng(0))
            start = time.perf_counter()
            SpectralClustering(3, gamma=2 / unit**2, random_state=0).fit(X)
            spectral = time.perf_counter() - start
            for width in WIDTHS:
                model = KDAC(3, n_components=2, sigma=width * unit, solver=solver, random_state=0)
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(X, data.given)
                ratios.append((time.perf_counter() - start) / spectral)
                converged.append(model.status_ == "converged")
                monotone.append(bool(np.all(np.diff(model.history_["value"]) <= 1e-9)))
                scores.append(nmi(model.labels_, data.alternative))
        best = np.reshape(scores, (seeds, len(WIDTHS))).max(axis=1)
        figures = np.median(ratios), np.max(ratios), np.mean(converged), np.mean(monotone), np.mean(scores), best.mean()
        table.add_row(str(n), *(f"{figure:.2f}" for figure in figures))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true", help="use the authors' files (ALTCLUST_DATA)")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seeds", type=int, default=5, help="tables of the grid of widths")
    options = parser.parse_args()
    table = Table(title="A fit of KDAC beside a fit of SpectralClustering (wanted: at most 3 times)")
    for column in ("set", "rows", "spectral ms", "KDAC ms", "ratio", "rounds"):
        table.add_column(column, justify="right")
    for each in sets(options.files):
        k, gamma = each.settings.n_clusters, 1 / (2 * each.settings.sigma**2)
        spectral = SpectralClustering(k, gamma=gamma, random_state=0)
        kdac = KDAC(random_state=0, settings=each.settings)
        spectral.fit(each.X), kdac.fit(each.X, each.given)
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(options.repeats):
            for model, labels, record in ((spectral, None, times[0]), (kdac, each.given, times[1])):
                start = time.perf_counter()
                model.fit(each.X, labels)
                record.append(time.perf_counter() - start)
        slow, fast = float(np.median(times[1])), float(np.median(times[0]))
        cells = f"{fast * 1e3:.0f}", f"{slow * 1e3:.0f}", f"{slow / fast:.2f}", str(kdac.n_iter_)
        table.add_row(each.name, str(len(each.X)), *cells)
    Console().print(table)
    Console().print(threads())
    Console().print(grid((300, 1000, 3000), "lbfgs", options.seeds))
    Console().print(grid((300, 1000), "ism", options.seeds))


if __name__ == "__main__":
    main()
