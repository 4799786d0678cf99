"""The command line: parse, one library call, show."""

from __future__ import annotations

import errno
import signal
import sys
import traceback
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console

from ...base.errors import InputError
from ...paper.commands import reproduce_app
from . import compare, explore, find, report, tune
from .options import NAMES, in_options
from .screen import INTERRUPTED, SIGNALS, Stopped, console, mute_closed_terminal, say, stop_at_once
from .task import UsageError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no space, or none within the user's quota

app = typer.Typer(
    help="Alternative clustering: find a good clustering of a table that differs from the one you know.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command(epilog=find.EXAMPLES)(find.find)
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
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Alternative clustering: find a good clustering of a table that differs from the one you know."""


def main() -> None:
    """Run the command line; a user's mistake gets a sentence and an exit code, never a traceback."""
    console.quiet = False
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a character that the terminal cannot show is no reason to fail
    before = [signal.signal(one, stop_at_once) for one in SIGNALS]
    try:
        app()
    except InputError as error:
        wrong_use = isinstance(error, UsageError) or NAMES.get(error.argument or "", "").startswith("--")
        _fail(in_options(error), 2 if wrong_use else 1)
    except ValueError as error:  # of a library, whose words are not for people
        where = traceback.extract_tb(error.__traceback__)[-1]
        _fail(f"unexpected error in {where.name} (line {where.lineno} of {where.filename}): please report it.", 1)
    except OSError as error:
        if mute_closed_terminal():  # writing to it failed before its signal came
            sys.exit(INTERRUPTED)
        _fail(_in_words(error), 1)
    except Stopped as stopped:
        kept = "finished parts are kept, and the same command continues"
        _fail(f"interrupted: {kept if sys.argv[1:2] == ['reproduce'] else stopped}.", INTERRUPTED)
    finally:
        for one, handler in zip(SIGNALS, before, strict=True):
            if handler is not None:  # None: Python did not set it
                signal.signal(one, handler)


def _in_words(error: OSError) -> str:
    """What the operating system reports, and the file."""
    if error.filename is None or error.strerror is None:
        return str(error)
    if error.errno in FULL:
        return (
            f"{error.filename} could not be written: no space is left on the disk; free some, or choose another folder."
        )
    return f"{error.filename} could not be used: {error.strerror}."


def _fail(why: object, code: int) -> None:
    console.quiet = False
    say(f"altclust: {why}", style="red")
    sys.exit(code)
