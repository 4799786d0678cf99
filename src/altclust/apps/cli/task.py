"""From options to a task: the table as it was read, its rows as numbers, what is given, and the output folder."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ...base.errors import InputError, sentence, short_repr
from ...base.known import label_codes
from ...files.atomic import can_write
from ...files.manifest import is_unchanged, read_manifest
from ...models.study import Study, read_study
from ...tables import Recipe, Table, TableEncoder, read_table
from ...tables.known import measured
from ...tables.unknown_column import remedy
from ...tables.values import labels
from .options import TableOptions, in_options
from .screen import console, say

REMEDIES = {  # options that change what was decided about a table, by the parameter of `TableEncoder`
    "columns": "--columns chooses columns, --as NAME=TYPE changes a type",
    "drop": "--drop NAME leaves a column out",
    "encode": "--no-encode leaves them out, --as NAME=number takes one as it is",
    "impute": "--no-impute stops with an error instead",
    "types": "--as NAME=category makes them categories",
    "decimal": "--decimal says which mark is decimal",
    "log": "--log NAME, or --log auto for all",
    "standardise": "--standardise/--no-standardise",
}
QUICKLY_READ = 10_000_000  # bytes of a table, which is read before the output folder is checked


class UsageError(InputError):
    """Wrong use of the command line: exit code 2."""


@dataclass(frozen=True)
class Task:
    """A table that was read, and its output folder."""

    table: Table  # as it was read
    study: Study  # its rows as numbers, and what is given
    out: Path  # folder, which need not exist yet


def as_json(content: dict[str, Any]) -> str:
    """Results as JSON."""
    return json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)


def command_line(again: bool = False) -> str:
    """The command as it was typed; with --force if it is to be run again."""
    more = ["--force"] if again and "--force" not in sys.argv else []
    return shlex.join(["altclust", *sys.argv[1:], *more])


def prepare(options: TableOptions, out: Path, *, files: str, adds: str | None = None, keep: str | None = None) -> Task:
    """Read the table, and refuse wrong input before anything is computed.

    files is a pattern of the names of the files that will be written, adds one of the columns that will be added, and
    keep the column with labels with which the result should agree.
    """
    console.quiet = options.quiet
    for path in (options.table, options.given_file):
        check_file(path)
    # a large table, or one whose labels come from another file, is not read in vain
    if options.given_file is not None or options.table.stat().st_size > QUICKLY_READ:
        check_folder(out, files, options)
    table = read_table(options.table)
    frame = table.frame
    kept, named = ([] if name is None else [name] for name in (keep, options.id))
    for option, names in (("given", options.given or []), ("id", named), ("keep", kept)):
        for name in names:
            check_column(option, name, frame, options.table)
    encoder = TableEncoder(
        columns=options.columns or (),
        drop=options.drop or (),
        types=parsed_types(options.types or []),
        encode=options.encode,
        impute=options.impute,
        log="auto" if options.log == ["auto"] else options.log or (),
        decimal=options.decimal,
        standardise=options.standardise,
    )
    more = read_given_file(options, frame)
    try:
        study = read_study(encoder, frame, options.given or (), more=more, keep=keep, ids=options.id)
    except InputError as error:
        if error.argument == "given" and error.value not in [short_repr(name) for name in options.given or []]:
            raise UsageError(sentence(error, f"--given-file {options.given_file}: column")) from error
        raise UsageError(f"{options.table}: {in_options(error)}") from error
    check_folder(out, files, options)
    check_can_write("--out", out)
    clash = [name for name in frame.columns if adds is not None and re.fullmatch(adds, name)]
    if clash:
        raise UsageError(
            f"{options.table} already has a column {clash[0]!r}, which the result would overwrite: rename it."
        )
    if len(frame) < 2:
        raise UsageError(f"{options.table} has 1 row: a clustering needs at least 2.")
    print_reading(table, study.recipe, study.given)
    _check_labels(study.given, options)
    return Task(table, replace(study, name=table.name, notes=tuple(table.notes)), out)


def parsed_types(pairs: list[str]) -> dict[str, str]:
    """The types of columns from NAME=TYPE; a name may contain "="."""
    for pair in pairs:
        if "=" not in pair:
            raise UsageError(f"--as {pair!r} names no type: write it as NAME=TYPE, such as zip=category.")
    return {name: kind for name, _, kind in (pair.rpartition("=") for pair in pairs)}


def check_file(path: Path | None) -> None:
    """Refuse the path of a table that is not there."""
    if path is not None and not path.is_file():
        raise UsageError(f"{path} does not exist or is not a file: pass the path of a table.")


def check_folder(out: Path, files: str, options: TableOptions) -> None:
    """Refuse a folder with such files, unless they are those of an earlier run, unchanged, and --force is passed."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is a file: choose a folder.")
    dangling = next((one for one in (out, *out.parents) if one.is_symlink() and not one.exists()), None)
    if dangling is not None:
        what = "a link" if dangling == out else f"below {dangling}, a link"
        raise UsageError(
            f"--out {out} is {what} to {dangling.readlink()}, which does not exist: choose another folder."
        )
    earlier = read_manifest(out)
    found = {one: is_unchanged(one, earlier) for one in existing(out, files)}
    taken = [one for one in found if one.stem != "table" or one.suffix == options.table.suffix.lower()]
    for source, option in ((options.table, "the table"), (options.given_file, "--given-file")):
        touched = [one for one, ours in found.items() if (ours or one in taken) and one.is_file()]
        if source is not None and source.is_file() and any(map(source.samefile, touched)):
            raise UsageError(f"{source} is {option}, and the results would replace it: choose another --out.")
    foreign = ", ".join(one.name for one in taken if not found[one])
    instead = "choose another --out, or pass --force to overwrite"
    if foreign:
        instead = (
            f"choose another --out, or move what is in the way. --force overwrites only what altclust wrote and nobody "
            f"changed since, so not {foreign}"
        )
    if foreign or (taken and not options.force):
        raise UsageError(f"{', '.join(map(str, taken))} exist{'s' * (len(taken) == 1)}: {instead}.")


