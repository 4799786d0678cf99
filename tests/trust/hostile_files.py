"""Files of every kind that altclust reads: honest ones, and ones that do their worst."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook

from altclust import Settings

MARKER = "evil_was_here"  # a file that code from a file would leave behind


class Evil:
    """What leaves a mark when it is unpickled."""

    def __reduce__(self) -> Any:
        return (open, (MARKER, "w"))


def npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def npy_with(header: str, data: bytes = b"", version: tuple[int, int] = (1, 0)) -> bytes:
    """An .npy file with any text for a header."""
    text = header.encode("latin1")
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text + data


def declaring(shape: Any, descr: Any = "<f8", fortran: Any = False, data: bytes = b"") -> bytes:
    return npy_with(repr({"descr": descr, "fortran_order": fortran, "shape": shape}), data)


def archive(members: dict[str, bytes] | list[tuple[Any, bytes]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content in members.items() if isinstance(members, dict) else members:
            zipped.writestr(name, content)
    return file.getvalue()


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as zipped:
        return {name: zipped.read(name) for name in zipped.namelist()}


def bomb(name: str, begin: bytes, filler: bytes, times: int, end: bytes = b"") -> bytes:
    """A zip file of one member that begins so, repeats the filler many million times, and ends so."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    block = filler * (2**20 // len(filler))
    middle = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    tail = packer.compress(end) + packer.flush(zlib.Z_FINISH)
    packed = head + middle * times + tail
    size = len(begin) + times * len(block) + len(end)
    return zip_of([(name, packed, size)])


def zip_of(entries: list[tuple[str, bytes, int]]) -> bytes:
    """A zip file of packed members with their declared sizes, which may lie."""
    body, listed = b"", b""
    for name, packed, size in entries:
        common = struct.pack("<HHHHHLLLHH", 20, 0, 8, 0, 33, 0, len(packed), min(size, 2**32 - 2), len(name), 0)
        listed += b"PK\1\2" + b"\x14\0" + common + struct.pack("<HHHLL", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\3\4" + common + name.encode() + packed
    end = struct.pack("<HHHHLLH", 0, 0, len(entries), len(entries), len(listed), len(body), 0)
    return body + listed + b"PK\5\6" + end


def crowd(count: int) -> bytes:
    """A zip file that lists one member so many times."""
    one = zip_of([("a.npy", b"\3\0", 0)])
    at = one.index(b"PK\1\2")
    listed = one[at : one.index(b"PK\5\6")]
    whole = listed * count
    end = struct.pack("<HHHHLLH", 0, 0, 65535, 65535, len(whole), at, 0)
    return one[:at] + whole + b"PK\5\6" + end


def xlsx(rows: list[list[Any]], **parts: bytes) -> bytes:
    """A workbook; further parts replace its own, with two underscores for a slash."""
    book = Workbook()
    for row in rows:
        book.active.append(row)
    file = io.BytesIO()
    book.save(file)
    whole = members(file.getvalue())
    return archive(whole | {name.replace("__", "/") + ".xml": content for name, content in parts.items()})


def sheet(rows: str, prologue: str = "") -> bytes:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return (
        f'<?xml version="1.0"?>{prologue}<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'.encode()
    )


def parquet(table: pa.Table, **how: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **how)
    return file.getvalue()


def lying_pages(size: int) -> bytes:
    """A Parquet file whose only page expands to so many bytes, while the footer declares two megabytes."""
    n = 300_000
    schema = pa.schema([pa.field("a", pa.float64(), nullable=False)])
    table = pa.table({"a": np.random.default_rng(0).normal(size=n)}, schema)
    content = parquet(table, compression="gzip", use_dictionary=False, data_page_size=2**30, write_statistics=False)
    chunk = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0).total_compressed_size
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = struct.pack(">HH", size % 65521, 1)  # Adler-32 of zeros
    packed = b"\x78\x9c" + block * (size // 2**20) + b"\3\0" + checksum
    # The header in Thrift's compact protocol: type, sizes; then the number of values, their encoding and the levels'.
    page = b"\x2c\x15" + _varint(n) + b"\x15" + _varint(0) + b"\x15" + _varint(3) + b"\x15" + _varint(3) + b"\0\0"
    header = b"\x15" + _varint(0) + b"\x15" + _varint(size) + b"\x15" + _varint(len(packed)) + page
    whole = header + packed
    assert len(whole) <= chunk
    return content[:4] + whole + bytes(chunk - len(whole)) + content[4 + chunk :]


def _varint(value: int) -> bytes:
    """A positive number, zigzag and in groups of seven bits."""
    value, groups = 2 * value, []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def arrow(table: pa.Table, compression: str | None = None, stream: bool = False) -> bytes:
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


@cache
def rows() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, 40))
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=["höhe", "b", "c"])
    frame["b"] += 5 * hidden
    return frame.assign(segment=np.array(["old", "new"])[known], count=rng.integers(0, 9, 40))


