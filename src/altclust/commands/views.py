"""`altclust views`: as many views of a table as there are."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Table

from ..estimators import KDAC
from ..views import ViewDiscovery
from .table import (
    Force,
    Given,
    Jobs,
    Out,
    Seed,
    Standardise,
    Sure,
    TableFile,
    Task,
    UsageError,
    confidence,
    console,
    number,
    picture,
    prepare,
    processes,
    reasons,
    sizes,
    warnings_as_sentences,
    weights,
    written,
)

EXAMPLES = """
Examples:

    altclust views customers.csv

    altclust views customers.csv --given segment --views 2 --out views
"""
PICTURES = r"view_\d+\.png"

Count = Annotated[
    str, typer.Option("-n", "--views", help='How many views; "auto" stops where the next is no stronger than chance.')
]


def views(
    table: TableFile,
    given: Given = None,
    count: Count = "auto",
    sure: Sure = True,
    standardise: Standardise = True,
    jobs: Jobs = 1,
    seed: Seed = 0,
    out: Out = Path("altclust-views"),
    force: Force = False,
) -> None:
    """Find view after view, each new beside the given columns and all views before it."""
    wanted = _count(count, sure)
    task = prepare(
        table, given or [], standardise, out, force, files=rf"table\.csv|views\.json|{PICTURES}", adds=r"view_\d+"
    )
    with warnings_as_sentences(), console.status("Looking for view 1…") as status:
        found = ViewDiscovery(
            wanted,
            n_jobs=processes(jobs),
            callback=lambda i, model: _announce(i, model, status, sure),
            random_state=seed,
        ).fit(task.X, task.given)
        figures = {"views": [_figures(model, sure) for model in found.views_], "stopped": found.stopped_}
    names = [f"view_{i}" for i in range(1, found.n_views_ + 1)]
    labels = pd.DataFrame(found.labels_, columns=names, index=task.frame.index)
    task.write_table("table.csv", pd.concat([task.frame, labels], axis=1))
    task.write_json("views.json", figures)
    _pictures(task, found, names)
    _show(figures, out)


def _count(text: str, sure: bool) -> int | str:
    if text == "auto" and sure:
        return text
    if text == "auto":
        raise UsageError("--views auto stops where a view is no stronger than chance: leave out --no-confidence.")
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    raise UsageError(f'--views {text!r} is neither a number from 1 on nor "auto".')


def _announce(i: int, model: KDAC, status: Status, sure: bool) -> None:
    """Say which view was found and which one is looked for now."""
    counts = ", ".join(map(str, sizes(model)))
    said = f"View {i}: {model.n_clusters_} clusters of {counts} rows."
    if sure:
        status.update(f"Comparing view {i} with shuffled rows…")
        said = f"{said} {model.confidence_}"
    console.print(said, markup=False)
    status.update(f"Looking for view {i + 1}…")


def _pictures(task: Task, found: ViewDiscovery, names: list[str]) -> None:
    """One picture per view, beside what is given or the view before; those of an earlier run go."""
    for old in written(task.out, PICTURES):
        if old.stem not in names:
            old.unlink()
    before: Any = None if task.given is None else task.given.iloc[:, 0]
    for name, model in zip(names, found.views_, strict=True):
        task.write(f"{name}.png", partial(picture, model=model, X=task.X, given=before))
        if task.given is None:
            before = model.labels_


def _figures(model: KDAC, sure: bool) -> dict[str, Any]:
    return {
        "clusters": model.n_clusters_,
        "cluster_sizes": sizes(model),
        "novelty": number(model.novelty_),
        **(confidence(model) if sure else dict.fromkeys(("p_value", "stability", "verdict"))),
        "reasons": reasons(model),
        "feature_weights": weights(model),
    }


def _show(figures: dict[str, Any], out: Path) -> None:
    if figures["views"]:
        table = Table("view", "rows in each cluster", "novelty", "p-value", "stability", "features", title="The views")
        for i, view in enumerate(figures["views"], 1):
            top = ", ".join(f"{name} {weight:.0%}" for name, weight in list(view["feature_weights"].items())[:3])
            numbers = [_shown(view[name]) for name in ("novelty", "p_value", "stability")]
            table.add_row(str(i), ", ".join(map(str, view["cluster_sizes"])), *numbers, escape(top))
        Console().print(table)
    else:
        Console().print("No view was found.")
    Console().print(figures["stopped"], markup=False)
    drawn = ", pictures beside them" if figures["views"] else ""
    Console().print(f"Labels in {out / 'table.csv'}, figures in {out / 'views.json'}{drawn}.", markup=False)


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"
