"""`altclust reproduce`: the paper's table and figures from the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..datasets import DatasetUnavailable
from ..files.atomic import can_write
from .page import build_page, cell_text
from .runs import INITS, METHODS, RUNS, SET_NAMES, VARIANTS, Cell, cells, table_task
from .section import Section
from .table1 import BUDGET, run_cells, stored, table_section, write_text

reproduce_app = typer.Typer(
    help="Reproduce the paper: every table and figure, compared with the printed one.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

SetName = StrEnum("SetName", {name: name for name in SET_NAMES})  # type: ignore[misc]
MethodName = StrEnum("MethodName", {name: name for name in METHODS})  # type: ignore[misc]
InitName = StrEnum("InitName", {name: name for name in INITS})  # type: ignore[misc]

FIGURES = {
    "figure1": "Figure 1: two independent clusterings of Moon.",
    "figure2": "Figure 2: the given and the found clustering of every set that can be drawn.",
    "figure3": "Figure 3: time against the number of columns.",
    "convergence": "How the paper's loop and the safeguarded ISM converge on the first W problem of every set.",
    "hsic": "The appendix on HSIC: it detects relations that correlation does not.",
    "theorem": "Theorem 1 at the paper's settings: the inequality and the Hessian.",
    "hyperparameters": "The appendix's hyperparameters and their effect.",
}


def _folder(out: Path) -> Path:
    """Refuse a folder that cannot be written to, before anything is computed."""
    if not can_write(out):
        raise typer.BadParameter(f"{out} cannot be written to: name another folder.")
    return out


Out = Annotated[Path, typer.Option(help="Folder for the results.", callback=_folder)]
Runs = Annotated[int, typer.Option(min=1, help="Random starts in each RI row.")]
Jobs = Annotated[int, typer.Option(min=0, help="Number of parallel processes; 0: one per core.")]
Budget = Annotated[float, typer.Option(min=0.0, help="Time limit per row, in seconds; rows that exceed it are marked.")]

INTRODUCTION = (
    "“Iterative Spectral Method for Alternative Clustering” (Wu, Ioannidis, Sznaier, Li, Kaeli and Dy, AISTATS 2018), "
    "reproduced with altclust: the printed results beside ours."
)


def _example(*lines: str) -> str:
    return "\nExamples:\n\n" + "\n\n".join(f"    altclust reproduce {line}" for line in lines) + "\n"


@reproduce_app.command(
    epilog=_example("table1", "table1 --sets SG --sets Moon --methods ISM --runs 3 --out quick", "table1 --inits SI")
)
def table1(
    sets: Annotated[list[SetName] | None, typer.Option(help="Only these sets; may be repeated.")] = None,
    methods: Annotated[list[MethodName] | None, typer.Option(help="Only these methods; may be repeated.")] = None,
    inits: Annotated[list[InitName] | None, typer.Option(help="Only these starts; may be repeated.")] = None,
    runs: Runs = RUNS,
    jobs: Jobs = 0,
    budget: Budget = BUDGET,
    out: Out = Path("reproduction"),
) -> None:
    """Table 1: seven sets, three methods, two starts; finished rows are not run again."""
    chosen = cells(sets or [], methods or [], inits or [], runs)
    show(_table1(chosen, out, jobs, budget), out, ("table1.md", "table1.html", "table1.json"))


def _table1(chosen: Sequence[Cell], out: Path, jobs: int, budget: float) -> Section:
    console = Console(stderr=True)
    chosen = _available(chosen, console)
    todo = [cell for cell in chosen if stored(cell, out, budget) is None]
    if len(todo) < len(chosen):
        console.print(f"{len(chosen) - len(todo)} of {len(chosen)} rows are finished already.")
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("Table 1", total=len(todo))
        for _ in run_cells(todo, out, jobs=jobs or os.cpu_count() or 1, budget=budget):
            progress.update(bar, advance=1)
    records = [record for cell in chosen if (record := stored(cell, out, budget)) is not None]
    for record in records:
        if record["note"]:
            cell = Cell(**record["cell"])
            console.print(f"{cell.set} {cell.method} {cell.init}: {record['note']}.", style="yellow")
    return table_section(records, out)


def _available(chosen: Sequence[Cell], console: Console) -> list[Cell]:
    """The cells whose data are available; sets of the paper are required, variants are left out if missing."""
    absent = set()
    for name in dict.fromkeys(cell.set for cell in chosen):
        try:
            table_task(name)
        except DatasetUnavailable as error:
            if name not in VARIANTS:
                raise
            absent.add(name)
            console.print(f"{name} is left out: {error}", markup=False)
    return [cell for cell in chosen if cell.set not in absent]


def show(section: Section, out: Path, files: Sequence[str] = ()) -> None:
    """Print a section's table and the paths of its files."""
    console = Console()
    if section.columns:
        table = Table(title=section.title)
        columns, rows = _pairs(section)
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    console.print(section.caption, markup=False)
    written = [*map(str, section.pictures), *(str(out / name) for name in files)]
    if written:
        console.print(f"Written: {', '.join(written)}", markup=False)


def _pairs(section: Section) -> tuple[list[str], list[list[str]]]:
    """The table with each printed value in brackets after ours: half as wide, for a terminal."""
    texts = [[cell_text(cell) for cell in row] for row in section.rows]
    kept = [i for i, column in enumerate(section.columns) if column != "printed"]
    paired = [i + 1 < len(section.columns) and section.columns[i + 1] == "printed" for i in kept]
    rows = [
        [f"{row[i]} ({row[i + 1]})" if two else row[i] for i, two in zip(kept, paired, strict=True)] for row in texts
    ]
    return [section.columns[i] + " (printed)" * two for i, two in zip(kept, paired, strict=True)], rows


def _make(name: str, out: Path) -> Section:
    # imported here, because a figure's libraries would slow down every other command
    return import_module(f"altclust.paper.figures.{name}").make(out)


def _figure_command(name: str) -> Callable[..., None]:
    def command(out: Out = Path("reproduction")) -> None:
        with Console(stderr=True).status(f"Reproducing {name}…"):
            section = _make(name, out)
        show(section, out)

    return command


for _name, _help in FIGURES.items():
    reproduce_app.command(_name, help=_help, epilog=_example(_name, f"{_name} --out pictures"))(_figure_command(_name))


@reproduce_app.command("all", epilog=_example("all", "all --runs 3 --budget 60 --out quick"))
def everything(
    runs: Runs = RUNS,
    jobs: Jobs = 0,
    budget: Budget = BUDGET,
    out: Out = Path("reproduction"),
) -> None:
    """Everything, as one page: index.html; finished rows of Table 1 are not run again."""
    console = Console(stderr=True)
    sections = [_table1(cells([], [], [], runs), out, jobs, budget)]
    for name in FIGURES:
        with console.status(f"Reproducing {name}…"):
            sections.append(_make(name, out))
    write_text(out / "index.html", build_page("The paper, reproduced", sections, INTRODUCTION))
    Console().print(f"Written: {out / 'index.html'}", markup=False)
