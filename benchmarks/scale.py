"""Scaling of fits: time relative to k-means, memory relative to the rows, and exact compared with low-rank results.

Every measurement runs in its own process, so that its peak memory is separate; times of which a ratio is taken are
measured alternately in one process. Memory is read from Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans, SpectralClustering

from altclust import KDAC, tune
from altclust.base.backend import Array
from altclust.base.parallel import fitting_threads
from altclust.core.engines import lowrank
from altclust.core.engines.recipes import Coordinates
from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi
from altclust.data.rows import ArrayRows
from altclust.data.sums import indicator_tables
from altclust.datasets import views
from altclust.models.solving import SampleOptions
from altclust.models.streaming import step_for

BLOCK = 4096  # rows that are generated per block
MB = 1e6
PREVIEW = 200  # characters of a result that are printed during the run
LONGEST = 3600.0  # time limit of one process in seconds
SPECTRAL_SECONDS, SPECTRAL_BYTES = 600.0, 20e9
TILES_BYTES = 256e6
PASS_SIGMAS = {2: 0.22, 3: 0.62}  # by q: some 100 to 250 landmarks
PROBLEMS: tuple[dict[str, Any], ...] = (
    {"shapes": ["blobs", "blobs"]},
    {"shapes": ["blobs", "blobs"], "rotate": True, "noise_columns": 16},
    {"shapes": ["blobs", "blobs"], "clusters": [2, 4]},
    {"shapes": ["blobs", "blobs"], "clusters": [4, 2], "rotate": True},
    {"shapes": ["blobs", "blobs"], "shares": [[0.6, 0.3, 0.1], [0.5, 0.3, 0.2]]},
    {"shapes": ["blobs", "blobs"], "degrees_of_freedom": 5.0},
    {"shapes": ["blobs", "blobs"], "echo": 0.2},
    {"shapes": ["blobs", "moons"]},
    {"shapes": ["moons", "blobs"], "rotate": True},
    {"shapes": ["blobs", "rings"]},
)

Answer = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One measured number and its limit; without a number, `note` says what happened instead."""

    name: str
    value: float | None
    unit: str = ""
    most: float | None = None
    least: float | None = None
    note: str = ""

    @property
    def wanted(self) -> str:
        """The limit."""
        if self.most is not None:
            return f"≤ {self.most:.4g}"
        return "" if self.least is None else f"≥ {self.least:.4g}"

    @property
    def verdict(self) -> str:
        """Whether the number is within the limit, if there is one."""
        if not self.wanted:
            return ""
        if self.value is None:
            return "missed"
        good = self.value <= self.most if self.most is not None else self.value >= (self.least or 0.0)
        return "ok" if good else "missed"

    @property
    def text(self) -> str:
        """The number, its unit and the note."""
        number = "" if self.value is None else f"{self.value:.4g} {self.unit}".strip()
        return f"{number} ({self.note})" if number and self.note else number or self.note


# Data and measurements


def fill(X: Array, seed: int) -> tuple[np.ndarray, np.ndarray, Array]:
    """Write rows to X block by block; return the given and the hidden clusters, and the rotation.

    Two independent clusterings of three clusters, each in two columns (centres on a circle of radius 4, unit noise),
    and noise in all others; of unit variance, then rotated. The original column j is along row j of the rotation.
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
    return given, hidden, rotation


def generate(n: int, d: int, seed: int) -> tuple[Array, np.ndarray, np.ndarray]:
    X = np.empty((n, d))
    given, hidden, _ = fill(X, seed)
    return X, given, hidden


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def resident() -> float:
    """Bytes in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * float(resource.getpagesize())


def peak() -> float:
    """Maximum of the bytes in memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def plain(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of KDAC as JSON types."""
    return {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in parameters.items()}


def fixed(parameters: dict[str, Any], **others: Any) -> KDAC:
    known = parameters | others
    start = known["init"]
    return KDAC(**known | {"init": start if isinstance(start, str) else np.asarray(start)}, random_state=0)


