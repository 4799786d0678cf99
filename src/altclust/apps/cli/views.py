"""`altclust views`: one alternative clustering after another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from ...models.kdac import KDAC
from ...models.view_discovery import ViewDiscovery, correct_for_views
from ...tables.known import as_known
from .files import claim
from .options import Out, Significance, TableOptions, with_table_options
from .results import VIEWS_FILES, write_results
from .screen import COMPARING, INTERRUPTED, Live, Stopped, live, plain, printable, say, start_searchers
from .task import Task, UsageError, as_json, prepare

EXAMPLES = """
Examples:

    altclust views customers.csv

    altclust views customers.csv --given segment --views 2 --out views
"""

Count = Annotated[
    str, typer.Option("-n", "--views", help='Number of views; "auto" stops where the next is not significant.')
]


@with_table_options
def views(
    options: TableOptions,
    count: Count = "auto",
    significance: Significance = True,
    out: Out = Path("altclust-views"),
) -> None:
    """Find one view after another, each different from the given columns and from all earlier views.

    Ctrl-C stops and keeps the views found so far.
    """
    wanted = _count(count, significance)
    task = prepare(options, out, files=VIEWS_FILES, adds=r"view_\d+")
    searching = live("Searching for view 1", lambda: start_searchers(options.n_jobs))
    with claim(task, options, VIEWS_FILES), searching as bar:
        found = ViewDiscovery(
            wanted,
            estimator=KDAC(callback=lambda now: bar.update(now)),  # a lambda, because estimators copy what they hold
            n_jobs=options.n_jobs,
            callback=lambda i, model: _test(i, model, bar, significance),
            on_found=lambda i, model: _announce(i, task.prepared.label(model), bar, significance),
            random_state=options.seed,
        ).fit(task.prepared.X, as_known(task.given), originals=task.prepared.originals)
        early = bar.interrupted
        if early and not found.views_:
            raise Stopped
        bar.write()
        for model in [*found.views_, *([] if found.rejected_ is None else [found.rejected_])]:
            if model._view.significance is not None:
                model.assess_significance(witnesses=task.prepared.others(model))
        named = {f"view_{i}": model for i, model in enumerate(found.views_, 1)}
        figures = write_results(task, named, stopped=found.stopped_, rejected=found.rejected_)
    if options.as_json:
        print(as_json(figures))
    elif not options.quiet:
        _show(figures, task)
    if early:
        say("Interrupted: these are the views found so far.")
        raise typer.Exit(INTERRUPTED)


def _count(text: str, significance: bool) -> int | str:
    if text == "auto" and significance:
        return text
    if text == "auto":
        raise UsageError("--views auto stops where a view is not significant: leave out --no-significance.")
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    raise UsageError(f'--views {text!r} is neither a number of at least 1 nor "auto".')


def _announce(i: int, model: KDAC, bar: Live, significance: bool) -> None:
    """Print the view that was found, before it is tested."""
    say(f"View {i}: {model.n_clusters_} clusters of {', '.join(map(str, np.bincount(model.labels_)))} rows.")
    if significance and not bar.interrupted:
        bar.stage(COMPARING)


def _test(i: int, model: KDAC, bar: Live, significance: bool) -> bool:
    """Test the view unless that was done, print the verdict, and go on to the next."""
    if significance and not bar.interrupted:
        if model._view.significance is None and model.assess_significance(bar.update) is not None:
            correct_for_views(model, i)
        say(str(model._view.significance or ""))
    bar.stage(f"Searching for view {i + 1}")
    return bar.interrupted


def _show(figures: dict[str, Any], task: Task) -> None:
    console, rejected = Console(), figures["rejected"]
    if figures["views"] or rejected:
        table = Table("view", "rows in each cluster", "overlap", "p-value", "stability", "weights", title="Views")
        for i, view in enumerate(figures["views"], 1):
            table.add_row(str(i), *_row(view))
        if rejected:
            table.add_row(f"{len(figures['views']) + 1}, not significant", *_row(rejected), style="dim")
        console.print(table)
    for i, view in enumerate(figures["views"], 1):
        console.print(printable(f"View {i}: {view['verdict']}"), markup=False)
    if not figures["views"]:
        console.print("No significant view was found.")
    console.print(printable(figures["stopped"]), markup=False)
    report = f"Report: {task.out / 'report.html'}. " if figures["views"] or rejected else ""
    if report:
        labels = f"Labels: {task.out / f'table{task.table.suffix}'}." if figures["views"] else ""
        console.print(f"{report}{labels}".strip(), markup=False)


def _row(view: dict[str, Any]) -> list[str]:
    """The figures of a view as cells."""
    top = ", ".join(f"{name} {weight:.0%}" for name, weight in list(view["feature_weights"].items())[:3])
    tested = view["significance"] or {"p_value": None, "smallest_p": None, "stability": None}
    least = tested["p_value"] is not None and tested["p_value"] <= tested["smallest_p"] * 1.001
    chance = f"{'≤ ' if least else ''}{_shown(tested['p_value'])}"
    sizes = ", ".join(map(str, view["cluster_sizes"]))
    return [sizes, _shown(view["overlap"]), chance, _shown(tested["stability"]), plain(top)]


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"
