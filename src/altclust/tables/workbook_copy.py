"""A copy of a workbook with columns added to one sheet; every other byte of its content is kept.

A library that reads a workbook and writes it again loses what it does not know, and the stored results of all formulas.
So the new cells are put into the XML of the sheet, and all other parts are copied as they are, compressed.
"""

from __future__ import annotations

import copy
import io
import re
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import pandas as pd

COLUMNS = 16_384  # of any sheet
SPANS = re.compile(rb"""\sspans=("[^"]*"|'[^']*')""")
REF = re.compile(rb"""\sref=("[^"]*"|'[^']*')""")
Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Content:
    """What a sheet has beside its values.

    Attributes
    ----------
    last : int
        Number of the last column with any content.
    uncomputed : int
        Formulas without a stored value.
    errors : int
        Cells with an error such as #DIV/0!.
    """

    last: int
    uncomputed: int
    errors: int


class _Cells:
    """Walks over the rows and cells of a sheet; see `walk`."""

    def __init__(self, xml: bytes) -> None:
        self.xml = xml
        self.row = self.column = 0
        self.prefix = ""
        self.inside = False
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def walk(self) -> None:
        """Call the methods below for everything in the sheet."""
        self._parser.Parse(self.xml, True)

    @property
    def at(self) -> int:
        """Where the parser is."""
        return self._parser.CurrentByteIndex

    def tag_end(self) -> int:
        """Where the tag ends that the parser is at."""
        return self.xml.index(b">", self.at) + 1

    def is_empty(self) -> bool:
        """Whether the element that the parser is at has no content."""
        end = self.tag_end()
        return self.xml[end - 2 : end] == b"/>" or self.xml[end : end + 2] == b"</"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        if local == "sheetData":
            self.inside, self.prefix = True, f"{prefix}:" if prefix else ""
        elif local == "row" and self.inside:
            before, self.row, self.column = self.row, int(attributes.get("r", self.row + 1)), 0
            self.row_starts(before)
        elif local == "c" and self.inside:
            self.column = _number(attributes["r"]) if "r" in attributes else self.column + 1
            self.cell_starts(attributes)
        else:
            self.other_starts(local)

    def _end(self, name: str) -> None:
        local = name.rpartition(":")[2]
        if local == "sheetData":
            self.sheet_ends()
            self.inside = False
        elif local == "row" and self.inside:
            self.row_ends()
        elif local == "c" and self.inside:
            self.cell_ends()

    def row_starts(self, before: int) -> None: ...
    def row_ends(self) -> None: ...
    def cell_starts(self, attributes: dict[str, str]) -> None: ...
    def cell_ends(self) -> None: ...
    def other_starts(self, name: str) -> None: ...
    def sheet_ends(self) -> None: ...


class _Reader(_Cells):
    """Collects the `Content`."""

    last = uncomputed = errors = 0
    text = False
    parts: frozenset[str] = frozenset()

    def cell_starts(self, attributes: dict[str, str]) -> None:
        self.parts = frozenset()
        self.text = attributes.get("t") == "str"
        self.errors += attributes.get("t") == "e"

    def other_starts(self, name: str) -> None:
        # an empty value is a result only where the result is text: openpyxl writes one for every formula
        if name != "v" or "f" not in self.parts or self.text or not self.is_empty():
            self.parts |= {name}

    def cell_ends(self) -> None:
        if self.parts:
            self.last = max(self.last, self.column)
        self.uncomputed += "f" in self.parts and "v" not in self.parts


