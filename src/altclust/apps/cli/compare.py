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

from ...base.given import Given
from ...base.known import read_given
from ...comparison import METHODS, Comparison, named_methods
from ...comparison import compare as run
from ...report import render_comparison
from ...tables.known import measured
from .files import claim, writing
from .options import Clusters, Out, TableOptions, with_table_options
from .screen import INTERRUPTED, live, plain, say, show
from .task import Task, UsageError, as_json, command_line, prepare

EXAMPLES = """
Examples:

    altclust compare customers.csv --given segment

    altclust compare customers.csv --given segment --methods KDAC --methods Residual --clusters 3
"""
FILES = r"table\.\w+|comparison\.csv|agreement\.csv|comparison\.json|comparison\.html"

Methods = Annotated[
    list[str] | None, typer.Option(help=f"Method to run; may be repeated. Default: all, {', '.join(METHODS)}.")
]
Limit = Annotated[float, typer.Option(min=0.1, help="Time limit for each method, in seconds.")]


@with_table_options
def compare(
    options: TableOptions,
    methods: Methods = None,
    clusters: Clusters = None,
    timeout: Limit = 60.0,
    out: Out = Path("altclust-compare"),
) -> None:
    """Run every method of alternative clustering on a table, and compare what they find."""
    wanted = methods or list(METHODS)
    task = prepare(options, out, files=FILES, adds="|".join(map(_column, wanted)))
    numbers = measured(task.study.given)
    if numbers:
        problem = "is a measurement, and most of these methods need clusters: choose a column of labels."
        raise UsageError(f"--given {numbers[0]} {problem}")
    with claim(task, options, FILES), live("Running every method") as bar:
        found = run(
            task.study.X,
            task.study.given,
            counts=task.study.recipe.counts(task.table.frame),
            methods=named_methods(wanted, options.seed),
            n_clusters=clusters,
            timeout=timeout,
            n_jobs=options.jobs or os.cpu_count() or 1,
            progress=bar.update,
        )
        early = bar.interrupted
        bar.write()
        figures = _write(task, found)
    if options.as_json:
        print(as_json(figures))
    elif not options.quiet:
        _show(found, task)
    if found.labels.shape[1] == 0 and not early:
        raise typer.Exit(1)
    if early:
        say("Interrupted: these are the methods that had finished.")
        raise typer.Exit(INTERRUPTED)


def _column(method: str) -> str:
    """The name of the column with a method's labels."""
    return method.lower().replace("-", "_")


def _write(task: Task, found: Comparison) -> dict[str, Any]:
    new = found.labels.rename(columns=_column)
    given = read_given(task.study.given, len(task.study.X), "clusterings")
    page = render_comparison(
        found,
        _places(task.study.X.to_numpy(), given),
        task.study.given,
        name=task.table.name,
        command=command_line(again=True),
    )
    figures = {
        "table": task.table.name,
        "command": command_line(),
        "methods": found.table.astype(object).where(found.table.notna(), None).to_dict("records"),
        "conclusion": found.conclusion,
        "agreement": found.agreement.astype(object).where(found.agreement.notna(), None).to_dict(),
    }
    with writing(task, FILES) as files:
        files.write_csv("comparison.csv", found.table)
        files.write_csv("agreement.csv", found.agreement.rename_axis("clustering").reset_index())
        files.write_json("comparison.json", figures)
        files.write("comparison.html", lambda path: path.write_text(page, encoding="utf-8", errors="replace"))
        files.write_table(task.table, new)
    return figures


def _places(X: np.ndarray, given: Given) -> np.ndarray:
    """Rows along the two directions of largest variance without the means of the given clusters, shape (n, 2)."""
    centred = X - X.mean(axis=0)
    directions = np.linalg.svd(given.subtracted_from(centred), full_matrices=False)[2][:2]
    Z = centred @ directions.T
    return Z if Z.shape[1] == 2 else np.column_stack([Z, np.random.default_rng(0).uniform(size=len(Z))])


def _show(found: Comparison, task: Task) -> None:
    overlaps = [column for column in found.table.columns if column.startswith("overlap: ")]
    columns = ["method", "sizes", "quality", "silhouette", *overlaps, "seconds"]
    table = Table(*(plain(column) for column in columns), title="What each method found")
    rows = found.table.to_dict("records")
    for row in rows:
        if not row["problem"]:
            table.add_row(row["method"], *(_shown(row[column], column) for column in columns[1:]))
    Console().print(table)
    for row in rows:
        if row["problem"]:
            show(f"{row['method']}: {row['problem']}")
    show("Quality: how well the clusters are separated in all columns, as a share of the best possible (HSIC).")
    if overlaps:
        show("Overlap: NMI with the given column, from 0 (independent) to 1 (the same).")
    show(found.conclusion)
    show(f"Report: {task.out / 'comparison.html'}. Labels: {task.out / f'table{task.table.suffix}'}.")


def _shown(value: Any, column: str) -> str:
    return "–" if pd.isna(value) else str(value) if column == "sizes" else f"{value:.2f}"
