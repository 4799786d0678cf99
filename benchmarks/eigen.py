"""The q smallest eigenvectors of Φ by every method, against the number of columns: the basis of the choice "auto".

Φ is that of four Gaussians in two columns plus noise columns, with 1.2 times as many rows as columns, so that the row
space has d columns. The iterative methods start from the true eigenvectors rotated by about 6 degrees, like a warm
start during a fit.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from altclust.base.given import Given
from altclust.core.engines import DenseEngine
from altclust.core.initialization import random_start
from altclust.core.kernels import Gaussian
from altclust.core.linalg.eigen import smallest_eigenvectors
from altclust.core.solvers import subspace_distance
from altclust.core.solvers.grassmann import orthonormal
from altclust.datasets import growth
from altclust.search.heuristics import median_distance

METHODS = ("full", "subset", "lobpcg", "power")


def phi_of(d: int, q: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    data = growth(n=int(1.2 * d), d=d, random_state=0)
    X = data.X - data.X.mean(axis=0)
    kernel = Gaussian(median_distance(X, rng))
    engine = DenseEngine(X, kernel, Given.from_codes(data.given).indicators())
    W = random_start(X.shape[1], q, rng)
    embedding = engine.embed(W, 2)
    return engine.value_and_phi(W, engine.weigh(embedding, embedding.degrees, 1.0))[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=2048, help="largest number of columns")
    parser.add_argument("--q", type=int, default=2)
    options = parser.parse_args()
    table = Table(title=f"Milliseconds for the {options.q} smallest eigenvectors of Φ (and the error angle in radians)")
    for column in ("d", *METHODS):
        table.add_column(column, justify="right")
    d = 16
    while d <= options.most:
        phi = phi_of(d, options.q)  # timed with one thread, because synchronisation distorts the comparison
        exact = smallest_eigenvectors(phi, options.q, method="full")[1]
        turned = orthonormal(exact + 0.1 * orthonormal(np.random.default_rng(1).standard_normal(exact.shape)))
        cells = []
        for method in METHODS:
            if method == "power" and d > 512:
                cells.append("–")
                continue
            times = []
            with threadpool_limits(1):
                for _ in range(3):
                    start = time.perf_counter()
                    V = smallest_eigenvectors(phi, options.q, method=method, start=turned)[1]
                    times.append(time.perf_counter() - start)
            cells.append(f"{min(times) * 1e3:.1f} ({subspace_distance(exact, V):.0e})")
        table.add_row(str(d), *cells)
        d *= 2
    Console().print(table)


if __name__ == "__main__":
    main()