def described(model: KDAC, hidden: np.ndarray) -> Answer:
    """The result of a fit; `rounds` has the number of rows of each round."""
    rounds = model.history_.get("rows", np.full(model.n_iter_, len(hidden)))
    found = {"nmi": nmi(model.labels_, hidden), "overlap": model.overlap_, "engine": model.engine_}
    return found | {"status": model.status_, "sigma": model.sigma_, "q": model.n_components_, "rounds": rounds.tolist()}


def exponent(sizes: list[float], times: list[float]) -> float:
    """The slope of log time against log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


# Workers: each runs in its own process; arguments and results are JSON types


def beside_kmeans(n: int, d: int, seed: int) -> Answer:
    """An automatic fit, one with all parameters fixed and one from a spectral start, with k-means before each."""
    X, given, hidden = generate(n, d, seed)
    kmeans: list[float] = []

    def timed(model: KDAC) -> Answer:
        kmeans.append(seconds(lambda: KMeans(3, n_init=1, random_state=0).fit(X)))
        spent = seconds(lambda: model.fit(X, given))
        return described(model, hidden) | {"seconds": spent}

    automatic = KDAC(3, random_state=0)
    answers = {"automatic": timed(automatic)}
    parameters = automatic.tuning_.parameters
    answers["fixed"] = timed(fixed(parameters))
    answers["cold"] = timed(fixed(parameters, init="spectral"))
    return answers | {"kmeans": float(np.median(kmeans)), "parameters": plain(parameters)}


def memory_of_fit(n: int, d: int, seed: int) -> Answer:
    """Peak memory of an automatic fit, and the memory before it."""
    bare = resident()
    X, given, _ = generate(n, d, seed)
    before = resident()
    KDAC(3, random_state=0).fit(X, given)
    return {"bare": bare, "before": before, "peak": peak(), "rows": X.nbytes}


def search(n: int, d: int, seed: int) -> Answer:
    X, given, _ = generate(n, d, seed)
    return {"parameters": plain(tune(X, given, n_clusters=3, random_state=0).parameters)}


def one_size(n: int, d: int, seed: int, parameters: dict[str, Any] | None) -> Answer:
    """An automatic fit, one with these parameters, their memory, and k-means."""
    X, given, hidden = generate(n, d, seed)
    before = resident()
    answer: Answer = {"n": n, "d": d, "before": before, "rows": X.nbytes}
    if parameters is not None:
        model = fixed(parameters)
        answer["fixed"] = float(np.median([seconds(lambda: model.fit(X, given)) for _ in range(3)]))
        answer["of fixed"] = described(model, hidden)
    free = KDAC(3, random_state=0)
    answer["automatic"] = seconds(lambda: free.fit(X, given))
    answer |= {"peak": peak(), "of automatic": described(free, hidden)}
    answer["kmeans"] = float(np.median([seconds(lambda: KMeans(3, n_init=1, random_state=0).fit(X)) for _ in range(3)]))
    return answer


def pass_and_products(n: int, d: int, q: int, seed: int) -> Answer:
    """Each sum of the low-rank engine, and its matrix products alone, over blocks of the same shapes."""
    X = np.empty((n, d))
    given, _, rotation = fill(X, seed)
    rows, clusters = ArrayRows(X).encode(given)
    coordinates = Coordinates(X.mean(axis=0), [], None)
    tables = indicator_tables([np.bincount(given)], "balanced")
    pivoted = rows.codes[: SampleOptions().pivoted]
    sample = coordinates(X[: len(pivoted)], pivoted)
    step = step_for(None, d, clusters[0] + tables[0].shape[1], X.itemsize)
    rng = np.random.default_rng(seed)
    kernel = Gaussian(PASS_SIGMAS[q])
    engine = lowrank.LowRankEngine(rows, coordinates, kernel, sample, pivoted, tables, step=step, rng=rng)
    W = rotation[2 : 2 + q].T
    embedding = engine.embed(W, clusters[0])
    gamma = engine.weigh(embedding, embedding.degrees, 1.0)
    r, m, every = len(engine.landmarks), len(gamma.s), max(1, n // lowrank.MEASURED)
    small = rng.standard_normal((r, m))
    cloud, moved = engine._cloud(W, gamma), engine._cloud(np.linalg.qr(W + 0.01 * rng.standard_normal((d, q)))[0])
    gram_args = (cloud, tables, embedding.map.weights, np.eye(r), every)
    products = Products(rng, step, d, q, r, clusters[0], m, every)

    def round_of_fit() -> None:
        engine._embedded, engine._last = None, None
        found = engine.embed(W, clusters[0])
        engine.value_and_phi(W, engine.weigh(found, found.degrees, 1.0))

    def round_of_products() -> None:
        for each in (products.kernel, products.gram, products.phi):
            rows.total(each, step=step)

    def total(function: Callable[..., tuple], *args: Any) -> Callable[[], object]:
        return lambda: rows.total(function, *args, step=step)

    pairs = {
        "value": (total(lowrank._value_sums, moved, gamma), total(products.value)),
        "Φ": (total(lowrank._phi_sums, cloud, gamma, small), total(products.phi)),
        "Gram": (total(lowrank._gram_sums, *gram_args), total(products.gram)),
        "round": (round_of_fit, round_of_products),
    }
    answer: Answer = {"landmarks": r, "q": q, "step": step}
    with fitting_threads(d):  # as in a fit
        for name, pair in pairs.items():
            times = [[seconds(work) for work in pair] for _ in range(5)]
            answer[name] = np.median(times, axis=0).tolist()
    return answer


class Products:
    """The matrix products of each sum alone, on random operands of one block."""

    def __init__(self, rng: np.random.Generator, step: int, d: int, q: int, r: int, k: int, m: int, every: int) -> None:
        draw = rng.standard_normal
        self.rows, self.W = draw((step, d)), draw((d, q))
        self.lifted, self.landmarks = draw((step, q + 2)), draw((r, q + 2))
        self.C, self.F, self.given = draw((step, r)), draw((step, m)), draw((step, m - k))
        self.coefficients, self.pull, self.weights = draw((r, k + 1)), draw((r, m)), draw((r, 1))
        self.whiten, self.crossed, self.every = draw((r, r)), draw((step, m * d)), every

    def kernel(self, X: Any, codes: Any) -> tuple[Array]:
        """Projections of the rows, and exponents of the kernel."""
        b = len(X)
        Z = self.rows[:b] @ self.W
        return ((self.lifted[:b] @ self.landmarks.T)[0] + Z[0, 0],)

    def value(self, X: Any, codes: Any) -> tuple[Array, Array]:
        """At another W than that of the U step, where the kernel is computed twice."""
        b = len(X)
        sums = self.kernel(X, codes)[0] + self.kernel(X, codes)[0]
        U = self.C[:b] @ self.coefficients
        return self.C[:b].T @ self.F[:b], sums + U[0, 0]

    def phi(self, X: Any, codes: Any) -> tuple[Array, Array, Array]:
        """At the W of the U step."""
        b = len(X)
        (sums,) = self.kernel(X, codes)
        U, pulled = self.C[:b] @ self.coefficients, self.C[:b] @ self.pull
        spread = self.rows[:b].T @ self.other_rows(b)
        return spread, self.crossed[:b].T @ self.C[:b], sums + U[0, 0] + pulled[0, 0]

    def other_rows(self, b: int) -> Array:
        """Other rows than `rows`, because a product with itself would take half the time."""
        return self.crossed[:b, : self.rows.shape[1]]

    def gram(self, X: Any, codes: Any) -> tuple[Array, Array, Array]:
        """Of the U step."""
        b = len(X)
        C = self.C[:b]
        (sums,) = self.kernel(X, codes)
        degrees, kept = C @ self.weights, C[:: self.every] @ self.whiten
        return C.T @ C, C.T @ self.given[:b], sums + degrees[0, 0] + kept[0, 0]


def tiles(n: int, d: int, seed: int, parameters: dict[str, Any]) -> Answer:
    X, given, hidden = generate(n, d, seed)
    model = fixed(parameters, engine="tiles", memory_limit=TILES_BYTES)
    spent = seconds(lambda: model.fit(X, given))
    return {"seconds": spent, "peak": peak(), "nmi": nmi(model.labels_, hidden), "rounds": model.n_iter_}


def spectral(n: int, d: int, seed: int) -> Answer:
    """scikit-learn's SpectralClustering with a memory limit."""
    resource.setrlimit(resource.RLIMIT_AS, (int(SPECTRAL_BYTES), int(SPECTRAL_BYTES)))
    X, *_ = generate(n, d, seed)
    spent = seconds(lambda: SpectralClustering(3, affinity="rbf", random_state=0).fit(X))
    return {"seconds": spent, "peak": peak()}


