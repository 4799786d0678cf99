"""From what was asked to a task: the table read, its rows as numbers, what is given, and a folder for the results."""

from __future__ import annotations

import difflib
import json
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ...base.errors import InputError
from ...base.validation import check_given
from ...files.atomic import can_write
from ...tables import Recipe, Table, learn_recipe, read_table
from ...tables.values import known_labels, labels
from .options import Asked
from .screen import console, say


class UsageError(InputError):
    """Wrong use of the command line: exit code 2."""


@dataclass(frozen=True)
class Task:
    """A table that was read, and where its results go.

    Attributes
    ----------
    table : Table
        As it was read.
    recipe : Recipe
        How it becomes numbers.
    X : DataFrame
        The numbers.
    given : DataFrame or None
        Labels as text, None where unknown.
    ids : Series or None
        The rows' names.
    out : Path
        Folder that does not have to be there yet.
    """

    table: Table
    recipe: Recipe
    X: pd.DataFrame
    given: pd.DataFrame | None
    ids: pd.Series | None
    out: Path


def as_json(content: dict[str, Any]) -> str:
    """Figures for machines."""
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)


def command_line(again: bool = False) -> str:
    """What was typed; to be typed again, it may overwrite what it made."""
    more = ["--force"] if again and "--force" not in sys.argv else []
    return shlex.join(["altclust", *sys.argv[1:], *more])


def prepare(asked: Asked, out: Path, *, files: str, adds: str | None = None) -> Task:
    """Read the table, and refuse what could not end well before anything is computed.

    Parameters
    ----------
    asked : Asked
    out : Path
    files : str
        Pattern of the names of the files that will be written.
    adds : str, optional
        Pattern of the names of the columns that will be added.
    """
    console.quiet = asked.quiet
    check_folder(out, files, asked.force)
    check_can_write("--out", out)
    table = read(asked.table)
    frame = table.frame
    for option, names in (("given", asked.given or []), ("id", [asked.id] if asked.id is not None else [])):
        for name in names:
            check_column(option, name, frame, asked.table)
    clash = [name for name in frame.columns if adds is not None and re.fullmatch(adds, name)]
    if clash:
        raise UsageError(
            f"{asked.table} has a column {clash[0]!r} already, which the result would overwrite: rename it."
        )
    given = read_given(asked, frame)
    try:
        recipe = learn_recipe(
            frame,
            known={*(asked.given or []), *([asked.id] if asked.id is not None else [])},
            columns=asked.columns or (),
            drop=asked.drop or (),
            categories=asked.categories or (),
            encode=asked.encode,
            impute=asked.impute,
            standardise=asked.standardise,
        )
    except InputError as error:
        words = re.sub(r"\b(columns|drop|categories)=", r"--\1 ", str(error))
        raise UsageError(f"{asked.table}: {words}") from error
    tell(table, recipe, given)
    _check_labels(given)
    ids = None if asked.id is None else labels(frame[asked.id])
    return Task(table, recipe, recipe.apply(frame), given, ids, out)


def check_clusters(clusters: int | None, task: Task) -> None:
    """Refuse more clusters than rows."""
    if clusters is not None and clusters > len(task.X):
        raise UsageError(f"--clusters {clusters} are more than the {len(task.X)} rows: ask for fewer.")


def read(path: Path) -> Table:
    """A table that somebody named."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file: pass the path of a table.")
    return read_table(path)


def check_folder(out: Path, files: str, force: bool) -> None:
    """Refuse a folder that has such files, unless they may be overwritten."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file: name a folder.")
    taken = written(out, files)
    if taken and not force:
        raise UsageError(f"{taken[0]} exists: choose another --out, or pass --force to overwrite.")


def _check_labels(given: pd.DataFrame | None) -> None:
    """Refuse a given column that is no clustering, by its name."""
    for name, labelled in () if given is None else given.items():
        try:
            check_given(labelled, len(labelled))
        except InputError as error:
            raise UsageError(f"--given {name}: {error}") from error


def check_can_write(option: str, folder: Path) -> None:
    """Refuse a folder that nothing can be written to, before anything is computed."""
    if not can_write(folder):
        raise UsageError(f"{option} {folder} cannot be written to: name another folder.")


def written(out: Path, files: str) -> list[Path]:
    """The files in the folder that match the pattern."""
    return sorted(path for path in out.iterdir() if re.fullmatch(files, path.name)) if out.is_dir() else []


def check_column(option: str, name: str, frame: pd.DataFrame, where: Path) -> None:
    """Refuse a name that is not a column, with the nearest that is."""
    if name not in frame.columns:
        near = difflib.get_close_matches(name, frame.columns, 1)
        there = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(frame.columns[:20])}."
        raise UsageError(f"--{option} {name!r} is not a column of {where}: {there}")


def read_given(asked: Asked, frame: pd.DataFrame) -> pd.DataFrame | None:
    """Columns of labels from the table and from the other file."""
    known = frame[list(dict.fromkeys(asked.given or []))]
    if asked.given_file is not None:
        other = read(asked.given_file).frame
        if asked.id is not None:
            check_column("id", asked.id, other, asked.given_file)
            other = other.set_index(labels(other.pop(asked.id)))
            if other.index.duplicated().any():
                twice = other.index[other.index.duplicated()][0]
                raise UsageError(f"--given-file {asked.given_file} has two rows with {asked.id} {twice!r}: leave one.")
            other = other.reindex(labels(frame[asked.id])).set_axis(frame.index)
        elif len(other) != len(frame):
            raise UsageError(
                f"--given-file {asked.given_file} has {len(other)} rows for {len(frame)} of {asked.table}: pass one "
                "row for each, or --id with a column that both have."
            )
        clash = [name for name in other.columns if name in frame.columns]
        if clash:
            raise UsageError(
                f"--given-file {asked.given_file} has a column {clash[0]!r}, as {asked.table} has: rename one of them."
            )
        known = known.assign(**{name: other[name].to_numpy() for name in other.columns})
    return known.apply(known_labels) if known.shape[1] else None


def tell(table: Table, recipe: Recipe, given: pd.DataFrame | None) -> None:
    """Say how the table was understood, one line per decision."""
    columns = "1 column" if table.frame.shape[1] == 1 else f"{table.frame.shape[1]} columns"
    say(f"Read {table.name}: {len(table.frame):,} rows, {columns}. {' '.join(table.notes)}")
    if given is not None:
        levels = [f"{name} ({given[name].nunique()} clusters)" for name in given.columns]
        unknown = int(given.isna().any(axis=1).sum())
        missing = f" Rows without a label, which are free: {unknown:,}." if unknown else ""
        say(f"Given: {', '.join(levels)}.{missing}")
    for decision in recipe.decisions:
        say(f"{decision.sentence} [{decision.remedy}]")
