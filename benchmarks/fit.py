"""A KDAC fit (ISM, spectral start, fixed parameters) compared with a SpectralClustering fit of the same rows.

Both run alternately in one process, so that a busy machine slows both; the ratio of their medians is reported. The
sets are generated in the shapes of the paper's, with its parameters; ``--files`` uses the authors' files instead.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import SpectralClustering
from sklearn.preprocessing import StandardScaler

from altclust import KDAC
from altclust.base import parallel
from altclust.datasets import load_moons_noise, moons
from altclust.paper import load_task


@dataclass(frozen=True)
class Set:
    """Rows, the given clustering, and KDAC's parameters."""

    name: str
    X: np.ndarray
    given: np.ndarray
    parameters: dict


def noisy_moons(X: np.ndarray) -> np.ndarray:
    X = StandardScaler().fit_transform(X)
    X[:, 4:] /= 3
    return X


def sets(files: bool) -> list[Set]:
    moon = {"n_clusters": 2, "n_components": 3, "sigma": 0.1, "novelty_weight": 1.0, "scaling": "paper"}
    noisy = moon | {"n_components": 6, "sigma": 0.2, "novelty_weight": 0.1}
    if files:
        task, faces, large = load_task("Moon"), load_task("Faces"), load_moons_noise(1000)
        return [
            Set("Moon", task.X, task.given, moon),
            Set("MoonN 1000", noisy_moons(large.X), large.given, noisy),
            Set("Faces", faces.X, faces.given, dict(faces.parameters)),
        ]
    small, large = moons(400, random_state=0), moons(1000, noise_columns=3, random_state=0)
    rng = np.random.default_rng(0)
    cells = rng.permutation(np.arange(624) % 80)
    centres = 0.8 * rng.standard_normal((20, 20))[cells // 4] + 0.8 * rng.standard_normal((4, 20))[cells % 4]
    people = StandardScaler().fit_transform(centres + rng.standard_normal((624, 20)))
    faces = {"n_clusters": 4, "n_components": 17, "sigma": 3.1715, "novelty_weight": 1.0, "scaling": "paper"}
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
        model = KDAC(2, n_components=6, sigma=0.2, novelty_weight=0.1, scaling="paper", random_state=0)
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", action="store_true", help="use the authors' files (ALTCLUST_DATA)")
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    table = Table(title="A fit of KDAC beside a fit of SpectralClustering (wanted: at most 3 times)")
    for column in ("set", "rows", "spectral ms", "KDAC ms", "ratio", "rounds"):
        table.add_column(column, justify="right")
    for each in sets(options.files):
        k, gamma = each.parameters["n_clusters"], 1 / (2 * each.parameters["sigma"] ** 2)
        spectral = SpectralClustering(k, gamma=gamma, random_state=0)
        kdac = KDAC(random_state=0, **each.parameters)
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


if __name__ == "__main__":
    main()
