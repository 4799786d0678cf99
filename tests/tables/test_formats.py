from __future__ import annotations

import csv
import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests.conftest import examples

from altclust.base.errors import InputError
from altclust.tables import Limits, read_table


def read(text, name="rows.csv", encoding="utf-8"):
    return read_table(io.BytesIO(text.encode(encoding) if isinstance(text, str) else text), name)


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("a,b\n1,2\n3,4\n", ["a", "b"], 2),
        ("a;b\n1,5;2\n3;4,5\n", ["a", "b"], 2),
        ("a\tb\n1\t2,5\n", ["a", "b"], 1),
        ("a|b|c\n1|2|3\n", ["a", "b", "c"], 1),
        ('a,b\n"x;y;z",1\n"p;q",2\n', ["a", "b"], 2),
        ('"first\nname",b\n1,"two\nlines"\n', ["first\nname", "b"], 1),
        ("only\n1\n2\n", ["only"], 2),
        ("1;2,5\n3;4,5\n", ["column_1", "column_2"], 2),
        ("1,2\n3,4\n", ["column_1", "column_2"], 2),
        ("a,b\n\n1,2\n\n\n3\n", ["a", "b"], 2),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n", ["column_1", "column_2", "column_3"], 3),
        ("5,1;3,5;x\n4,9;3,0;y\n", ["column_1", "column_2", "column_3"], 2),
        ("Graz,Ann,31\nWien,Bo,42\nGraz,Cy,25\n", ["column_1", "column_2", "column_3"], 3),
        ("5.1,NA,2\n4.9,3,2\n", ["column_1", "column_2", "column_3"], 2),
        ("town,1990,1991,1992\nGraz,1,2,3\n", ["town", "1990", "1991", "1992"], 1),
        (",0,1,2\n0,5,6,7\n", ["", "0", "1", "2"], 1),
        ("name,town,2020\nname,Graz,3\n", ["column_1", "column_2", "column_3"], 2),
        ("name,town\nAnn,Graz\nname,town\n", ["name", "town"], 2),
    ],
)
def test_the_delimiter_and_the_header_are_guessed(text, names, rows):
    frame = read(text).frame
    assert list(frame.columns) == names
    assert len(frame) == rows


def test_numbers_among_the_names_are_told():
    (note,) = read("5.1,3.5,setosa\n4.9,3.0,setosa\n").notes
    assert note == "The first line has numbers in place of names: it is read as a row, and the columns are numbered."
    (note,) = read("town,1990,1991,1992\nGraz,1,2,3\n").notes
    assert note == "Names in the first line are numbers, such as '1990': if it is a row, add a line of names above."
    assert not read("town,size\nGraz,1\n").notes


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_is_written_in_the_encoding_it_came_in(tmp_path, encoding):
    text = "name;größe\nJürgen;1,5\nZoë;2\n"
    table = read(text, encoding=encoding)
    assert list(table.frame.columns) == ["name", "größe"]
    table.add(tmp_path / "back.csv", pd.DataFrame({"new": [0, 1]}))
    back = (tmp_path / "back.csv").read_bytes().decode(encoding)
    assert back == "name;größe;new\nJürgen;1,5;0\nZoë;2;1\n"


cells = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r"), max_size=12)


@given(
    names=st.lists(cells.map(lambda c: c + "n"), min_size=2, max_size=4, unique=True),
    data=st.data(),
    delimiter=st.sampled_from(",;\t"),
)
@examples(15, (HealthCheck.function_scoped_fixture,))
def test_every_cell_comes_back(tmp_path, names, data, delimiter):
    rows = data.draw(st.lists(st.tuples(*[cells.map(lambda c: "x" + c) for _ in names]), min_size=3, max_size=6))
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([names, *rows])
    table = read(text.getvalue())
    assert list(table.frame.columns) == names
    table.add(tmp_path / "back.csv", pd.DataFrame({"new": range(len(rows))}))
    with (tmp_path / "back.csv").open(newline="", encoding="utf-8") as file:
        back = list(csv.reader(file, delimiter=delimiter))
    assert back == [[*names, "new"], *([*row, str(i)] for i, row in enumerate(rows))]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "rows.csv", "^rows.csv is empty.$"),
        (b"a,b\n", "rows.csv", "has no rows"),
        (b"a,b\n1,2,3\n", "rows.csv", "^rows.csv has 3 cells in line 2, and 2 in the first: correct that line.$"),
        (b"a,a\n1,2\n", "rows.csv", "two columns named 'a'"),
        (b"\0\1\2", "rows.csv", "not text"),
        (b"nonsense", "rows.parquet", "could not be read as PARQUET"),
        (b"nonsense", "rows.feather", "could not be read as FEATHER"),
        (b"nonsense", "rows.arrow", "could not be read as ARROW"),
        (b"nonsense", "rows.xlsx", "could not be read as XLSX"),
        (b"nonsense", "rows.npy", "rows.npy is damaged or holds Python objects"),
        (b"PK\3\4nonsense", "rows.npz", "could not be read as NPZ"),
        (b"a,b\n", "rows.doc", "has no format that altclust reads"),
        (b"a,b\n", "rows", "has no format that altclust reads"),
    ],
)
def test_a_malformed_file_gets_a_sentence(content, name, message):
    with pytest.raises(InputError, match=message) as error:
        read(content, name)
    assert "\n" not in str(error.value)


