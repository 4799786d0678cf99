"""Fits of many rows: quality and time against the number of rows, the size of the sample, k-means and reading a file.

Times of which a ratio is taken are measured in one process, one after the other; whatever needs its own peak of memory
runs in a process of its own. Memory is read from Linux.

    python benchmarks/scale.py --only million
    python benchmarks/scale.py --big            # ten million rows in a file as well
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.preprocessing import StandardScaler

from altclust import KDAC, Settings, tune
from altclust.base.backend import Array
from altclust.core.initialization import random_start
from altclust.core.metrics import nmi
from altclust.core.solvers import subspace_distance
from altclust.core.solvers.grassmann import orthonormal
from altclust.data.opening import open_rows
from altclust.datasets import views
from altclust.search.heuristics import median_distance
from zoo import SINGLE, folder, large_pair

BLOCK = 4096  # rows that are generated at once
NAMES = tuple(name for name in SINGLE if name not in ("movement_libras", "wdbc"))  # with enough rows
PAIRS = [(a, b) for (i, a), (j, b) in product(enumerate(NAMES), repeat=2) if (i - j) % len(NAMES) in (2, 3)]
WIDTHS = (0.15, 0.25, 0.5, 1.0, 2.0)  # σ over the median distance


def fill(X: Array, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Write rows to X block by block; return the given and the hidden clusters.

    Two independent clusterings of three clusters, each in two columns (centres on a circle of radius 4, unit noise),
    and noise in all others; of unit variance, then rotated.
    """
    n, d = X.shape
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.standard_normal((d, d)))[0]
    angles = 2 * np.pi * np.arange(3) / 3
    centres = 4 * np.column_stack([np.cos(angles), np.sin(angles)])
    given, hidden = rng.integers(0, 3, (2, n), dtype=np.int8)
    for i in range(0, n, BLOCK):
        rows = rng.standard_normal((min(BLOCK, n - i), d))
        rows[:, :2] += centres[given[i : i + BLOCK]]
        rows[:, 2:4] += centres[hidden[i : i + BLOCK]]
        rows[:, :4] /= 3  # variance 1 of the noise and 16 / 2 of the centres
        X[i : i + BLOCK] = rows @ rotation
    return given, hidden


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and its seconds."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = work()
    return found, time.perf_counter() - start


def million(n: int = 1_000_000, d: int = 20) -> Iterator[str]:
    """In fits of KMeans(n_init=1), with k told and with nothing set."""
    yield "| table | set | k-means | ratio | NMI | overlap |"
    for seed in range(3):
        X = np.empty((n, d))
        given, hidden = fill(X, seed)
        _, unit = timed(lambda X=X: KMeans(3, n_init=1, random_state=0).fit(X))
        for fixed in ({"n_clusters": 3}, {}):
            model, seconds = timed(lambda X=X, given=given, f=fixed: KDAC(random_state=0, **f).fit(X, given))
            quality = f"{nmi(model.labels_, hidden):.4f} | {model.overlap_:.0e}"
            yield f"| {seed} | {'k' if fixed else 'nothing'} | {unit:.2f} s | {seconds / unit:.1f} | {quality} |"


def sizes() -> Iterator[str]:
    """Pairs of real tables with 2,800, 6,000 and 20,000 rows, nothing set: NMI and seconds."""
    numbers, found = (2800, 6000, 20_000), []
    yield f"| pair | {' | '.join(f'{n:,} rows: NMI, seconds' for n in numbers)} |"
    for first, second in PAIRS:
        task, row = large_pair(first, second, 0, max(numbers)), []
        for n in numbers:
            model, seconds = timed(lambda t=task, n=n: KDAC(random_state=0).fit(t.X[:n], t.given[:n]))
            row.append((nmi(model.labels_, task.truth[:n]), seconds))
        found.append(row)
        yield f"| {task.family} | {' | '.join(f'{q:.3f}, {s:.1f}' for q, s in row)} |"
    means = np.mean(found, axis=0)
    yield f"| mean | {' | '.join(f'{q:.3f}, {s:.1f}' for q, s in means)} |"


def sample(n: int = 60_000, seeds: int = 3) -> Iterator[str]:
    """The size of the sample, from the same search: NMI, distance of the directions to those of 30,000 rows, seconds.

    Once with what is used, the pull of the search times 400 / m for m rows, and once with the whole pull.
    """
    numbers, whole, found = (400, 1000, 3000, 10_000, 30_000), (3000, 10_000), []
    yield f"| table | {' | '.join(f'{m:,}' for m in numbers)} | {' | '.join(f'{m:,}, whole pull' for m in whole)} |"
    tables = []
    for seed, spread in product(range(2), (0.0, 0.35)):
        X = np.empty((n, 20))
        given, hidden = fill(X, seed)
        X += spread * np.random.default_rng(seed).standard_normal(X.shape)
        tables.append((f"planted, {spread} more noise", X, given, hidden))
    pairs = (large_pair(a, b, 0, n) for a, b in PAIRS)
    tables += [(t.family, t.X, t.given, t.truth) for t in pairs]
    for name, X, given, hidden in tables:
        k, rows = len(np.unique(hidden)), []
        for seed in range(seeds):
            start = tune(X[:3000], given[:3000], n_clusters=k).settings
            fits = []
            for m, loose in [(m, True) for m in numbers] + [(m, False) for m in whole]:
                pull = start.pull * 3000 / (m if loose else 400)
                model = KDAC(settings=replace(start, pull=pull), sample_size=m, random_state=seed)
                fits.append(timed(lambda model=model, X=X, g=given: model.fit(X, g)))
            last = orthonormal(fits[len(numbers) - 1][0].components_.T)
            rows.append(
                [(nmi(m.labels_, hidden), subspace_distance(orthonormal(m.components_.T), last), s) for m, s in fits]
            )
        found.append(np.mean(rows, axis=0))
        yield f"| {name} | {' | '.join(f'{q:.3f}, {w:.2f}, {s:.1f}' for q, w, s in found[-1])} |"
    yield f"| mean | {' | '.join(f'{q:.3f}, {w:.2f}, {s:.1f}' for q, w, s in np.mean(found, axis=0))} |"