def _check_labels(given: pd.DataFrame | None, options: TableOptions) -> None:
    """Refuse a given column that is not a clustering."""
    for name, labelled in () if given is None else given.items():
        if str(name) in measured(given):
            continue
        try:
            label_codes(labelled)
        except InputError as error:
            own = str(name) in (options.given or [])
            where = f"--given {name}" if own else f"--given-file {options.given_file}: column {str(name)!r}"
            raise UsageError(sentence(error, where)) from error


def check_can_write(option: str, folder: Path) -> None:
    """Refuse a folder without write permission, before anything is computed."""
    if not can_write(folder):
        raise UsageError(f"{option} {folder} cannot be written to: choose another folder.")


def existing(out: Path, files: str) -> list[Path]:
    """What is in the folder under names that match the pattern."""
    return sorted(path for path in out.iterdir() if re.fullmatch(files, path.name)) if out.is_dir() else []


def check_column(option: str, name: str, frame: pd.DataFrame, where: Path) -> None:
    """Refuse a name that is not a column, and suggest the nearest."""
    if name not in frame.columns:
        raise UsageError(f"--{option} {name!r} is not a column of {where}: {remedy(name, frame.columns)}")


def read_given_file(options: TableOptions, frame: pd.DataFrame) -> pd.DataFrame | None:
    """The columns of --given-file, with a row for each row of the table."""
    if options.given_file is None:
        return None
    source = read_table(options.given_file)
    other = source.frame
    if options.id is not None:
        check_column("id", options.id, other, options.given_file)
        ids = labels(other.pop(options.id))
        other = other[ids.notna()].set_index(ids[ids.notna()])  # without an id, a row matches no other
        if other.index.duplicated().any():
            twice = other.index[other.index.duplicated()][0]
            raise UsageError(f"--given-file {options.given_file} has two rows with {options.id} {twice!r}: remove one.")
        own = labels(frame[options.id])
        if not own.isin(other.index).any():
            such = [short_repr(next(iter(found), "")) for found in (own.dropna(), other.index)]
            raise UsageError(
                f"--id {options.id!r} matches no row: {options.table} has values such as {such[0]}, and "
                f"{options.given_file} such as {such[1]}."
            )
        other = other.reindex(own).set_axis(frame.index)
    elif len(other) < len(frame) <= len(other) + source.blank_end:
        other = other.reindex(frame.index)  # the last rows are unknown
    if len(other) != len(frame):
        raise UsageError(
            f"--given-file {options.given_file} has {len(other)} rows, and {options.table} has {len(frame)}: pass "
            "one row for each, or --id with a column that both have."
        )
    clash = [name for name in other.columns if name in frame.columns]
    if clash:
        raise UsageError(
            f"--given-file {options.given_file} and {options.table} both have a column {clash[0]!r}: rename one."
        )
    return other


def print_reading(table: Table, recipe: Recipe, given: pd.DataFrame | None) -> None:
    """Print how the table is used, one line per decision."""
    columns = "1 column" if table.frame.shape[1] == 1 else f"{table.frame.shape[1]} columns"
    say(f"Read {table.name}: {len(table.frame):,} rows, {columns}. {' '.join(table.notes)}")
    if given is not None:
        numbers = measured(given)
        levels = [
            f"{name} ({'a measurement' if name in numbers else f'{given[name].nunique()} clusters'})"
            for name in given.columns
        ]
        unknown = int(given.isna().any(axis=1).sum())
        missing = f" {unknown:,} of {len(given):,} rows have no label: they are not constrained." if unknown else ""
        change = " [--as NAME=category makes a measurement a clustering]" if numbers else ""
        say(f"Given: {', '.join(levels)}.{missing}{change}")
    for decision in recipe.decisions:
        say(f"{decision.sentence} [{REMEDIES[decision.argument]}]")