class _Writer(_Cells):
    """Collects the edits that add cells: what replaces the bytes from one place to another."""

    def __init__(self, xml: bytes, first: int, rows: Rows) -> None:
        super().__init__(xml)
        self.first, self.rows = first, rows
        self.width = max(map(len, rows), default=0)
        self.edits: list[tuple[int, int, bytes]] = []

    def edited(self) -> bytes:
        """The XML of the sheet with all edits."""
        self.walk()
        parts, done = [], 0
        for start, end, new in sorted(self.edits, key=lambda edit: edit[0]):
            parts += [self.xml[done:start], new]
            done = max(done, end)
        return b"".join([*parts, self.xml[done:]])

    def row_starts(self, before: int) -> None:
        if self.row <= before:
            raise ValueError("the rows of the sheet are not in order")
        self.edits.append((self.at, self.at, self._missing(before, self.row)))
        tag = self.xml[self.at : self.tag_end()]
        self.closed = tag.endswith(b"/>")
        spans = SPANS.search(tag)
        if spans:  # which columns the row has: a hint, which would be wrong now
            self.edits.append((self.at + spans.start(), self.at + spans.end(), b""))
        self.place: int | None = None
        self.styles: dict[int, str] = {}
        self.end = self.tag_end()

    def cell_starts(self, attributes: dict[str, str]) -> None:
        self.begin = self.at
        self.cell_end = self.tag_end() if self.xml[self.tag_end() - 2 : self.tag_end()] == b"/>" else None
        if self.column >= self.first and self.place is None:
            self.place = self.at
        if "s" in attributes:
            self.styles[self.column] = attributes["s"]

    def cell_ends(self) -> None:
        if self.first <= self.column < self.first + self.width:  # empty, but perhaps with a style, which is kept
            self.edits.append((self.begin, self.cell_end or self.tag_end(), b""))

    def row_ends(self) -> None:
        new = self._new_cells(self.row)
        if self.closed:
            self.edits.append((self.end - 2, self.end, b">" + new + self._tag("/row")))
        else:
            place = self.at if self.place is None else self.place
            self.edits.append((place, place, new))

    def other_starts(self, name: str) -> None:
        if name == "dimension":
            self.dimension = self.at, self.tag_end()

    dimension: tuple[int, int] | None = None

    def sheet_ends(self) -> None:
        self.edits.append((self.at, self.at, self._missing(self.row, len(self.rows) + 1)))
        if self.dimension is not None:
            start, end = self.dimension
            corner = f"{_letters(self.first + self.width - 1)}{max(self.row, len(self.rows))}"
            tag = REF.sub(f' ref="A1:{corner}"'.encode(), self.xml[start:end])
            self.edits.append((start, end, tag))

    def _missing(self, before: int, row: int) -> bytes:
        """The rows between two that the sheet does not have, as far as they get cells."""
        self.styles = {}
        found = ((one, self._new_cells(one)) for one in range(before + 1, min(row, len(self.rows) + 1)))
        return b"".join(self._tag(f'row r="{one}"') + cells + self._tag("/row") for one, cells in found if cells)

    def _new_cells(self, row: int) -> bytes:
        values = self.rows[row - 1] if row <= len(self.rows) else [None] * self.width
        return b"".join(self._cell(row, self.first + j, value) for j, value in enumerate(values))

    def _cell(self, row: int, column: int, value: Any) -> bytes:
        style = f' s="{_escaped(self.styles[column])}"' if column in self.styles else ""
        begin = f'c r="{_letters(column)}{row}"{style}'
        if value is None or pd.isna(value):
            return self._tag(f"{begin}/") if style else b""
        if isinstance(value, bool | np.bool_):
            kind, inner = ' t="b"', self._tag("v") + str(int(value)).encode() + self._tag("/v")
        elif isinstance(value, int | float | np.integer | np.floating) and np.isfinite(value):
            kind, inner = "", self._tag("v") + str(value).encode() + self._tag("/v")
        else:
            text = self._tag('t xml:space="preserve"') + _escaped(str(value)).encode("ascii", "xmlcharrefreplace")
            kind, inner = ' t="inlineStr"', self._tag("is") + text + self._tag("/t") + self._tag("/is")
        return self._tag(begin + kind) + inner + self._tag("/c")

    def _tag(self, content: str) -> bytes:
        slash = "/" if content.startswith("/") else ""
        return f"<{slash}{self.prefix}{content.removeprefix('/')}>".encode()


def content_of(xml: bytes) -> Content:
    """What a sheet has beside its values."""
    reader = _Reader(xml)
    reader.walk()
    return Content(reader.last, reader.uncomputed, reader.errors)


def write_copy(path: Path, workbook: bytes, sheet: str, first: int, rows: Rows) -> None:
    """Write a workbook with cells added to one of its sheets.

    Parameters
    ----------
    path : Path
    workbook : bytes
    sheet : str
        Name of its part.
    first : int
        Number of the first new column, to the right of all content.
    rows : sequence of sequences
        New cells by row, from the first row of the sheet.
    """
    if first + max(map(len, rows), default=0) - 1 > COLUMNS:
        raise ValueError(f"a sheet has at most {COLUMNS} columns")
    with zipfile.ZipFile(io.BytesIO(workbook)) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            if part.filename == sheet:
                xml = old.read(part)
                if xml.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise ValueError("the sheet is UTF-16")
                new.writestr(part.filename, _Writer(xml, first, rows).edited(), zipfile.ZIP_DEFLATED)
            else:
                _copy_compressed(workbook, part, new)


def _copy_compressed(workbook: bytes, part: zipfile.ZipInfo, new: zipfile.ZipFile) -> None:
    """Copy a part without expanding it: nobody looked at how large it becomes."""
    names = struct.unpack_from("<HH", workbook, part.header_offset + 26)  # lengths of its name and of what follows it
    start = part.header_offset + 30 + sum(names)
    info = copy.copy(part)
    info.flag_bits &= ~8  # sizes stand before the data
    file: Any = new.fp
    file.seek(new.start_dir)
    info.header_offset = file.tell()
    file.write(info.FileHeader(zip64=False))
    file.write(workbook[start : start + part.compress_size])
    new.filelist.append(info)
    new.NameToInfo[info.filename] = info
    new.start_dir = file.tell()


def _escaped(text: str) -> str:
    """Text for XML; control characters as Excel writes them."""
    from openpyxl.utils.escape import escape

    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return escape(plain) if any(ord(letter) < 32 for letter in plain) else plain


def _number(reference: str) -> int:
    """The number of the column in a reference such as AB12."""
    number = 0
    for letter in reference.rstrip("0123456789").upper():
        number = 26 * number + ord(letter) - 64
    return number


def _letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
