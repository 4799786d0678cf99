"""Text files with a delimiter: every cell is kept as it stands, so that the file can be written back unchanged."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from ..base.errors import InputError
from ..files.npy import file_size
from .limits import Limits

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}  # a comma may be a decimal point
HEAD = 64_000  # bytes that are looked at for a guess
SURE_ROWS = 200
WIDE = ("utf-16", "utf-32")
CELL, COLUMN = 50, 2_600  # bytes of memory for one more, beside what stands in the file
SEPARATOR = re.compile(r"sep=(.)\r?\n")  # what Excel writes on top of some files


@dataclass(frozen=True)
class Dialect:
    """How a text file separates its cells and encodes its characters."""

    delimiter: str
    encoding: str


def read_delimited(file: BinaryIO, limits: Limits) -> tuple[pd.DataFrame, Dialect, list[str]]:
    """All cells as text, header and all, with the dialect and what was guessed about it."""
    head = file.read(HEAD)
    file.seek(0)
    encoding = _encoding(head)
    if encoding not in WIDE and b"\0" in head:
        raise InputError("The file holds zero bytes, so it is not text: save it as CSV.")
    text = head.decode(encoding, errors="ignore")
    told = SEPARATOR.match(text)
    delimiter = told[1] if told else _delimiter(text)
    try:
        _check_size(file, delimiter, encoding, bool(told), limits)
        cells = _read(file, delimiter, encoding, skip=bool(told))
        notes = []
    except UnicodeDecodeError as error:
        if encoding in WIDE:
            raise InputError(
                f"The file begins as {encoding.upper()} and goes on as something else: save it again."
            ) from error
        file.seek(0)
        encoding = "cp1252"
        _check_size(file, delimiter, encoding, bool(told), limits)
        cells = _read(file, delimiter, encoding, skip=bool(told))
        notes = ["The file is not UTF-8: it is read as Windows-1252."]
    if delimiter != ",":
        notes.append(f"Cells are separated by {DELIMITERS.get(delimiter, repr(delimiter))}.")
    return cells, Dialect(delimiter, encoding), notes


def _check_size(file: BinaryIO, delimiter: str, encoding: str, skip: bool, limits: Limits) -> None:
    """Refuse a table that is too large: short lines count as long as the first, so the file's size does not tell."""
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
    except InputError:  # but some lines may be in the middle of a cell
        rows = _count(file, delimiter, encoding, rows)
        limits.check(rows, columns, needed(rows))


def _count(file: BinaryIO, delimiter: str, encoding: str, lines: int) -> int:
    """How many rows there are below the first; as many as lines where only pandas can tell."""
    text = io.TextIOWrapper(file, encoding, errors="ignore", newline="")
    try:
        return min(lines, sum(1 for row in csv.reader(text, delimiter=delimiter) if row) - 1)
    except csv.Error:  # a very long cell, for one
        return lines
    finally:
        text.detach()
        file.seek(0)


def _width(file: BinaryIO, delimiter: str, encoding: str, skip: bool) -> int:
    """How many cells the first row has; pandas would make a column of each, which takes long."""
    text = io.TextIOWrapper(file, encoding, errors="ignore", newline="")
    try:
        rows = csv.reader(islice(text, int(skip), None), delimiter=delimiter)
        return next((len(row) for row in rows if "".join(row).strip() or len(row) > 1), 0)
    except csv.Error:
        file.seek(0)
        return _read(file, delimiter, encoding, skip, nrows=1).shape[1]
    finally:
        text.detach()
        file.seek(0)


def _read(file: BinaryIO, delimiter: str, encoding: str, skip: bool, **how: Any) -> pd.DataFrame:
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
    return cells.fillna("")  # rows that are shorter than the first


def write_delimited(path: Path, frame: pd.DataFrame, dialect: Dialect) -> None:
    """Write cells and header in the dialect."""
    how = {"sep": dialect.delimiter, "index": False, "lineterminator": "\n"}
    try:
        frame.to_csv(path, encoding=dialect.encoding, **how)
    except UnicodeEncodeError:  # what was added has characters that the old encoding does not know
        frame.to_csv(path, encoding="utf-8", **how)


def _encoding(head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"


def _delimiter(head: str) -> str:
    """The one that cuts the rows into as many cells as the header, and into most of them."""
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
