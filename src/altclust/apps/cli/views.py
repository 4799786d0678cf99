"""`altclust views`: as many views of a table as there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from ...models.kdac import KDAC
from ...models.view_discovery import ViewDiscovery
from .options import Asked, Out, Sure, asking
from .results import FILES, write_results
from .screen import COMPARING, INTERRUPTED, Live, Stopped, live, plain, printable, say, start_searchers
from .task import Task, UsageError, as_json, prepare

EXAMPLES = """
Examples:

    altclust views customers.csv

    altclust views customers.csv --given segment --views 2 --out views
"""

Count = Annotated[
    str, typer.Option("-n", "--views", help='How many views; "auto" stops where the next is no stronger than chance.')
]


@asking
def views(
    asked: Asked,
    count: Count = "auto",
    sure: Sure = True,
    out: Out = Path("altclust-views"),
) -> None:
    """Find view after view, each new beside the given columns and all views before it; Ctrl-C keeps those found."""
    wanted = _count(count, sure)
    task = prepare(asked, out, files=FILES, adds=r"view_\d+")
    with live("Looking for view 1", lambda: start_searchers(asked.n_jobs)) as bar:
        found = ViewDiscovery(
            wanted,
            estimator=KDAC(callback=lambda *now: bar.round(*now)),  # a lambda, because estimators copy what they hold
            n_jobs=asked.n_jobs,
            callback=lambda i, model: _announce(i, model, bar, sure),
            random_state=asked.seed,
        ).fit(task.X, task.given)
        early = bar.interrupted
        if early and not found.views_:
            raise Stopped
        bar.write()
        named = {f"view_{i}": model for i, model in enumerate(found.views_, 1)}
        figures = write_results(task, named, stopped=found.stopped_)
    if asked.as_json:
        print(as_json(figures))
    elif not asked.quiet:
        _show(figures, task)
    if early:
        say("Interrupted: these are the views until then.")
        raise typer.Exit(INTERRUPTED)


def _count(text: str, sure: bool) -> int | str:
    if text == "auto" and sure:
        return text
    if text == "auto":
        raise UsageError("--views auto stops where a view is no stronger than chance: leave out --no-confidence.")
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    raise UsageError(f'--views {text!r} is neither a number from 1 on nor "auto".')


def _announce(i: int, model: KDAC, bar: Live, sure: bool) -> bool:
    """Say which view was found and which one is looked for now."""
    said = f"View {i}: {model.n_clusters_} clusters of {', '.join(map(str, np.bincount(model.labels_)))} rows."
    if sure and not bar.interrupted:
        bar.stage(COMPARING)
        said = f"{said} {model.assess_confidence(bar.share) or ''}"
    say(said)
    bar.stage(f"Looking for view {i + 1}")
    return bar.interrupted


def _show(figures: dict[str, Any], task: Task) -> None:
    console = Console()
    if figures["views"]:
        table = Table("view", "rows in each cluster", "overlap", "p-value", "stability", "features", title="The views")
        for i, view in enumerate(figures["views"], 1):
            top = ", ".join(f"{name} {weight:.0%}" for name, weight in list(view["feature_weights"].items())[:3])
            sure = view["confidence"] or {"p_value": None, "stability": None}
            numbers = [_shown(value) for value in (view["overlap"], sure["p_value"], sure["stability"])]
            table.add_row(str(i), ", ".join(map(str, view["cluster_sizes"])), *numbers, plain(top))
        console.print(table)
    else:
        console.print("No view was found.")
    console.print(printable(figures["stopped"]), markup=False)
    report = f"Open {task.out / 'report.html'}; labels" if figures["views"] else "Labels"
    console.print(f"{report} are in {task.out / f'table{task.table.suffix}'}.", markup=False)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"
