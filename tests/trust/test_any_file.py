"""Any file: a good result, or one sentence that names it; in bounded memory and time, and nothing in it ever runs.

150 damaged files by default, the same in every run, and 500 by `make nightly`, which takes 2,000 others as well, from
a seed that it prints. ALTCLUST_CASES is another number of files, ALTCLUST_SEED the seed of a run that should come
again. Files are read by another process, which may take 2 GB at most; see `tests.trust.reading`.
"""

from __future__ import annotations

import io
import json
import math
import os
import random
import shutil
import stat
import struct
import sys
import warnings
import zipfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pytest.importorskip("openpyxl")
pytest.importorskip("streamlit")
if not sys.platform.startswith("linux"):
    pytest.skip("memory is measured as Linux does", allow_module_level=True)

from tests.conftest import needs_files, some  # noqa: E402
from tests.trust import hostile_files as files  # noqa: E402
from tests.trust.reading import ROOM, Reader  # noqa: E402

from altclust import KDAC, InputError, open_rows  # noqa: E402
from altclust.apps.cli.main import main  # noqa: E402
from altclust.apps.cli.results import read_results  # noqa: E402
from altclust.tables import Limits, read_table  # noqa: E402

CASES = int(os.environ.get("ALTCLUST_CASES", some(150, 500)))
MANY = int(os.environ.get("ALTCLUST_CASES", 2_000))
BYTES = 700e6  # by which memory may grow, whatever the file
LARGE = {  # attacks that take seconds to be made and refused
    "spaces.xlsx",
    "many_far_cells.xlsx",
    "far_row.xlsx",
    "picture.xlsx",
    "same_view.arrow",
}
SUFFIXES = {"model": "npz"}


@pytest.fixture(scope="module")
def reader():
    process = Reader()
    yield process
    process.end()


def job_of(kind: str) -> str:
    return kind if kind in SUFFIXES else "table"


def check(reader: Reader, job: str, path: Path) -> dict[str, Any]:
    """Read the file, and see that it ends well."""
    told = reader.ask(job, path)
    assert told["kind"] in ("good", "sentence"), f"{job} {path.name}: {told['answer']}"
    if told["kind"] == "sentence":
        answer = told["answer"]
        named = path.name
        assert "\n" not in answer or job == "command", answer
        about = (named, "No column can be clustered", "X has", "The table has")
        assert any(words in answer for words in about), answer
        assert len(answer) < 1500, answer
    assert told["bytes"] < BYTES, f"{job} {path.name} took {told['bytes'] / 1e6:.0f} MB: {told['answer']}"
    assert told["children"] < ROOM + BYTES  # what they may take, and what they begin with
    return told


# ---------------------------------------------------------------------------------------------- damage of all kinds

VALUES = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        3,
        10**12,
        10**400,
        -1.5,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "x",
        "auto",
        "../../evil",
        "ism",
        [],
        {},
        [1, [2]],
        {"name": "ism", "tol": "x"},
        {"name": "evil"},
        "\0",
        "\ud800",
        "<script>",
    ]
)
ARRAYS = st.sampled_from(
    [
        np.array(1.0),
        np.zeros(0),
        np.zeros((0, 3)),
        np.zeros((2, 2, 2)),
        np.full((3, 3), np.nan),
        np.ones((1, 3), dtype=complex),
        np.array(["a", "b"]),
        np.array([b"a"]),
        np.zeros(3, dtype="M8[D]"),
        np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]),
        np.ones((3, 1), dtype=np.float16),
        np.ones((3, 1), dtype=">f8"),
        np.ones((40, 2)),
        np.arange(40),
        np.full(40, 7),
        np.full(40, -1),
        np.array(True),
        np.zeros(5, dtype="V4"),
    ]
)


@st.composite
def damages(draw: st.DrawFn, content: bytes) -> bytes:
    """The bytes cut, flipped, overwritten, repeated or left out, in one place or in a few."""
    for _ in range(draw(st.integers(1, 4))):
        size = len(content)
        at = draw(st.integers(0, max(0, size - 1)))
        length = draw(st.sampled_from([1, 2, 4, 8, 64, 1000]))
        how = draw(st.sampled_from(["cut", "flip", "flip", "flip", "set", "set", "remove", "repeat", "zero", "insert"]))
        before, block, after = content[:at], content[at : at + length], content[at + length :]
        if how == "cut":
            content = before
        elif how == "flip":
            content = before + bytes([(block[0] if block else 0) ^ (1 << draw(st.integers(0, 7)))]) + content[at + 1 :]
        elif how == "set":
            content = before + draw(st.binary(min_size=1, max_size=8)) + content[at + 8 :]
        elif how == "remove":
            content = before + after
        elif how == "repeat":
            content = before + block * draw(st.integers(2, 40)) + after
        elif how == "zero":
            content = before + draw(st.sampled_from([b"\0", b"\xff"])) * len(block) + after
        else:
            content = before + draw(st.binary(max_size=30)) + block + after
    return content


