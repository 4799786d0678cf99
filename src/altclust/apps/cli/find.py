"""`altclust find`: one alternative view of a table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from ...models.kdac import KDAC
from .options import Asked, Clusters, Components, Out, Sure, asking
from .results import FILES, write_results
from .screen import COMPARING, INTERRUPTED, Live, live, plain, say, start_searchers
from .task import Task, UsageError, as_json, check_clusters, prepare

EXAMPLES = """
Examples:

    altclust find customers.csv --given segment

    altclust find customers.csv

    altclust find cells.parquet --given-file types.csv --id cell --columns 'gene_*' --clusters 4 --out views

    altclust find customers.csv --given segment --parameters altclust-out/parameters.json
"""
CHOSEN = ("n_clusters", "n_components", "sigma", "novelty_weight", "scaling", "subtract_given")
SEARCHING = "Looking for another view"

Sigma = Annotated[float | None, typer.Option(help="Kernel width, in standard deviations; searched for if left out.")]
Weight = Annotated[float | None, typer.Option(min=0, help="Price of resembling what is given; 1 if left out.")]
Parameters = Annotated[Path | None, typer.Option(help="What `altclust tune` chose: its parameters.json.")]


@asking
def find(
    asked: Asked,
    clusters: Clusters = None,
    components: Components = None,
    sigma: Sigma = None,
    novelty_weight: Weight = None,
    parameters: Parameters = None,
    sure: Sure = True,
    out: Out = Path("altclust-out"),
) -> None:
    """Find the best clustering of a table that differs from what you know; write labels, figures and a report.

    Without --given, the table is clustered first, and the alternative to that is found. Ctrl-C ends with what there is.
    """
    if sigma is not None and not sigma > 0:
        raise UsageError(f"--sigma {sigma:g} must be more than 0; leave it out to search for it.")
    task = prepare(asked, out, files=FILES, adds="alternative|first_view")
    check_clusters(clusters, task)
    wanted = {"n_clusters": clusters, "n_components": components, "sigma": sigma, "novelty_weight": novelty_weight}
    fixed: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    why = None
    if parameters is not None:
        fixed, why = read_parameters(parameters, task, asked.standardise, fixed)
    first = None
    with live(SEARCHING, lambda: start_searchers(asked.n_jobs)) as bar:
        if task.given is None:
            bar.stage("Clustering the table first")
            first = _model(asked, bar, {"n_clusters": fixed.get("n_clusters", "auto")}).fit(task.X).labels_
            task = replace(task, given=pd.DataFrame({"first_view": first.astype(str)}))
            counts = ", ".join(map(str, np.bincount(first)))
            say(f"Nothing was given, so the table was clustered first: clusters of {counts} rows.")
            bar.stage(SEARCHING)
        model = _model(asked, bar, fixed).fit(task.X, task.given)
        if sure and not bar.interrupted:
            bar.stage(COMPARING)
            model.assess_confidence(bar.share)
        early = bar.interrupted
        bar.write()
        figures = write_results(task, {"alternative": model}, first=first, why=why)
    if asked.as_json:
        print(as_json(figures))
    elif not asked.quiet:
        show(figures, task)
    if early:
        say("Interrupted: this is what there was until then.")
        raise typer.Exit(INTERRUPTED)


def _model(asked: Asked, bar: Live, fixed: dict[str, Any]) -> KDAC:
    return KDAC(**fixed, n_jobs=asked.n_jobs, callback=bar.round, random_state=asked.seed)


def read_parameters(
    file: Path, task: Task, standardise: bool, fixed: dict[str, Any]
) -> tuple[dict[str, Any], str | None]:
    """What `altclust tune` chose for this table as arguments of KDAC, and why."""
    if fixed:
        option = next(iter(fixed)).removeprefix("n_").replace("_", "-")
        raise UsageError(f"--parameters {file} holds every parameter: leave out --{option}.")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        chosen = {name: content[name] for name in CHOSEN} | {"init": np.array(list(content["directions"].values()))}
        columns, scaled = list(content["directions"]), content["standardise"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"--parameters {file} is not a file that `altclust tune` wrote.") from error
    if columns != list(task.X.columns):
        raise UsageError(f"--parameters {file} was chosen for the columns {', '.join(columns)}: run `altclust tune`.")
    if scaled != standardise:
        raise UsageError(f"--parameters {file} was chosen with {'--' if scaled else '--no-'}standardise: pass it too.")
    return chosen, content.get("reasons")


def show(figures: dict[str, Any], task: Task) -> None:
    """The view in a table, and where everything is."""
    view = figures["views"][0]
    table = Table(title="The alternative view", show_header=False)
    top = list(view["feature_weights"].items())[:5]
    table.add_row("clusters", f"{view['clusters']}  ({', '.join(map(str, view['cluster_sizes']))} rows)")
    table.add_row("overlap", f"{view['overlap']:.3f}  (NMI with {plain(', '.join(figures['given']))}; 0 is new)")
    table.add_row("quality", f"{view['quality']:.3f}  (HSIC at this sigma; at most {view['clusters']})")
    table.add_row("features", plain(", ".join(f"{name} {weight:.0%}" for name, weight in top)))
    for sentence in view["descriptions"]:
        table.add_row("", plain(sentence))
    if view["reasons"] is not None:
        table.add_row("search", plain(view["reasons"]))
    if view["confidence"] is not None:
        table.add_row("confidence", view["confidence"]["verdict"])
    table.add_row("proof", view["certificate"]["verdict"])
    console = Console()
    console.print(table)
    console.print(
        f"Open {task.out / 'report.html'}; labels are in {task.out / f'table{task.table.suffix}'}.", markup=False
    )
