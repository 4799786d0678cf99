"""The files of one run replace those of an earlier one together: all of them, or none; and nobody else's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from ...base.errors import InputError
from ...files.atomic import AtomicGroup
from ...files.folder_lock import only_run_in
from ...files.manifest import NAME, Written, as_text, describe, is_unchanged, read_manifest
from ...tables import Table
from .options import TableOptions
from .screen import say
from .task import Task, UsageError, as_json, check_folder

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a text that begins so is a formula for a spreadsheet


class Files:
    """The files that a run writes; see `writing`."""

    def __init__(self, out: Path, together: AtomicGroup) -> None:
        self._out, self._together = out, together
        self.earlier = read_manifest(out)
        self.written: set[Written] = set()
        self.refused: InputError | None = None

    def write(self, name: str, write: Callable[[Path], Any], over: bool = False) -> None:
        """Write one file of the results; under another name, unless over, if somebody else has taken its own."""

        def record(path: Path) -> None:
            write(path)
            self.written.add(describe(path, name))

        self._together.write(self._out / name, record, None if over else lambda path: is_unchanged(path, self.earlier))

    def write_csv(self, name: str, frame: pd.DataFrame) -> None:
        """Write one table of the results as CSV; a text that a spreadsheet would compute gets an apostrophe."""
        safe = frame.map(_not_a_formula).rename(columns=_not_a_formula)
        self.write(name, lambda path: safe.to_csv(path, index=False))

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write one JSON file of the results."""
        self.write(name, lambda path: path.write_text(as_json(content) + "\n", encoding="utf-8", errors="replace"))

    def write_table(self, table: Table, new: pd.DataFrame) -> None:
        """Write the table in its own format with new columns; if that fails, the other files are still written."""
        name = f"table{table.suffix}"
        try:
            self.write(name, lambda path: table.add(path, new))
        except (TypeError, ValueError, NotImplementedError) as error:  # a cell that the format's writer does not know
            self.refused = InputError(
                f"{self._out / name} could not be written: {table.suffix} cannot hold one of its cells. All other "
                "files were written; save the table as CSV and run again."
            )
            self.refused.__cause__ = error

    def write_manifest(self) -> None:
        """Record all that is written, and what is there now: a run that is killed leaves some of each."""
        there = {one for one in self.earlier if is_unchanged(self._out / one.name, {one})}
        both = as_text(self.written | there)
        self._together.write_first(self._out / NAME, lambda path: path.write_text(both, encoding="utf-8"))

    def record_moved(self) -> None:
        """Tell which files have another name, and record it."""
        for target, path in self._together.moved.items():
            say(f"{target} appeared during the search, and is kept: see {path.name}.", style="yellow")
            self.written = {one._replace(name=path.name) if one.name == target.name else one for one in self.written}
        if self._together.moved:
            self._together = AtomicGroup()
            with self._together:
                self.write_manifest()

    def remove_earlier(self, replaced: str) -> None:
        """Remove the files of an earlier run that this one did not write."""
        names = {one.name for one in self.written}
        for old in self.earlier:
            path = self._out / old.name
            if old.name not in names and re.fullmatch(replaced, old.name) and is_unchanged(path, {old}):
                path.unlink(missing_ok=True)


def _not_a_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def write_report_file(target: Path, write: Callable[[Path], Any]) -> None:
    """Write a report again; in a folder with results, it counts as one of them."""
    with AtomicGroup() as together:
        files = Files(target.parent, together)
        files.write(target.name, write, over=True)
        if files.earlier:
            files.write_manifest()


@contextmanager
def claim(task: Task, options: TableOptions, files: str) -> Iterator[None]:
    """Keep other runs out of the folder of a task, and refuse it if one has written such files in the meantime."""
    with ExitStack() as held:
        try:
            held.enter_context(only_run_in(task.out))
        except BlockingIOError as error:
            raise UsageError(
                f"Another run of altclust is writing to {task.out}: wait until it has ended, or choose another --out."
            ) from error
        check_folder(task.out, files, options)
        yield


@contextmanager
def writing(task: Task, replaced: str) -> Iterator[Files]:
    """Write files to the folder of a task; they appear under their names together, at the end.

    Files of an earlier run that match the pattern of those to be replaced, and are not written now, are removed.
    """
    task.out.mkdir(parents=True, exist_ok=True)
    with AtomicGroup() as together:
        files = Files(task.out, together)
        yield files
        files.write_manifest()
    files.record_moved()
    files.remove_earlier(replaced)
    if files.refused is not None:
        raise files.refused