def walk(tree: Any, path: tuple = ()) -> list[tuple]:
    """The paths to everything in a tree of JSON."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [path, *(deeper for key, value in inside for deeper in walk(value, (*path, key)))]


@st.composite
def odd_headers(draw: st.DrawFn, content: bytes) -> bytes:
    """A model whose header has something else, something more or something less somewhere."""
    value, more = draw(VALUES), draw(st.sampled_from(["", "evil", "labels_", "__class__", "callback", "predict"]))

    def change(header: dict[str, Any]) -> Any:
        path = draw(st.sampled_from(walk(header)))
        if not path:
            return value
        place: Any = header
        for key in path[:-1]:
            place = place[key]
        how = draw(st.sampled_from(["set", "set", "remove", "add"]))
        if how == "remove":
            del place[path[-1]]
        elif how == "add" and isinstance(place, dict):
            place[more] = value
        else:
            place[path[-1]] = value
        return None

    return files.with_header(content, change)


@st.composite
def odd_members(draw: st.DrawFn, content: bytes) -> bytes:
    """An archive that is whole, with a member that is damaged, odd or gone."""
    parts = files.members(content)
    name = draw(st.sampled_from(sorted(parts)))
    how = draw(st.sampled_from(["damage", "damage", "array", "remove", "rename"]))
    if how == "damage":
        parts[name] = draw(damages(parts[name]))
    elif how == "array":
        parts[name] = files.npy(draw(ARRAYS))
    elif how == "remove":
        del parts[name]
    else:
        parts[draw(st.sampled_from(["../evil.npy", "X", "given.means.7.npy", "history.x.npy"]))] = parts.pop(name)
    return files.archive(parts)


@st.composite
def odd_npy(draw: st.DrawFn) -> bytes:
    """An .npy file whose header says anything."""
    shape = draw(
        st.sampled_from(
            [(), (0,), (3,), (3, 2), (2, 3, 1), (10**15,), (10**15, 0), (0, 10**15), (-1, 2), (2**63, 2), [3, 2]]
        )
    )
    kinds = [
        "<f8",
        ">i4",
        "<U0",
        "|S0",
        "|V0",
        "|O",
        "<c16",
        "<M8[s]",
        "|b1",
        "<f2",
        "|V9999999",
        [("a", "<f8")],
        "x",
        "(2",
        3,
    ]
    data = bytes(draw(st.sampled_from([0, 8, 24, 48, 96])))
    return files.declaring(shape, draw(st.sampled_from(kinds)), draw(st.booleans() | st.just("x")), data)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """A job, how the file's name ends, and what is in it."""
    kind = draw(st.sampled_from([*files.honest(), "model", "npy"]))
    content = draw(st.sampled_from(files.honest()[kind]))
    suffix = SUFFIXES.get(kind, kind)
    if kind == "npy" and draw(st.booleans()):
        content = draw(odd_npy())
    elif kind == "model" and draw(st.booleans()):
        content = draw(odd_headers(content))
    elif kind in ("npz", "xlsx", "model") and draw(st.integers(0, 3)):
        content = draw(odd_members(content))
    else:
        content = draw(damages(content))
    job = job_of(kind)
    if job == "table" and kind in ("npy", "parquet") and draw(st.booleans()):
        job = "rows"
    elif job == "table" and not draw(st.integers(0, 19)):
        suffix = draw(st.sampled_from(["csv", "tsv", "parquet", "feather", "arrow", "xlsx", "npy", "npz"]))
    return job, suffix, content


def fuzz(reader: Reader, folder: Path, how: settings, start: int | None = None) -> None:
    seen = {"good": 0, "sentence": 0}

    @how
    @given(cases())
    def one(case: tuple[str, str, bytes]) -> None:
        job, suffix, content = case
        path = folder / f"odd.{suffix}"
        path.write_bytes(content)
        seen[check(reader, job, path)["kind"]] += 1

    (one if start is None else seed(start)(one))()
    print(f"{seen['good']} were read, {seen['sentence']} were refused")
    assert min(seen.values()) > 0.03 * sum(seen.values())  # neither everything nor nothing is refused


QUIET = {"database": None, "deadline": None, "suppress_health_check": list(HealthCheck), "phases": [Phase.generate]}


def test_damaged_files(reader, tmp_path):
    fuzz(reader, tmp_path, settings(max_examples=CASES, derandomize=True, **QUIET))


@pytest.mark.slow
def test_many_more_damaged_files(reader, tmp_path):
    start = int(os.environ.get("ALTCLUST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"ALTCLUST_SEED={start}")
    fuzz(reader, tmp_path, settings(max_examples=MANY, **QUIET), start)


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "xlsx", "npy", "npz", "model"])
def test_honest_files_are_read(reader, tmp_path, kind):
    for content in files.honest()[kind]:
        path = tmp_path / f"good.{SUFFIXES.get(kind, kind)}"
        path.write_bytes(content)
        assert reader.ask(job_of(kind), path)["answer"] == "good"


# ------------------------------------------------------------------------------------------------------- attacks


