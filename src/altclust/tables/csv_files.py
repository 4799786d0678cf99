"""CSV and other delimited text: every cell is kept as it is, so that the file can be written back unchanged."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..files.npy import BadFile, check_fits, file_size
from .limits import Limits

DELIMITERS = {"\t": "tab", ";": "semicolon", "|": "bar", ",": "comma"}  # the comma last: it may be a decimal comma
HEAD = 64_000  # bytes from which the dialect is guessed
SURE_ROWS = 200
BLOCK = 5000  # rows that are written at a time
MARKS = {  # at the beginning of a file; that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
WIDE = ("utf-16", "utf-32")
ONE_BYTE = {"cp1252": "Windows-1252", "latin-1": "Latin-1, because some bytes are not Windows-1252"}
NOT_WINDOWS = b"\x81\x8d\x8f\x90\x9d"  # bytes that stand for nothing in Windows-1252
CELL, COLUMN = 50, 2_600  # bytes of memory for each, besides its text
LONE_RETURN = re.compile(rb"\r(?!\n)")
STAND_INS = [bytes([code]) for code in (*range(1, 9), *range(14, 32))]  # control characters that text does not have
SEPARATOR = re.compile(r"sep=(.)\r?\n")  # what Excel writes on top of some files


@dataclass(frozen=True)
class Delimited:
    """A text file with a table."""

    cells: pd.DataFrame  # all cells as text, including the header
    delimiter: str
    encoding: str
    line_end: str
    top: str  # what stands before the first row: a line that names the delimiter, blank lines
    blank: dict[int, str]  # the blank lines between rows, by the number of the line, where a row counts as one
    notes: list[str]  # what was guessed

    @property
    def blank_end(self) -> int:
        """The number of blank lines at the end of a file with one column."""
        return len(self.blank) if self.cells.shape[1] == 1 else 0

    def write(self, path: Path, new: pd.DataFrame, header: list[str] | None) -> None:
        """Write the same file with columns added; a header is written where the file has none."""
        try:
            self._write(path, new, header, self.encoding)
        except UnicodeEncodeError:  # the new columns have characters that this encoding lacks
            self._write(path, new, header, "utf-8")

    def _write(self, path: Path, new: pd.DataFrame, header: list[str] | None, encoding: str) -> None:
        added: list[Any] = new.astype(object).where(new.notna(), None).to_numpy().tolist()
        if header is None:
            added = [list(new.columns), *added]
        with path.open("w", encoding=encoding, newline="") as file:
            file.write(self.top)
            writer = csv.writer(_LineEnds(file, self.line_end), delimiter=self.delimiter, lineterminator="\r\n")
            if header is not None:
                writer.writerow([*header, *new.columns])
            line = 0
            for own, more in zip(self._rows(), added, strict=True):
                line = self._write_blank(file, line) + 1
                writer.writerow([*own, *more])
            self._write_blank(file, line)

    def _rows(self) -> Iterator[list[str]]:
        """The cells row by row; rows of several thousand at a time are lists soonest."""
        for start in range(0, len(self.cells), BLOCK):
            yield from self.cells.iloc[start : start + BLOCK].to_numpy(dtype=object).tolist()

    def _write_blank(self, file: TextIO, line: int) -> int:
        """Write the blank lines from this line on; returns the number of the next one."""
        while line in self.blank:
            file.write(self.blank[line] + self.line_end)
            line += 1
        return line


class _LineEnds:
    """Replaces the ends of lines that the csv module writes: it quotes only cells that have a character of its own."""

    def __init__(self, file: TextIO, end: str) -> None:
        self._file, self._end = file, end

    def write(self, row: str) -> int:
        """Write one row."""
        return self._file.write(row[:-2] + self._end)


def read_delimited(file: BinaryIO, limits: Limits) -> Delimited:
    """Read a text file, whose delimiter and encoding are guessed."""
    hidden, stand_in = _hide_lone_returns(file, limits)
    if not stand_in:
        return _read_delimited(file, limits)
    try:
        found = _read_delimited(hidden, limits)
    except BadFile:  # some are the ends of lines
        return _read_delimited(file, limits)
    return replace(found, cells=found.cells.apply(lambda column: column.str.replace(stand_in, "\r", regex=False)))


def _hide_lone_returns(file: BinaryIO, limits: Limits) -> tuple[BinaryIO, str]:
    """The file with another character in place of carriage returns that end no line, and that character.

    Where lines end with a line feed, a carriage return alone belongs to its cell, and the csv readers would end the
    line. There is no such character if nothing is to be hidden.
    """
    lone = feeds = 0
    end = b""
    for block in iter(lambda: file.read(2**20), b""):
        both = end + block  # a pair may be cut in two
        feeds += block.count(b"\n")
        lone += block.count(b"\r") - both.count(b"\r\n")
        end = block[-1:] if block.endswith(b"\r") else b""
    file.seek(0)
    if not 0 < lone < feeds:
        return file, ""
    check_fits(3 * file_size(file), limits.bytes)
    content = file.read()
    file.seek(0)
    unused = [one for one in STAND_INS if one not in content]
    if not unused or b"\0" in content[:HEAD]:  # the latter is no text, or has several bytes for each letter
        return file, ""
    return io.BytesIO(LONE_RETURN.sub(unused[0], content)), unused[0].decode()


def _read_delimited(file: BinaryIO, limits: Limits) -> Delimited:
    head = file.read(HEAD)
    file.seek(0)
    encoding = next((name for mark, name in MARKS.items() if head.startswith(mark)), "utf-8")
    if encoding not in WIDE and b"\0" in head:
        raise BadFile("contains zero bytes, so it is not text: save it as CSV.")
    text = head.decode(encoding, errors="ignore")
    told = SEPARATOR.match(text)
    delimiter = told[1] if told else _delimiter(text)
    begin = told.end() if told else 0
    space = " " if delimiter == "\t" else " \t"
    empty = re.compile(rf"(?:[{space}]*(?:\r\n|\r|\n))*").match(text, begin)
    top = text[: empty.end()] if empty else text[:begin]
    skip = int(begin > 0) + len(re.findall(r"\r\n|\r|\n", top[begin:]))
    try:
        _check_size(file, delimiter, encoding, skip, limits)
        cells = _read(file, delimiter, encoding, skip)
        notes = []
    except UnicodeDecodeError as error:
        if encoding in WIDE:
            raise BadFile(
                f"begins as {encoding.upper()}, but is not valid {encoding.upper()}: save it again."
            ) from error
        file.seek(0)
        blocks = iter(lambda: file.read(2**20), b"")
        encoding = "latin-1" if any(byte in block for block in blocks for byte in NOT_WINDOWS) else "cp1252"
        _check_size(file, delimiter, encoding, skip, limits)
        cells = _read(file, delimiter, encoding, skip)
        notes = [f"Not UTF-8: read as {ONE_BYTE[encoding]}."]
    if delimiter != ",":
        notes.append(f"Delimiter: {DELIMITERS.get(delimiter, repr(delimiter))}.")
    cells, blank, more = _without_blank_lines(cells, _rows(file, delimiter, encoding, skip))
    line_end = (
        "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n" if "\n" in text or "\r" not in text else "\r"
    )
    return Delimited(cells, delimiter, encoding, line_end, top, blank, notes + more)


def _without_blank_lines(
    cells: pd.DataFrame, lines: AbstractContextManager[Any]
) -> tuple[pd.DataFrame, dict[int, str], list[str]]:
    """The rows, the text of the blank lines among them by number, and notes.

    In a file with one column, a blank line is a row without a value, unless only blank lines follow.
    """
    empty = _are_blank(cells, lines)
    end = int(np.flatnonzero(~empty)[-1]) + 1 if not empty.all() else 0
    inner, after, notes = int(empty[:end].sum()), len(cells) - end, []
    if cells.shape[1] == 1:
        notes += [f"Blank lines are rows without a value: {inner}."] if inner else []
        notes += [f"Blank lines at the end are not rows: {after}."] if after else []
        empty[:end] = False
    elif inner:
        notes.append(f"Blank lines are not rows: {inner}.")
    blank = {int(line): str(cells.iat[line, 0]) for line in np.flatnonzero(empty)}
    return cells[~empty].reset_index(drop=True), blank, notes


def _are_blank(cells: pd.DataFrame, lines: AbstractContextManager[Any]) -> np.ndarray:
    """Which rows are blank lines; pandas reads those like rows of empty cells, so the csv module tells them apart."""
    empty = np.array(cells[0].str.strip() == "")
    few = np.flatnonzero(empty)
    empty[few] = (cells.iloc[few, 1:] == "").all(axis=1)
    if not empty.any() or cells.shape[1] == 1:
        return empty
    with suppress(csv.Error), lines as rows:
        blank = np.fromiter((not row or (len(row) == 1 and not row[0].strip()) for row in rows), dtype=bool)
        return blank if len(blank) == len(cells) else empty
    return empty


def _check_size(file: BinaryIO, delimiter: str, encoding: str, skip: int, limits: Limits) -> None:
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
def _rows(file: BinaryIO, delimiter: str, encoding: str, skip: int = 0) -> Iterator[Any]:
    """The rows as the csv module reads them; the file is then at its beginning again."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding, errors="ignore", newline="")
    try:
        yield csv.reader(islice(text, skip, None), delimiter=delimiter)
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


