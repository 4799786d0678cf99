"""altclust and its peers on the same tables with the same seeds, each fit in a child process with limits.

Quality: ClustPy's tables with several labelings, real tables with several labels, pairs and triples of real tables.
Scale: planted tables of 1e4 to 1e7 rows, the last from a file, and pairs of real tables of 1e6; a method is tried until
it fails. `make race` runs all of it in about an hour on two cores and writes the tables and picture of docs/race.md.
Every finished fit is a line of the results file, and an interrupted run goes on.

    python benchmarks/race.py --every 4 --largest 100000    # a quarter of the tables, no large ones
    python benchmarks/race.py --report                      # only write the page
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

import zoo
from altclust.models.worker import Cancelled, Ended, TooLate, Worker
from peers import METHODS, measure, prepare
from scale import fill
from tasks import SeveralTask, Task, supervised

PAGE = Path(__file__).parents[1] / "docs" / "race.md"
PICTURE = PAGE.parent / "images" / "race.svg"
BEGIN, END = "<!-- results: made by `make race` -->\n", "<!-- end of results -->"
GROUPS = ("ClustPy", "natural", "labelled", "pairs", "triples")
CLUSTPY = {"aloi_small": 2, "fruit": 2, "stickfigures": 2, "nrLetters": 3}  # leading columns that are labels
SEEDS = range(20, 23)  # of pairs
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
IN_FILE = 10_000_000  # rows from which the table is not brought to memory
PAIRED = 1_000_000  # rows of the pairs of real tables
LARGE_PAIRS = (("ring", "texture"), ("texture", "wdbc"), ("wdbc", "ring"))  # the tables of `pairs` but the widest
COLUMNS = 20
LIMIT = 60.0  # seconds of processor time of one fit
PATIENCE = 1200.0  # seconds that it may take on a busy machine
MEMORY = 8 << 30  # bytes that one fit may allocate
CORES = 2
OURS = ("altclust, k told", "altclust")
SUPERVISED = "linear discriminant, supervised"


def clustpy_tables() -> Iterator[SeveralTask]:
    """The tables with several labelings that are files of ClustPy, with each labeling given in turn."""
    folder = Path(find_spec("clustpy").submodule_search_locations[0]) / "data" / "datasets"  # its loaders need more
    for name, count in CLUSTPY.items():
        table = np.genfromtxt(folder / f"{name}.data", delimiter=",")
        labels, X = table[:, :count].astype(int), table[:, count:]
        X = StandardScaler().fit_transform(X[:, X.std(axis=0) > 0])
        for i in range(count):
            truths = {f"label {j + 1}": labels[:, j] for j in range(count) if j != i}
            yield SeveralTask(f"{name}: label {i + 1} given", 0, X, labels[:, [i]], truths)


def quality_tasks(groups: Sequence[str]) -> list[tuple[str, SeveralTask]]:
    """Group and task; half of the labelled tables and triples, for time; aloi and fruit are in the group of ClustPy."""
    found: list[tuple[str, SeveralTask | Task]] = []
    if "ClustPy" in groups:
        found += [("ClustPy", task) for task in clustpy_tables()]
    if "natural" in groups:
        found += [("natural", task) for name in zoo.NATURAL for task in zoo.natural(name)]
    if "labelled" in groups:
        rest = [name for name in zoo.LABELLED if name not in ("aloi", "fruit")]
        found += [("labelled", task) for name in rest for task in zoo.labelled(name)[::2]]
    if "pairs" in groups:
        found += [("pairs", task) for task in zoo.pairs(False, SEEDS)]
    if "triples" in groups:
        found += [("triples", task) for task in zoo.triples(False, range(1))[::2]]
    return [(group, one if isinstance(one, SeveralTask) else one.as_several()) for group, one in found]


class Results:
    """The results file: one line per fit."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def has(self, **key: Any) -> bool:
        """Whether there is a record with these values."""
        return any(all(record.get(name) == value for name, value in key.items()) for record in self.records)

    def failed(self, method: str, n: int) -> bool:
        """Whether a method has failed with n planted rows or fewer."""
        planted = [r for r in self.records if r["group"] == "scale" and r["method"] == method]
        return any("failure" in r for r in planted if r["rows"] <= n)

    def add(self, record: dict[str, Any]) -> None:
        """Append a record."""
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            self.records.append(record)
            file.write(json.dumps(record) + "\n")
        result = record.get("failure") or f"{record['nmi']:.3f}, {record.get('seconds', 0):.1f} s"
        print(f"{record['group']}, {record['task']}, {record['method']}: {result}", flush=True)


