"""Text files with a delimiter: every cell is kept as it stands, so that the file can be written back unchanged."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from ..validate import InputError

DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}  # a comma may be a decimal point
HEAD = 64_000  # bytes that are looked at for a guess
SURE_ROWS = 200
SEPARATOR = re.compile(r"sep=(.)\r?\n")  # what Excel writes on top of some files


@dataclass(frozen=True)
class Dialect:
    """How a text file separates its cells and encodes its characters."""

    delimiter: str
    encoding: str


def read_delimited(file: BinaryIO) -> tuple[pd.DataFrame, Dialect, list[str]]:
    """All cells as text, header and all, with the dialect and what was guessed about it."""
    head = file.read(HEAD)
    file.seek(0)
    encoding = _encoding(head)
    if encoding != "utf-16" and b"\0" in head:
        raise InputError("The file holds zero bytes, so it is not text: save it as CSV.")
    text = head.decode(encoding, errors="ignore")
    told = SEPARATOR.match(text)
    delimiter = told[1] if told else _delimiter(text)
    try:
        cells = _read(file, delimiter, encoding, skip=bool(told))
        notes = []
    except UnicodeDecodeError:
        file.seek(0)
        encoding = "cp1252"
        cells = _read(file, delimiter, encoding, skip=bool(told))
        notes = ["The file is not UTF-8: it is read as Windows-1252."]
    if delimiter != ",":
        notes.append(f"Cells are separated by {DELIMITERS.get(delimiter, repr(delimiter))}.")
    return cells, Dialect(delimiter, encoding), notes


def _read(file: BinaryIO, delimiter: str, encoding: str, skip: bool) -> pd.DataFrame:
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
