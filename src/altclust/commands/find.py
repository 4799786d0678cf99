"""`altclust find`: one alternative view of a table."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..estimators import KDAC
from .table import (
    Clusters,
    Components,
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
)

EXAMPLES = """
Examples:

    altclust find customers.csv --given segment

    altclust find customers.csv --given segment --given region --clusters 4 --out views

    altclust find customers.csv --given segment --parameters altclust-out/parameters.json
"""
CHOSEN = ("n_clusters", "n_components", "sigma", "novelty_weight", "scaling", "subtract_given")

Sigma = Annotated[float | None, typer.Option(help="Kernel width, in standard deviations; searched for if left out.")]
Weight = Annotated[float | None, typer.Option(help="Price of resembling what is given; 1 if left out.")]
Parameters = Annotated[Path | None, typer.Option(help="What `altclust tune` chose: its parameters.json.")]


def find(
    table: TableFile,
    given: Given = None,
    clusters: Clusters = None,
    components: Components = None,
    sigma: Sigma = None,
    novelty_weight: Weight = None,
    parameters: Parameters = None,
    sure: Sure = True,
    standardise: Standardise = True,
    jobs: Jobs = 1,
    seed: Seed = 0,
    out: Out = Path("altclust-out"),
    force: Force = False,
) -> None:
    """Find the alternative to the given columns; write labels, figures and a picture."""
    task = prepare(
        table, given or [], standardise, out, force, files=r"table\.csv|figures\.json|view\.png", adds="alternative"
    )
    asked = {"n_clusters": clusters, "n_components": components, "sigma": sigma, "novelty_weight": novelty_weight}
    fixed: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    why = None
    if parameters is not None:
        fixed, why = read_parameters(parameters, task, standardise, fixed)
    model = KDAC(**fixed, n_jobs=processes(jobs), random_state=seed)
    with warnings_as_sentences(), console.status("Looking for another view…") as status:
        model.fit(task.X, task.given)
        if sure:
            status.update("Comparing with shuffled rows, to tell the view from chance…")
        figures = _figures(model, why or reasons(model), confidence(model) if sure else None)
    task.write_table("table.csv", task.frame.assign(alternative=model.labels_))
    task.write_json("figures.json", figures)
    known = None if task.given is None else task.given.iloc[:, 0]
    task.write("view.png", partial(picture, model=model, X=task.X, given=known))
    _show(figures, out)


def read_parameters(
    file: Path, task: Task, standardise: bool, fixed: dict[str, Any]
) -> tuple[dict[str, Any], str | None]:
    """What `altclust tune` chose for this table as arguments of KDAC, and why."""
    if fixed:
        option = next(iter(fixed)).removeprefix("n_").replace("_", "-")
        raise UsageError(f"--parameters {file} holds every parameter: leave out --{option}.")
    try:
        content = json.loads(file.read_text())
        chosen = {name: content[name] for name in CHOSEN} | {"init": np.array(list(content["directions"].values()))}
        columns, scaled = list(content["directions"]), content["standardise"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"--parameters {file} is not a file that `altclust tune` wrote.") from error
    if columns != list(task.X.columns):
        raise UsageError(f"--parameters {file} was chosen for the columns {', '.join(columns)}: run `altclust tune`.")
    if scaled != standardise:
        raise UsageError(f"--parameters {file} was chosen with {'--' if scaled else '--no-'}standardise: pass it too.")
    return chosen, content.get("reasons")


def _figures(model: KDAC, why: str | None, sure: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "clusters": model.n_clusters_,
        "cluster_sizes": sizes(model),
        "novelty": number(model.novelty_),
        "quality": model.quality_,
        "directions": model.n_components_,
        "sigma": model.sigma_,
        "novelty_weight": model.novelty_weight_,
        "subtract_given": model.subtract_given_,
        "reasons": why,
        "rounds": model.n_iter_,
        "status": model.status_,
        "verdict": model.certificate_.verdict,
        "confidence": sure,
        "feature_weights": weights(model),
    }


def _show(figures: dict[str, Any], out: Path) -> None:
    table = Table(title="The alternative view", show_header=False)
    top = list(figures["feature_weights"].items())[:5]
    counts = ", ".join(map(str, figures["cluster_sizes"]))
    new = (
        "nothing was given"
        if figures["novelty"] is None
        else f"{figures['novelty']:.3f}  (NMI with what was given; 0 is new)"
    )
    table.add_row("clusters", f"{figures['clusters']}  ({counts} rows)")
    table.add_row("novelty", new)
    table.add_row("quality", f"{figures['quality']:.3f}  (HSIC at this sigma; at most {figures['clusters']})")
    table.add_row("features", escape(", ".join(f"{name} {weight:.0%}" for name, weight in top)))
    if figures["reasons"] is not None:
        table.add_row("search", figures["reasons"])
    if figures["confidence"] is not None:
        table.add_row("confidence", figures["confidence"]["verdict"])
    table.add_row("proof", figures["verdict"])
    Console().print(table)
    Console().print(
        f"Labels in {out / 'table.csv'}, figures in {out / 'figures.json'}, picture in {out / 'view.png'}.",
        markup=False,
    )