def limited(worker: Worker, name: str, *asked: Any) -> dict[str, Any]:
    """What `measure` returns, or why the process was ended."""
    try:
        pid, used = worker.ask(prepare, name, MEMORY, timeout=PATIENCE, cancelled=lambda: False)
        return worker.ask(measure, name, *asked, timeout=PATIENCE, cancelled=lambda: processor(pid) - used > LIMIT)
    except (TooLate, Cancelled):
        return {"failure": "time"}
    except Ended:
        return {"failure": "memory", "why": "The process ended."}


def processor(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    with suppress(OSError):  # it has ended
        used = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")
    return 0.0


def at_once(jobs: Iterable[Callable[[], None]]) -> None:
    """Run jobs on all cores, in their order."""
    with ThreadPoolExecutor(CORES) as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result()


def run_quality(results: Results, groups: Sequence[str], every: int, methods: Sequence[str]) -> None:
    """Every method on every table."""
    tables = quality_tasks(groups)
    kept = {group: [task for one, task in tables if one == group][::every] for group in groups}

    def reference(group: str) -> None:
        for task in kept[group]:
            key = {"group": group, "task": task.family, "seed": task.seed, "method": SUPERVISED}
            if not results.has(**key):
                told = float(np.mean([supervised(task.hiding(name)) for name in task.truths]))
                results.add(key | {"nmi": told})

    def race(name: str, group: str) -> None:
        worker, too_slow = Worker(), []
        for task in kept[group]:
            key = {"group": group, "task": task.family, "seed": task.seed, "method": name}
            if results.has(**key) or (len(task.truths) > 1 and not METHODS[name].several):
                continue
            if METHODS[name].told == "nothing" and any(X is task.X for X in too_slow):  # the same fit again
                found = {"failure": "time"}
            else:
                found = limited(worker, name, task.X, task.given, list(task.truths.values()), task.seed)
            if found.get("failure") == "time":
                too_slow.append(task.X)
            results.add(key | found)
        worker.end()

    at_once(partial(reference, group) for group in groups)
    at_once(partial(race, name, group) for name in methods for group in groups)


def run_scale(results: Results, largest: int, methods: Sequence[str]) -> None:
    """Planted tables of every size, and pairs; a method that failed with no more planted rows is not tried."""
    for n in (size for size in SIZES if size <= largest):
        for seed in range(1 if n >= IN_FILE else 2):
            with tempfile.TemporaryDirectory() as scratch:
                path = f"{scratch}/rows.npy"
                X = np.lib.format.open_memmap(path, "w+", np.float64, (n, COLUMNS))
                given, hidden = fill(X, seed)
                del X
                rows = path if n >= IN_FILE else np.load(path)
                _race_large(results, Task(f"{n:,} rows", seed, rows, given[:, None], hidden), "scale", methods)
        for first, second in LARGE_PAIRS if n == PAIRED else ():
            _race_large(results, zoo.large_pair(first, second, SEEDS[0], n), "large pairs", methods)


def _race_large(results: Results, task: Task, group: str, methods: Sequence[str]) -> None:
    def race(name: str) -> None:
        key = {"group": group, "task": task.family, "seed": task.seed, "method": name}
        if results.failed(name, len(task.truth)) or results.has(**key):
            return
        worker = Worker()
        found = limited(worker, name, task.X, task.given, [task.truth], task.seed)
        results.add(key | {"rows": len(task.truth)} | found)
        worker.end()

    at_once(partial(race, name) for name in methods)


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is the head."""
    head, *rest = rows
    lines = [head, [":--"] + ["--:"] * (len(head) - 1), *rest]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float, digits: int = 2) -> str:
    """A number, or a dash."""
    return "–" if value is None or np.isnan(value) else f"{value:.{digits}f}"


def frame(records: list[dict[str, Any]], groups: Sequence[str]) -> pd.DataFrame:
    """All fits of some groups: a failure has an NMI of 0."""
    columns = ["group", "task", "seed", "method", "nmi", "failure", "overlap", "k right", "seconds", "memory"]
    table = pd.DataFrame([r for r in records if r["group"] in groups], columns=columns)
    table.loc[table["failure"].notna(), "nmi"] = 0.0
    return table


def names() -> list[str]:
    """Methods in the order of the tables."""
    return [*METHODS, SUPERVISED]


def told(name: str) -> str:
    """What a method is told."""
    return METHODS[name].told if name in METHODS else "the labels"


def quality_table(table: pd.DataFrame) -> str:
    """Mean NMI for every method and group, and what it takes."""
    groups = [group for group in GROUPS if (table["group"] == group).any()]
    sizes = {group: table.loc[table["group"] == group, ["task", "seed"]].drop_duplicates().shape[0] for group in groups}
    head = ["method", "told", *(f"{group} ({sizes[group]})" for group in groups)]
    rows = [[*head, "overlap", "k right", "seconds", "MB", "failed"]]
    for name in names():
        mine = table[table["method"] == name]
        if mine.empty:
            continue
        means = []
        for group in groups:
            values = mine.loc[mine["group"] == group, "nmi"]
            means.append(number(values.mean()) + (f" ({len(values)})" if 0 < len(values) < sizes[group] else ""))
        cost = [number(mine["seconds"].median(), 1), number(mine["memory"].max() / 1e6, 0)]
        failed = str(int(mine["failure"].notna().sum()))
        rows.append(
            [name, told(name), *means, *(number(mine[c].mean()) for c in ("overlap", "k right")), *cost, failed]
        )
    return markdown(rows)


def each_table(table: pd.DataFrame) -> str:
    """Mean NMI for every method and table of a group, and what it takes."""
    mine = table.assign(name=lambda t: t["task"].str.split(":").str[0])
    tables = list(dict.fromkeys(mine["name"]))
    means = mine.groupby(["method", "name"])["nmi"].mean()
    failed = mine[mine["failure"].notna()].groupby(["method", "name"])["failure"].first()
    cost = mine.groupby("method").agg({"seconds": "mean", "memory": "max"})
    rows = [["method", *tables, "seconds", "GB"]]
    for name in names():
        if name in cost.index:
            cells = [failed.get((name, one)) or number(means.get((name, one), np.nan)) for one in tables]
            rows.append([name, *cells, number(cost["seconds"][name], 1), number(cost["memory"][name] / 1e9)])
    return markdown(rows)


def scale_table(records: list[dict[str, Any]]) -> str:
    """NMI, seconds and memory for every method and number of rows: means of the tables, and the largest memory."""
    mine = [r for r in records if r["group"] == "scale"]
    sizes = sorted({r["rows"] for r in mine})
    out = [["method", *(f"{rows:,} rows" for rows in sizes)]]
    for name in METHODS:
        cells = []
        for rows in sizes:
            found = pd.DataFrame([r for r in mine if r["method"] == name and r["rows"] == rows])
            if found.empty:
                cells.append("–")
            elif "failure" in found:
                cells.append(f"failed: {found['failure'].dropna().iloc[0]}")
            else:
                quality, seconds, peak = found["nmi"].mean(), found["seconds"].mean(), found["memory"].max() / 1e9
                cells.append(f"{quality:.3f}, {seconds:.1f} s, {peak:.2f} GB")
        out.append([name, *cells])
    return markdown(out)


def in_fits_of_kmeans(records: list[dict[str, Any]]) -> str:
    """How long a million rows take, in units of one start of k-means."""
    million = pd.DataFrame([r for r in records if r["group"] == "scale" and r["rows"] == 1_000_000])
    seconds = million.groupby("method")["seconds"].mean() if len(million) else {}
    if not {"KMeans", *OURS} <= set(dict(seconds)):
        return ""
    told, auto = (f"{seconds[name] / seconds['KMeans']:.1f}" for name in OURS)
    return f"With a million rows, altclust takes {told} fits of KMeans with one start if k is told, and {auto} if not."


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Median seconds and mean NMI over the groups: tables with one hidden view, and methods that ran on all of them."""
    key = ["group", "task", "seed"]
    table = table[table["method"] != SUPERVISED].merge(table.loc[table["method"] == OURS[0], key])
    complete = table.groupby("method")["nmi"].transform("size") == len(table[key].drop_duplicates())
    table = table[complete]
    means = table.groupby(["method", "group"])["nmi"].mean().groupby("method").mean()
    return pd.DataFrame({"seconds": table.groupby("method")["seconds"].median(), "nmi": means})


def finished(table: pd.DataFrame) -> pd.DataFrame:
    """Mean seconds and NMI of the methods that never failed."""
    failed = table.loc[table["failure"].notna(), "method"]
    return table[~table["method"].isin(failed)].groupby("method")[["seconds", "nmi"]].mean()


def draw(records: list[dict[str, Any]]) -> None:
    """Quality against seconds: small tables, and a million rows."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "race"
    from matplotlib import pyplot as plt

    planted = frame([r for r in records if r.get("rows") == PAIRED], ["scale"])
    panels = {
        "Real tables with one hidden view: mean over the groups": compared(frame(records, GROUPS)),
        "A million rows of pairs of real tables (others failed)": finished(frame(records, ["large pairs"])),
        "A million planted rows (others failed)": finished(planted),
    }
    figure, axes = plt.subplots(len(panels), 1, figsize=(9, 5.2 * len(panels)), layout="constrained")
    for axis, (title, points) in zip(axes, panels.items(), strict=True):
        _scatter(axis, points, title)
    figure.savefig(PICTURE, metadata={"Date": None})


def _scatter(axis: Any, points: pd.DataFrame, title: str) -> None:
    """Points with their names in a column at the right, in the order of their quality."""
    axis.set(title=title, xscale="log", xlabel="processor seconds of one fit", ylabel="NMI with what is hidden")
    axis.spines[["top", "right"]].set_visible(False)
    axis.xaxis.set_minor_formatter("")
    points = points.sort_values("nmi")
    ours = points.index.str.startswith("altclust")
    axis.scatter(points["seconds"], points["nmi"], c=np.where(ours, "#D55E00", "#0072B2"), zorder=3)
    axis.set_ylim(bottom=-0.02)
    places = np.linspace(0.02, 0.98, len(points))
    for (name, point), place in zip(points.iterrows(), places, strict=True):
        axis.annotate(
            str(name), (point["seconds"], point["nmi"]), (1.04, place), textcoords="axes fraction", va="center",
            color="#D55E00" if str(name).startswith("altclust") else "black", fontsize=9, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": "#BBBBBB", "lw": 0.6, "shrinkB": 4, "relpos": (0, 0.5)},
        )  # fmt: skip


def report(records: list[dict[str, Any]]) -> None:
    """Write the tables between the marks of the page, and the picture."""
    table = frame(records, GROUPS)
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    parts = [
        "![Quality against seconds, for small tables and for a million rows.](images/race.svg)",
        "## Real tables", quality_table(table),
        "## ClustPy's tables", each_table(frame(records, ["ClustPy"])),
        "## A million rows of two real tables", each_table(frame(records, ["large pairs"])),
        "## Many planted rows", scale_table(records), in_fits_of_kmeans(records),
    ]  # fmt: skip
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n\n".join(parts) + f"\n\n{END}{after}", encoding="utf-8")
    draw(records)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/out/race.jsonl"), help="results, one line per fit")
    parser.add_argument("--every", type=int, default=1, help="take every n-th table of each group")
    parser.add_argument("--groups", nargs="*", default=GROUPS, choices=GROUPS, help="groups of real tables")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="largest number of planted rows")
    parser.add_argument("--report", action="store_true", help="only write the page")
    options = parser.parse_args()
    results = Results(options.out)
    # One thread for each fit, so that processor time is comparable.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
    if not options.report:
        start = time.monotonic()
        run_quality(results, options.groups, options.every, options.methods)
        run_scale(results, options.largest, options.methods)
        print(f"{(time.monotonic() - start) / 60:.0f} minutes")
    report(results.records)


if __name__ == "__main__":
    main()
