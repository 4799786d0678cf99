"""`altclust find`: the views of a table, one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ...base.progress import Progress
from ...core.kernels import KERNELS
from ...models.kdac import KDAC
from ...models.study import RESULTS
from ...models.views import MOST, View, Views
from ...report.verdict import MOST_WITNESSES
from ...search.settings import Settings
from .files import claim
from .options import NAMES, Clusters, Components, Out, Significance, TableOptions, with_table_options
from .results import FILES, Described, view_figures, write_results
from .screen import COMPARING, INTERRUPTED, WRITING, Live, Stopped, live, say, show, show_pairs, start_searchers
from .task import Task, UsageError, as_json, command_line, prepare

EXAMPLES = """
Examples:

    altclust find customers.csv --given segment

    altclust find customers.csv

    altclust find cells.parquet --given-file types.csv --id cell --columns 'gene_*' --clusters 4 --out views

    altclust find customers.csv --given segment --views 1

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
Count = Annotated[
    int | None,
    typer.Option("--views", min=1, help="Most views to find; 1 stops after the first. Default: 5."),
]
CertificateOption = Annotated[
    bool, typer.Option("--certificate", help="Check that the solver is at a minimum; of a sample, with a second one.")
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
    views: Count = None,
    significance: Significance = True,
    certificate: CertificateOption = False,
    out: Out = Path("altclust-out"),
) -> None:
    """Find the clusterings of a table that differ from what you know; write labels, figures and a report.

    Views are found one after the other, each different from the given columns and from all earlier views, until two in
    a row are not significant. Without --given, the table is clustered first, and that clustering is what is given.

    Each view is printed in a line when it is found, and in full when it has been tested. Ctrl-C stops and keeps what
    there is.
    """
    if sigma is not None and not sigma > 0:
        raise UsageError(f"--sigma {sigma:g} must be above 0; leave it out to search for it.")
    if (views or 1) > 1 and not (significance and parameters is None):
        why_not = "--no-significance" if parameters is None else "--parameters"
        raise UsageError(f"--views {views} tests each view before it searches for the next: leave out {why_not}.")
    task = prepare(options, out, files=FILES, adds=RESULTS, keep=keep)
    wanted = {"n_clusters": clusters, "n_components": components, "sigma": sigma, "novelty_weight": novelty_weight}
    fixed: dict[str, Any] = {name: value for name, value in wanted.items() if value is not None}
    why = None
    if parameters is not None:
        fixed, why = read_parameters(parameters, task, options.standardise, fixed)
    shown = not (options.as_json or options.quiet)
    with claim(task, options, FILES):
        steps = Steps(task, options, Settings(**fixed, kernel=str(kernel)), why)
        task = replace(task, study=steps.study)
        most = views or (MOST if significance and parameters is None else 1)
        for view in steps.views(most, significance):
            try:
                if shown and significance and view.significance is None:
                    show(f"View {view.number}: {view.sentence}", style="dim")  # at once; its test takes a while
                elif shown and view.significance is not None:
                    show_view(view, *steps.described(view))
            except Stopped:  # Ctrl-C between two stages counts as in one
                steps.interrupted = True
        found = list(steps.found.values())
        if shown and found[-1].significance is None:
            show_view(found[-1], *steps.described(found[-1]))
        with live(WRITING) as bar:
            if certificate and not steps.interrupted:
                bar.stage(CHECKING)
                for view in filter(lambda one: one.in_table, found):
                    view.model.certificate_  # noqa: B018  (computed on first access)
                steps.shown.clear()  # they have no certificate
            bar.write()
            figures = write_results(task, found, map(steps.described, found), Views.of(found, most).stopped)
    if options.as_json:
        print(as_json(figures))
    elif shown:
        show_result(found, figures, task)
    if steps.interrupted:
        untested = "; its significance was not tested" if significance and found[-1].significance is None else ""
        say(f"Interrupted: this is the best result so far{untested}.")
        raise typer.Exit(INTERRUPTED)


