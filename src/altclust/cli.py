"""The command line: parse, one library call, show."""

from __future__ import annotations

import signal
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from .commands import compare, explore, find, report, tune, views
from .commands.screen import INTERRUPTED, Stopped, console, say, stop_at_once
from .commands.task import UsageError
from .datasets import CATALOGUE, data_folder
from .paper.commands import reproduce_app
from .validate import InputError

app = typer.Typer(
    help="Find the best clustering of a table that is different from the one you know.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command(epilog=find.EXAMPLES)(find.find)
app.command(epilog=views.EXAMPLES)(views.views)
app.command(epilog=tune.EXAMPLES)(tune.tune)
app.command(epilog=compare.EXAMPLES)(compare.compare)
app.command(epilog=explore.EXAMPLES)(explore.explore)
app.command(epilog=report.EXAMPLES)(report.report)
app.add_typer(reproduce_app, name="reproduce")


def _version(wanted: bool) -> None:
    if wanted:
        Console().print(f"altclust {version('altclust')}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Find the best clustering of a table that is different from the one you know."""


@app.command(epilog="\nExample:\n\n    altclust datasets\n")
def datasets() -> None:
    """List the data sets: generated ones, and the paper's files with whether they are in the data folder."""
    table = Table(title=f"Data sets; the data folder is {data_folder()}")
    table.add_column("name", no_wrap=True)
    for column in ("rows x columns", "labels", "where", "description"):
        table.add_column(column)
    for entry in CATALOGUE:
        where = entry.origin if entry.origin == "generated" else "data folder" if entry.at_hand else "to be fetched"
        size = f"{entry.n_samples} x {entry.n_features}"
        table.add_row(entry.name, size, ", ".join(entry.labels) or "–", where, entry.description)
    Console().print(table)


def main() -> None:
    """Run the command line; a user's mistake gets a sentence and an exit code, never a traceback."""
    console.quiet = False
    signal.signal(signal.SIGINT, stop_at_once)
    try:
        app()
    except UsageError as error:
        _fail(error, 2)
    except (InputError, ValueError, OSError) as error:
        _fail(error, 1)
    except Stopped:
        _fail("interrupted: nothing was written.", INTERRUPTED)


def _fail(why: object, code: int) -> None:
    console.quiet = False
    say(f"altclust: {why}", style="red")
    sys.exit(code)
