"""How well the hidden clustering of every task is found: ours, every other method, simple controls, the best of all.

Groups: tables with several known labels ("natural"), pairs of real tables ("pairs"), generated families, and the
paper's sets. Tables are split by source: "chosen on" are those by which the search was made, "reported" had no part in
it. Columns: ours with nothing set and with the true k, the best of all our trials (nothing set), every method of
`altclust.baselines` and simple controls at the true k, the best of all of these, and a supervised linear discriminant
(5-fold), because not every label is a cluster. The groups "triples" (two hidden views), "products" and "singles" have a
table of their own, see `several`.

Every finished task is a line of the results file, and an interrupted run goes on. ``--quick`` takes a few tables of
every group (under ten minutes on two cores), ``--report`` only prints the table.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.progress import track
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from threadpoolctl import threadpool_limits

import several
import tasks
import zoo
from altclust import KDAC
from altclust.base.backend import Array
from altclust.base.errors import InputError
from altclust.base.given import Given
from altclust.base.sampling import sample_rows
from altclust.comparison import METHODS
from altclust.core.metrics import nmi, overlap
from altclust.core.problem import coordinates
from altclust.datasets import DatasetUnavailable
from tasks import SeveralTask, Task, supervised

BASELINES = tuple(name for name in METHODS if name != "KDAC")
SPACES = {"plain": (False, 0.0), "residual": (True, 0.0), "half-whitened": (True, 0.5), "whitened": (True, 1.0)}
CONTROLS = tuple(f"{way}, {space}" for space in SPACES for way in ("k-means", "in turn"))
OURS = ("ours", "ours, k told")
GENERATED = {"chosen on": range(0, 10, 2), "reported": range(1, 10, 2)}  # seeds
TRIPLES = {"chosen on": range(1), "reported": range(2)}  # seeds: 30 and 24 triples
GROUPS = ("natural", "pairs", "generated", "paper", "triples", "products", "singles")
PLANTED = range(30)  # seeds


def ours(task: Task, n_clusters: int | str) -> dict:
    """Our fit and its trials."""
    start = time.perf_counter()
    model = KDAC(n_clusters, random_state=0).fit(task.X, task.given)
    seconds = time.perf_counter() - start
    record = {
        "nmi": nmi(model.labels_, task.truth),
        "overlap": overlap(model.labels_, task.given),
        "k": model.n_clusters_,
        "seconds": seconds,
    }
    if model.tuning_ is not None:
        truth = task.truth[model.tuning_.rows]
        record["trials"] = max(nmi(trial.labels, truth) for trial in model.tuning_.trials)
        record["source"] = str(model.tuning_.table.loc[model.tuning_.table["chosen"], "source"].iloc[0])
    return record


def controls(task: Task) -> dict[str, float]:
    """k-means, alone and with discriminant directions in turn, in four kinds of coordinates, at the true k."""
    X, k = task.X - task.X.mean(axis=0), task.n_clusters
    found = {}
    for name, (subtract, whitening) in SPACES.items():
        Z = coordinates(Given.from_codes(*task.given.T).subtracted_from(X) if subtract else X, whitening)[0]
        labels = KMeans(k, n_init=10, random_state=0).fit_predict(Z)
        found[f"k-means, {name}"] = nmi(labels, task.truth)
        found[f"in turn, {name}"] = nmi(in_turn(Z, labels, k), task.truth)
    return found


def in_turn(Z: Array, labels: np.ndarray, k: int) -> np.ndarray:
    """k-means in the discriminant directions of its own clusters, until they stay."""
    for _ in range(10):
        if len(np.unique(labels)) < 2:
            break
        shown = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(Z, labels).transform(Z)
        before, labels = labels, KMeans(k, n_init=10, random_state=0).fit_predict(shown)
        if nmi(before, labels) > 0.99:
            break
    return labels


def baselines(task: Task) -> dict[str, float]:
    """Every other method, at the true k; those that refuse the table are left out."""
    found = {}
    for name in BASELINES:
        try:
            found[name] = nmi(
                METHODS[name](task.n_clusters, random_state=0).fit(task.X, task.given).labels_, task.truth
            )
        except InputError:
            continue
    return found


def measure(group: str, split: str, task: Task | SeveralTask) -> dict:
    """All results of one task."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        if isinstance(task, SeveralTask):
            told = {name: supervised(task.hiding(name)) for name in task.truths}
            return several.measure(group, split, task) | {"supervised": told}
        record = {"group": group, "split": split, "task": task.family, "seed": task.seed, "k": task.n_clusters}
        record |= {name: ours(task, k) for name, k in zip(OURS, ("auto", task.n_clusters), strict=True)}
        return record | {"others": baselines(task) | controls(task), "supervised": supervised(task)}