def dense_and_lowrank(n: int, problem: int, seed: int) -> Answer:
    """The same fit by two engines."""
    data = views(n, random_state=seed + problem, **PROBLEMS[problem])
    k = len(np.unique(data.alternative))
    parameters = tune(data.X, data.given, n_clusters=k, random_state=0).parameters
    exact = fixed(parameters, engine="dense")
    close = fixed(parameters, engine="lowrank")
    spent = [seconds(lambda: exact.fit(data.X, data.given)), seconds(lambda: close.fit(data.X, data.given))]
    truth = [nmi(model.labels_, data.alternative) for model in (exact, close)]
    return {"nmi": nmi(exact.labels_, close.labels_), "truth": truth, "seconds": spent, "engine": close.engine_}


def write(n: int, d: int, seed: int, folder: str) -> Answer:
    X = np.lib.format.open_memmap(f"{folder}/rows.npy", mode="w+", dtype=np.float32, shape=(n, d))
    given, hidden, _ = fill(X, seed)
    X.flush()
    np.save(f"{folder}/given.npy", given)
    np.save(f"{folder}/hidden.npy", hidden)
    return {"bytes": X.nbytes}


def from_file(folder: str) -> Answer:
    """An automatic fit of rows in a file."""
    given = np.load(f"{folder}/given.npy")
    before = resident()
    model = KDAC(3, random_state=0)
    spent = seconds(lambda: model.fit(f"{folder}/rows.npy", given))
    most = peak()
    truth = nmi(model.labels_, np.load(f"{folder}/hidden.npy"))
    return {"seconds": spent, "peak": most, "before": before, "nmi": truth, "engine": model.engine_}