def numpy_attacks() -> dict[str, bytes]:
    """Names of files and what is in them."""
    good = files.npy(np.eye(3))
    link = zipfile.ZipInfo("X.npy")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    deep = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "-" * 9000 + "1,)}"
    locked = bytearray(files.archive({"X.npy": good}))
    for mark, flag in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        locked[locked.index(mark) + flag] |= 1
    return {
        "enormous.npy": files.declaring((10**15,), data=bytes(80)),
        "enormous_and_empty.npy": files.declaring((10**15, 0)),
        "wide_and_empty.npy": files.declaring((0, 10**15)),
        "nothing_each.npy": files.declaring((10**15,), "|S0"),
        "nothing_each_text.npy": files.declaring((10**12, 3), "<U0"),
        "negative.npy": files.declaring((-1, 2), data=bytes(16)),
        "overflowing.npy": files.declaring((2**62, 8), data=bytes(64)),
        "deep_header.npy": files.npy_with(deep),
        "parentheses.npy": files.npy_with("(" * 5000),
        "long_header.npy": files.npy_with("{" + " " * 10**6, version=(2, 0)),
        "header_that_ends.npy": b"\x93NUMPY\x02\0\xff\xff\xff\xff{}",
        "object_kind.npy": files.declaring((1,), "|O", data=files.pickled()),
        "evil.npy": files.evil_array(),
        "pickle.npy": files.pickled(),
        "three_axes.npy": files.npy(np.zeros((2, 2, 2))),
        "number.npy": files.npy(np.array(3.0)),
        "records.npy": files.npy(np.zeros(3, dtype=[("a", "f8"), ("b", "i4")])),
        "archive.npy": files.archive({"X.npy": good}),
        "bomb.npz": files.bomb("X.npy", files.declaring((3500 * 2**17,), data=b""), b"\0", 3500),
        "liar.npz": files.zip_of([("X.npy", b"\3\0", 2**32 - 2)]),
        "twice.npz": twice([("X.npy", good), ("X.npy", good)]),
        "same_array_twice.npz": files.archive({"X.npy": good, "X": good}),
        "above.npz": files.archive({"../../evil.npy": good}),
        "absolute.npz": files.archive({"/etc/evil.npy": good}),
        "drive.npz": files.archive({"C:\\evil.npy": good}),
        "backwards.npz": files.archive({"..\\evil.npy": good}),
        "long_name.npz": files.archive({"x" * 60_000 + ".npy": good}),
        "control.npz": files.archive({"a\x1b[31m.npy": good}),
        "zero_name.npz": files.archive({"a#b.npy": good}).replace(b"a#b.npy", b"a\0b.npy"),
        "link.npz": files.archive([(link, b"/etc/passwd")]),
        "locked.npz": bytes(locked),
        "lzma.npz": lzma_archive(good),
        "crowd.npz": files.crowd(400_000),
        "nested.npz": files.archive({"inner.npz": files.archive({"X.npy": good})}),
        "evil.npz": files.archive({"X.npy": files.evil_array()}),
        "pickle.npz": files.pickled(),
        "empty.npz": files.archive({}),
        "half_text.npz": files.archive({"X.npy": files.declaring((2,), "<U1", data=b"\0\xd8\0\0" * 2)}),
    }


