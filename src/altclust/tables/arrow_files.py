"""Parquet, Feather and Arrow files, read by a child process with limits: see `altclust.files.contained`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from ..base.errors import short_repr
from ..files.contained import contained
from ..files.npy import BadFile
from .limits import Limits

NUMBER, OBJECT = 16, 130  # bytes of memory for a value, in Arrow and in pandas together


def read_parquet(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Callable[..., Any]]:
    """The table, no notes, and a function that writes it with columns added."""
    import pyarrow.parquet as pq

    table, _ = _contained_table("read_parquet", file, limits)
    return _frame(table), [], lambda path, new: pq.write_table(_appended(table, new), path)


def read_arrow(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Callable[..., Any]]:
    """The same for Arrow's IPC format, as a file (such as Feather) or as a stream."""
    import pyarrow as pa

    table, answer = _contained_table("read_arrow", file, limits)

    def add(path: Path, new: pd.DataFrame) -> None:
        whole = _appended(table, new)
        with (pa.ipc.new_stream if answer["stream"] else pa.ipc.new_file)(str(path), whole.schema) as writer:
            writer.write_table(whole)

    return _frame(table), [], add


def _contained_table(reader: str, file: BinaryIO, limits: Limits) -> tuple[Any, dict[str, Any]]:
    """The Arrow table that a child read, refused if a pandas frame of it would not fit."""
    import pyarrow as pa

    with contained(reader, file, limits.bytes, limits.seconds) as (answer, folder):
        table = pa.ipc.open_file(pa.py_buffer((folder / "table.arrow").read_bytes())).read_all()
    objects = sum(not pa.types.is_primitive(field.type) for field in table.schema)
    row = NUMBER * (table.num_columns - objects) + OBJECT * objects
    size = table.get_total_buffer_size()  # `nbytes` does not know views of text in older versions
    limits.check(table.num_rows, table.num_columns, size + row * table.num_rows)
    return table, answer


def _frame(table: Any) -> pd.DataFrame:
    """An Arrow table as a pandas frame; a stored pandas index becomes a column."""
    import pyarrow as pa
    from pyarrow import types

    for j, field in enumerate(table.schema):
        kind = field.type
        if types.is_time64(kind):  # Python has no nanoseconds
            table = table.set_column(j, field.name, table.column(j).cast(pa.string()))
        elif types.is_dictionary(kind) and types.is_primitive(kind.value_type):
            table = table.set_column(j, field.name, table.column(j).cast(kind.value_type))
    try:
        return table.to_pandas(ignore_metadata=True)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        for field in table.schema:
            _check_readable(table, field)
        raise


def _check_readable(table: Any, field: Any) -> None:
    """Refuse a column that pandas cannot hold, by its name."""
    try:
        table.select([field.name]).to_pandas(ignore_metadata=True)
    except Exception as error:
        raise BadFile(
            f"has a column {short_repr(field.name)} of type {short_repr(str(field.type))}, which altclust cannot read: "
            "remove it, or store it as text."
        ) from error


def _appended(table: Any, new: pd.DataFrame) -> Any:
    """The Arrow table with columns added, so that all its types are kept."""
    import pyarrow as pa

    for name in new.columns:
        table = table.append_column(name, pa.array(new[name].to_numpy()))
    return table
