"""What the compressed parts of an Arrow stream or file expand to, read before anybody expands them.

Arrow keeps it before each compressed buffer, and where the buffers are in a header in the format of flatbuffers: a
table's fields are found through a list of offsets in front of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..files.npy import BadFile

FILE_MAGIC = b"ARROW1"  # at both ends of a file
DICTIONARIES, BATCHES = 2, 3  # places of fields in the table of contents at the end of a file
BLOCK = np.dtype([("offset", "<i8"), ("header", "<u4"), ("padding", "<i4"), ("body", "<u8")])
HEADER, BATCH_OF_DICTIONARY, BUFFERS, COMPRESSION = 2, 1, 2, 3  # places of fields in their tables


def expanded_size(messages: Iterable[Any]) -> int:
    """The bytes of all batches among these messages once they are expanded."""
    total = 0
    for message in messages:
        if message.type in ("record batch", "dictionary"):
            header, body = memoryview(message.metadata), memoryview(message.body)
            batch = _follow(header, _field(header, _follow(header, 0), HEADER))
            if message.type == "dictionary":
                batch = _follow(header, _field(header, batch, BATCH_OF_DICTIONARY))
            total += _batch_size(header, batch, body)
    return total


def stream_messages(data: Any) -> Iterator[Any]:
    """What a stream, a pyarrow Buffer, is made of."""
    import pyarrow as pa

    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(data))
    return iter(lambda: _next(reader), None)


def file_messages(data: Any) -> Iterator[Any]:
    """What a file, a pyarrow Buffer whose table of contents pyarrow has checked, says that it is made of.

    Only this table counts: what stands between the beginning of a file and its batches is another thing in polars
    than in pyarrow.
    """
    import pyarrow as pa

    end = data.size - len(FILE_MAGIC) - 4
    (length,) = struct.unpack_from("<i", data, end)
    contents = memoryview(data)[end - length : end]
    root = _follow(contents, 0)
    for place in (DICTIONARIES, BATCHES):
        if not (field := _field(contents, root, place)):
            continue
        listed = _follow(contents, field)
        (count,) = struct.unpack_from("<I", contents, listed)
        blocks = np.frombuffer(contents, BLOCK, count, listed + 4)
        if blocks["header"].sum(dtype=float) + blocks["body"].sum(dtype=float) > data.size:
            raise BadFile("lists the same batch many times: it is damaged, write it again.")
        for block in blocks:
            yield pa.ipc.read_message(data.slice(int(block["offset"]), int(block["header"]) + int(block["body"])))


def _next(reader: Any) -> Any:
    try:
        return reader.read_next_message()
    except StopIteration:
        return None


def _batch_size(header: memoryview, batch: int, body: memoryview) -> int:
    if not _field(header, batch, COMPRESSION):
        return len(body)
    buffers = _follow(header, _field(header, batch, BUFFERS))
    (count,) = struct.unpack_from("<I", header, buffers)
    total = 0
    for i in range(count):
        offset, length = struct.unpack_from("<qq", header, buffers + 4 + 16 * i)
        if length > 0:
            (expanded,) = struct.unpack_from("<q", body, offset)
            total += length if expanded < 0 else expanded  # −1 where compressing it was not worth it
    return total


def _field(header: memoryview, table: int, place: int) -> int:
    """Where a field of a table is; 0 if it has none."""
    start = table - struct.unpack_from("<i", header, table)[0]
    if 4 + 2 * place >= struct.unpack_from("<H", header, start)[0]:
        return 0
    offset = struct.unpack_from("<H", header, start + 4 + 2 * place)[0]
    return table + offset if offset else 0


def _follow(header: memoryview, at: int) -> int:
    """What the offset at this place points to."""
    return at + struct.unpack_from("<I", header, at)[0]