def _width(file: BinaryIO, delimiter: str, encoding: str, skip: int) -> int:
    """The number of cells in the first row; pandas makes a column of each, which takes long."""
    try:
        with _rows(file, delimiter, encoding, skip) as rows:
            return next((len(row) for row in rows if "".join(row).strip() or len(row) > 1), 0)
    except csv.Error:
        return _read(file, delimiter, encoding, skip, nrows=1).shape[1]


def _read(file: BinaryIO, delimiter: str, encoding: str, skip: int, **how: Any) -> pd.DataFrame:
    try:
        cells = pd.read_csv(
            file,
            sep=delimiter,
            header=None,
            skiprows=skip,
            skip_blank_lines=False,
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
        raise BadFile(_uneven(file, delimiter, encoding, skip)) from error
    return cells.fillna("")  # rows that are shorter than the first


def _uneven(file: BinaryIO, delimiter: str, encoding: str, skip: int) -> str:
    """What is wrong with a file that pandas cannot cut into cells."""
    width = 0
    with suppress(csv.Error), _rows(file, delimiter, encoding, skip) as rows:
        for row in rows:
            width = width or len(row)
            if len(row) > width:
                return (
                    f"has {len(row)} cells in line {skip + rows.line_num}, and {width} in the first: correct that line."
                )
    return "has a quote that is never closed, or is damaged: save it again."


def _delimiter(head: str) -> str:
    """The one that gives all rows as many cells as the header, and the most of them."""
    first, _, rest = head.lstrip(" \r\n").partition("\n")
    best, most = ";" if "," in rest and "," not in first else ",", 1  # one column, of decimal commas
    for delimiter in DELIMITERS:
        try:
            read = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
            rows = list(islice((row for row in read if len(row) > 1 or "".join(row).strip()), SURE_ROWS))
        except csv.Error:
            continue
        widths = [len(row) for row in rows[:-1] or rows]  # the last may be cut off
        if widths and widths[0] > most and widths.count(widths[0]) >= 0.9 * len(widths):
            best, most = delimiter, widths[0]
    return best
