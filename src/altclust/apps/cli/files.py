"""The files of one run replace those of an earlier one together: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from ...base.errors import InputError
from ...files.atomic import AtomicGroup
from .task import Task, as_json, written


class Files:
    """The files that a run writes; see `writing`."""

    def __init__(self, task: Task, together: AtomicGroup) -> None:
        self._task, self._together = task, together
        self.names: set[str] = set()
        self.refused: InputError | None = None

    def write(self, name: str, write: Callable[[Path], Any]) -> None:
        """Write one file of the results."""
        self._together.write(self._task.out / name, write)
        self.names.add(name)

    def write_csv(self, name: str, frame: pd.DataFrame) -> None:
        """Write one table of the results as CSV."""
        self.write(name, lambda path: frame.to_csv(path, index=False))

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write one JSON file of the results."""
        self.write(name, lambda path: path.write_text(as_json(content) + "\n", encoding="utf-8"))

    def write_table(self, new: pd.DataFrame) -> None:
        """Write the table in its own format with new columns; if that fails, the other files are still written."""
        table = self._task.table
        name = f"table{table.suffix}"
        try:
            self.write(name, lambda path: table.add(path, new))
        except (TypeError, ValueError, NotImplementedError) as error:  # a cell that the format's writer does not know
            self.refused = InputError(
                f"{self._task.out / name} could not be written: {table.suffix} cannot hold one of its cells. All other "
                "files were written; save the table as CSV and run again."
            )
            self.refused.__cause__ = error


@contextmanager
def writing(task: Task, replaced: str) -> Iterator[Files]:
    """Write files to the folder of a task; they appear under their names together, at the end.

    Parameters
    ----------
    task : Task
    replaced : str
        Pattern of the names of files from an earlier run; those that are not written now are removed.
    """
    new = not task.out.exists()
    try:
        task.out.mkdir(parents=True, exist_ok=True)
        with AtomicGroup() as together:
            files = Files(task, together)
            yield files
    except BaseException:
        if new:
            with suppress(OSError):  # another program has put something into it
                task.out.rmdir()
        raise
    for old in written(task.out, replaced):
        if old.name not in files.names:
            old.unlink(missing_ok=True)
    if files.refused is not None:
        raise files.refused