def twice(members: list[tuple[str, bytes]]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is done here on purpose
        for name, content in members:
            zipped.writestr(name, content)
    return file.getvalue()


def lzma_archive(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as zipped:
        zipped.writestr("X.npy", content)
    return file.getvalue()


def text_attacks() -> dict[str, bytes]:
    """The same for text."""
    return {
        "zeros.csv": b"a,b\n1,\0\n",
        "late_zeros.csv": b"a,b\n" + b"1,2\n" * 30_000 + b"\0\0,\0\n",
        "only_zeros.csv": bytes(1000),
        "columns.csv": b",".join(b"c%d" % i for i in range(1_000_000)) + b"\n" + b"1," * 999_999 + b"1\n",
        "separators.csv": b"," * 1_000_000 + b"\n" + b"," * 1_000_000 + b"\n",
        "hidden_columns.csv": b'\n  \n"a\nb"' + b"," * 1_000_000 + b"\n1\n",
        "ragged.csv": b"a," * 30_000 + b"b\n" + b"1\n" * 30_000,
        "ragged_returns.csv": b"a," * 30_000 + b"b\r" + b"1\r" * 30_000,
        "ragged_wide.csv": ("a," * 30_000 + "b\n" + "1\n" * 30_000).encode("utf-16"),
        "longer_lines.csv": b"a,b\n1,2,3\n",
        "unbalanced.csv": b'a,b\n"1,2\n3,4\n' * 3,
        "deep_quotes.csv": b"a,b\n" + b'"' * 100_001 + b",1\n",
        "half_utf16.csv": "a,b\n1,2\n".encode("utf-16")[:-1],
        "half_utf32.csv": "a,b\n1,2\n".encode("utf-32")[:-2],
        "empty.csv": b"",
        "blank.csv": b"\n\n \n\t\n",
        "only_a_mark.csv": b"\xef\xbb\xbf",
        "sep_is_quote.csv": b'sep="\na"b\n1"2\n',
        "sep_is_return.csv": b"sep=\r\na\rb\n1\r2\n",
        "gzip.csv": b"\x1f\x8b\x08\0\0\0\0\0",
        "archive.csv": files.archive({"a.csv": b"a,b\n1,2\n"}),
        "picture.txt": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    }


def excel_attacks() -> dict[str, bytes]:
    """The same for workbooks."""
    rows = [["a", "b"], [1, 2], [3, 4]]
    cell = '<row r="{0}"><c r="{1}{0}"><v>1</v></c></row>'
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    billion = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>'
    outside = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
    inside = '<row r="1"><c r="A1" t="inlineStr"><is><t>{}</t></is></c></row>'
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    begin = files.sheet("").split(b"</sheetData>")[0]
    whole = files.members(files.xlsx(rows))

    def beside(content: bytes, name: str) -> bytes:
        """A bomb with the other parts of a workbook in front."""
        others = [(n, deflated(c), len(c)) for n, c in whole.items() if n != name]
        with zipfile.ZipFile(io.BytesIO(content)) as zipped:
            (info,) = zipped.infolist()
            start = 30 + len(info.filename)
            return files.zip_of([*others, (name, content[start : start + info.compress_size], info.file_size)])

    # The list of names, enormous, where nobody looks for it; the workbook says where it is.
    moved = whole["[Content_Types].xml"].replace(b"/xl/workbook.xml", b"/xl/media/image1.png")
    names = f'<workbook xmlns="{space}">'.encode() + b"<x/>    " * 60 * 2**17 + b"</workbook>"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    texts = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
    with_texts = whole["[Content_Types].xml"].replace(b"</Types>", texts.encode())
    row = b'<row><c t="n"><v>1</v></c></row>'
    return {
        "bomb.xlsx": beside(files.bomb("s", begin, row, 1500, b"</sheetData></worksheet>"), "xl/worksheets/sheet1.xml"),
        "spaces.xlsx": beside(files.bomb("s", begin, b" ", 3500), "xl/worksheets/sheet1.xml"),
        "texts.xlsx": beside(
            files.bomb("s", f'<sst xmlns="{space}">'.encode(), b"<si/>  ", 1500), "xl/sharedStrings.xml"
        ),
        "styles.xlsx": beside(
            files.bomb("s", f'<styleSheet xmlns="{space}"><cellXfs>'.encode(), b"<xf/>   ", 60), "xl/styles.xml"
        ),
        "names.xlsx": beside(
            files.bomb("s", f'<workbook xmlns="{space}">'.encode(), b"<x/>    ", 60), "xl/workbook.xml"
        ),
        "far_cell.xlsx": files.xlsx(
            rows, xl__worksheets__sheet1=files.sheet(cell.format(1, "A") + cell.format(1_048_576, "XFD"))
        ),
        "far_row.xlsx": files.xlsx(rows, xl__worksheets__sheet1=files.sheet(cell.format(10**12, "A"))),
        "many_far_cells.xlsx": files.xlsx(
            rows, xl__worksheets__sheet1=files.sheet("".join(cell.format(i, "ZZZ") for i in range(1, 5_000)))
        ),
        "billion.xlsx": files.xlsx(rows, xl__worksheets__sheet1=files.sheet(inside.format("&l11;"), billion)),
        "outside.xlsx": files.xlsx(rows, xl__worksheets__sheet1=files.sheet(inside.format("&e;"), outside)),
        "billion_texts.xlsx": files.xlsx(
            rows, xl__sharedStrings=billion.encode() + b"<sst>&l11;</sst>", **{"[Content_Types]": with_texts}
        ),
        "picture.xlsx": files.archive(whole | {"[Content_Types].xml": moved, "xl/media/image1.png": names}),
        "utf16_laughs.xlsx": files.xlsx(
            rows,
            xl__worksheets__sheet1=files.sheet(inside.format("&l11;"), billion)
            .decode()
            .replace("?>", ' encoding="utf-16"?>', 1)
            .encode("utf-16"),
        ),
        "crowd.xlsx": files.crowd(400_000),
        "nothing.xlsx": files.archive({}),
        "deep.xlsx": files.xlsx(rows, xl__workbook=b"<a>" * 100_000),
        "above.xlsx": files.archive(whole | {"../../evil.xml": b"<a/>"}),
        "cut.xlsx": files.xlsx(rows)[:-30],
        "text.xlsx": b"a,b\n1,2\n",
    }


def deflated(content: bytes) -> bytes:
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def arrow_attacks() -> dict[str, bytes]:
    """The same for Arrow and Parquet."""
    nothing = pa.nulls(10**8)
    long = pa.DictionaryArray.from_arrays(np.zeros(100_000, np.int32), pa.array(["x" * 1_000_000]))
    views = np.zeros((100_000, 4), np.int32)
    views[:, 0], views[:, 1] = 1_000_000, struct.unpack("<i", b"xxxx")[0]
    buffers = [None, pa.py_buffer(views.tobytes()), pa.py_buffer(b"x" * 1_000_000)]
    same_view = pa.Array.from_buffers(pa.string_view(), 100_000, buffers)
    sizes = pa.array(np.full(100_000, 1_000_000, np.int32))
    lists = pa.ListViewArray.from_arrays(np.zeros(100_000, np.int32), sizes, pa.array(np.zeros(1_000_000)))
    packed = files.arrow(pa.table({"a": np.zeros(1000)}), "zstd")
    text = pa.table({"a": ["one", "two", "three"] * 10, "b": np.arange(30.0)})
    offsets = np.arange(31, dtype=np.int32) * 4
    wild = files.arrow(pa.table({"a": pa.array(["four"] * 30)}))
    assert offsets.tobytes() in wild
    assert struct.pack("<q", 8000) in packed
    two = io.BytesIO()
    with pa.ipc.new_file(two, pa.schema([("a", pa.float64())])) as writer:
        for n in (1000, 1):
            writer.write_batch(pa.record_batch({"a": np.zeros(n)}))
    at = two.getvalue().rindex(struct.pack("<q", 8000)) - 16  # the table of contents: 24 bytes for each of the two
    contents = two.getvalue()[at : at + 48]
    return {
        "same_batch.arrow": two.getvalue().replace(contents, contents[:24] * 2),
        "cut.arrow": two.getvalue()[:-9],
        "equal.parquet": files.parquet(pa.table({"a": nothing, "b": nothing})),
        "long_text.parquet": files.parquet(pa.table({"a": long}), store_schema=False),
        "cut.parquet": files.parquet(text)[:-9],
        "pages.parquet": files.lying_pages(2**31 - 2**20),
        "text.parquet": b"a,b\n1,2\n",
        "footer.parquet": files.parquet(text)[:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1",
        "expands.arrow": packed.replace(struct.pack("<q", 8000), struct.pack("<q", 2**40)),
        "negative.arrow": packed.replace(struct.pack("<q", 8000), struct.pack("<q", -(2**40))),
        "nothing.arrow": files.arrow(pa.table({"a": pa.nulls(10**9)})),
        "nothing.feather": files.arrow(pa.table({"a": pa.nulls(10**9)}), stream=True),
        "same_view.arrow": files.arrow(pa.table({"a": same_view})),
        "same_list.arrow": files.arrow(pa.table({"a": lists})),
        "runs.arrow": files.arrow(pa.table({"a": pa.RunEndEncodedArray.from_arrays([10**9], [1.0])})),
        "outside.arrow": wild.replace(offsets.tobytes(), (offsets * 2**20).tobytes()),
        "backwards.arrow": wild.replace(offsets.tobytes(), offsets[::-1].tobytes()),
        "code.arrow": wild.replace(b"four" * 30, b"\xff\xfe\xfd\xfc" * 30),
        "old.feather": b"FEA1" + bytes(100) + b"FEA1",
        "text.arrow": b"a,b\n1,2\n",
    }


@cache
def all_attacks() -> dict[str, bytes]:
    """Made once: some take long to be put together."""
    return numpy_attacks() | text_attacks() | excel_attacks() | arrow_attacks()


@pytest.fixture(scope="module")
def attacks():
    return all_attacks()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ()) for name in all_attacks()]
)
def test_attacks_end_in_a_sentence(reader, attacks, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(attacks[name])
    rows = ["rows"] if path.suffix in (".npy", ".parquet") else []
    # all three read typed files by the same child, which takes a moment to start
    for job in ("command", *rows) if path.suffix in TYPED else ("table", "page", "command", *rows):
        told = check(reader, job, path)
        assert told["kind"] == "sentence" or name in TAKEN, (job, told)
    assert list(tmp_path.iterdir()) == [path]  # no code in it ran, and nothing was unpacked
    assert not Path(files.MARKER).exists()


TYPED = {".parquet", ".feather", ".arrow", ".xlsx"}
TAKEN = {"late_zeros.csv", "hidden_columns.csv", "sep_is_quote.csv"}  # tables that the page shows: of odd text
if pd.__version__.startswith("2."):
    TAKEN.add("sep_is_return.csv")  # which older pandas reads


# ------------------------------------------------------------------------------------- models, searches and results


def setting(*path: Any, value: Any) -> Any:
    """A change of a header: this place gets this value."""

    def change(header: dict[str, Any]) -> None:
        place: Any = header
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def lacking(*path: Any) -> Any:
    def change(header: dict[str, Any]) -> None:
        place: Any = header
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return change


HEADERS = {
    "format of the future": (setting("format", value=99), "newer altclust"),
    "negative format": (setting("format", value=-1), "older altclust (format -1)"),
    "format as text": (setting("format", value="1"), "damaged"),
    "format that is true": (setting("format", value=True), "damaged"),
    "another kind": (setting("altclust", value="trials"), "holds a trials, not a KDAC"),
    "kind with a command": (setting("altclust", value="\x1b[31m evil"), "damaged"),
    "kind that is a list": (setting("altclust", value=["KDAC"]), "damaged"),
    "a list": (lambda header: [1, 2], "damaged"),
    "unknown parameter": (setting("params", "evil", value=1), "unknown parameter 'evil'"),
    "callback": (setting("params", "callback", value="os.system"), "callback"),
    "class": (setting("params", "__class__", value="evil"), "unknown parameter"),
    "solver outside": (setting("params", "solver", value="evil"), "solver"),
    "solver of a name outside": (setting("params", "solver", value={"name": "evil"}), "evil"),
    "solver with more": (setting("params", "solver", value={"name": "ism", "evil": 1}), "evil"),
    "solver with text": (setting("params", "solver", value={"name": "ism", "tol": "x"}), "tol"),
    "solver of odd eigenvectors": (setting("params", "solver", value={"name": "ism", "eigen": "evil"}), "eigen"),
    "clusters beyond reason": (setting("params", "n_clusters", value=10**12), "n_clusters"),
    "components beyond reason": (setting("params", "n_components", value=10**12), "n_components"),
    "found clusters beyond reason": (setting("settings", "n_clusters", value=10**12), "map.coefficients"),
    "negative width": (setting("settings", "sigma", value=-1.0), "sigma=-1.0 is not allowed"),
    "width of nothing": (setting("settings", "sigma", value=None), "sigma is None"),
    "width beyond numbers": (setting("settings", "sigma", value=10**400), "damaged model"),
    "status of its own": (setting("scalars", "status", value="<script>"), "status_"),
    "text for a number": (setting("scalars", "n_iter", value="3"), "n_iter_"),
    "no width": (lacking("settings", "sigma"), "sigma is None"),
    "unknown setting": (setting("settings", "evil", value=1), "'evil'"),
    "no scalars": (lacking("scalars"), "'scalars' is missing"),
    "no parameters": (lacking("params"), "'params' is missing"),
    "certificate of nothing": (setting("certificate", value={}), "Certificate lacks 'residual'"),
    "certificate with more": (setting("certificate", value={"evil": 1}), "Certificate lacks 'residual'"),
    "kernel beyond numbers": (setting("kernel", "sigma", value=1e308), "kernel has a number that is too"),
    "kernel of infinity": (setting("kernel", "sigma", value=math.inf), "must be a positive number"),
    "floor beyond numbers": (setting("floor", value=1e308), "floor is 1e+308"),
    "reach of text": (setting("reach", value="far"), "reach"),
    "reach of NaN": (setting("reach", value=math.nan), "reach is nan"),
    "sigma whose square is 0": (setting("settings", "sigma", value=1e-320), "sigma is 1e-320"),
    "sigma whose square is infinite": (setting("settings", "sigma", value=1e300), "sigma is 1e+300"),
    "pull of NaN": (setting("settings", "pull", value=math.nan), "pull=nan is not allowed"),
}


@pytest.mark.parametrize("what", HEADERS)
def test_models_with_odd_headers_are_refused(tmp_path, what):
    change, words = HEADERS[what]
    for content in files.models():
        path = tmp_path / "model.npz"
        path.write_bytes(files.with_header(content, change))
        with pytest.raises(InputError, match=r"model\.npz.*") as error:
            KDAC.load(path)
        assert words in str(error.value)


def test_only_known_names_are_set(tmp_path):
    path = tmp_path / "model.npz"

    def change(header: dict[str, Any]) -> None:
        header["scalars"] |= {"predict": "evil", "_map": 1, "evil_": 2, "__class__": "evil"}

    path.write_bytes(files.with_header(files.models()[0], change))
    model = KDAC.load(path)
    assert not {"predict", "evil_", "__class__"} & vars(model).keys()
    assert model.predict(np.zeros((2, 3))).shape == (2,)


@pytest.mark.parametrize("name", sorted(files.members(files.models()[1])))
@pytest.mark.parametrize("array", [None, np.zeros(0), np.zeros((2, 2, 2)), np.full((3, 3), np.nan), np.array(["a"])])
def test_models_with_odd_arrays_are_refused(tmp_path, name, array):
    parts = files.members(files.models()[1])
    del parts[name]
    path = tmp_path / "model.npz"
    path.write_bytes(files.archive(parts if array is None else parts | {name: files.npy(array)}))
    if array is None and name.startswith(("history.", "feature_names_in_", "levels.")):
        model = KDAC.load(path)  # without what nothing needs
        model.predict(files.rows()[["höhe", "b", "c"]] if hasattr(model, "feature_names_in_") else np.zeros((2, 3)))
        return
    with pytest.raises(InputError, match=r"model\.npz"):
        KDAC.load(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("guess.intercepts.0", np.nan, "guess.intercepts.0 has entries that are not finite numbers"),
        ("guess.intercepts.0", np.inf, "guess.intercepts.0 has entries that are not finite numbers"),
        ("guess.intercepts.0", -np.inf, "guess.intercepts.0 has entries that are not finite numbers"),
        ("basis", 1e308, r"basis has entries beyond 1e\+100, whose powers overflow"),
        ("map.landmarks", -1e308, r"map.landmarks has entries beyond 1e\+100"),
    ],
)
def test_models_with_numbers_that_would_overflow_are_refused(tmp_path, name, value, message):
    parts = files.members(files.models()[1])
    array = np.load(io.BytesIO(parts[f"{name}.npy"]))
    path = tmp_path / "model.npz"
    path.write_bytes(files.archive(parts | {f"{name}.npy": files.npy(np.full_like(array, value))}))
    with pytest.raises(InputError, match=message):
        KDAC.load(path)


