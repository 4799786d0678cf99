"""`altclust report`: the report of a clustering that was found earlier, for its own rows or for others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ...files.manifest import is_unchanged, read_manifest
from ...models.study import ROLES, Study
from ...report import write_report
from ...tables import read_table
from ...tables.values import known_labels, labels
from .files import write_report_file
from .options import OUTPUT_PANEL
from .results import read_results
from .screen import say, show
from .task import UsageError, check_can_write, check_column, check_file, command_line

EXAMPLES = """
Examples:

    altclust report altclust-out --force

    altclust report altclust-out new_customers.csv --to new_customers.html
"""

Folder = Annotated[Path, typer.Argument(help="Folder with results of `altclust find`.")]
Other = Annotated[
    Path | None, typer.Argument(help="Table with the same columns, to report on. Default: the clustered one.")
]
To = Annotated[Path | None, typer.Option(help="File to write. Default: report.html in the folder.")]
Id = Annotated[str | None, typer.Option(help="Column with row names.")]
Force = Annotated[bool, typer.Option(help="Overwrite an existing report.", rich_help_panel=OUTPUT_PANEL)]


def report(folder: Folder, table: Other = None, to: To = None, id: Id = None, force: Force = False) -> None:
    """Write the report again, or a report on other rows, whose clusters are predicted."""
    target = to or folder / "report.html"
    figures, recipe, views = read_results(folder)
    if target.is_dir():
        raise UsageError(f"--to {target} is a folder: name a file.")
    if target.exists() and not force:
        raise UsageError(f"{target} exists: choose another --to, or pass --force to overwrite.")
    if target.exists() and to is None and not is_unchanged(target, read_manifest(folder)):
        raise UsageError(f"{target} was not written by altclust, or changed since: choose another --to, or move it.")
    check_can_write("--to", target.parent)
    own = table is None
    source = table or folder / f"table{Path(figures['table']).suffix.lower()}"
    needed = [source, folder / "figures.json", *(folder / f"{name}.npz" for name in views)]
    if target.exists() and any(target.samefile(one) for one in needed if one.exists()):
        raise UsageError(f"--to {target} is a file that the report is made from: choose another.")
    check_file(source)
    rows = read_table(source)
    if own and any(len(model.labels_) != len(rows.frame) for model in views.values()):
        raise UsageError(f"{source} is not the table that was clustered: pass that table as a second argument.")
    if id is not None:
        check_column("id", id, rows.frame, source)
    names = [name for name in figures["given"] if name in rows.frame.columns]
    given = rows.frame[names].apply(known_labels) if names else None
    ids = None if id is None else labels(rows.frame[id])
    kept = [one.column for one in recipe.listing if one.use == ROLES["keep"] and one.column in rows.frame.columns]
    keep = known_labels(rows.frame[kept[0]]) if kept else None
    study = Study(rows.frame, recipe, given, ids, keep, name=rows.name, notes=tuple(rows.notes))
    target.parent.mkdir(parents=True, exist_ok=True)
    summaries: list[dict[str, Any]] = []
    before: list[np.ndarray] = []
    for model in views.values():
        found = np.asarray(model.labels_ if own else study.predict(model))
        shown = {"labels": found, "command": command_line(again=True), "predicted": not own}
        summaries.append(study.summary(model, before, **shown))
        before.append(found)
    write_report_file(target, lambda path: write_report(path, *summaries))
    missing = [name for name in figures["given"] if name not in names]
    if missing:
        say(f"{source} has no column {', '.join(missing)}: the report leaves it out.")
    show(f"Report: {target}.")
