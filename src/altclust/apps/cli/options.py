"""The options that several commands have, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ...base.errors import FitWarning, InputError, sentence
from ...tables import read_table
from ...tables.column_types import TYPES

TABLE_PANEL, OUTPUT_PANEL = "Reading the table", "Output"
SAME = ("sigma", "novelty-weight", "rule", "methods", "timeout", "given", "columns", "drop", "log", "decimal")
OTHER = {
    "n_clusters": "--clusters",
    "n_components": "--components",
    "n_jobs": "--jobs",
    "random_state": "--seed",
    "types": "--as",
}
# What the library's arguments are called on the command line.
NAMES = {"X": "The table", "keep": "--keep", **OTHER, **{name.replace("-", "_"): f"--{name}" for name in SAME}}


def in_options(message: InputError | FitWarning) -> str:
    """A sentence of the library with the option of the command line in place of the argument."""
    name = NAMES.get(message.argument or "")
    return str(message) if name is None else sentence(message, name)


def _columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the table that was typed already, for completion in the shell."""
    named = [ctx.params.get("table"), *ctx.args]  # after an option without its value, click leaves arguments in args
    table = next((word for word in named if word is not None and Path(word).is_file()), None)
    try:
        return [] if table is None else [c for c in read_table(table).frame.columns if c.startswith(incomplete)]
    except (ValueError, OSError):
        return []


Names = list[str] | None
_reading = partial(typer.Option, rich_help_panel=TABLE_PANEL)
_column = partial(_reading, autocompletion=_columns)
_output = partial(typer.Option, rich_help_panel=OUTPUT_PANEL)


@dataclass(frozen=True)
class TableOptions:
    """The options of all commands that cluster a table."""

    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Feather/Arrow, Excel, NPY or NPZ file.")]
    given: Annotated[
        Names, typer.Option(help="Column with a known clustering; may be repeated.", autocompletion=_columns)
    ] = None
    given_file: Annotated[
        Path | None, typer.Option(help="Another table with known clusterings; rows match by position, or by --id.")
    ] = None
    columns: Annotated[
        Names, _column(help="Column to cluster, or a pattern such as 'gene_*'; may be repeated. Default: all.")
    ] = None
    drop: Annotated[Names, _column(help="Column to leave out, or a pattern; may be repeated.")] = None
    id: Annotated[str | None, _column(help="Column with row names.")] = None
    types: Annotated[
        Names,
        _reading("--as", metavar="NAME=TYPE", help=f"Type of a column: {', '.join(TYPES)}; may be repeated."),
    ] = None
    encode: Annotated[bool, _reading(help="Use columns with few values, by their associations with other columns.")] = (
        True
    )
    impute: Annotated[bool, _reading(help="Replace missing numbers by the median.")] = True
    log: Annotated[
        Names, _column(help='Column to take logarithms of; may be repeated. "auto": all skewed positive numbers.')
    ] = None
    decimal: Annotated[
        str | None, _reading(help='Decimal mark of numbers in text, "." or ",". Default: found for each column.')
    ] = None
    standardise: Annotated[bool, _reading(help="Scale every column to unit variance.")] = True
    jobs: Annotated[int, typer.Option(min=0, help="Parallel processes; 0 means one per core.")] = 1
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0
    force: Annotated[bool, _output(help="Overwrite existing results.")] = False
    as_json: Annotated[bool, _output("--json", help="Print the results as JSON.")] = False
    quiet: Annotated[bool, _output("--quiet", "-q", help="Print errors only.")] = False

    @property
    def n_jobs(self) -> int:
        """The number of processes as joblib counts it."""
        return self.jobs or -1


def _folder(text: str | Path) -> Path:
    """A folder by its name; the empty text, which a script passes for a variable that is not set, is none."""
    if not str(text):
        raise typer.BadParameter("is empty: name a folder, or leave it out.")
    return Path(text)


Out = Annotated[Path, _output(help="Folder for the results.", parser=_folder, metavar="PATH")]
Clusters = Annotated[int | None, typer.Option(min=2, help="Number of clusters. Default: searched for.")]
Components = Annotated[int | None, typer.Option(min=1, help="Number of directions. Default: searched for.")]
Significance = Annotated[
    bool, typer.Option("--significance/--no-significance", help="Test significance on parts of the rows.")
]


def with_table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, whose first argument is a `TableOptions`, all its fields as options."""
    shared, (_, *own) = (
        [one.replace(kind=one.KEYWORD_ONLY) for one in inspect.signature(of, eval_str=True).parameters.values()]
        for of in (TableOptions, command)
    )

    def run(**values: Any) -> None:
        options = TableOptions(**{one.name: values.pop(one.name) for one in shared})
        command(options, **values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([*shared[:3], *own, *shared[3:]])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [*shared, *own]}
    return run