def on_workers(folder: str) -> Answer:
    """An automatic fit on four worker processes, which read the file themselves; memory is that of the client."""
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    path = f"{folder}/rows.npy"
    n, d = np.load(path, mmap_mode="r").shape
    given = np.load(f"{folder}/given.npy")

    def read(block_info: Any = None) -> Array:
        (start, stop), _ = block_info[None]["array-location"]
        return np.array(np.load(path, mmap_mode="r")[start:stop])

    chunks = (tuple(len(part) for part in np.array_split(np.arange(n), 32)), (d,))
    with LocalCluster(4, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, Client(cluster):
        X = da.map_blocks(read, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), dtype=np.float32))
        model = KDAC(3, random_state=0)
        labels = da.from_array(given, chunks=chunks[0])
        spent = seconds(lambda: model.fit(X, labels))
        most, found = peak(), np.asarray(model.labels_)
    local = KDAC(3, engine="lowrank", random_state=0).fit(path, given)
    return {"n": n, "seconds": spent, "peak": most, "agreement": nmi(found, local.labels_), "overlap": model.overlap_}


WORKERS: dict[str, Callable[..., Answer]] = {
    work.__name__: work
    for work in (
        beside_kmeans,
        memory_of_fit,
        search,
        one_size,
        pass_and_products,
        tiles,
        spectral,
        dense_and_lowrank,
        write,
        from_file,
        on_workers,
    )
}


