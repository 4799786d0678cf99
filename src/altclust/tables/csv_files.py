"""CSV and other delimited text: every cell is kept as it is, so that the file can be written back unchanged."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from ..base.errors import InputError
from ..files.npy import BadFile, file_size
from .limits import Limits

DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}  # the comma last: it may be a decimal comma
HEAD = 64_000  # bytes from which the dialect is guessed
SURE_ROWS = 200
WIDE = ("utf-16", "utf-32")
CELL, COLUMN = 50, 2_600  # bytes of memory for each, besides its text
SEPARATOR = re.compile(r"sep=(.)\r?\n")  # what Excel writes on top of some files


@dataclass(frozen=True)
class Dialect:
    """How a text file separates its cells and encodes its characters."""

    delimiter: str
    encoding: str


def read_delimited(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, Dialect, list[str]]:
    """All cells as text, including the header, with the dialect and notes on it."""
    head = file.read(HEAD)
    file.seek(0)
    encoding = _encoding(head)
    if encoding not in WIDE and b"\0" in head:
        raise BadFile("contains zero bytes, so it is not text: save it as CSV.")
    text = head.decode(encoding, errors="ignore")
    told = SEPARATOR.match(text)
    delimiter = told[1] if told else _delimiter(text)
    try:
        _check_size(file, delimiter, encoding, bool(told), limits)
        cells = _read(file, delimiter, encoding, skip=bool(told))
        notes = []
    except UnicodeDecodeError as error:
        if encoding in WIDE:
            raise BadFile(
                f"begins as {encoding.upper()}, but is not valid {encoding.upper()}: save it again."
            ) from error
        file.seek(0)
        encoding = "cp1252"
        _check_size(file, delimiter, encoding, bool(told), limits)
        cells = _read(file, delimiter, encoding, skip=bool(told))
        notes = ["Not UTF-8: read as Windows-1252."]
    if delimiter != ",":
        notes.append(f"Delimiter: {DELIMITERS.get(delimiter, repr(delimiter))}.")
    return cells, Dialect(delimiter, encoding), notes


def _check_size(file: BinaryIO, delimiter: str, encoding: str, skip: bool, limits: Limits) -> None:
    """Refuse a table that is too large: short lines are padded to the first, so the size of the file says little."""
    size, rows = file_size(file), -1  # the first is the header
    for block in iter(lambda: file.read(2**20), b""):
        rows += max(block.count(b"\n"), block.count(b"\r"))
        whole = block.endswith((b"\n", b"\r"))
    rows += size > 0 and not whole
    file.seek(0)
    columns = _width(file, delimiter, encoding, skip)

    def needed(rows: int) -> float:
        return 3 * size + columns * (COLUMN + CELL * rows)

    try:
        limits.check(rows, columns, needed(rows))
    except InputError:  # but some line breaks may be inside cells
        rows = _count(file, delimiter, encoding, rows)
        limits.check(rows, columns, needed(rows))


@contextmanager
def _rows(file: BinaryIO, delimiter: str, encoding: str, skip: bool = False) -> Iterator[Any]:
    """The rows as the csv module reads them; the file is then at its beginning again."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding, errors="ignore", newline="")
    try:
        yield csv.reader(islice(text, int(skip), None), delimiter=delimiter)
    finally:
        text.detach()
        file.seek(0)


def _count(file: BinaryIO, delimiter: str, encoding: str, lines: int) -> int:
    """The number of rows below the first; the number of lines where the csv module fails."""
    try:
        with _rows(file, delimiter, encoding) as rows:
            return min(lines, sum(1 for row in rows if row) - 1)
    except csv.Error:  # a very long cell, for one
        return lines


def _width(file: BinaryIO, delimiter: str, encoding: str, skip: bool) -> int:
    """The number of cells in the first row; pandas makes a column of each, which takes long."""
    try:
        with _rows(file, delimiter, encoding, skip) as rows:
            return next((len(row) for row in rows if "".join(row).strip() or len(row) > 1), 0)
    except csv.Error:
        return _read(file, delimiter, encoding, skip, nrows=1).shape[1]


def _read(file: BinaryIO, delimiter: str, encoding: str, skip: bool, **how: Any) -> pd.DataFrame:
    try:
        cells = pd.read_csv(
            file,
            sep=delimiter,
            header=None,
            skiprows=int(skip),
            index_col=False,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            encoding=encoding,
            low_memory=False,
            **how,
        )
    except pd.errors.EmptyDataError as error:
        raise BadFile("is empty.") from error
    except pd.errors.ParserError as error:
        raise BadFile(_uneven(file, delimiter, encoding)) from error
    return cells.fillna("")  # rows that are shorter than the first


def _uneven(file: BinaryIO, delimiter: str, encoding: str) -> str:
    """What is wrong with a file that pandas cannot cut into cells."""
    width = 0
    with suppress(csv.Error), _rows(file, delimiter, encoding) as rows:
        for row in rows:
            width = width or len(row)
            if len(row) > width:
                return f"has {len(row)} cells in line {rows.line_num}, and {width} in the first: correct that line."
    return "has a quote that is never closed, or is damaged: save it again."


def write_delimited(path: Path, frame: pd.DataFrame, dialect: Dialect) -> None:
    """Write cells and header in the dialect."""
    how = {"sep": dialect.delimiter, "index": False, "lineterminator": "\n"}
    try:
        frame.to_csv(path, encoding=dialect.encoding, **how)
    except UnicodeEncodeError:  # the new columns have characters that this encoding lacks
        frame.to_csv(path, encoding="utf-8", **how)


def _encoding(head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"


def _delimiter(head: str) -> str:
    """The one that gives all rows as many cells as the header, and the most of them."""
    first, _, rest = head.partition("\n")
    best, most = ";" if "," in rest and "," not in first else ",", 1  # one column, of decimal commas
    for delimiter in DELIMITERS:
        try:
            rows = list(islice(filter(None, csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)), SURE_ROWS))
        except csv.Error:
            continue
        widths = [len(row) for row in rows[:-1] or rows]  # the last may be cut off
        if widths and widths[0] > most and widths.count(widths[0]) >= 0.9 * len(widths):
            best, most = delimiter, widths[0]
    return best
