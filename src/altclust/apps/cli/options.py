"""The options that several commands have, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from ...tables import read_table

TABLE_PANEL, OUTPUT_PANEL = "How the table is read", "What is written and shown"


def _columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the table that was named already, for the shell to complete."""
    named = [ctx.params.get("table"), *ctx.args]  # an option without its value leaves the arguments where they are
    table = next((word for word in named if word is not None and Path(word).is_file()), None)
    try:
        return [] if table is None else [c for c in read_table(table).frame.columns if c.startswith(incomplete)]
    except (ValueError, OSError):
        return []


@dataclass(frozen=True)
class Asked:
    """What the commands that cluster a table have in common."""

    table: Annotated[
        Path, typer.Argument(help="CSV, TSV, Parquet, Feather/Arrow, Excel, NPY or NPZ; by how its name ends.")
    ]
    given: Annotated[
        list[str] | None, typer.Option(help="Column with what you know; may be repeated.", autocompletion=_columns)
    ] = None
    given_file: Annotated[
        Path | None, typer.Option(help="Another table with what you know, row by row or by --id.")
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to cluster, or a pattern such as 'gene_*'; may be repeated. All if left out.",
            autocompletion=_columns,
            rich_help_panel=TABLE_PANEL,
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to leave out, or a pattern; may be repeated.",
            autocompletion=_columns,
            rich_help_panel=TABLE_PANEL,
        ),
    ] = None
    id: Annotated[
        str | None,
        typer.Option(help="Column that names the rows.", autocompletion=_columns, rich_help_panel=TABLE_PANEL),
    ] = None
    categories: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of numbers that stand for categories; may be repeated.",
            autocompletion=_columns,
            rich_help_panel=TABLE_PANEL,
        ),
    ] = None
    encode: Annotated[
        bool | None,
        typer.Option(
            help="Take in columns of a few values, one feature per value; only where they are the majority, "
            "if left out.",
            rich_help_panel=TABLE_PANEL,
        ),
    ] = None
    impute: Annotated[
        bool, typer.Option(help="Let the median stand in for missing numbers.", rich_help_panel=TABLE_PANEL)
    ] = True
    standardise: Annotated[
        bool, typer.Option(help="Give every column unit variance first.", rich_help_panel=TABLE_PANEL)
    ] = True
    jobs: Annotated[int, typer.Option(min=0, help="Processes that search side by side; 0 is one for each core.")] = 1
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0
    force: Annotated[bool, typer.Option(help="Overwrite results that are there.", rich_help_panel=OUTPUT_PANEL)] = False
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as JSON instead.", rich_help_panel=OUTPUT_PANEL)
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=OUTPUT_PANEL)
    ] = False

    @property
    def n_jobs(self) -> int:
        """What joblib calls that many processes."""
        return self.jobs or -1


Out = Annotated[Path, typer.Option(help="Folder for the results.", rich_help_panel=OUTPUT_PANEL)]
Clusters = Annotated[int | None, typer.Option(min=1, help="Clusters to find; searched for if left out.")]
Components = Annotated[int | None, typer.Option(min=1, help="Directions to find; searched for if left out.")]
Sure = Annotated[
    bool, typer.Option("--confidence/--no-confidence", help="Compare with shuffled rows, to tell the view from chance.")
]


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command that begins with an `Asked` have all its fields as options of its own."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    hints = get_type_hints(Asked, include_extras=True)
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(Asked)
    ]
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]

    def run(**values: Any) -> None:
        asked = Asked(**{field.name: values.pop(field.name) for field in fields(Asked)})
        command(asked, **values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.Signature([*shared[:3], *own, *shared[3:]])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*shared, *own]}
    return run