def test_headers_that_are_no_json(tmp_path):
    parts = files.members(files.models()[0])
    path = tmp_path / "model.npz"
    for text in ("", "{", "[" * 100_000, "nonsense", "NaN", '"KDAC"', "9" * 5000, '{"altclust": "KDAC"}'):
        path.write_bytes(files.archive(parts | {"header.npy": files.npy(np.array(text))}))
        with pytest.raises(InputError, match="is not a model saved by altclust"):
            KDAC.load(path)
    for array in (np.array(3), np.array([["{}"]]), np.zeros(3, dtype="M8[s]"), np.array(b"{}")):
        path.write_bytes(files.archive(parts | {"header.npy": files.npy(array)}))
        with pytest.raises(InputError, match="is not a model saved by altclust"):
            KDAC.load(path)


def test_models_that_are_bombs_or_pickles(reader, attacks, tmp_path):
    for name in [name for name in attacks if name.endswith(".npz")]:
        path = tmp_path / "model.npz"
        path.write_bytes(attacks[name])
        assert check(reader, "model", path)["kind"] == "sentence"
    parts = files.members(files.models()[0])
    for member in ("header.npy", "labels.npy"):
        path.write_bytes(files.archive(parts | {member: files.evil_array()}))
        assert "Python objects" in check(reader, "model", path)["answer"]
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What `altclust find` leaves."""
    folder = tmp_path_factory.mktemp("results")
    files.rows().to_csv(folder / "rows.csv", index=False)
    arguments = "altclust find rows.csv --given segment --sigma 1 --clusters 2 --no-significance --out found --quiet"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "argv", arguments.split())
        with pytest.raises(SystemExit) as end:
            main()
    assert not end.value.code
    return folder / "found"


FIGURES = {
    "no JSON": "{",
    "too deep": "[" * 100_000,
    "a list": "[]",
    "a view elsewhere": {"views": [{"name": "../../alternative"}]},
    "a view that is absent": {"views": [{"name": "alternative_7"}]},
    "a view of no name": {"views": [{"name": None}]},
    "views of numbers": {"views": 3},
    "a table of no name": {"table": 3},
    "given that is text": {"given": "segment"},
    "given of numbers": {"given": [1]},
    "no recipe": {"recipe": None},
    "an empty recipe": {"recipe": {"columns": [], "decisions": []}},
    "a recipe with more": {"recipe": {"columns": [{"name": "b", "evil": 1}], "decisions": []}},
    "a recipe of text": {
        "recipe": {
            "columns": [{"name": "b", "levels": [], "fill": "x", "centre": [0], "scale": 1}],
            "decisions": [],
        }
    },
    "a recipe beyond numbers": {
        "recipe": {
            "columns": [{"name": "b", "levels": [], "fill": 10**400, "centre": [0], "scale": 1}],
            "decisions": [],
        }
    },
    "a recipe of other columns": {
        "recipe": {
            "columns": [{"name": "b", "levels": [], "fill": 0, "centre": [0], "scale": 1}],
            "decisions": [],
        }
    },
}


@pytest.mark.parametrize("what", FIGURES)
def test_odd_results_are_refused(results, tmp_path, what):
    change = FIGURES[what]
    shutil.copytree(results, tmp_path / "found")
    path = tmp_path / "found" / "figures.json"
    path.write_text(change if isinstance(change, str) else json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=r"found holds no complete results of `altclust find`"):
        read_results(tmp_path / "found")


def test_results_with_a_damaged_model_say_so(results, tmp_path):
    shutil.copytree(results, tmp_path / "found")
    read_results(tmp_path / "found")
    path = tmp_path / "found" / "alternative.npz"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"found holds no complete results.*alternative\.npz.*damaged"):
        read_results(tmp_path / "found")


@needs_files
def test_odd_cells_of_the_paper_are_computed_again(tmp_path):
    from altclust.paper import table1
    from altclust.paper.runs import Cell, settings

    cell = Cell("SG", "ISM", "SI", 1)
    path = table1._path(cell, tmp_path)
    path.parent.mkdir()
    same = json.loads(json.dumps(settings(cell)))
    for odd in (b"", b"\xff", b"[]", b"3", b"[" * 100_000, json.dumps(same).encode()):
        path.write_bytes(odd)
        assert table1.stored(cell, tmp_path, 900.0) is None
    for more in ({"note": None, "runs": []}, {"note": None, "runs": 3}, {"note": "x", "runs": [{}], "budget": "y"}):
        path.write_text(json.dumps(same | more))
        assert table1.stored(cell, tmp_path, 900.0) is None


# ------------------------------------------------------------------------------- what honest people have, all the same


def test_files_that_compress_well_are_read(tmp_path):
    np.savez_compressed(tmp_path / "zeros.npz", X=np.zeros((1_000_000, 6)))
    assert (tmp_path / "zeros.npz").stat().st_size < 100_000
    assert read_table(tmp_path / "zeros.npz").frame.shape == (1_000_000, 6)
    frame = pd.DataFrame({"a": np.zeros(2_000_000), "b": "the same rather long text " * 4})
    frame.to_parquet(tmp_path / "equal.parquet")
    assert (tmp_path / "equal.parquet").stat().st_size < 100_000
    assert read_table(tmp_path / "equal.parquet").frame.equals(frame)
    (tmp_path / "lines.csv").write_text('a,b\n1,"' + "many lines\n" * 100_000 + '"\n2,x\n')
    assert read_table(tmp_path / "lines.csv").frame.shape == (2, 2)


def test_a_long_line_and_a_long_cell(tmp_path):
    (tmp_path / "long.csv").write_text("a,b\n1," + "x" * 50_000_000 + "\n2,y\n")
    assert read_table(tmp_path / "long.csv").frame["b"].str.len().tolist() == [50_000_000, 1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marks_of_encodings(tmp_path, encoding):
    (tmp_path / "text.csv").write_bytes("größe,b\n1,=1+1\n2,-x\n".encode(encoding))
    frame = read_table(tmp_path / "text.csv").frame
    assert frame.columns.tolist() == ["größe", "b"]
    assert frame["b"].tolist() == ["=1+1", "-x"]  # formulas stay the text that they are


def test_lone_returns_end_lines(tmp_path):
    (tmp_path / "mac.csv").write_bytes(b"a,b\r1,2\r3,4\r")
    assert read_table(tmp_path / "mac.csv").frame.to_numpy().tolist() == [["1", "2"], ["3", "4"]]


def test_limits_hold_before_the_file_is_expanded(reader, tmp_path):
    """Below what memory has room for, the page's own limit decides."""
    (tmp_path / "large.npz").write_bytes(files.bomb("X.npy", files.declaring((1300 * 2**17,)), b"\0", 1300))
    assert "would take 1.4 GB of memory" in check(reader, "page", tmp_path / "large.npz")["answer"]
    with pytest.raises(InputError, match=r"large\.npz would take 1\.4 GB of memory, but the limit is 1\.0 GB"):
        read_table(tmp_path / "large.npz", limits=Limits(bytes=2e9))


