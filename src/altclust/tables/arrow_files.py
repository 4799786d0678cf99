"""Parquet, Feather and Arrow files; their size in memory is checked before they are expanded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from ..base.errors import short_repr
from ..files.npy import BadFile, check_fits, file_size
from .arrow_ipc import FILE_MAGIC, expanded_size, file_messages, stream_messages
from .limits import Limits

NUMBER, OBJECT = 16, 130  # bytes of memory for a value, in Arrow and in pandas together
OLD_FEATHER = b"FEA1"


def read_parquet(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Callable[..., Any]]:
    """The table, no notes, and a function that writes it with columns added."""
    import pyarrow.parquet as pq

    opened = pq.ParquetFile(file)
    meta, schema = opened.metadata, opened.schema_arrow
    limits.check(meta.num_rows, len(schema.names), NUMBER * meta.num_rows * len(schema.names))
    values = [0] * meta.num_columns
    for i in range(meta.num_row_groups):
        group = meta.row_group(i)
        for j in range(meta.num_columns):
            values[j] += max(group.column(j).num_values, group.num_rows)
    leaves = [opened.schema.column(j) for j in range(meta.num_columns)]
    limits.check(0, 0, sum(n * _value_size(leaf) for n, leaf in zip(values, leaves, strict=True)))
    # One long text can be in a million rows, and once in the file: texts are first read as dictionaries.
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY" and leaf.path in schema.names]
    if texts:
        limits.check(0, 0, _in_memory(pq.ParquetFile(file, read_dictionary=texts).read(columns=texts)))
    table = opened.read()
    return _frame(table), [], lambda path, new: pq.write_table(_appended(table, new), path)


def read_arrow(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Callable[..., Any]]:
    """The same for Arrow's IPC format, as a file (such as Feather) or as a stream."""
    import pyarrow as pa

    check_fits(2 * file_size(file), limits.bytes)
    data = pa.py_buffer(file.read())
    start = data[:8].to_pybytes()
    if start.startswith(OLD_FEATHER):  # pyarrow does not check its offsets: a damaged file ends the process
        raise BadFile("is in the first version of Feather, which is no longer read: write it in the current version.")
    stream = not start.startswith(FILE_MAGIC)
    opened = (pa.ipc.open_stream if stream else pa.ipc.open_file)(pa.BufferReader(data))  # expands nothing yet
    check_fits(expanded_size(stream_messages(data) if stream else file_messages(data)), limits.bytes)
    table = opened.read_all()
    limits.check(table.num_rows, table.num_columns, NUMBER * table.num_rows * table.num_columns)
    table.validate()
    limits.check(0, 0, _in_memory(table))
    table.validate(full=True)  # a damaged file may point outside itself, and reading there ends the process

    def add(path: Path, new: pd.DataFrame) -> None:
        whole = _appended(table, new)
        with (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), whole.schema) as writer:
            writer.write_table(whole)

    return _frame(table), [], add


def _value_size(column: Any) -> int:
    plain = column.max_repetition_level == 0 and column.physical_type != "BYTE_ARRAY"
    return NUMBER if plain and "Decimal" not in str(column.logical_type) else OBJECT


def _in_memory(table: Any) -> float:
    """The bytes of the columns with every text in full, once for Arrow and once for pandas."""
    return 2 * sum(_column_size(chunk) for column in table.columns for chunk in column.chunks)


def _column_size(values: Any) -> float:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if pa.types.is_dictionary(kind) and (_is_text(kind.value_type) or _is_view(kind.value_type)):
        texts = values.dictionary
        lengths = pa.array(_view_lengths(texts)) if _is_view(texts.type) else pc.binary_length(texts)
        return (pc.sum(pc.fill_null(pc.take(lengths, values.indices), 0)).as_py() or 0) + 8 * len(values)
    if _is_view(kind):  # many views may share one long text
        return float(_view_lengths(values).sum()) + 16 * len(values)
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        raise BadFile(f"has a column of type {short_repr(str(kind))}, which altclust does not read: remove it.")
    return values.nbytes


def _is_view(kind: Any) -> bool:
    from pyarrow import types

    return types.is_string_view(kind) or types.is_binary_view(kind)


def _view_lengths(values: Any) -> Any:
    """The length of each text in a column of views."""
    import numpy as np

    views = np.frombuffer(values.buffers()[1], dtype=np.int32).reshape(-1, 4)
    return views[values.offset : values.offset + len(values), 0].astype(np.int64)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return any(
        is_kind(kind) for is_kind in (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    )


def _frame(table: Any) -> pd.DataFrame:
    """An Arrow table as a pandas frame; a stored pandas index becomes a column."""
    import pyarrow as pa
    from pyarrow import types

    for j, field in enumerate(table.schema):
        kind = field.type
        if types.is_time64(kind):  # Python has no nanoseconds
            table = table.set_column(j, field.name, table.column(j).cast(pa.string()))
        elif types.is_dictionary(kind) and not (_is_text(kind.value_type) or _is_view(kind.value_type)):
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
