"""Calibration and power of the significance test.

Tables with nothing in them beside the given clustering must be called significant on at most 5 %; tables with a hidden
clustering that was found (NMI at least 0.7) on most. Every finished table is a line of the results file, and an
interrupted run goes on. ``--figure`` draws the p-values of both.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.progress import track
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import tasks
import zoo
from altclust import KDAC, find
from altclust.core.metrics import nmi
from altclust.search.verdict import LEVEL

ROWS, COLUMNS = 300, 6
EMPTY = ("nothing", "tables", "shuffled")  # groups of tables without a view
FOUND = 0.7  # NMI from which a view counts as found


def correlated(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((ROWS, COLUMNS)) @ rng.standard_normal((COLUMNS, COLUMNS))


def one_integer(rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([rng.standard_normal((ROWS, COLUMNS - 1)), rng.integers(1, 4, ROWS)])


def gradient(rng: np.random.Generator) -> np.ndarray:
    t = rng.uniform(-1, 1, ROWS)
    X = np.column_stack([t, 2 * t, t**2, *rng.standard_normal((3, ROWS))])
    return X + 0.2 * rng.standard_normal((ROWS, COLUMNS))


def of_the_given(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((ROWS, COLUMNS))  # what is given is added for all kinds


def zero_inflated(rng: np.random.Generator) -> np.ndarray:
    counts = rng.poisson(rng.uniform(3, 15, COLUMNS), (ROWS, COLUMNS))
    return np.where(rng.random((ROWS, COLUMNS)) < 0.2, 0, counts).astype(float)


def hour_of_the_day(rng: np.random.Generator) -> np.ndarray:
    angle = 2 * np.pi * rng.integers(0, 24, ROWS) / 24
    return np.column_stack([np.sin(angle), np.cos(angle), rng.standard_normal((ROWS, COLUMNS - 2))])


def autoregressive(rng: np.random.Generator) -> np.ndarray:
    X = rng.standard_normal((ROWS, COLUMNS))
    for i in range(1, ROWS):
        X[i] = 0.9 * X[i - 1] + np.sqrt(1 - 0.9**2) * X[i]
    return X


NOTHING: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "normal": lambda rng: rng.standard_normal((ROWS, COLUMNS)),
    "correlated normal": correlated,
    "uniform": lambda rng: rng.uniform(size=(ROWS, COLUMNS)),
    "coin flips": lambda rng: rng.integers(0, 2, (ROWS, COLUMNS)).astype(float),
    "ratings": lambda rng: rng.integers(1, 6, (ROWS, COLUMNS)).astype(float),
    "one integer column": one_integer,
    "skewed": lambda rng: rng.lognormal(size=(ROWS, COLUMNS)),
    "heavy tails": lambda rng: rng.standard_t(3, (ROWS, COLUMNS)),
    "gradient": gradient,
    "clusters of the given only": of_the_given,
    "zero-inflated counts": zero_inflated,
    "hour of the day": hour_of_the_day,
    "random walks": lambda rng: rng.standard_normal((ROWS, COLUMNS)).cumsum(axis=0),
    "autoregressive": autoregressive,
}


def plain(rng: np.random.Generator) -> pd.DataFrame:
    """Correlated columns, to which the kinds of tables below add their own."""
    return pd.DataFrame(correlated(rng).round(3), columns=list("abcdef"))


def daily_calendar(rng: np.random.Generator) -> pd.DataFrame:
    days = pd.date_range("2019-01-01", periods=ROWS, freq="D").to_series(index=range(ROWS))
    parts = {"date": days, "year": days.dt.year, "month": days.dt.month, "day": days.dt.day}
    return pd.DataFrame(parts).join(plain(rng)[["a", "b"]])


def identifiers(rng: np.random.Generator) -> pd.DataFrame:
    order = 10_000 + rng.integers(1, 9, ROWS).cumsum()
    return plain(rng).assign(order=order, subject=rng.integers(1000, 1000 + ROWS // 2, ROWS))


def duplicated(rng: np.random.Generator) -> pd.DataFrame:
    table = plain(rng)
    kind = rng.integers(0, 5, ROWS)
    names = np.array(["north", "south", "east", "west", "centre"])[kind]
    return table.assign(a_rounded=table["a"].round(1), b_with_tax=1.2 * table["b"], code=kind, region=names)


def empty_cells(rng: np.random.Generator) -> pd.DataFrame:
    table, missing = plain(rng), rng.random(ROWS) < 0.3
    table.loc[missing, ["a", "b", "c"]] = np.nan
    return table.assign(effect=np.where(missing, None, rng.choice(["low", "high"], ROWS)))


def ratings_together(rng: np.random.Generator) -> pd.DataFrame:
    mood = rng.standard_normal((ROWS, 1))
    answers = np.clip(np.round(3 + mood + 0.7 * rng.standard_normal((ROWS, COLUMNS))), 1, 5).astype(int)
    return pd.DataFrame(answers, columns=[f"q{i}" for i in range(COLUMNS)]).assign(age=rng.integers(18, 80, ROWS))


def left_out(rng: np.random.Generator) -> pd.DataFrame:
    table = plain(rng)
    size = sum(table[name] / table[name].std() for name in "abc")
    return table.assign(size_class=np.where(size > size.median(), "large", "small"))


TABLES: dict[str, Callable[[np.random.Generator], pd.DataFrame]] = {
    "daily calendar": daily_calendar,
    "identifiers": identifiers,
    "duplicated columns": duplicated,
    "empty cells": empty_cells,
    "a column was left out": left_out,
    "ratings that go together": ratings_together,  # one scale, answered in six questions
}


def nothing(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table without a view beside the given one, which moves its first columns."""
    rng = np.random.default_rng([seed, list(NOTHING).index(kind)])
    given = rng.integers(0, 3, ROWS)
    X = NOTHING[kind](rng)
    if kind == "clusters of the given only":
        X[:, :2] += 4 * np.array([[0, 0], [1, 0], [0, 1]])[given]
    return StandardScaler().fit_transform(X), given