def test_a_network_folder_that_is_connected_again(tmp_path, monkeypatch):
    """It is the same file on another device."""
    np.save(tmp_path / "rows.npy", np.eye(3))
    rows = open_rows(tmp_path / "rows.npy")

    def elsewhere(path: Path) -> os.stat_result:
        found = list(os.stat_result.__reduce__(os.stat(path))[1][0])
        found[2] += 1
        return os.stat_result(found, {"st_mtime_ns": os.stat(path).st_mtime_ns})

    monkeypatch.setattr("altclust.data.file_rows.os", SimpleNamespace(stat=elsewhere))
    assert np.array_equal(rows.take(np.arange(3))[0], np.eye(3))
    (tmp_path / "other.npy").write_bytes((tmp_path / "rows.npy").read_bytes())
    shutil.copystat(tmp_path / "rows.npy", tmp_path / "other.npy")
    (tmp_path / "other.npy").replace(tmp_path / "rows.npy")
    with pytest.raises(InputError, match="changed"):
        rows.take(np.arange(3))


def test_sheets_are_read_as_pandas_reads_them(tmp_path):
    from datetime import date, datetime, time

    from openpyxl import Workbook

    book = Workbook()
    for row in (
        ["a", "b", None, "d", "e"],
        [1, 2.0, None, "text", True],
        [],
        [1.5, None, None, "", datetime(2026, 1, 2, 3)],
        [None, "  ", None, "NA", date(2026, 1, 2)],
        [10**20, -0.0, None, "=1+1", time(1, 2)],
        [None, None, None, "#N/A"],
    ):
        book.active.append(row)
    book.active["D7"].data_type = "e"
    book.save(tmp_path / "book.xlsx")
    ours = read_table(tmp_path / "book.xlsx").frame
    how = {"header": None, "dtype": object, "keep_default_na": False, "na_values": [""]}
    theirs = pd.read_excel(tmp_path / "book.xlsx", **how).iloc[1:].reset_index(drop=True)
    assert ours.shape == theirs.shape
    for mine, other in zip(ours.to_numpy().ravel(), theirs.to_numpy().ravel(), strict=True):
        assert (pd.isna(mine) and pd.isna(other)) or (mine == other and type(mine) is type(other)), (mine, other)