def test_arrays_of_objects_are_refused(tmp_path):
    np.save(tmp_path / "rows.npy", np.array([[{"a": 1}, 2]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="holds Python objects, which could run code"):
        read_table(tmp_path / "rows.npy")


def test_npy_comes_back_with_a_column_more(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "rows.npy", X)
    table = read_table(tmp_path / "rows.npy")
    assert list(table.frame.columns) == ["column_1", "column_2"]
    table.add(tmp_path / "back.npy", pd.DataFrame({"alternative": [0, 1, 1]}))
    assert np.array_equal(np.load(tmp_path / "back.npy"), np.column_stack([X, [0, 1, 1]]))


def test_npz_keeps_all_its_arrays(tmp_path):
    np.savez(tmp_path / "rows.npz", X=np.eye(3), kind=np.array(["a", "b", "a"]), note=np.array(7))
    table = read_table(tmp_path / "rows.npz")
    assert list(table.frame.columns) == ["X_1", "X_2", "X_3", "kind"]
    assert table.notes == ("Arrays with another number of rows are left out: note.",)
    table.add(tmp_path / "back.npz", pd.DataFrame({"alternative": [0, 1, 1]}))
    with np.load(tmp_path / "back.npz") as back:
        assert set(back.files) == {"X", "kind", "note", "alternative"}
        assert back["note"] == 7


def test_typed_formats_keep_their_types(tmp_path):
    frame = pd.DataFrame(
        {"when": pd.date_range("2026", periods=3), "kind": pd.Categorical(["a", "b", "a"]), "n": [1, 2, 3]},
        index=["x", "y", "z"],
    )
    frame.to_parquet(tmp_path / "rows.parquet")
    table = read_table(tmp_path / "rows.parquet")
    table.add(tmp_path / "back.parquet", pd.DataFrame({"alternative": [0, 1, 1]}))
    back = pd.read_parquet(tmp_path / "back.parquet")
    pd.testing.assert_frame_equal(back.drop(columns="alternative"), frame)
    assert back["alternative"].tolist() == [0, 1, 1]


def test_an_arrow_stream_comes_back_as_one(tmp_path):
    pa = pytest.importorskip("pyarrow")
    rows = pa.table({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pa.ipc.new_stream(str(tmp_path / "rows.arrow"), rows.schema) as writer:
        writer.write_table(rows)
    read_table(tmp_path / "rows.arrow").add(tmp_path / "back.arrow", pd.DataFrame({"new": [0, 1]}))
    with pa.OSFile(str(tmp_path / "back.arrow")) as file:
        assert pa.ipc.open_stream(file).read_all().column_names == ["a", "b", "new"]


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_files_of_polars_are_read(tmp_path, compression):
    pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": np.arange(500.0), "b": ["x", "a text that is longer than twelve letters"] * 250})
    frame = frame.with_columns(c=frame["b"].cast(pl.Categorical))
    frame.write_ipc(tmp_path / "rows.arrow", compression=compression)
    table = read_table(tmp_path / "rows.arrow")
    assert table.frame.astype({"c": str}).to_dict("list") == frame.to_dict(as_series=False)
    table.add(tmp_path / "back.arrow", pd.DataFrame({"new": range(500)}))
    assert pl.read_ipc(tmp_path / "back.arrow")["new"].to_list() == list(range(500))


@pytest.fixture
def book(tmp_path):
    """A small workbook of three sheets, of which the last two are larger."""
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "rows.xlsx", engine="openpyxl") as writer:
        pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(writer, sheet_name="first", index=False)
        for name in ("second", "third"):
            pd.DataFrame(np.zeros((500, 20))).to_excel(writer, sheet_name=name, index=False)
    return tmp_path / "rows.xlsx"


@pytest.mark.parametrize("part", ["xl/pivotCache/pivotCacheRecords1.xml", "xl/media/image1.png"])
def test_what_nobody_reads_of_a_workbook_may_be_large(book, part):
    with zipfile.ZipFile(book, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(part, b"<a>" + bytes(30_000_000))
    assert read_table(book, limits=Limits(bytes=30e6)).frame.to_numpy().tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize("suffix", ["parquet", "xlsx"])
def test_memory_and_time_are_limited(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    frame = pd.DataFrame(np.arange(600_000.0).reshape(-1, 3), columns=list("abc"))
    if suffix == "xlsx":
        frame = pd.DataFrame({"a": ["x" * 32_000 + str(i) for i in range(500)]})
    getattr(frame, {"parquet": "to_parquet", "xlsx": "to_excel"}[suffix])(path, index=False)
    with pytest.raises(InputError, match=rf"^rows.{suffix} needs more than 0\.0 GB of memory to be read: pass a part"):
        read_table(path, limits=Limits(bytes=12e6))
    with pytest.raises(InputError, match=rf"^rows.{suffix} takes longer than 0\.01 seconds to read: pass a part of it"):
        read_table(path, limits=Limits(seconds=0.01))
    assert read_table(path).frame.equals(frame)


def test_arrays_may_have_colons_in_their_names(tmp_path):
    np.savez(tmp_path / "rows.npz", **{"kernel:0": np.eye(3), "layer/bias:0": np.arange(3)})
    table = read_table(tmp_path / "rows.npz")
    assert list(table.frame.columns) == ["kernel:0_1", "kernel:0_2", "kernel:0_3", "layer/bias:0"]
    table.add(tmp_path / "back.npz", pd.DataFrame({"new": [0, 1, 1]}))
    assert list(read_table(tmp_path / "back.npz").frame.columns)[-1] == "new"


def test_excel_reads_the_first_sheet_and_says_so(tmp_path):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "rows.xlsx") as book:
        pd.DataFrame({"a": [1, 2], "b": ["x", None]}).to_excel(book, sheet_name="first", index=False)
        pd.DataFrame({"c": [1]}).to_excel(book, sheet_name="second", index=False)
    table = read_table(tmp_path / "rows.xlsx")
    assert "2 sheets: only the first, 'first', is read" in table.notes[0]
    table.add(tmp_path / "back.xlsx", pd.DataFrame({"new": [0, 1]}))
    back = pd.read_excel(tmp_path / "back.xlsx")
    assert back["a"].tolist() == [1, 2]
    assert back["b"].isna().tolist() == [False, True]
    assert back["new"].tolist() == [0, 1]


def test_arrow_types_come_back_as_they_were(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = pa.table(
        {
            "large": pa.array([2**60 + 1, None, 3], pa.int64()),
            "map": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int32())),
            "code": pa.array(["u", "v", "u"]).dictionary_encode(),
        }
    )
    pq.write_table(rows, tmp_path / "rows.parquet")
    read_table(tmp_path / "rows.parquet").add(tmp_path / "back.parquet", pd.DataFrame({"new": [0, 1, 1]}))
    back = pq.read_table(tmp_path / "back.parquet")
    assert back.drop_columns(["new"]).equals(rows)
    assert back["new"].to_pylist() == [0, 1, 1]


def test_names_that_stand_in_the_way(tmp_path):
    np.savez(tmp_path / "plain.npz", X=np.eye(3))
    with np.load(tmp_path / "plain.npz") as plain:
        table = read_table(tmp_path / "plain.npz")
        assert plain["X"].shape == (3, 3)
    table.add(tmp_path / "back.npz", pd.DataFrame({"file": [0, 1, 1], "allow_pickle": ["a", "b", "a"]}))
    again = read_table(tmp_path / "back.npz")
    assert list(again.frame.columns) == ["X_1", "X_2", "X_3", "file", "allow_pickle"]


def test_text_that_the_old_encoding_cannot_hold(tmp_path):
    table = read("a;ü\n1;2\n3;4\n", encoding="cp1252")
    table.add(tmp_path / "back.csv", pd.DataFrame({"new": ["Łódź", "😀"]}))
    assert "Łódź" in (tmp_path / "back.csv").read_text(encoding="utf-8")


def test_what_excel_and_others_write_on_top():
    assert list(read("sep=;\na;b\n1;2\n").frame.columns) == ["a", "b"]
    assert read("a\n1,5\n2,5\n").frame["a"].tolist() == ["1,5", "2,5"]
    assert list(read("a,b,,\n1,2,,\n").frame.columns) == ["a", "b", "", "unnamed_3"]
