"""How often `confidence_` is right, on tables with one clustering and on tables with a second one."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path

from joblib import Parallel, delayed
from rich.progress import track
from threadpoolctl import threadpool_limits

from altclust import KDAC, ViewDiscovery
from altclust.core.metrics import nmi
from altclust.datasets import views
from altclust.datasets.dataset import Dataset
from tasks import family

WITHOUT = (
    {"shapes": ("blobs",), "noise_columns": 6},
    {"shapes": ("moons",), "noise_columns": 4},
    {"shapes": ("blobs",), "clusters": (5,), "noise_columns": 3},
    {"shapes": ("blobs",), "noise_columns": 8, "rotate": True},
)
WITH = (
    {"shapes": ("blobs", "blobs"), "noise_columns": 4},
    {"shapes": ("blobs", "moons"), "noise_columns": 2},
    {"shapes": ("moons", "blobs"), "clusters": (2, 4), "noise_columns": 3},
    {"shapes": ("blobs", "blobs"), "noise_columns": 4, "rotate": True},
)


def table(kind: str, seed: int, n: int) -> Dataset:
    options = (WITHOUT if kind == "without" else WITH)[seed % 4]
    return views(n, **options, random_state=seed)


def ask(kind: str, seed: int, n: int) -> dict:
    """Whether the (second) view of one table is called significant."""
    data = table(kind, seed, n)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        model = KDAC(random_state=seed).fit(data.X, data.given)
        sure = model.confidence_
    return {"kind": kind, "seed": seed, "real": bool(sure.is_real), "p": sure.p_value, "stability": sure.stability}


def discover(seed: int, n: int) -> dict:
    """Three views and nothing given: how well each is found, and how many."""
    data = family("three views", seed, n)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        found = ViewDiscovery(random_state=seed).fit(data.X)
    matches = [
        max((nmi(found.labels_[:, j], truth) for j in range(found.n_views_)), default=0.0)
        for truth in data.labels.values()
    ]
    return {"kind": "views", "seed": seed, "views": found.n_views_, "matches": matches}


def report(records: list[dict]) -> str:
    lines = []
    for kind, wanted in (("without", False), ("with", True)):
        own = [r for r in records if r["kind"] == kind]
        if own:
            right = sum(r["real"] is wanted for r in own)
            lines.append(f"- {kind} a second view: right in {right} of {len(own)}")
    own = [r for r in records if r["kind"] == "views"]
    if own:
        mean = sum(sum(r["matches"]) / 3 for r in own) / len(own)
        counts = sorted(r["views"] for r in own)
        lines.append(f"- three views, nothing given: mean NMI {mean:.3f}, views found per table {counts}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("confidence.jsonl"), help="results, one JSON line each")
    parser.add_argument(
        "--kinds", nargs="+", choices=("without", "with", "views"), default=["without", "with", "views"]
    )
    parser.add_argument("--seeds", type=int, default=100, help="tables without and with a second view")
    parser.add_argument("--views", type=int, default=10, help="tables with three views")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--report", action="store_true", help="only print the contents of the results file")
    options = parser.parse_args()
    lines = options.out.read_text().splitlines() if options.out.exists() else []
    records = [json.loads(line) for line in lines]
    if not options.report:
        done = {(r["kind"], r["seed"]) for r in records}
        todo = [
            delayed(ask)(kind, seed, options.rows)
            for seed in range(options.seeds)
            for kind in ("without", "with")
            if kind in options.kinds and (kind, seed) not in done
        ]
        todo += [
            delayed(discover)(seed, 300)
            for seed in range(options.views)
            if "views" in options.kinds and ("views", seed) not in done
        ]
        with options.out.open("a") as out:
            for record in track(Parallel(options.jobs, return_as="generator_unordered")(todo), total=len(todo)):
                records.append(record)
                out.write(json.dumps(record) + "\n")
                out.flush()
    print(report(records))


if __name__ == "__main__":
    main()
