"""The U step: block Krylov spaces compared with LAPACK and ARPACK, for distant clusters and for close eigenvalues.

The first table counts wrong results on kernels with repeated leading eigenvalues; the second has times for moons at a
small σ, without a start and from a start that is perturbed by one percent.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from altclust.base.backend import Array
from altclust.core.kernels import Gaussian
from altclust.core.linalg.eigen import leading_eigenvectors
from altclust.datasets import moons


def normalised(X: Array, sigma: float) -> Array:
    K = Gaussian(sigma).gram(X)
    scale = 1 / np.sqrt(K.sum(axis=1))
    Q = scale[:, None] * K * scale
    means = Q.mean(axis=0)
    return Q - means - means[:, None] + means.mean()


def arpack(Q: Array, k: int) -> Array:
    start = np.random.default_rng(0).standard_normal(len(Q))
    try:
        return eigsh(Q, k, which="LA", v0=start, tol=1e-8)[0]
    except ArpackNoConvergence as error:
        return np.asarray(error.eigenvalues)


def misses(trials: int) -> Table:
    table = Table(title=f"Wrong leading eigenvalues in {trials} kernels of 2 to 8 far apart clusters, n = 600")
    table.add_column("method")
    table.add_column("wrong", justify="right")
    rng = np.random.default_rng(0)
    wrong = {"ARPACK": 0, "ours": 0}
    for _ in range(trials):
        clusters = int(rng.integers(2, 9))
        groups = rng.integers(0, clusters, 600)
        width = rng.choice([0.1, 0.5, 1.0])
        X = 20 * rng.standard_normal((clusters, 3))[groups] + width * rng.standard_normal((600, 3))
        Q = normalised(X, float(rng.choice([0.5, 1.0, 3.0])))
        exact = eigh(Q, eigvals_only=True)[-clusters:].sum()
        wrong["ARPACK"] += abs(arpack(Q, clusters).sum() - exact) > 1e-5
        wrong["ours"] += abs(leading_eigenvectors(Q, clusters)[0].sum() - exact) > 1e-5
    for name, count in wrong.items():
        table.add_row(name, str(count))
    return table


def best_time(function: Callable[[], object]) -> str:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return f"{min(times) * 1e3:.0f}"


def times(sizes: list[int]) -> Table:
    table = Table(title="Milliseconds for two leading eigenvectors, one thread")
    for column in ("n", "LAPACK subset", "ours, cold", "ours, warm"):
        table.add_column(column, justify="right")
    for n in sizes:
        Q = normalised(StandardScaler().fit_transform(moons(n, random_state=0).X)[:, :2], 0.2)
        U = leading_eigenvectors(Q, 2)[1]
        near = np.linalg.qr(U + 0.01 * np.random.default_rng(0).standard_normal(U.shape) / np.sqrt(n))[0]
        with threadpool_limits(1):
            table.add_row(
                str(n),
                best_time(lambda Q=Q, n=n: eigh(Q, subset_by_index=[n - 2, n - 1])),
                best_time(lambda Q=Q: leading_eigenvectors(Q, 2)),
                best_time(lambda Q=Q, near=near: leading_eigenvectors(Q, 2, near)),
            )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--most", type=int, default=2000, help="largest number of rows")
    options = parser.parse_args()
    Console().print(misses(options.trials))
    Console().print(times([n for n in (500, 1000, 2000, 4000) if n <= options.most]))


if __name__ == "__main__":
    main()
