"""What the child process of `contained` runs, with no import of altclust: it reads the file that is its standard input.

Every reader gets the file and a folder, writes what it read into the folder, and returns a dictionary of plain values.
"""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO

LAST_ROW = 1_048_576  # of any sheet
FORMULA = re.compile(rb"<(\w+:)?f[\s/>]")
LONGEST = 500  # letters of an error


class Refused(Exception):
    """A file that is not read; the message is the rest of a sentence that begins with its name."""


def read_parquet(file: BinaryIO, folder: Path) -> dict[str, Any]:
    """The table as an Arrow file without compression."""
    from pyarrow.parquet import ParquetFile

    return _write_table(ParquetFile(file).read(use_threads=False), folder)


def read_arrow(file: BinaryIO, folder: Path) -> dict[str, Any]:
    """The same for Arrow's IPC format, as a file (such as Feather) or as a stream."""
    import pyarrow as pa

    stream = file.read(6) != b"ARROW1"
    file.seek(0)
    options = pa.ipc.IpcReadOptions(use_threads=False)
    with (pa.ipc.open_stream if stream else pa.ipc.open_file)(file, options=options) as opened:
        return _write_table(opened.read_all(), folder) | {"stream": stream}


def check_row_groups(file: BinaryIO, folder: Path, columns: list[str] | None) -> dict[str, Any]:
    """Read the row groups of a Parquet file one after the other, to see that each can be read."""
    from pyarrow.parquet import ParquetFile

    opened = ParquetFile(file)
    for i in range(opened.num_row_groups):
        opened.read_row_group(i, columns=columns, use_threads=False)
    return {}


def read_workbook(file: BinaryIO, folder: Path) -> dict[str, Any]:
    """The cells of the first worksheet, a row of JSON in each line; what pandas does not show is counted."""
    from openpyxl import load_workbook

    book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
    if not book.worksheets:
        raise Refused("has no sheet.")
    empty: set[tuple[int, int]] = set()  # cells without a result, if they are formulas
    formulas = _has_formulas(file, book.worksheets[0])
    last = width = errors = 0
    with (folder / "cells.json").open("w", encoding="utf-8") as cells:
        for number, row in enumerate(_rows(book), 1):
            values = [_plain(cell) for cell in row]
            errors += sum(cell.data_type == "e" for cell in row)
            if formulas:
                empty |= {(number, j) for j, cell in enumerate(row) if cell.value is None and cell.data_type == "n"}
            while values and values[-1] is None:
                values.pop()
            cells.write(json.dumps(values) + "\n")
            last, width = number if values else last, max(width, len(values))
    uncomputed = 0
    if empty:
        for number, row in enumerate(_rows(load_workbook(file, read_only=True, keep_links=False)), 1):
            uncomputed += sum(cell.data_type == "f" and (number, j) in empty for j, cell in enumerate(row))
    sheets = [sheet.title for sheet in book.worksheets]
    return {"rows": last, "width": width, "errors": errors, "uncomputed": uncomputed, "sheets": sheets}


def _rows(book: Any) -> Iterator[tuple[Any, ...]]:
    sheet = book.worksheets[0]
    sheet.reset_dimensions()  # what is declared can be wrong
    for number, row in enumerate(sheet.rows, 1):
        if number > LAST_ROW:
            raise Refused(f"has a row beyond {LAST_ROW:,}, the last of any sheet: it is damaged.")
        yield row


def _has_formulas(file: BinaryIO, sheet: Any) -> bool:
    with zipfile.ZipFile(file) as archive, archive.open(sheet._worksheet_path) as part:
        before = b""
        while block := part.read(2**20):
            if FORMULA.search(before + block):
                return True
            before = block[-80:]
    return False


def _plain(cell: Any) -> Any:
    """A value for JSON: None where there is nothing, NaN where a formula failed, whole numbers as such."""
    value = cell.value
    if value is None or value == "":
        return None
    if cell.data_type == "e":
        return float("nan")
    if isinstance(value, timedelta):
        return {"timedelta": value.total_seconds()}
    for kind in (datetime, date, time):  # a datetime is a date
        if isinstance(value, kind):
            return {kind.__name__: value.isoformat()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _write_table(table: Any, folder: Path) -> dict[str, Any]:
    """Write an Arrow table once it is known that a pandas frame of it fits in memory, too."""
    import pyarrow as pa
    from pyarrow import types

    table.validate(full=True)  # a damaged file may point outside itself, and reading there ends the process
    for field in table.schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if types.is_list_view(kind) or types.is_large_list_view(kind):
            raise Refused(f"has a column of type {str(kind)[:60]!r}, which altclust does not read: remove it.")
        if types.is_nested(kind):
            table[field.name].to_pylist()  # objects, which are no smaller than those of pandas
        elif types.is_string_view(kind) or types.is_binary_view(kind) or kind != field.type:
            text = pa.large_binary() if types.is_binary_view(kind) else pa.large_string()
            with suppress(pa.ArrowNotImplementedError, pa.ArrowInvalid):
                table[field.name].cast(kind).cast(text)  # rows may share one long text
    with pa.ipc.new_file(str(folder / "table.arrow"), table.schema) as writer:
        writer.write_table(table)
    return {}


def _limit(memory: int | None, seconds: int) -> None:
    """Limit what this process may take from now on, as far as the operating system does it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (memory, memory))
            taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            most = resource.getrlimit(resource.RLIMIT_AS)[1]
            room = taken + memory if most == resource.RLIM_INFINITY else min(taken + memory, most)
            resource.setrlimit(resource.RLIMIT_AS, (room, room))


def _answer(reader: str, folder: Path, memory: int | None, seconds: int, how: dict[str, Any]) -> dict[str, Any]:
    if reader == "read_workbook":
        import openpyxl  # noqa: F401
    else:
        import pyarrow.parquet  # noqa: F401
    _limit(memory, seconds)
    try:
        with os.fdopen(0, "rb") as file:
            return globals()[reader](file, folder, **how)
    except MemoryError:
        return {"memory": True}
    except Refused as error:
        return {"refused": str(error)}
    except Exception as error:
        too_large = isinstance(error, OSError) and error.errno in (errno.EFBIG, errno.ENOMEM)
        return {"memory": True} if too_large else {"error": str(error)[:LONGEST]}


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    answer = _answer(job["reader"], Path(job["folder"]), job["memory"], job["seconds"], job["how"])
    Path(job["folder"], "answer.json").write_text(json.dumps(answer), encoding="utf-8")
