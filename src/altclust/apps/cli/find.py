"""`altclust find`: one alternative view of a table."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from ...core.kernel_choice import KERNELS
from ...models.kdac import KDAC
from ...report.verdict import MOST_WITNESSES
from ...search.selection import MENU
from ...tables.known import measured
from .files import claim
from .options import NAMES, Clusters, Components, Out, Significance, TableOptions, with_table_options
from .results import FIND_FILES, answer, write_results
from .screen import COMPARING, INTERRUPTED, WRITING, Live, live, plain, say, start_searchers
from .task import Task, UsageError, as_json, prepare

EXAMPLES = """
Examples:

    altclust find customers.csv --given segment

    altclust find customers.csv

    altclust find cells.parquet --given-file types.csv --id cell --columns 'gene_*' --clusters 4 --out views

    altclust find customers.csv --given segment --view 2 --force

    altclust find customers.csv --given segment --parameters altclust-out/parameters.json
"""
CHOSEN = (
    *("n_clusters", "n_components", "sigma", "novelty_weight", "scaling", "subtract_given"),
    *("whitening", "degree_floor", "pull", "subspace"),
)
SEARCHING, CHECKING = "Searching for an alternative", "Checking the solver"

KernelName = StrEnum("KernelName", {name: name for name in KERNELS})  # type: ignore[misc]
KernelOption = Annotated[KernelName, typer.Option("--kernel", help="Kernel of the fit; see docs/family.md.")]
Sigma = Annotated[float | None, typer.Option(help="Kernel width, in standard deviations. Default: searched for.")]
Weight = Annotated[float | None, typer.Option(min=0, help="Penalty for overlap with what is given. Default: 1.")]
KeepOption = Annotated[
    str | None, typer.Option("--keep", help="Column with labels of some rows, with which the result should agree.")
]
Parameters = Annotated[Path | None, typer.Option(help="The parameters.json that `altclust tune` wrote.")]
View = Annotated[int, typer.Option(min=1, max=MENU, help="Number of the view to take, of those that the search finds.")]
CertificateOption = Annotated[
    bool, typer.Option("--certificate", help="Check that the solver is at a minimum; of a sample, with a second one.")
]
AllViews = Annotated[
    bool, typer.Option("--all-views", help="Also write a column for each other view that the search finds.")
]


@with_table_options
def find(
    options: TableOptions,
    clusters: Clusters = None,
    components: Components = None,
    kernel: KernelOption = KernelName("gaussian"),  # noqa: B008
    sigma: Sigma = None,
    novelty_weight: Weight = None,
    keep: KeepOption = None,
    parameters: Parameters = None,
    view: View = 1,
    all_views: AllViews = False,
    significance: Significance = True,
    certificate: CertificateOption = False,
    out: Out = Path("altclust-out"),
) -> None:
    """Find the best clustering of a table that differs from what you know; write labels, figures and a report.

    Without --given, the table is clustered first, and an alternative to that clustering is found.

    The answer is printed first, and whether it is significant when that has been tested. Ctrl-C stops and keeps the
    best result so far.
    """
    if sigma is not None and not sigma > 0:
        raise UsageError(f"--sigma {sigma:g} must be above 0; leave it out to search for it.")
    if (view > 1 or all_views) and (sigma is not None or parameters is not None):
        option = f"--view {view}" if view > 1 else "--all-views"
        fixed_by = "--sigma" if parameters is None else "--parameters"
        raise UsageError(f"{option} needs a search, which finds several views: leave out {fixed_by}.")
    adds = r"alternative(_\d+)?|first_view" if all_views else "alternative|first_view"
    task = prepare(options, out, files=FIND_FILES, adds=adds, keep=keep)
    wanted = {"n_clusters": clusters, "n_components": components, "sigma": sigma, "novelty_weight": novelty_weight}
    fixed: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    why = None
    if parameters is not None:
        fixed, why = read_parameters(parameters, task, options.standardise, fixed)
    chosen = {} if kernel == "gaussian" else {"kernel": str(kernel)}
    first = None
    with claim(task, options, FIND_FILES):
        with live(SEARCHING, lambda: start_searchers(options.n_jobs)) as bar:
            if task.given is None:
                bar.stage("Clustering the table first")
                clusters_only = {"n_clusters": fixed.get("n_clusters", "auto")}
                first = task.prepared.fit(_model(options, bar, clusters_only), None).labels_
                task = replace(task, given=pd.DataFrame({"first_view": first.astype(str)}))
                counts = ", ".join(map(str, np.bincount(first)))
                say(f"No --given column: the table was clustered first, into clusters of {counts} rows.")
                bar.stage(SEARCHING)
            model = task.prepared.fit(_model(options, bar, fixed | chosen), task.given)
            choose_view(model, view, bar.interrupted)
            early = bar.interrupted
        shown = not (options.as_json or options.quiet)
        if shown:
            columns = [] if task.given is None else list(task.given.columns)
            show_answer(answer(task, model, why), columns, bool(measured(task.given)))
        tested = significance and not early
        with live(COMPARING if tested else WRITING, lambda: start_searchers(options.n_jobs)) as bar:
            if tested:
                model.assess_significance(bar.update, witnesses=task.prepared.others(model))
                early = bar.interrupted
            if certificate and not early:
                bar.stage(CHECKING)
                model.certificate_  # noqa: B018  (computed on first access)
            bar.write()
            figures = write_results(task, {"alternative": model}, first=first, why=why, all_views=all_views)
    if options.as_json:
        print(as_json(figures))
    elif shown:
        show_verdict(figures["views"][0], task)
    if early:
        untested = "; its significance was not tested" if tested else ""
        say(f"Interrupted: this is the best result so far{untested}.")
        raise typer.Exit(INTERRUPTED)


def choose_view(model: KDAC, number: int, interrupted: bool) -> None:
    """Make one of the views that the search found the result."""
    count = max(len(model.candidates_), 1)
    if number <= len(model.candidates_):
        model.choose(number)
    elif interrupted and number > 1:
        say(f"--view {number} was not reached: the result is the best view so far.", style="yellow")
    elif number > 1:
        found = "only 1 view" if count == 1 else f"{count} views"
        raise UsageError(f"--view {number} does not exist: the search found {found}; pass a number up to {count}.")


def _model(options: TableOptions, bar: Live, fixed: dict[str, Any]) -> KDAC:
    return KDAC(**fixed, n_jobs=options.n_jobs, callback=bar.update, random_state=options.seed)


def read_parameters(
    file: Path, task: Task, standardise: bool, fixed: dict[str, Any]
) -> tuple[dict[str, Any], str | None]:
    """The parameters that `altclust tune` chose for this table, as arguments of KDAC, and why."""
    if fixed:
        raise UsageError(f"--parameters {file} sets every parameter: leave out {NAMES[next(iter(fixed))]}.")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        chosen = {name: content[name] for name in CHOSEN} | {"init": np.array(list(content["directions"].values()))}
        columns, scaled = list(content["directions"]), content["standardise"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"--parameters {file} is not a file that `altclust tune` wrote.") from error
    if columns != list(task.prepared.X.columns):
        raise UsageError(f"--parameters {file} is for the columns {', '.join(columns)}: run `altclust tune` again.")
    if scaled != standardise:
        raise UsageError(f"--parameters {file} is for {'--' if scaled else '--no-'}standardise: pass that option too.")
    return chosen, content.get("reasons")


def show_answer(view: dict[str, Any], given: list[str], numbers: bool = False) -> None:
    """Print what was found; whether it is significant is not known yet. numbers: whether measurements are given."""
    table = Table(title="Alternative clustering", show_header=False)
    top = list(view["feature_weights"].items())[:5]
    table.add_row("clusters", f"{view['clusters']}  ({', '.join(map(str, view['cluster_sizes']))} rows)")
    compared = f"{'dependence on' if numbers else 'NMI with'} {plain(', '.join(given))}"
    table.add_row("overlap", f"{view['overlap']:.3f}  ({compared}; 0 is independent)")
    if view["agreement"] is not None:
        table.add_row("agreement", plain(view["agreement"]))
    table.add_row("columns", plain(", ".join(f"{name} {weight:.0%}" for name, weight in top)))
    for sentence in view["descriptions"]:
        table.add_row("", plain(sentence))
    Console().print(table)


def show_verdict(view: dict[str, Any], task: Task) -> None:
    """Print whether the view is significant, the other views, and where the files are."""
    table, console = Table(show_header=False), Console()
    table.add_row("verdict", plain(view["verdict"]))
    table.add_row("what to do", plain(view["advice"]))
    if view["rule"] is not None:
        table.add_row("rule", plain(view["rule"]))
    if view["left_out"] is not None:
        table.add_row("left aside", plain(view["left_out"]))
    if view["significance"] is not None:
        for witness in view["significance"]["witnesses"][MOST_WITNESSES:]:  # the verdict names the first ones
            table.add_row("", plain(witness["sentence"]))
    console.print(table)
    if len(view["candidates"]) > 1:
        console.print(menu(view["candidates"]))
    method = Table(title="Method", show_header=False)
    method.add_row("quality", f"{view['quality']:.3f}  (HSIC at this sigma; at most {view['clusters']})")
    if view["reasons"] is not None:
        method.add_row("search", plain(view["reasons"]))
    if view["certificate"] is not None:
        method.add_row("solver check", view["certificate"]["verdict"])
    console.print(method)
    console.print(
        f"Report: {task.out / 'report.html'}. Labels: {task.out / f'table{task.table.suffix}'}.", markup=False
    )


def menu(candidates: list[dict[str, Any]]) -> Table:
    """The views that the search found, one line each."""
    table = Table(
        "view",
        "clusters",
        "overlap",
        "found again",
        "columns",
        title="Views that the search found",
        caption="* is the result; --view N takes another, --all-views writes all. Found again: NMI with the clusters "
        "that the same start finds in one half of the rows. The significance test uses six halves.",
    )
    for one in candidates:
        figures = ("–" if one[name] is None else f"{one[name]:.2f}" for name in ("overlap", "found_again"))
        number = f"{one['number']}{' *' if one['chosen'] else ''}"
        table.add_row(number, str(one["clusters"]), *figures, plain(", ".join(one["columns"]) or "–"))
    return table
