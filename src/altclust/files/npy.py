"""Readers of .npy and .npz files: headers are checked before data are read, and nothing is unpickled."""

from __future__ import annotations

import io
import math
import stat
import struct
import zipfile
from typing import BinaryIO, NamedTuple

import numpy as np

from ..base.errors import InputError, short_repr
from ..base.memory import free_memory, gigabytes

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
LONGEST_NAME = 500
LAST_CHARACTER = 0x10FFFF
TAKEN = 0.9  # usable share of the free memory: needs are estimates, and other programs run too
LARGEST_DIRECTORY = 10e6  # bytes; some hundred thousand members
OBJECTS = "is damaged or holds Python objects, which could run code: write it again as plain arrays."


class BadFile(InputError):
    """Invalid file; the message is the rest of a sentence that begins with the file's name."""


class Declared(NamedTuple):
    """The header of an .npy file, and the offset of its data."""

    shape: tuple[int, ...]
    dtype: np.dtype
    fortran_order: bool
    offset: int


def declared(stream: BinaryIO, size: int) -> Declared:
    """Read the header of an .npy file of `size` bytes; refused if the data do not have the declared size."""
    try:
        shape, fortran_order, dtype = HEADERS[np.lib.format.read_magic(stream)](stream)
    except Exception as error:  # Python's own parser reads the header and can fail in many ways
        raise BadFile(OBJECTS) from error
    if dtype.hasobject or dtype.itemsize == 0 or min(shape, default=0) < 0:
        raise BadFile(OBJECTS)
    offset = stream.tell()
    if offset + math.prod(shape) * dtype.itemsize != size:
        raise BadFile(f"declares an array of shape {short_repr(shape)}, but has {size:,} bytes: write it again.")
    return Declared(shape, dtype, fortran_order, offset)


def read_npy(file: BinaryIO, most: float | None = None) -> np.ndarray:
    """Read an .npy file; refused if it needs more than `most` bytes or than are free."""
    size = file_size(file)
    check_fits(size, most)
    return _array(file, size)


def _array(stream: BinaryIO, size: int) -> np.ndarray:
    kind = declared(stream, size).dtype
    stream.seek(0)
    array = np.lib.format.read_array(stream, allow_pickle=False)
    if kind.kind == "U":
        codes = np.ascontiguousarray(array).reshape(-1).view(np.dtype("u4").newbyteorder(kind.byteorder))
        if np.any((codes > LAST_CHARACTER) | ((codes >= 0xD800) & (codes < 0xE000))):  # surrogates
            raise BadFile("holds invalid text: write it again.")
    return array


def read_npz(file: BinaryIO, most: float | None = None) -> dict[str, np.ndarray]:
    """Read the arrays of an .npz file, by name; refused if they need more than `most` bytes or than are free."""
    with open_archive(file) as archive:
        members = archive.infolist()
        check_fits(sum(member.file_size for member in members), most)
        arrays = {}
        for member in members:
            with archive.open(member) as stream:
                arrays[member.filename.removesuffix(".npy")] = _array(stream, member.file_size)  # type: ignore[arg-type]
    if len(arrays) < len(members):
        raise BadFile("holds two arrays of the same name: it is damaged.")
    return arrays


def open_archive(file: BinaryIO) -> zipfile.ZipFile:
    """Open a zip archive and check the names and kinds of its members, without reading them."""
    _check_directory(file)
    archive = zipfile.ZipFile(file)
    names = set()
    for member in archive.infolist():
        name = member.orig_filename
        parts = name.replace("\\", "/").removesuffix("/").split("/")
        if len(name) > LONGEST_NAME or not name.isprintable() or {"", ".."} & set(parts) or parts[0].endswith(":"):
            raise BadFile(f"has a member with the invalid name {short_repr(name)}: write it again.")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise BadFile(f"contains a link named {short_repr(name)}: write it again.")
        if name in names:
            raise BadFile(f"has two members named {short_repr(name)}: it is damaged.")
        if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadFile("is encrypted, or compressed by another method than deflate: write it again.")
        names.add(name)
    return archive


def _check_directory(file: BinaryIO) -> None:
    """Refuse an archive with too many members by the size of its directory, before the directory is read."""
    size = file_size(file)
    file.seek(max(0, size - 66_000))
    tail = file.read()
    file.seek(0)
    end = tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) < end + 22:
        raise zipfile.BadZipFile("its end is missing")
    listed = [struct.unpack("<L", tail[end + 12 : end + 16])[0]]
    if end >= 76 and tail[end - 20 : end - 16] == b"PK\6\7":  # sizes beyond 32 bits are in the zip64 record,
        file.seek(min(struct.unpack("<Q", tail[end - 12 : end - 4])[0], size))  # at this offset or directly before:
        records = file.read(56), tail[end - 76 : end - 20]  # versions of Python differ in which one they read
        file.seek(0)
        listed = [struct.unpack("<Q", record[40:48])[0] for record in records if len(record) == 56]
    if max(listed) > LARGEST_DIRECTORY:
        raise BadFile("has too many members: write it again with fewer.")


def check_fits(needed: float, most: float | None = None) -> None:
    """Refuse if `needed` bytes are more than `most`, or than the usable share of the free memory."""
    most = math.inf if most is None else most
    free = TAKEN * free_memory()
    if needed > min(free, most):
        limit = f"{gigabytes(free)} are free" if free < most else f"the limit is {gigabytes(most)}"
        raise BadFile(f"would take {gigabytes(needed)} of memory, but {limit}: pass a part of it.")


def file_size(file: BinaryIO) -> int:
    """The size of an open file in bytes; the file is then at its beginning."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    return size
