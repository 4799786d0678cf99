"""What the compressed parts of an Arrow stream expand to, read from the stream before anybody expands them.

Arrow keeps it before each compressed buffer, and where the buffers are in a header in the format of flatbuffers: a
table's fields are found through a list of offsets in front of it.
"""

from __future__ import annotations

import struct
from typing import Any

HEADER, BATCH_OF_DICTIONARY, BUFFERS, COMPRESSION = 2, 1, 2, 3  # places of fields in their tables


def expanded_size(data: Any) -> int:
    """The bytes of all batches of a stream, a pyarrow Buffer, once they are expanded."""
    import pyarrow as pa

    reader = pa.ipc.MessageReader.open_stream(pa.BufferReader(data))
    total = 0
    for message in iter(lambda: _next(reader), None):
        if message.type in ("record batch", "dictionary"):
            header, body = memoryview(message.metadata), memoryview(message.body)
            batch = _follow(header, _field(header, _follow(header, 0), HEADER))
            if message.type == "dictionary":
                batch = _follow(header, _field(header, batch, BATCH_OF_DICTIONARY))
            total += _batch_size(header, batch, body)
    return total


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
