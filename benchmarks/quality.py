"""How well the defaults find the hidden clustering of every task, compared with other methods and the best fixed fit.

"Ours" is `KDAC` with defaults, and again with the true k; the other methods have a column each, at the true k. The
"ceiling" is the best of many fits with fixed parameters at the true k, chosen by the truth; all use the spectral start,
so a search with other starts can exceed it. Every finished task is a line of the results file, and an interrupted run
can be resumed. ``--report`` prints the table.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.progress import track
from sklearn.cluster import KMeans, SpectralClustering
from threadpoolctl import threadpool_limits

from altclust import KDAC
from altclust.base.errors import InputError
from altclust.core.metrics import nmi, overlap
from altclust.core.problem import remove_given, row_space
from altclust.datasets import DatasetUnavailable
from altclust.models.comparison import METHODS as BASELINES
from altclust.search.heuristics import median_distance
from tasks import FAMILIES, SEEDS, Task, generated, paper

WIDTHS = (2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.06)  # σ relative to the median distance
FEW_WIDTHS = (1.0, 0.5, 0.35)
LARGE = 100_000  # entries of a table above which the ceiling uses fewer and shorter fits
OTHERS = tuple(name for name in BASELINES if name not in ("KDAC", "Residual"))  # the latter is the residual control
METHODS = ("ours", "ours at true k", "ceiling", "residual control", "k-means", "spectral", *OTHERS)


def measure(task: Task, labels: np.ndarray) -> dict:
    return {"nmi": nmi(labels, task.truth), "overlap": overlap(labels, list(task.given.T))}


def ours(task: Task, n_clusters: int | str) -> dict:
    start = time.perf_counter()
    model = KDAC(n_clusters, random_state=0).fit(task.X, task.given)
    seconds = time.perf_counter() - start
    record = measure(task, model.labels_) | {"n_clusters": model.n_clusters_, "seconds": seconds}
    if model.tuning_ is None:
        return record
    source = model.tuning_.table.loc[model.tuning_.table["chosen"], "source"].iloc[0]
    return record | {"source": source, "score": model.tuning_.score}


def controls(task: Task) -> dict[str, dict]:
    """Methods with the true k and no search."""
    X, k = task.X - task.X.mean(axis=0), task.n_clusters
    gamma = 1 / (2 * median_distance(X, np.random.default_rng(0)) ** 2)
    kmeans = KMeans(k, n_init=10, random_state=0)
    labels = {
        "residual control": kmeans.fit_predict(remove_given(X, list(task.given.T))),
        "k-means": kmeans.fit_predict(X),
        "spectral": SpectralClustering(k, gamma=gamma, random_state=0).fit_predict(X),
    }
    return {name: measure(task, found) for name, found in labels.items()}


def other(name: str, task: Task) -> dict:
    """One of the other methods, at the true k; empty if it refuses the table."""
    try:
        return measure(task, BASELINES[name](task.n_clusters, random_state=0).fit(task.X, task.given).labels_)
    except InputError:
        return {}


def grid(task: Task) -> list[dict]:
    """Parameters of the fits of the ceiling."""
    X, k = task.X - task.X.mean(axis=0), task.n_clusters
    rank, large = row_space(X)[0].shape[1], X.size > LARGE
    unit = median_distance(X, np.random.default_rng(0))
    sizes = [k] if large else sorted({q for q in (1, 2, k, X.shape[1] - 1) if 1 <= q <= rank})
    weights, subtract = ([1.0], [False]) if task.family in FAMILIES else ([1.0, 0.1], [False, True])
    names = ("sigma", "n_components", "novelty_weight", "subtract_given", "max_iter")
    points = product(
        [unit * width for width in (FEW_WIDTHS if large else WIDTHS)], sizes, weights, subtract, [15 if large else 30]
    )
    return [dict(zip(names, point, strict=True)) for point in points]


def ceiling(task: Task) -> dict:
    """The best of the grid by NMI with the truth."""
    found = []
    for point in grid(task):
        model = KDAC(task.n_clusters, **point, random_state=0).fit(task.X, task.given)
        found.append(measure(task, model.labels_) | point)
    return max(found, key=lambda record: record["nmi"]) | {"fits": len(found)}


def compare(task: Task, before: dict | None, with_ceiling: bool) -> dict:
    """All results of one task; known ones are reused."""
    record = before or {
        "n_clusters": task.n_clusters,
        "ours": ours(task, "auto"),
        "ours at true k": ours(task, task.n_clusters),
        **controls(task),
    }
    record = {name: other(name, task) for name in OTHERS} | record
    return record | {"ceiling": ceiling(task)} if with_ceiling and "ceiling" not in record else record


def chosen_tasks(options: argparse.Namespace) -> list[Task]:
    """The paper's sets first, because they take longest."""
    chosen = []
    if options.paper:
        try:
            chosen.extend(paper())
        except DatasetUnavailable as error:
            print(f"The paper's sets are left out: {error}")
    return chosen + [generated(family, seed) for family in options.families for seed in options.seeds]