@cache
def arrow_table() -> pa.Table:
    table = pa.Table.from_pandas(rows())
    table = table.append_column("word", table["segment"].dictionary_encode())
    table = table.append_column("view", pa.array(["a rather long text, to be looked at"] * 40, pa.string_view()))
    return table.append_column("list", pa.array([[1, 2], None] * 20))


@cache
def models() -> tuple[bytes, ...]:
    """Saved models, written anew: by hand-picked and by found parameters, of arrays and of frames."""
    import tempfile
    import warnings

    from altclust import ISM, KDAC

    X, given = rows()[["höhe", "b", "c"]], rows()["segment"]
    fixed = {"n_clusters": 2, "n_components": 1, "sigma": 1.0, "random_state": 0, "max_iter": 3}
    fitted = [
        KDAC(settings=Settings(init=np.eye(3)[:, :1]), **fixed, solver=ISM(max_iter=20)),
        KDAC(settings=Settings(subtract_given=True), **fixed),
    ]
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        fitted[0].fit(X.to_numpy(), given)
        fitted[1].fit(X, given)
        fitted[1].significance_  # noqa: B018
        for i, model in enumerate(fitted):
            model.save(f"{folder}/{i}.npz")
        return tuple(Path(f"{folder}/{i}.npz").read_bytes() for i in range(len(fitted)))


@cache
def honest() -> dict[str, list[bytes]]:
    """Valid files by their suffix; models by a name of their own."""
    text = rows().to_csv(index=False)
    numbers = rows()[["b", "c"]].to_numpy()
    tables = [arrow_table(), pa.Table.from_pandas(rows())]
    packed = io.BytesIO()
    np.savez_compressed(packed, X=numbers, segment=rows()["segment"].to_numpy(dtype=str), n=np.arange(40))
    plain = io.BytesIO()
    np.savez(plain, **{"a/b": numbers})
    return {
        "csv": [
            text.encode(),
            text.encode("utf-16"),
            text.replace(",", ";").encode("utf-8-sig"),
            text.encode("cp1252"),
        ],
        "parquet": [parquet(t, compression=c) for t in tables for c in ("snappy", "zstd", "none")]
        + [parquet(tables[1], use_dictionary=False, data_page_version="2.0", row_group_size=7)],
        "arrow": [arrow(t, c, s) for t in tables for c in (None, "zstd", "lz4") for s in (False, True)],
        "xlsx": [xlsx([[*rows().columns], *rows().astype(object).to_numpy().tolist()])],
        "npy": [npy(numbers), npy(np.asfortranarray(numbers)), npy(numbers.astype("i2")), npy(numbers.astype("U5"))],
        "npz": [packed.getvalue(), plain.getvalue()],
        "model": list(models()),
    }


def with_header(content: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A model whose header, a dictionary, was changed."""
    parts = members(content)
    header = json.loads(str(np.load(io.BytesIO(parts["header.npy"]))))
    text = json.dumps(header if (new := change(header)) is None else new)
    return archive(parts | {"header.npy": npy(np.array(text))})


def pickled() -> bytes:
    return pickle.dumps(Evil())


def evil_array() -> bytes:
    return npy(np.array([Evil()], dtype=object), allow_pickle=True)
