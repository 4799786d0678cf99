"""What the commands share: their options, the table that they read, the files that they write."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from sklearn.preprocessing import StandardScaler

from ..estimators import KDAC
from ..storage import write_whole
from ..validate import InputError

console = Console(stderr=True)

TableFile = Annotated[Path, typer.Argument(help="A CSV file with a header line.")]
Given = Annotated[list[str] | None, typer.Option(help="Column with what you know; may be repeated.")]
Clusters = Annotated[int | None, typer.Option(min=1, help="Clusters to find; searched for if left out.")]
Components = Annotated[int | None, typer.Option(min=1, help="Directions to find; searched for if left out.")]
Standardise = Annotated[bool, typer.Option(help="Give every column unit variance first.")]
Jobs = Annotated[int, typer.Option(min=0, help="Processes that search side by side; 0 is one for each core.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Out = Annotated[Path, typer.Option(help="Folder for the results.")]
Force = Annotated[bool, typer.Option(help="Overwrite results that are there.")]
Sure = Annotated[
    bool, typer.Option("--confidence/--no-confidence", help="Compare with shuffled rows, to tell the view from chance.")
]


class UsageError(InputError):
    """Wrong use of the command line: exit code 2."""


@dataclass(frozen=True)
class Task:
    """A table that was read, and where its results go.

    Attributes
    ----------
    frame : DataFrame
        As it was read.
    X : DataFrame
        Its columns of numbers beside the given ones, standardised if that was asked for.
    given : DataFrame or None
    out : Path
        Folder that does not have to be there yet.
    """

    frame: pd.DataFrame
    X: pd.DataFrame
    given: pd.DataFrame | None
    out: Path

    def write(self, name: str, write: Callable[[Path], Any]) -> None:
        """Write one file of the results."""
        self.out.mkdir(parents=True, exist_ok=True)
        write_whole(self.out / name, write)

    def write_table(self, name: str, frame: pd.DataFrame) -> None:
        """Write one table of the results as CSV."""
        self.write(name, lambda path: frame.to_csv(path, index=False))

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write one JSON file of the results."""
        self.write(name, lambda path: path.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n"))


def prepare(
    table: Path, names: Sequence[str], standardise: bool, out: Path, force: bool, *, files: str, adds: str | None = None
) -> Task:
    """Read the table, and refuse what could not end well before anything is computed.

    Parameters
    ----------
    table : Path
    names : sequence of str
        Of the given columns.
    standardise : bool
    out : Path
    force : bool
        Whether files in `out` may be overwritten.
    files : str
        Pattern of the names of the files that will be written.
    adds : str, optional
        Pattern of the names of the columns that will be added.
    """
    frame = _read(table)
    for name in names:
        if name not in frame.columns:
            raise UsageError(
                f"--given {name!r} is not a column of {table}: it has {', '.join(map(str, frame.columns))}."
            )
    clash = [name for name in frame.columns if adds is not None and re.fullmatch(adds, name)]
    if clash:
        raise UsageError(f"{table} has a column {clash[0]!r} already, which the result would overwrite: rename it.")
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file: name a folder.")
    taken = written(out, files)
    if taken and not force:
        raise UsageError(f"{taken[0]} exists: choose another --out, or pass --force to overwrite.")
    X = _numbers(frame.drop(columns=list(names)), table, standardise)
    return Task(frame, X, frame[list(names)] if names else None, out)


def written(out: Path, files: str) -> list[Path]:
    """The files in the folder that match the pattern."""
    return sorted(path for path in out.iterdir() if re.fullmatch(files, path.name)) if out.is_dir() else []


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise UsageError(f"{path} is not a file: pass the path of a CSV file.")
    try:
        return pd.read_csv(path)
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path} could not be read as CSV: {str(error).splitlines()[0]}") from error


def _numbers(X: pd.DataFrame, table: Path, standardise: bool) -> pd.DataFrame:
    """The columns of numbers; the others are named."""
    numbers = X.select_dtypes("number")
    left_out = [str(c) for c in X.columns if c not in numbers.columns]
    if left_out:
        console.print(f"Left out, because they are not numbers: {', '.join(left_out)}.", markup=False)
    if numbers.shape[1] == 0:
        raise UsageError(f"{table} has no column of numbers beside the given ones: there is nothing to cluster.")
    values = numbers.to_numpy(dtype=float)
    if standardise and np.isfinite(values).all():
        return pd.DataFrame(StandardScaler().fit_transform(values), columns=numbers.columns)
    return numbers


@contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Show what is warned of at the end, without Python's names for it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in said):
        console.print(text, style="yellow", markup=False)


def processes(jobs: int) -> int:
    """What joblib calls that many processes."""
    return jobs or -1


def number(value: float) -> float | None:
    """A number for JSON, which has no NaN."""
    return None if math.isnan(value) else float(value)


def sizes(model: KDAC) -> list[int]:
    """Rows in each cluster."""
    return np.bincount(model.labels_, minlength=model.n_clusters_).tolist()


def weights(model: KDAC) -> dict[str, float]:
    """The share of every feature in the view, largest first."""
    pairs = sorted(zip(model.feature_names_in_, model.feature_weights_, strict=True), key=lambda pair: -pair[1])
    return {str(name): float(weight) for name, weight in pairs}


def confidence(model: KDAC) -> dict[str, Any]:
    """How sure the view is."""
    sure = model.confidence_
    return {"p_value": number(sure.p_value), "stability": number(sure.stability), "verdict": sure.verdict}


def reasons(model: KDAC) -> str | None:
    """Why the search chose these parameters; None where there was no search."""
    return None if model.tuning_ is None else model.tuning_.reasons


def picture(path: Path, model: KDAC, X: pd.DataFrame, given: Any) -> None:
    """Draw the view beside what is given."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from ..plotting import plot_views

    figure = plot_views(np.asarray(model.transform(X)), given, model.labels_)
    figure.savefig(path, dpi=150)
    plt.close(figure)
