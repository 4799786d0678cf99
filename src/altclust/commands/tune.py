"""`altclust tune`: search for parameters, and show all that was tried."""

from __future__ import annotations

import json
import shlex
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..tuning import RULES, Tuning
from ..tuning import tune as search
from .table import (
    Clusters,
    Components,
    Force,
    Given,
    Jobs,
    Out,
    Seed,
    Standardise,
    TableFile,
    Task,
    console,
    prepare,
    processes,
    warnings_as_sentences,
)

EXAMPLES = """
Examples:

    altclust tune customers.csv --given segment

    altclust tune customers.csv --given segment --clusters 3 --jobs 0 --resume tuning --out tuning
"""
SHOWN = {
    "separation": ("source", "n_clusters", "n_components", "sigma", "novelty", "separation", "persistence", "score"),
    "paper": ("n_clusters", "n_components", "sigma", "novelty_weight", "novelty", "quality", "inequality", "score"),
}
HEADS = {"source": "path", "n_clusters": "k", "n_components": "q", "novelty_weight": "weight"}
BEST = 10  # trials that are shown
INTERRUPTED = 130

RuleName = StrEnum("RuleName", {name: name for name in RULES})  # type: ignore[misc]
Rule = Annotated[RuleName, typer.Option(help="What decides: see docs/choosing.md.")]
Resume = Annotated[Path | None, typer.Option(help="Folder that keeps finished paths, to go on where a search stopped.")]


def tune(
    table: TableFile,
    given: Given = None,
    clusters: Clusters = None,
    components: Components = None,
    rule: Rule = RuleName("separation"),  # noqa: B008
    standardise: Standardise = True,
    jobs: Jobs = 1,
    resume: Resume = None,
    seed: Seed = 0,
    out: Out = Path("altclust-out"),
    force: Force = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the choice as JSON instead of tables.")] = False,
) -> None:
    """Search for the parameters of the clearest new view; Ctrl-C ends it with the best so far."""
    task = prepare(table, given or [], standardise, out, force, files=r"tuning\.csv|parameters\.json")
    with warnings_as_sentences(), _interrupts(processes(jobs)) as interrupted, _bar(interrupted) as report:
        tuning = search(
            task.X,
            task.given,
            n_clusters=clusters,
            n_components=components,
            rule=rule.value,
            n_jobs=processes(jobs),
            progress=report,
            resume=resume,
            random_state=seed,
        )
        early = interrupted()
    command = ["altclust", "find", str(table), *(word for name in given or [] for word in ("--given", name))]
    command += ["--parameters", str(out / "parameters.json"), *([] if standardise else ["--no-standardise"])]
    chosen = _parameters(tuning, task, standardise) | {"seed": seed, "command": shlex.join(command)}
    task.write_table("tuning.csv", tuning.table)
    task.write_json("parameters.json", chosen)
    if as_json:
        print(json.dumps(chosen, indent=2))
    else:
        _show(tuning, SHOWN[rule.value], chosen["command"], out)
    if early:
        console.print(f"Interrupted: this is the best of the {len(tuning.trials)} trials until then.")
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _interrupts(jobs: int) -> Iterator[Callable[[], bool]]:
    """Note Ctrl-C instead of raising it; the processes that search are started here, while it is ignored."""
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if jobs != 1:
            Parallel(n_jobs=jobs)(delayed(int)() for _ in range(2))
        signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
        yield lambda: bool(noted)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(interrupted: Callable[[], bool]) -> Iterator[Callable[[int, int], bool]]:
    """Show the paths done of all; the answer of each report says whether to stop."""
    columns = TextColumn("Paths searched"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=None)

        def report(done: int, total: int) -> bool:
            progress.update(bar, completed=done, total=total)
            return interrupted()

        yield report


def _parameters(tuning: Tuning, task: Task, standardise: bool) -> dict[str, Any]:
    chosen = dict(tuning.parameters)
    directions = np.asarray(chosen.pop("init"))
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in chosen.items()}
    return plain | {
        "score": tuning.score,
        "reasons": tuning.reasons,
        "standardise": standardise,
        "directions": {str(c): row.tolist() for c, row in zip(task.X.columns, directions, strict=True)},
    }


def _show(tuning: Tuning, columns: tuple[str, ...], command: str, out: Path) -> None:
    best = tuning.table.sort_values(["chosen", "score"], ascending=False, kind="stable").head(BEST)
    table = Table(
        title=f"The best of {len(tuning.table)} trials", caption="k clusters in q directions; the first is the choice."
    )
    for column in columns:
        table.add_column(HEADS.get(column, column))
    for _, row in best.iterrows():
        table.add_row(*(_cell(row[column]) for column in columns))
    Console().print(table)
    Console().print(tuning.reasons, markup=False)
    Console().print(f"All trials in {out / 'tuning.csv'}, the choice in {out / 'parameters.json'}.", markup=False)
    Console().print(f"To use it: {command}", markup=False)


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
