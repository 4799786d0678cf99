"""The command line: parse, one library call, show."""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table
from sklearn.preprocessing import StandardScaler

from .datasets import CATALOGUE, data_folder
from .estimators import KDAC
from .paper.commands import reproduce_app
from .storage import write_whole
from .validate import InputError

app = typer.Typer(
    help="Find the best clustering of a table that is different from the one you know.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.add_typer(reproduce_app, name="reproduce")
console = Console(stderr=True)

EXAMPLES = """
Examples:

    altclust find customers.csv --given segment

    altclust find customers.csv --given segment --given region --clusters 4 --out views
"""


class UsageError(InputError):
    """Wrong use of the command line: exit code 2."""


def _version(wanted: bool) -> None:
    if wanted:
        Console().print(f"altclust {version('altclust')}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """Find the best clustering of a table that is different from the one you know."""


@app.command(epilog=EXAMPLES)
def find(
    table: Annotated[Path, typer.Argument(help="A CSV file with a header line.")],
    given: Annotated[list[str] | None, typer.Option(help="Column with what you know; may be repeated.")] = None,
    clusters: Annotated[int | None, typer.Option(help="Clusters to find; as many as given if left out.")] = None,
    components: Annotated[int | None, typer.Option(help="Directions to find.")] = None,
    sigma: Annotated[float | None, typer.Option(help="Kernel width, in standard deviations.")] = None,
    novelty_weight: Annotated[float, typer.Option(help="Price of resembling what is given.")] = 1.0,
    standardise: Annotated[bool, typer.Option(help="Give every column unit variance first.")] = True,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("altclust-out"),
    force: Annotated[bool, typer.Option(help="Overwrite results that are there.")] = False,
) -> None:
    """Find the alternative to the given columns; write labels, figures and a picture."""
    names = given or []
    frame = _read(table)
    for name in names:
        if name not in frame.columns:
            raise UsageError(
                f"--given {name!r} is not a column of {table}: it has {', '.join(map(str, frame.columns))}."
            )
    if "alternative" in frame.columns:
        raise UsageError(f"{table} has a column 'alternative' already, which the result would overwrite: rename it.")
    targets = {name: out / name for name in ("table.csv", "figures.json", "view.png")}
    taken = [str(path) for path in targets.values() if path.exists()]
    if taken and not force:
        raise UsageError(f"{taken[0]} exists: choose another --out, or pass --force to overwrite.")
    X = frame.drop(columns=names)
    numbers = X.select_dtypes("number")
    left_out = [str(c) for c in X.columns if c not in numbers.columns]
    if left_out:
        console.print(f"Left out, because they are not numbers: {', '.join(left_out)}.", markup=False)
    if numbers.shape[1] == 0:
        raise UsageError(f"{table} has no column of numbers beside the given ones: there is nothing to cluster.")
    values = numbers.to_numpy(dtype=float)
    if standardise and np.isfinite(values).all():
        numbers = pd.DataFrame(StandardScaler().fit_transform(values), columns=numbers.columns)
    model = KDAC(
        n_clusters="auto" if clusters is None else clusters,
        n_components="auto" if components is None else components,
        sigma="auto" if sigma is None else sigma,
        novelty_weight=novelty_weight,
        random_state=seed,
    )
    with console.status("Looking for another view…"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(numbers, frame[names] if names else None)
    for warning in said:
        console.print(str(warning.message), style="yellow", markup=False)
    figures = _figures(model)
    out.mkdir(parents=True, exist_ok=True)
    written = frame.assign(alternative=model.labels_)
    write_whole(targets["table.csv"], lambda path: written.to_csv(path, index=False))
    write_whole(targets["figures.json"], lambda path: path.write_text(json.dumps(figures, indent=2)))
    write_whole(targets["view.png"], lambda path: _picture(path, model, numbers, frame[names[0]] if names else None))
    _show(figures, out)


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


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise UsageError(f"{path} is not a file: pass the path of a CSV file.")
    try:
        return pd.read_csv(path)
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path} could not be read as CSV: {str(error).splitlines()[0]}") from error


def _picture(path: Path, model: KDAC, X: pd.DataFrame, given: pd.Series | None) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from .plotting import plot_views

    figure = plot_views(np.asarray(model.transform(X)), given, model.labels_)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _figures(model: KDAC) -> dict[str, Any]:
    weights = sorted(zip(model.feature_names_in_, model.feature_weights_, strict=True), key=lambda p: -p[1])
    return {
        "clusters": model.n_clusters_,
        "cluster_sizes": np.bincount(model.labels_, minlength=model.n_clusters_).tolist(),
        "novelty": None if np.isnan(model.novelty_) else model.novelty_,
        "quality": model.quality_,
        "directions": model.n_components_,
        "sigma": model.sigma_,
        "novelty_weight": model.novelty_weight_,
        "rounds": model.n_iter_,
        "status": model.status_,
        "verdict": model.certificate_.verdict,
        "feature_weights": {str(name): float(weight) for name, weight in weights},
    }


def _show(figures: dict[str, Any], out: Path) -> None:
    table = Table(title="The alternative view", show_header=False)
    top = list(figures["feature_weights"].items())[:5]
    sizes = ", ".join(map(str, figures["cluster_sizes"]))
    new = (
        "nothing was given"
        if figures["novelty"] is None
        else f"{figures['novelty']:.3f}  (NMI with what was given; 0 is new)"
    )
    table.add_row("clusters", f"{figures['clusters']}  ({sizes} rows)")
    table.add_row("novelty", new)
    table.add_row("quality", f"{figures['quality']:.3f}  (HSIC at this sigma; at most {figures['clusters']})")
    table.add_row("features", ", ".join(f"{name} {weight:.0%}" for name, weight in top))
    table.add_row("proof", figures["verdict"])
    Console().print(table)
    Console().print(
        f"Labels in {out / 'table.csv'}, figures in {out / 'figures.json'}, picture in {out / 'view.png'}.",
        markup=False,
    )


def main() -> None:
    """Run the command line; a user's mistake gets a sentence and an exit code, never a traceback."""
    try:
        app()
    except UsageError as error:
        console.print(f"altclust: {error}", style="red", markup=False)
        sys.exit(2)
    except (InputError, ValueError, OSError) as error:
        console.print(f"altclust: {error}", style="red", markup=False)
        sys.exit(1)