def task_key(task: Task) -> tuple[str, int]:
    return task.family, task.seed


def read(file: Path) -> dict[tuple[str, int], dict]:
    """The records of a results file by family and seed; the last one if there are several."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    records = [json.loads(line) for line in lines]
    return {(record["family"], record["seed"]): record for record in records}


def run(work: Callable[[Task], dict], tasks: list[Task], file: Path, jobs: int) -> None:
    """Append one line per task to the file as soon as it is done."""
    done = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(quietly)(work, task) for task in tasks)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        for record in track(done, total=len(tasks), description="tasks"):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()


def quietly(work: Callable[[Task], dict], task: Task) -> dict:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return {"family": task.family, "seed": task.seed} | work(task)


def markdown(table: pd.DataFrame, corner: str) -> str:
    """A Markdown table: numbers with two digits, a dash for missing ones."""
    rows = [[corner, *table.columns], [":--", *["--:"] * table.shape[1]]]
    rows += [[name, *("–" if np.isnan(v) else f"{v:.2f}" for v in row)] for name, row in table.iterrows()]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def report(records: list[dict]) -> str:
    """One row per family or paper set, the mean over all tasks, and summary figures."""
    table = pd.DataFrame({name: [r.get(name, {}).get("nmi", np.nan) for r in records] for name in METHODS})
    table.insert(1, "overlap", [r["ours"]["overlap"] for r in records])
    table.insert(2, "k right", [float(r["ours"]["n_clusters"] == r["n_clusters"]) for r in records])
    table.insert(len(table.columns), "seconds", [r["ours"]["seconds"] for r in records])
    family = pd.Series([r["family"] for r in records])
    known = family.isin(FAMILIES)
    order = [*(f for f in FAMILIES if f in set(family)), *family[~known].unique()]
    rows = table.groupby(family).mean().loc[order]
    rows.loc["all tasks"] = table.mean()
    both = table.dropna(subset="ceiling")
    control = pd.Series([r["residual control"]["overlap"] for r in records])
    faces = table.loc[family.str.startswith("Faces: identity"), "ours"].mean()
    lines = {
        f"ours / ceiling, over {len(both)} tasks": both["ours"].mean() / both["ceiling"].mean(),
        "ours / the best that KDAC found in any way": both["ours"].mean() / both[list(METHODS[:3])].max(axis=1).mean(),
        "mean overlap without the correlated family": table.loc[family != "correlated", "overlap"].mean(),
        "share of k right over generated tasks": table.loc[known, "k right"].mean(),
        "worst overlap, ours minus residual control, over paper sets": (table["overlap"] - control)[~known].max(),
        "Faces identity → pose, ours": faces,
    }
    figures = "\n".join(f"- {name}: {value:.3f}" for name, value in lines.items())
    return f"{markdown(rows, f'{len(records)} tasks')}\n\n{figures}"


def parser(description: str | None, out: str) -> argparse.ArgumentParser:
    """The options of a benchmark over tasks."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path(out), help="results file, one JSON line per task")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(SEEDS)))
    parser.add_argument("--families", nargs="*", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--paper", action=argparse.BooleanOptionalAction, default=True, help="include the paper's sets")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel tasks")
    parser.add_argument("--report", action="store_true", help="only print the contents of the results file")
    return parser


def main() -> None:
    options = parser(__doc__, "quality.jsonl")
    options.add_argument("--ceiling", action=argparse.BooleanOptionalAction, default=True)
    options = options.parse_args()
    if not options.report:
        known = read(options.out)
        wanted = {*OTHERS, *(["ceiling"] if options.ceiling else [])}
        complete = {key for key, record in known.items() if wanted <= record.keys()}
        todo = [task for task in chosen_tasks(options) if task_key(task) not in complete]
        run(lambda task: compare(task, known.get(task_key(task)), options.ceiling), todo, options.out, options.jobs)
    print(report(list(read(options.out).values())))


if __name__ == "__main__":
    main()
