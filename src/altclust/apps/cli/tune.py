"""`altclust tune`: search for parameters, and show all candidates."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from ...search.tuning import Tuning
from ...search.tuning import tune as search
from ...tables.known import as_known
from .files import claim, writing
from .find import CHOSEN
from .options import Clusters, Components, Out, TableOptions, with_table_options
from .screen import INTERRUPTED, live, say, show, start_searchers
from .task import Task, as_json, prepare

EXAMPLES = """
Examples:

    altclust tune customers.csv --given segment

    altclust tune customers.csv --given segment --clusters 3 --jobs 0 --out tuning
"""
SHOWN = ("source", "n_clusters", "n_components", "sigma", "overlap", "contrast", "again", "score")
HEADS = {"source": "start", "again": "found again", "n_clusters": "k", "n_components": "q"}
FILES = r"tuning\.csv|parameters\.json"
BEST = 10  # candidates that are shown


@with_table_options
def tune(
    options: TableOptions,
    clusters: Clusters = None,
    components: Components = None,
    out: Out = Path("altclust-out"),
) -> None:
    """Search for the parameters of the clearest alternative; Ctrl-C stops and keeps the best result so far."""
    task = prepare(options, out, files=FILES)
    with claim(task, options, FILES), live("Searching", lambda: start_searchers(options.n_jobs)) as bar:
        tuning = search(
            task.study.X,
            as_known(task.study.given),
            n_clusters=clusters,
            n_components=components,
            n_jobs=options.n_jobs,
            progress=bar.update,
        )
        early = bar.interrupted
        bar.write()
        chosen = _parameters(tuning, task, options.standardise)
        chosen |= {"seed": options.seed, "command": _next_command(options, out)}
        with writing(task, FILES) as files:
            files.write_csv("tuning.csv", tuning.table)
            files.write_json("parameters.json", chosen)
    if options.as_json:
        print(as_json(chosen))
    elif not options.quiet:
        _show(tuning, chosen["command"], out)
    if early:
        say(f"Interrupted: this is the best of {len(tuning.trials)} candidates so far.")
        raise typer.Exit(INTERRUPTED)


def _next_command(options: TableOptions, out: Path) -> str:
    """The `altclust find` command with these parameters and the same options for reading the table."""
    words = ["altclust", "find", str(options.table)]
    for option, field in (("given",) * 2, ("columns",) * 2, ("drop",) * 2, ("as", "types"), ("log",) * 2):
        words += [word for name in getattr(options, field) or [] for word in (f"--{option}", name)]
    for option, value in (("--given-file", options.given_file), ("--id", options.id), ("--decimal", options.decimal)):
        words += [] if value is None else [option, str(value)]
    words += [f"--no-{option}" for option in ("encode", "impute", "standardise") if not getattr(options, option)]
    return shlex.join([*words, "--parameters", str(out / "parameters.json")])


def _parameters(tuning: Tuning, task: Task, standardise: bool) -> dict[str, Any]:
    directions, chosen = tuning.settings.init, {name: getattr(tuning.settings, name) for name in CHOSEN}
    plain = {n: value.tolist() if isinstance(value, np.generic | np.ndarray) else value for n, value in chosen.items()}
    return plain | {
        "reasons": tuning.reasons,
        "standardise": standardise,
        "directions": {str(c): row.tolist() for c, row in zip(task.study.X.columns, directions, strict=True)},
    }


def _show(tuning: Tuning, command: str, out: Path) -> None:
    best = tuning.table.sort_values(["chosen", "score"], ascending=False, kind="stable").head(BEST)
    table = Table(
        title=f"The best of {len(tuning.table)} candidates", caption="k clusters, q directions; the first is chosen."
    )
    for column in SHOWN:
        table.add_column(HEADS.get(column, column))
    for _, row in best.iterrows():
        cells = [row[column] for column in SHOWN]
        table.add_row(*("–" if pd.isna(one) else f"{one:.3g}" if isinstance(one, float) else str(one) for one in cells))
    Console().print(table)
    show(tuning.reasons)
    show(f"All candidates: {out / 'tuning.csv'}. The chosen one: {out / 'parameters.json'}.")
    show(f"To use it: {command}")