def all_tasks(quick: bool) -> list[tuple[str, str, Task | SeveralTask]]:
    """Group, split and task."""
    found: list[tuple[str, str, Task | SeveralTask]] = []
    for split in ("chosen on", "reported"):
        on = split == "chosen on"
        found += [("natural", split, sampled(task) if quick else task) for task in zoo.naturals(on)]
        found += [("pairs", split, task) for task in zoo.pairs(on, range(1) if quick else range(10, 15))]
        seeds = list(GENERATED[split])[: 1 if quick else None]
        found += [("generated", split, tasks.generated(f, seed)) for f in tasks.FAMILIES for seed in seeds]
        found += [("triples", split, task) for task in zoo.triples(on, TRIPLES[split])[:: 12 if quick else 1]]
    for seed in PLANTED[:: 10 if quick else 1]:
        found += [("products", "reported", tasks.product(seed)), ("singles", "reported", tasks.single(seed))]
    if not quick:
        try:
            found += [("paper", "reported", task) for task in tasks.paper() if "WebKB" not in task.family]
        except DatasetUnavailable as error:
            print(f"The paper's sets are left out: {error}")
    return found


def sampled(task: Task) -> Task:
    """At most 300 of its rows: some of the other methods are slow."""
    rows = sample_rows(len(task.X), tasks.ROWS, np.random.default_rng(0))
    return replace(task, X=task.X[rows], given=task.given[rows], truth=task.truth[rows])


def key(record: dict) -> tuple:
    return record["split"], record["task"], record["seed"]


def read(file: Path) -> list[dict]:
    """The records of a results file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def run(quick: bool, file: Path, jobs: int, groups: Sequence[str]) -> None:
    """Append one line per task to the file as soon as it is done."""
    done = {key(record) for record in read(file)}
    todo = [one for one in all_tasks(quick) if (one[1], one[2].family, one[2].seed) not in done and one[0] in groups]
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(measure)(*one) for one in todo)
        for record in track(found, total=len(todo), description="tasks"):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()


def frame(records: list[dict]) -> pd.DataFrame:
    """One row per task, one column per method."""
    table = pd.DataFrame([r["others"] for r in records])
    table.insert(0, "ours", [r["ours"]["nmi"] for r in records])
    table.insert(1, "ours, k told", [r["ours, k told"]["nmi"] for r in records])
    table.insert(2, "best trial", [r["ours"].get("trials", np.nan) for r in records])
    told = [*BASELINES, *CONTROLS, "ours, k told"]
    table["best of all"] = table[[name for name in told if name in table]].max(axis=1)
    table["supervised"] = [r["supervised"] for r in records]
    table["overlap"] = [r["ours"]["overlap"] for r in records]
    table["k right"] = [float(r["ours"]["k"] == r["k"]) for r in records]
    table["seconds"] = [r["ours"]["seconds"] for r in records]
    return table


def markdown(table: pd.DataFrame, corner: str) -> str:
    """A Markdown table: numbers with two digits, a dash for missing ones."""
    rows = [[corner, *table.columns], [":--", *["--:"] * table.shape[1]]]
    rows += [[name, *("–" if np.isnan(v) else f"{v:.2f}" for v in row)] for name, row in table.iterrows()]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def report(records: list[dict]) -> str:
    """What was measured: tables with one hidden view, then those with several."""
    parts = [[r for r in records if ("several" in r) == many] for many in (False, True)]
    return "\n\n".join(told(some) for some, told in zip(parts, (report_one, report_several), strict=True) if some)


def report_several(records: list[dict]) -> str:
    """The figures of `several.frame`; then, for each hidden view, what our first three views and labels find."""
    each = [
        {"hidden view": hidden, "found": max(values[: several.SHOWN]), "supervised": r["supervised"][hidden]}
        for r in records
        for hidden, values in r["several"]["nmi"].items()
    ]
    groups = pd.DataFrame(each).groupby("hidden view")
    hidden = groups.mean().assign(tables=groups.size().astype(float))
    return "\n\n".join([markdown(several.frame(records), "group"), markdown(hidden, "hidden view")])


def report_one(records: list[dict]) -> str:
    """Mean NMI by group and split, methods as rows; then every natural and paper table; then the worst losses."""
    table = frame(records)
    name = pd.Series([f"{r['group']}, {r['split']}" for r in records])
    means = table.groupby(name).mean().T
    means.columns = [f"{c} ({int((name == c).sum())})" for c in means.columns]
    single = pd.Series([f"{r['task']}" for r in records])
    shown = [r["group"] in ("natural", "paper") for r in records]
    columns = [*OURS, "Residual", "best of all", "supervised", "k right"]
    each = table.loc[shown, columns].groupby(single[shown]).mean()
    families = table.loc[[r["group"] == "generated" for r in records], columns]
    families = families.groupby(single[families.index]).mean()
    loss = (table["Residual"] - table["ours, k told"]).sort_values(ascending=False).head(8)
    worst = "\n".join(f"- {single[i]}, seed {records[i]['seed']}: {loss[i]:.2f}" for i in loss.index)
    parts = [markdown(means, "mean NMI"), markdown(each, "table"), markdown(families, "family")]
    return "\n\n".join([*parts, f"Residual control minus ours (k told), worst:\n{worst}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("quality.jsonl"), help="results file, one JSON line per task")
    parser.add_argument("--quick", action="store_true", help="a few tables of every group")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel tasks")
    parser.add_argument("--report", action="store_true", help="only print the contents of the results file")
    parser.add_argument("--groups", nargs="+", default=GROUPS, choices=GROUPS, help="groups to run; default: all")
    options = parser.parse_args()
    if not options.report:
        run(options.quick, options.out, options.jobs, options.groups)
    print(report(read(options.out)))


if __name__ == "__main__":
    main()
