"""`altclust compare`: every method of alternative clustering on one table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from ...base.validation import check_given
from ...core.problem import remove_given
from ...models.comparison import METHODS, Comparison
from ...models.comparison import compare as run
from ...report import render_comparison
from .files import writing
from .options import Asked, Clusters, Out, asking
from .screen import INTERRUPTED, live, plain, printable, say
from .task import Task, UsageError, as_json, check_clusters, command_line, prepare

EXAMPLES = """
Examples:

    altclust compare customers.csv --given segment

    altclust compare customers.csv --given segment --methods KDAC --methods Residual --clusters 3
"""
FILES = r"table\.\w+|comparison\.csv|agreement\.csv|comparison\.json|comparison\.html"

Methods = Annotated[
    list[str] | None, typer.Option(help=f"Method to run; may be repeated. All if left out: {', '.join(METHODS)}.")
]
Limit = Annotated[float, typer.Option(min=0.1, help="Seconds that a method may take.")]


@asking
def compare(
    asked: Asked,
    methods: Methods = None,
    clusters: Clusters = None,
    timeout: Limit = 60.0,
    out: Out = Path("altclust-compare"),
) -> None:
    """Ask every method for a clustering that differs from what you know, and show them side by side."""
    unknown = [name for name in methods or [] if name not in METHODS]
    if unknown:
        raise UsageError(f"--methods {unknown[0]!r} is not a method: choose among {', '.join(METHODS)}.")
    wanted = methods or list(METHODS)
    task = prepare(asked, out, files=FILES, adds="|".join(map(_column, wanted)))
    check_clusters(clusters, task)
    with live("Asking every method") as bar:
        found = run(
            task.X,
            task.given,
            counts=task.recipe.unscaled.apply(task.table.frame),
            methods=wanted,
            n_clusters=clusters,
            timeout=timeout,
            n_jobs=asked.jobs or os.cpu_count() or 1,
            progress=bar.share,
            random_state=asked.seed,
        )
        early = bar.interrupted
        bar.write()
        figures = _write(task, found)
    if asked.as_json:
        print(as_json(figures))
    elif not asked.quiet:
        _show(found, task)
    if found.labels.shape[1] == 0 and not early:
        raise typer.Exit(1)
    if early:
        say("Interrupted: these are the methods that were asked until then.")
        raise typer.Exit(INTERRUPTED)


def _column(method: str) -> str:
    """What the column of a method's labels is called."""
    return method.lower().replace("-", "_")


def _write(task: Task, found: Comparison) -> dict[str, Any]:
    new = found.labels.rename(columns=_column)
    given = [] if task.given is None else check_given(task.given, len(task.X))
    page = render_comparison(
        found.table,
        found.labels,
        found.agreement,
        _places(task.X.to_numpy(), given),
        task.given,
        name=task.table.name,
        command=command_line(again=True),
    )
    rows = [
        {key: None if pd.isna(value) else value for key, value in row.items()} for row in found.table.to_dict("records")
    ]
    figures = {
        "table": task.table.name,
        "command": command_line(),
        "methods": rows,
        "agreement": found.agreement.astype(object).where(found.agreement.notna(), None).to_dict(),
    }
    with writing(task, FILES) as files:
        files.write_csv("comparison.csv", found.table)
        files.write_csv("agreement.csv", found.agreement.rename_axis("clustering").reset_index())
        files.write_json("comparison.json", figures)
        files.write("comparison.html", lambda path: path.write_text(page, encoding="utf-8", errors="replace"))
        files.write_table(new)
    return figures


def _places(X: np.ndarray, given: list[np.ndarray]) -> np.ndarray:
    """The two directions in which rows spread most once what is given is taken away, shape (n, 2)."""
    centred = X - X.mean(axis=0)
    rest = remove_given(centred, given) if given else centred
    directions = np.linalg.svd(rest, full_matrices=False)[2][:2]
    Z = centred @ directions.T
    return Z if Z.shape[1] == 2 else np.column_stack([Z, np.random.default_rng(0).uniform(size=len(Z))])


def _show(found: Comparison, task: Task) -> None:
    overlaps = [column for column in found.table.columns if column.startswith("overlap: ")]
    columns = ["method", "clusters", "quality", "silhouette", *overlaps, "seconds"]
    table = Table(*(plain(column) for column in columns), title="What each method found")
    rows = found.table.to_dict("records")
    for row in rows:
        if not row["problem"]:
            table.add_row(row["method"], *(_shown(row[column], column) for column in columns[1:]))
    console = Console()
    console.print(table)
    for row in rows:
        if row["problem"]:
            console.print(printable(f"{row['method']}: {row['problem']}"), markup=False, highlight=False)
    if overlaps:
        console.print("Overlap is the NMI with what is given: 0 is new.")
    console.print(
        f"Open {task.out / 'comparison.html'}; labels are in {task.out / f'table{task.table.suffix}'}.", markup=False
    )


def _shown(value: float, column: str) -> str:
    return "–" if pd.isna(value) else f"{value:.0f}" if column == "clusters" else f"{value:.2f}"