def run(work: Callable[..., Answer], limit: float = LONGEST, **arguments: Any) -> Answer:
    """The result of a worker in a new interpreter; {"error": ...} if it failed."""
    command = [sys.executable, __file__, "--worker", work.__name__, json.dumps(arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"error": f"not finished after {limit:g} s"}
    if done.returncode == 0:
        answer = done.stdout.splitlines()[-1]
        print(f"{work.__name__}: {answer[:PREVIEW]}", file=sys.stderr, flush=True)
        return json.loads(answer)
    sys.stderr.write(done.stderr)
    lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
    return {"error": lines[-1] if done.returncode > 0 else f"killed by signal {-done.returncode}"}


# Items: each runs workers and turns their results into figures

Item = tuple[list[Figure], list[Answer]]


def failures(answers: list[Answer]) -> list[Figure]:
    return [Figure("failed", None, note=answer["error"]) for answer in answers if "error" in answer]


def without_failures(answers: list[Answer]) -> list[Answer]:
    return [answer for answer in answers if "error" not in answer]


def million(options: argparse.Namespace) -> Item:
    """A table of a million rows, compared with k-means."""
    figures: list[Figure] = []
    n, seeds = options.rows, range(options.seed, options.seed + options.seeds)
    answers = [run(beside_kmeans, n=n, d=20, seed=seed) for seed in seeds]
    whole = without_failures(answers)
    for answer in whole:
        figures += [
            Figure("k-means", answer["kmeans"], "s"),
            *(
                Figure(f"{kind}, NMI", answer[kind]["nmi"], note=f"{answer[kind]['seconds']:.3g} s")
                for kind in ("automatic", "fixed", "cold")
            ),
            Figure("automatic, overlap", answer["automatic"]["overlap"]),
        ]
    for kind, most in (("automatic", 30.0), ("fixed", 10.0), ("cold", None)):
        ratios = [answer[kind]["seconds"] / answer["kmeans"] for answer in whole]
        each = ", ".join(f"{ratio:.3g}" for ratio in ratios)
        figures += (
            [Figure(f"{kind} / k-means, median", float(np.median(ratios)), most=most, note=each)] if ratios else []
        )
    memory = [run(memory_of_fit, n=n, d=20, seed=seed) for seed in seeds]
    for answer in without_failures(memory):
        note = f"rows {answer['rows'] / MB:.0f}, before the fit {answer['before'] / MB:.0f}"
        added = (answer["peak"] - answer["before"]) / MB
        figures += [
            Figure("peak memory", answer["peak"] / MB, "MB", most=answer["rows"] / MB + 700, note=note),
            Figure("peak memory minus memory before", added, "MB", most=700.0),
        ]
    return figures + failures(answers + memory), answers + memory


def growth_with_rows(options: argparse.Namespace) -> Item:
    sizes = [options.rows // 10, int(options.rows / 10**0.5), options.rows]
    found = run(search, n=sizes[0], d=20, seed=options.seed)
    if "error" in found:
        return failures([found]), [found]
    answers = [run(one_size, n=n, d=20, seed=options.seed, parameters=found["parameters"]) for n in sizes]
    whole = without_failures(answers)
    figures = [
        Figure(f"{kind}, {answer['n']} rows", answer[kind], "s", note=f"{answer[kind] / answer['kmeans']:.3g} k-means")
        for kind in ("fixed", "automatic")
        for answer in whole
    ]
    figures += [
        Figure(f"{kind}, NMI, {answer['n']} rows", answer[f"of {kind}"]["nmi"])
        for kind in ("fixed", "automatic")
        for answer in whole
    ]
    if len(whole) > 1:
        n = [answer["n"] for answer in whole]
        for kind, most in (("fixed", 1.1), ("automatic", 1.1), ("kmeans", None)):
            times = [answer[kind] for answer in whole]
            last = f"{exponent(n[-2:], times[-2:]):.3g} between the two largest"
            figures.append(Figure(f"{kind}, exponent", exponent(n, times), most=most, note=last))
    return figures + failures(answers), answers


def growth_with_columns(options: argparse.Namespace) -> Item:
    n = options.rows // 100
    answers = [run(one_size, n=n, d=d, seed=options.seed, parameters=None) for d in options.columns]
    whole = without_failures(answers)
    figures = [
        Figure(
            f"automatic, {answer['d']} columns",
            answer["automatic"],
            "s",
            note=f"NMI {answer['of automatic']['nmi']:.3f}",
        )
        for answer in whole
    ]
    if len(whole) > 1:
        slope = exponent([answer["d"] for answer in whole], [answer["automatic"] for answer in whole])
        figures.append(Figure("automatic, exponent", slope, most=1.3))
    return figures + failures(answers), answers


def one_pass(options: argparse.Namespace) -> Item:
    """One pass over the rows, compared with its matrix products alone."""
    answers = [run(pass_and_products, n=options.rows // 5, d=20, q=q, seed=options.seed) for q in PASS_SIGMAS]
    figures = []
    for answer in without_failures(answers):
        for name in ("value", "Φ", "Gram", "round"):
            ours, products = answer[name]
            what = f"{name} / products, q = {answer['q']}, {answer['landmarks']} landmarks"
            note = f"{ours * 1e3:.0f} / {products * 1e3:.0f} ms"
            figures.append(Figure(what, ours / products, most=2.0, note=note))
    return figures + failures(answers), answers


def exact_in_tiles(options: argparse.Namespace) -> Item:
    where = {"n": options.rows // 20, "d": 20, "seed": options.seed}
    found = run(search, **where)
    ours = run(tiles, **where, parameters=found["parameters"]) if "error" not in found else found
    theirs = run(spectral, limit=SPECTRAL_SECONDS, **where)
    figures = failures([ours])
    if not figures:
        figures = [
            Figure("tiles", ours["seconds"], "s", note=f"{ours['rounds']} rounds"),
            Figure("tiles, peak memory", ours["peak"] / MB, "MB", most=1000.0),
            Figure("tiles, NMI", ours["nmi"]),
        ]
    name = "SpectralClustering"
    if "error" in theirs:
        figures.append(Figure(name, None, note=theirs["error"]))
    else:
        figures.append(Figure(name, theirs["seconds"], "s", note=f"{theirs['peak'] / MB:.0f} MB"))
    return figures, [ours, theirs]


def agreement(options: argparse.Namespace) -> Item:
    """Labels of the dense and of the low-rank engine."""
    n = options.rows // 200
    answers = [run(dense_and_lowrank, n=n, problem=i, seed=options.seed) for i in range(len(PROBLEMS))]
    figures = []
    for problem, answer in zip(PROBLEMS, answers, strict=True):
        name = ", ".join(f"{key} {value}" for key, value in problem.items() if key != "shapes")
        name = f"{' and '.join(problem['shapes'])} {name}".strip()
        if "error" in answer:
            figures.append(Figure(name, None, least=0.98, note=answer["error"]))
        else:
            note = "with the truth {:.3f} and {:.3f}; {:.3g} and {:.3g} s".format(*answer["truth"], *answer["seconds"])
            figures.append(Figure(name, answer["nmi"], least=0.98, note=note))
    return figures, answers


def ten_million(options: argparse.Namespace) -> Item:
    """Rows in a file, and a tenth of them."""
    answers = []
    for n in (options.rows, 10 * options.rows):
        with tempfile.TemporaryDirectory() as folder:
            written = run(write, n=n, d=20, seed=options.seed, folder=folder)
            answers.append(written if "error" in written else run(from_file, limit=4 * LONGEST, folder=folder))
    if failed := failures(answers):
        return failed, answers
    few, many = answers
    return [
        Figure(f"{options.rows} rows", few["seconds"], "s", note=f"{few['peak'] / MB:.0f} MB, NMI {few['nmi']:.3f}"),
        Figure(f"{10 * options.rows} rows", many["seconds"], "s"),
        Figure("time ratio for ten times the rows", many["seconds"] / few["seconds"], most=10.0),
        Figure("peak memory", many["peak"] / MB, "MB", most=1500.0, note=f"before the fit {many['before'] / MB:.0f}"),
        Figure("NMI", many["nmi"]),
    ], answers


def cluster(options: argparse.Namespace) -> Item:
    """Dask workers in their own processes, at two sizes."""
    answers = []
    for n in (options.rows // 10, options.rows):
        with tempfile.TemporaryDirectory() as folder:
            written = run(write, n=n, d=20, seed=options.seed, folder=folder)
            answers.append(written if "error" in written else run(on_workers, folder=folder))
    if failed := failures(answers):
        return failed, answers
    figures = [
        Figure(f"{a['n']} rows, NMI with the local labels", a["agreement"], least=0.999, note=f"{a['seconds']:.3g} s")
        for a in answers
    ]
    return figures + [
        Figure(f"{a['n']} rows, peak memory of the client", a["peak"] / MB, "MB") for a in answers
    ], answers


ITEMS: dict[str, Callable[[argparse.Namespace], Item]] = {
    "million": million,
    "growth-n": growth_with_rows,
    "growth-d": growth_with_columns,
    "pass": one_pass,
    "tiles": exact_in_tiles,
    "agreement": agreement,
    "cluster": cluster,
    "ten-million": ten_million,
}


def draw(answers: list[Answer], path: Path) -> None:
    """Time and peak memory against the number of rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullLocator

    n = [answer["n"] for answer in answers]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
    for kind, name in (("automatic", "KDAC, automatic"), ("fixed", "KDAC, all fixed"), ("kmeans", "k-means")):
        times = [answer[kind] for answer in answers]
        style = "--" if kind == "kmeans" else "-"
        left.loglog(n, times, style, marker="o", label=f"{name}: n^{exponent(n, times):.2f}")
    left.set(xlabel="rows", ylabel="seconds")
    for kind, name in (("peak", "peak of the process"), ("before", "before the fit"), ("rows", "rows alone")):
        style = "-" if kind == "peak" else "--"
        right.loglog(n, [answer[kind] / MB for answer in answers], style, marker="o", label=name)
    right.set(xlabel="rows", ylabel="MB")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xticks(n, [f"{size:,}" for size in n])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), frameon=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def keep(path: Path, item: str, options: argparse.Namespace, figures: list[Figure], answers: list[Answer]) -> None:
    """Add an item to the results of earlier runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    listed = [asdict(figure) | {"verdict": figure.verdict} for figure in figures]
    known[item] = {"rows": options.rows, "seed": options.seed, "load": os.getloadavg()[0]}
    known[item] |= {"figures": listed, "answers": answers}
    path.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")


def tabulate(item: str, figures: list[Figure]) -> Table:
    table = Table(title=item)
    for column, side in (("figure", "left"), ("value", "right"), ("wanted", "right"), ("", "left")):
        table.add_column(column, justify=side)
    for figure in figures:
        table.add_row(figure.name, figure.text, figure.wanted, figure.verdict)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=ITEMS, metavar="NAME", help=", ".join(ITEMS))
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the largest table; others in proportion")
    parser.add_argument("--big", action="store_true", help="also fit ten times as many rows in a file")
    parser.add_argument("--columns", type=int, nargs="+", default=[64, 256, 1024, 4096], help="columns of growth-d")
    parser.add_argument("--seed", type=int, default=0, help="seed of the data")
    parser.add_argument("--seeds", type=int, default=3, help="number of tables of the first item")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out/scale"), help="path without extension")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        warnings.simplefilter("ignore")
        name, arguments = options.worker
        print(json.dumps(WORKERS[name](**json.loads(arguments))))
        return
    for item in options.only or [name for name in ITEMS if name != "ten-million" or options.big]:
        figures, answers = ITEMS[item](options)
        keep(options.out.with_suffix(".json"), item, options, figures, answers)
        Console(width=140).print(tabulate(item, figures))
        if item == "growth-n" and len(without_failures(answers)) > 1:
            draw(without_failures(answers), options.out.with_suffix(".png"))


if __name__ == "__main__":
    main()