class Steps:
    """The stages of a run, each with its own progress bar, which Ctrl-C ends."""

    def __init__(self, task: Task, options: TableOptions, settings: Settings, why: str | None) -> None:
        self.options, self.study, self.why, self.interrupted = options, task.study, why, False
        self.bar: Live | None = None
        self.found: dict[int, View] = {}
        self.shown: dict[tuple[int, bool], Described] = {}  # by the number of the view, and whether it was tested
        callback = self.update  # the bar of the current stage, not that of the first
        self.model = KDAC(settings=settings, n_jobs=options.n_jobs, callback=callback, random_state=options.seed)
        if self.study.given is None:
            first = KDAC(settings=Settings(settings.n_clusters), n_jobs=options.n_jobs, callback=callback)
            with self.stage("Clustering the table first"):
                self.study = self.study.with_first(first.set_params(random_state=options.seed))
            assert self.study.first is not None
            counts = ", ".join(map(str, np.bincount(self.study.first)))
            say(f"No --given column: the table was clustered first, into clusters of {counts} rows.")

    def update(self, now: Progress) -> bool:
        """Callback of everything that takes time."""
        return self.interrupted or (self.bar is not None and self.bar.update(now))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A part of the run, with a progress bar."""
        with live(name, lambda: start_searchers(self.options.n_jobs)) as self.bar:
            yield
        self.interrupted |= self.bar.interrupted

    def views(self, most: int, test: bool) -> Iterator[View]:
        """The states of the views, as `altclust.models.study.Study.each_view` passes them on."""
        states = self.study.each_view(self.model, most=most, test=lambda model: self.study.tested(model, self.update))
        while True:
            number = len(self.found) + (not self.found or next(reversed(self.found.values())).significance is not None)
            searching = number not in self.found
            with self.stage(SEARCHING if number == 1 else f"Searching for view {number}" if searching else COMPARING):
                view = next(states, None)
            if view is None or (self.interrupted and view.number > 1 and view.significance is None):
                return
            self.found[view.number] = view
            yield view
            if self.interrupted or not test:
                return

    def described(self, view: View) -> Described:
        """The summary and the figures of a view."""
        key = view.number, view.significance is not None
        if key not in self.shown:
            before = [one.labels for one in self.found.values() if one.number < view.number]
            summary = self.study.summary(view.model, before, command=command_line(again=True))
            self.shown[key] = summary, view_figures(view, summary, self.why)
        return self.shown[key]


def read_parameters(
    file: Path, task: Task, standardise: bool, fixed: dict[str, Any]
) -> tuple[dict[str, Any], str | None]:
    """The settings that `altclust tune` chose for this table, and why."""
    if fixed:
        raise UsageError(f"--parameters {file} sets every parameter: leave out {NAMES[next(iter(fixed))]}.")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        chosen = {name: content[name] for name in CHOSEN} | {"init": np.array(list(content["directions"].values()))}
        columns, scaled = list(content["directions"]), content["standardise"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"--parameters {file} is not a file that `altclust tune` wrote.") from error
    if columns != list(task.study.X.columns):
        raise UsageError(f"--parameters {file} is for the columns {', '.join(columns)}: run `altclust tune` again.")
    if scaled != standardise:
        raise UsageError(f"--parameters {file} is for {'--' if scaled else '--no-'}standardise: pass that option too.")
    return chosen, content.get("reasons")


def show_view(view: View, summary: dict[str, Any], figures: dict[str, Any]) -> None:
    """Print the verdict on a view, what was found, what to do, and what sets its clusters apart.

    Of later views that are not significant, only the verdict.
    """
    headline, top = summary["headline"], summary["weights"][:5]
    if not view.in_table:
        show(f"View {view.number}: {headline['verdict']}", style="dim")
        return
    earlier = ", ".join(f"{name} {nmi:.2f}" for name, nmi in view.overlaps.items())
    variants = " or ".join(map(str, view.variants))
    more = summary["significance"]["witnesses"][MOST_WITNESSES:]  # the headline names the first
    rule = (figures["rule"] or "").removeprefix("These clusters are ")
    pairs = [
        ("found", headline["found"]),
        ("why", headline["why"]),
        ("what to do", headline["advice"]),
        *((("clusters", "")[i > 0], sentence) for i, sentence in enumerate(figures["descriptions"])),
        ("", variants and f"Nearly as clear with {variants} clusters."),
        ("columns", ", ".join(f"{one['name']} {one['weight']:.0%}" for one in top if one["weight"] >= 0.005)),
        ("", None if rule in headline["found"] else f"These clusters are {rule}"),
        ("obvious", figures["left_out"]),
        ("overlap", earlier and f"NMI with earlier views: {earlier}"),
        ("agreement", figures["agreement"]),
        *(("", witness["sentence"]) for witness in more),
    ]
    show_pairs(pairs, f"View {view.number}: {headline['badge']}")


def show_result(found: list[View], figures: dict[str, Any], task: Task) -> None:
    """Print how the views were found that the table has, why there are no more, and where the files are."""
    if figures["views"][-1]["significance"] is not None:
        show(figures["stopped"])
    for view, told in zip(found, figures["views"], strict=True):
        if view.in_table:
            method = [
                ("quality", f"{told['quality']:.3f}  (HSIC at this sigma; at most {told['clusters']})"),
                ("search", told["reasons"]),
                ("solver check", told["certificate"] and told["certificate"]["verdict"]),
            ]
            show_pairs(method, f"View {view.number}: method")
    show(f"Report: {task.out / 'report.html'}. Labels: {task.out / f'table{task.table.suffix}'}.")
