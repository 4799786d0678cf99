"""Excel workbooks: the values of the first worksheet, unless the archive expands to an unreasonable size."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

import numpy as np
import pandas as pd

from ..files.npy import BadFile, check_fits, open_archive
from .header import with_header
from .limits import Limits
from .workbook_copy import content_of, write_copy

EXPANSION = 10  # bytes of memory for each byte of a sheet, measured
PARTS = 20e6  # bytes of all that is read and is neither a sheet nor the list of texts: styles, names, links
SHEETS = "xl/worksheets/", "xl/sharedstrings"
LAST_ROW = 1_048_576  # of any sheet


def read_workbook(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, list[str], Callable[..., Any]]:
    """The first worksheet, what was guessed about it, and how to write a copy of the workbook with columns added."""
    from openpyxl.reader.excel import ExcelReader

    _check_sheets(file, limits)
    with warnings.catch_warnings():  # about styles and the like
        warnings.simplefilter("ignore")
        reader = ExcelReader(file, read_only=True, data_only=True, keep_links=False)
        reader.archive = _Parts(file)
        reader.read_chartsheet = lambda *_: None
        try:
            reader.read()
        except _Refused as error:
            raise BadFile(str(error)) from error
        book = reader.wb
        names = [sheet.title for sheet in book.worksheets]
        if not names:
            raise BadFile("has no sheet.")
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # what is declared can be wrong
        cells = _grid(_values(sheet.rows), limits)
        part = sheet._worksheet_path
        content = content_of(reader.archive.read(part))
    frame, notes = with_header(cells)
    if content.errors:
        notes = [f"Cells with an error such as #DIV/0! count as missing: {content.errors}.", *notes]
    if content.uncomputed:
        notes = [
            f"Formulas without a stored result count as missing: {content.uncomputed}. Open the workbook in a "
            "spreadsheet program and save it to store them.",
            *notes,
        ]
    if len(names) > 1:
        notes = [f"The workbook has {len(names)} sheets: only the first, {names[0]!r}, is read.", *notes]
    file.seek(0)
    workbook, first, has_header = file.read(), max(content.last, cells.shape[1]) + 1, len(frame) < len(cells)

    def add(path: Path, new: pd.DataFrame) -> None:
        if len(new) != len(frame):
            raise ValueError(f"{len(new)} new rows for a table of {len(frame)}")
        rows = [list(new.columns)] * has_header + new.to_numpy(dtype=object).tolist()
        write_copy(path, workbook, part, first, rows)

    return frame, notes, add


def _check_sheets(file: BinaryIO, limits: Limits) -> None:
    """Refuse a workbook whose sheets do not fit: one of them and the list of texts are in memory at a time."""
    with open_archive(file) as archive:
        sizes = sorted(part.file_size for part in archive.infolist() if _is_sheet(part.filename))
    check_fits(EXPANSION * sum(sizes[-2:]), limits.bytes)
    file.seek(0)


def _is_sheet(name: str) -> bool:
    return name.lower().startswith(SHEETS)


class _Refused(BadZipFile):
    """A part that is not read; not a ValueError, which openpyxl would put into its own words."""


class _Parts(ZipFile):
    """The parts of a workbook, each checked when it is opened.

    A workbook declares which part is what, so names say nothing. Parts that are not opened do no harm, however large:
    pictures, and the copies of the data that pivot tables keep.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self.checked: set[str] = set()
        self.size = 0  # of those that are not sheets

    def open(self, name: Any, *args: Any, **kwargs: Any) -> Any:
        """A part as a binary file."""
        part = self.getinfo(name)
        if part.filename not in self.checked:
            self.checked.add(part.filename)
            self.size += 0 if _is_sheet(part.filename) else part.file_size
            if self.size > PARTS:
                raise _Refused("has too much content besides its sheets: save only the sheet with the table.")
            with super().open(name) as content:
                if _declares_entities(content):
                    raise _Refused("declares XML entities, which Excel never does: save it again.")
        return super().open(name, *args, **kwargs)


def _declares_entities(part: IO[bytes]) -> bool:
    """Whether there is a document type before the first element of a part: entities can stand for gigabytes."""
    found: list[bool] = []
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = lambda *_: found.append(True)
    parser.StartElementHandler = lambda *_: found.append(False)
    try:
        while not found and (block := part.read(2**16)):
            parser.Parse(block)
    except expat.ExpatError:  # not XML, such as a picture
        pass
    return found[:1] == [True]


def _values(rows: Any) -> Iterator[list[Any]]:
    """The values of every row, without what is empty at its end."""
    from openpyxl.cell.read_only import EMPTY_CELL

    for number, row in enumerate(rows, 1):
        if number > LAST_ROW:
            raise BadFile(f"has a row beyond {LAST_ROW:,}, the last of any sheet: it is damaged.")
        values = [None if cell is EMPTY_CELL else _value(cell) for cell in row]
        while values and values[-1] is None:
            values.pop()
        yield values


def _value(cell: Any) -> Any:
    """None where there is nothing, NaN where a formula failed; whole numbers as such."""
    value = cell.value
    if value is None or value == "":
        return None
    if cell.data_type == "e":
        return np.nan
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _grid(rows: Iterator[list[Any]], limits: Limits) -> pd.DataFrame:
    """All rows padded to the longest."""
    found: list[list[Any]] = []
    width = 0
    last = 0
    for row in rows:
        found.append(row)
        width = max(width, len(row))
        last = len(found) if row else last
        if len(found) % 1000 == 0:
            limits.check(last, width, 24 * width * last)
    limits.check(last, width, 24 * width * last)
    cells = np.full((last, width), np.nan, dtype=object)
    for i, row in enumerate(found[:last]):
        cells[i, : len(row)] = [np.nan if value is None else value for value in row]
    return pd.DataFrame(cells)
