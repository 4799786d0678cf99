"""One evaluation of F and Φ compared with the direct formula of the paper: time and peak memory.

The direct formula builds all n² differences x_i − x_j as an n² x d matrix. Rows are drawn at random in the shapes of
the paper's sets, because the cost does not depend on the values.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from altclust.base.backend import Array
from altclust.base.given import Given
from altclust.core.engines import DenseEngine
from altclust.core.initialization import random_start
from altclust.core.kernels import Gaussian
from altclust.core.problem import Gamma, row_space

SHAPES = {"Moon": (400, 4, 3), "Faces": (624, 20, 17), "WebKB": (1041, 139, 4), "128 x 1024": (128, 1024, 2)}
WANTED = {"Moon": 5, "Faces": 10, "WebKB": 20, "128 x 1024": 100}


def direct(X: Array, W: Array, gamma: Gamma, sigma: float) -> tuple[float, Array]:
    """F and Φ by the n² x d matrix of differences."""
    n, d = X.shape
    differences = (X[:, None, :] - X[None, :, :]).reshape(n * n, d)
    K = np.exp(-np.sum((differences @ W) ** 2, axis=1) / (2 * sigma**2))
    psi = ((gamma.F * gamma.s) @ gamma.F.T).ravel() * K
    return -float(psi.sum()), differences.T @ (psi[:, None] * differences) / sigma**2


def median_time(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def peak(function: Callable[[], object]) -> float:
    """Megabytes."""
    tracemalloc.start()
    function()
    size = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return size


def main() -> None:
    table = Table(title="One evaluation of F and Φ")
    for column in ("set", "n x d", "direct ms", "ours ms", "ratio", "wanted", "direct MB", "ours MB"):
        table.add_column(column, justify="right")
    for name, (n, d, q) in SHAPES.items():
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        X -= X.mean(axis=0)
        kernel = Gaussian(float(np.sqrt(2 * d)))
        rows, basis = row_space(X)
        given = Given.from_codes(rng.integers(0, 2, n)).indicators()
        W = random_start(rows.shape[1], q, rng)
        engine = DenseEngine(rows, kernel, given)
        embedding = engine.embed(W, 2)
        gamma = engine.weigh(embedding, embedding.degrees, 1.0)
        in_table = W if basis is None else basis @ W

        def ours(rows=rows, kernel=kernel, W=W, gamma=gamma) -> tuple[float, Array]:
            return DenseEngine(rows, kernel).value_and_phi(W, gamma)  # a new engine, so that nothing is cached

        def published(X=X, W=in_table, gamma=gamma, sigma=kernel.sigma) -> tuple[float, Array]:
            return direct(X, W, gamma, sigma)

        value, phi = published()
        mine = ours()[1] if basis is None else basis @ ours()[1] @ basis.T
        assert np.allclose(phi, mine, atol=1e-8 * np.abs(phi).max()), "the two formulas disagree"
        assert np.isclose(value, -ours()[0]), "the two formulas disagree"
        slow, fast = median_time(published, 3), median_time(ours, 15)
        memory = f"{peak(published):.0f}", f"{peak(ours):.1f}"
        cells = f"{slow * 1e3:.1f}", f"{fast * 1e3:.2f}", f"{slow / fast:.0f}", str(WANTED[name])
        table.add_row(name, f"{n} x {d}", *cells, *memory)
    Console().print(table)


if __name__ == "__main__":
    main()