def shuffled(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A table as people have them, every column shuffled within the clusters of one of its columns."""
    rng = np.random.default_rng(seed)
    table = pd.read_csv(zoo.folder() / "mixed" / f"{name}.csv").dropna().reset_index(drop=True)
    table = table.iloc[rng.permutation(len(table))[:ROWS]].reset_index(drop=True)
    numbers = table.select_dtypes("number")
    few = [c for c in table.columns.difference(numbers.columns) if 2 <= table[c].nunique() <= 6]
    given = pd.factorize(table[few[seed % len(few)]])[0]
    X = numbers.to_numpy(float).copy()
    for cell in np.unique(given):
        rows = np.flatnonzero(given == cell)
        for j in range(X.shape[1]):
            X[rows, j] = X[rng.permutation(rows), j]
    X = X[:, X.std(axis=0) > 0]
    return StandardScaler().fit_transform(X), given


def test(kind: str, group: str, seed: int) -> dict:
    """One table: p-value, stability, whether it was called significant, NMI with the truth, times."""
    truth = None
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        if group == "tables":
            return as_table(kind, seed)
        if group == "nothing":
            X, given = nothing(kind, seed)
        elif group == "shuffled":
            X, given = shuffled(kind, seed)
        else:
            task = tasks.generated(kind, seed) if group == "generated" else zoo.pair(*kind.split(" → "), seed)
            X, given, truth = task.X, task.given, task.truth
        start = time.perf_counter()
        model = KDAC(random_state=seed).fit(X, given)
        fitted = time.perf_counter()
        found = model.significance_
        ended = time.perf_counter()
    return {
        "kind": kind,
        "group": group,
        "seed": seed,
        "p": found.p_value,
        "stability": found.stability,
        "real": found.is_real,
        "nmi": None if truth is None else nmi(model.labels_, truth),
        "fit": fitted - start,
        "test": ended - fitted,
    }


def as_table(kind: str, seed: int) -> dict:
    """One table with columns of any type, as people pass it to `altclust.find`; two columns are left out."""
    rng = np.random.default_rng([seed, 100 + list(TABLES).index(kind)])
    table = TABLES[kind](rng).assign(given=rng.integers(0, 3, ROWS).astype(str))
    columns = list("abcde") if kind == "a column was left out" else []
    start = time.perf_counter()
    found = find(table, "given", columns=columns, significance=False)
    fitted = time.perf_counter()
    tested = found.study.tested(found.model)
    return {
        "kind": kind,
        "group": "tables",
        "seed": seed,
        "p": tested.p_value,
        "stability": tested.stability,
        "real": tested.is_real,
        "told": tested.judgement.badge,
        "nmi": None,
        "fit": fitted - start,
        "test": time.perf_counter() - fitted,
    }


def cases(seeds: int, real: bool) -> list[tuple[str, str, int]]:
    found = [(kind, "nothing", seed) for kind in NOTHING for seed in range(seeds)]
    found += [(kind, "tables", seed) for kind in TABLES for seed in range(seeds)]
    found += [(kind, "generated", seed) for kind in tasks.FAMILIES for seed in range(max(1, seeds // 5))]
    if real:
        mixed = [file.stem for file in sorted((zoo.folder() / "mixed").glob("*.csv"))]
        found += [(name, "shuffled", seed) for name in mixed for seed in range(max(1, seeds // 3))]
        pairs = [(a, b) for a in zoo.SINGLE for b in ("segment", "texture", "penbased", "wdbc") if a != b]
        found += [(f"{a} → {b}", "pairs", seed) for a, b in pairs for seed in range(max(1, seeds // 15))]
    return found


def report(records: list[dict]) -> str:
    table = pd.DataFrame(records)
    nothing = table["group"].isin(EMPTY)
    kinds = table[nothing].groupby(["group", "kind"])["real"].agg(["count", "mean"])
    there = table[~nothing & (table["nmi"] >= FOUND)]
    power = there.groupby("group")["real"].agg(["count", "mean"])
    ratio = (table["fit"] + table["test"]) / table["fit"]
    return (
        f"{kinds.round(3).to_string()}\n\nfalse alarms at level {LEVEL}: {table[nothing]['real'].mean():.3f} of "
        f"{nothing.sum()}\npower where the view was found:\n{power.round(3).to_string()}\n"
        f"fit and test over fit: median {ratio.median():.2f}, worst {ratio.max():.2f}"
    )


def draw(records: list[dict], path: Path) -> None:
    """The share of tables with a p-value of at most p, beside the diagonal."""
    import matplotlib.pyplot as plt

    table = pd.DataFrame(records)
    nothing = table["group"].isin(EMPTY)
    groups = {"nothing there": table[nothing], "a view was found": table[~nothing & (table["nmi"] >= FOUND)]}
    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    for name, some in groups.items():
        p = np.sort(some["p"].dropna())
        axes.step(p, np.arange(1, len(p) + 1) / len(p), where="post", label=f"{name} ({len(p)} tables)")
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, zorder=0)
    axes.set(xlabel="p", ylabel="share of tables with at most this p-value", xlim=(0, 1), ylim=(0, 1.02))
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("calibration.jsonl"))
    parser.add_argument("--seeds", type=int, default=25, help="tables of each kind with nothing in them")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    lines = options.out.read_text(encoding="utf-8").splitlines() if options.out.exists() else []
    records = [json.loads(line) for line in lines]
    if not options.report:
        try:
            zoo.folder()
            real = True
        except FileNotFoundError as error:
            print(error)
            real = False
        done = {(r["kind"], r["group"], r["seed"]) for r in records}
        todo = [case for case in cases(options.seeds, real) if case not in done]
        rng = np.random.default_rng(0)
        todo = [todo[i] for i in rng.permutation(len(todo))]
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("a", encoding="utf-8") as out:
            found = Parallel(options.jobs, return_as="generator_unordered")(delayed(test)(*case) for case in todo)
            for record in track(found, total=len(todo), description="tables"):
                records.append(record)
                out.write(json.dumps(record, ensure_ascii=False) + "\n")
                out.flush()
    print(report(records))
    if options.figure is not None:
        draw(records, options.figure)


if __name__ == "__main__":
    main()
