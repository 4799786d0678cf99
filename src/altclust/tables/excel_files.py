"""Excel workbooks: the values of the first worksheet, read by a child process with limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from ..files.contained import contained
from ..files.npy import open_archive
from .header import with_header
from .limits import Limits

CELL = 24  # bytes of memory
VALUES: dict[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda seconds: timedelta(seconds=seconds),
}


def read_workbook(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Callable[..., Any]]:
    """The first worksheet, what was guessed about it, and how to write its values to a workbook with columns added."""
    import openpyxl  # noqa: F401

    open_archive(file)
    with contained("read_workbook", file, limits.bytes, limits.seconds) as (found, folder):
        rows, width = found["rows"], found["width"]
        limits.check(rows, width, CELL * rows * width)
        cells = _grid(folder / "cells.json", rows, width)
    frame, notes = with_header(cells)
    if found["errors"]:
        notes = [f"Cells with an error such as #DIV/0! count as missing: {found['errors']}.", *notes]
    if found["uncomputed"]:
        notes = [
            f"Formulas without a stored result count as missing: {found['uncomputed']}. Open the workbook in a "
            "spreadsheet program and save it to store them.",
            *notes,
        ]
    sheets = found["sheets"]
    if len(sheets) > 1:
        notes = [f"The workbook has {len(sheets)} sheets: only the first, {sheets[0]!r}, is read.", *notes]
    has_header = len(frame) < len(cells)

    def add(path: Path, new: pd.DataFrame) -> None:
        names = [[*cells.iloc[0], *new.columns]] if has_header else []
        _write(path, names + pd.concat([frame, new.set_axis(frame.index)], axis=1).to_numpy(dtype=object).tolist())

    return frame, notes, add


def _grid(path: Path, rows: int, width: int) -> pd.DataFrame:
    """The cells that the child wrote, all rows padded to the longest."""
    cells = np.full((rows, width), np.nan, dtype=object)
    with path.open(encoding="utf-8") as lines:
        for i, line in zip(range(rows), lines, strict=False):
            row = json.loads(line, object_hook=_value)
            cells[i, : len(row)] = [np.nan if value is None else value for value in row]
    return pd.DataFrame(cells)


def _value(tagged: dict[str, Any]) -> Any:
    """A date or time from its name and its text."""
    ((kind, value),) = tagged.items()
    return VALUES[kind](value)


def _write(path: Path, rows: list[list[Any]]) -> None:
    """A workbook of these values; what begins like a formula stays text."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.escape import escape

    book = Workbook(write_only=True)
    sheet = book.create_sheet("table")

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return None if pd.isna(value) else value
        lines = (escape(line) for line in value.split("\n"))  # which it would escape as well
        text = WriteOnlyCell(sheet, "\n".join(lines))
        text.data_type = "s"
        return text

    for row in rows:
        sheet.append([cell(value) for value in row])
    book.save(path)