def mixed(n: int = 10_000, few: int = 2900) -> Iterator[str]:
    """`altclust find` on a mixed table of 51 columns, and on its first rows."""
    rng, parts = np.random.default_rng(0), []
    for name in ("attrition", "churn"):
        frame = pd.read_csv(folder() / "mixed" / f"{name}.csv")
        parts.append(frame.iloc[rng.integers(len(frame), size=n)].reset_index(drop=True).add_prefix(f"{name}_"))
    table = pd.concat(parts, axis=1)
    with tempfile.TemporaryDirectory() as scratch:
        for m in (few, n):
            file = Path(scratch, f"{m}.csv")
            table.head(m).to_csv(file, index=False)
            command = ["find", str(file), "--given", "churn_contract", "--out", f"{scratch}/{m}", "--quiet"]
            _, seconds = timed(lambda c=command: subprocess.run([sys.executable, "-m", "altclust", *c], check=True))
            yield f"{m:,} x {table.shape[1]}: {seconds:.1f} s"


def grid() -> Iterator[str]:
    """σ, q and k fixed, over widths, starts and k, in fits of SpectralClustering of at most 3,000 of the rows."""
    yield "| rows | k | median ratio | worst ratio | worst case |"
    for n, k in product((300, 1000, 3000, 30_000), (2, 5, 20)):
        data = views(n, ("blobs", "blobs"), (3, k), noise_columns=16, random_state=0)
        X, q = StandardScaler().fit_transform(data.X), min(k, 4)
        unit = median_distance(X, np.random.default_rng(0))
        spectral = SpectralClustering(k, gamma=2 / unit**2, random_state=0)
        seconds = min(timed(lambda X=X, s=spectral: s.fit(X[:3000]))[1] for _ in range(3))
        starts = {"spectral": Settings(), "random": Settings(init="random", n_init=3)}
        start = random_start(X.shape[1], q, np.random.default_rng(0))
        starts |= {"directions": Settings(init=start), "directions, pull 0": Settings(init=start, pull=0.0)}
        ratios = {}
        for (name, chosen), width in product(starts.items(), WIDTHS):
            model = KDAC(k, n_components=q, sigma=width * unit, random_state=0, settings=chosen)
            ratios[f"{name}, σ {width}"] = timed(lambda m=model, X=X, d=data: m.fit(X, d.given))[1] / seconds
        worst = max(ratios, key=ratios.get)
        yield f"| {n:,} | {k} | {np.median([*ratios.values()]):.1f} | {ratios[worst]:.1f} | {worst} |"


def from_file(n: int, d: int = 20) -> Iterator[str]:
    """Rows in a file: peak memory, and seconds beside those of reading the file twice."""
    with tempfile.TemporaryDirectory() as scratch:
        path, labels = f"{scratch}/rows.npy", f"{scratch}/labels.npy"
        X = np.lib.format.open_memmap(path, "w+", np.float64, (n, d))
        given, hidden = fill(X, 0)
        np.save(labels, np.stack([given, hidden]))
        del X
        code = f"import scale; scale.fit_file({path!r}, {labels!r})"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
        )
        yield f"{n:,} rows: {json.loads(done.stdout)}"


def fit_file(path: str, labels: str) -> None:
    """One fit of a file, in a process of its own; prints its figures."""
    given, hidden = np.load(labels)
    rows = open_rows(path)
    assert rows is not None
    _, reading = timed(lambda: [rows.total(_touch) for _ in range(2)])
    model, seconds = timed(lambda: KDAC(3, random_state=0).fit(path, given))
    status = Path("/proc/self/status").read_text()  # of this program; getrusage remembers the one that started it
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e9
    figures = {"seconds": seconds, "reading twice": reading, "peak GB": peak, "NMI": nmi(model.labels_, hidden)}
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def _touch(X: Any, codes: Any) -> tuple[Any]:
    return (X.sum(axis=0),)


def main() -> None:
    items: dict[str, Callable[[], Iterator[str]]] = {
        "million": million,
        "sizes": sizes,
        "sample": sample,
        "mixed": mixed,
        "grid": grid,
        "file": lambda: from_file(1_000_000),
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=items)
    parser.add_argument("--big", action="store_true", help="also ten million rows in a file")
    options = parser.parse_args()
    for name, item in items.items():
        if options.only in (None, name):
            print(f"\n{name}: {item.__doc__ or 'rows in a file'}", flush=True)
            for line in item():
                print(line, flush=True)
    if options.big:
        print(*from_file(10_000_000), sep="\n")


if __name__ == "__main__":
    main()
