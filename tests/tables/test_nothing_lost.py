"""Every cell, line, formula and part of a file comes back with the new columns."""

from __future__ import annotations

import csv
import io
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from altclust.base.errors import InputError
from altclust.tables import read_table


def rewritten(content, tmp_path, name="rows.csv", new=None):
    table = read_table(io.BytesIO(content), name)
    back = tmp_path / f"back-{name}"
    table.add(back, pd.DataFrame({"new": range(len(table.frame))}) if new is None else new)
    return table, back


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_a_lone_return_without_quotes_stays_in_its_cell(tmp_path, end, encoding):
    rows = ["größe,note", "1,first\rsecond", "2,third", '3,"a\rb"', "4,\r\rx", "5,last", "6,end", "7,end"]
    table, back = rewritten(end.join([*rows, ""]).encode(encoding), tmp_path)
    assert table.frame["note"].tolist() == ["first\rsecond", "third", "a\rb", "\r\rx", "last", "end", "end"]
    assert read_table(back).frame["note"].tolist() == table.frame["note"].tolist()


def test_a_return_that_ends_some_lines_still_ends_them():
    table = read_table(io.BytesIO(b"a,b\n1,2\r3,4\n5,6\n"), "rows.csv")
    assert table.frame.to_numpy().tolist() == [["1", "2"], ["3", "4"], ["5", "6"]]


def test_a_lone_return_in_a_cell_stays_in_its_cell(tmp_path):
    text = "a,b\n" + "".join(f'{i},"first\rsecond"\n' for i in range(20))
    table, back = rewritten(text.encode(), tmp_path)
    assert len(table.frame) == 20
    again = read_table(back).frame
    assert len(again) == 20
    assert set(again["b"]) == {"first\rsecond"}
    with back.open(newline="") as file:
        assert len(list(csv.reader(file))) == 21


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a,b\n1,2\n\n3,4\n", "a,b,new\n1,2,0\n\n3,4,1\n"),
        ("\n  \na,b\n\n1,2\n   \n\n3,4\n\n\n", "\n  \na,b,new\n\n1,2,0\n   \n\n3,4,1\n\n\n"),
        ("a,b\r\n1,2\r\n\r\n3,4\r\n", "a,b,new\r\n1,2,0\r\n\r\n3,4,1\r\n"),
        ("sep=;\na;b\n1;2\n", "sep=;\na;b;new\n1;2;0\n"),
        ("a\tb\n\t\n1\t2\n\n", "a\tb\tnew\n\t\t0\n1\t2\t1\n\n"),
        ("1,2\n\n3,4\n", "column_1,column_2,new\n1,2,0\n\n3,4,1\n"),
        ("a,,b,\n1,2,3,4\n", "a,,b,,new\n1,2,3,4,0\n"),
        ("a\n1\n\n3\n\n\n", "a,new\n1,0\n,1\n3,2\n\n\n"),
        ('a,b\n"x\n\ny",2\n', 'a,b,new\n"x\n\ny",2,0\n'),
        ("a,b\r1,2\r3,4\r", "a,b,new\r1,2,0\r3,4,1\r"),
    ],
)
def test_blank_lines_and_line_ends_stay_where_they_are(tmp_path, before, after):
    assert rewritten(before.encode(), tmp_path)[1].read_bytes().decode() == after


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("a,b\n1,2\n\n3,4\n", ("Blank lines are not rows: 1.",)),
        ("a,b\n1,2\n3,4\n\n", ()),
        ("a\n1\n\n3\n", ("Blank lines are rows without a value: 1.",)),
        ("a\n1\n3\n\n\n", ("Blank lines at the end are not rows: 2.",)),
        ("a,,b,\n1,2,3,4\n", ("Columns without a name are called unnamed_3.",)),
    ],
)
def test_what_is_no_row_or_has_no_name_is_said(text, notes):
    assert read_table(io.BytesIO(text.encode()), "rows.csv").notes == notes


def test_the_line_of_a_mistake_is_that_of_the_file():
    with pytest.raises(InputError, match=r"has 3 cells in line 5, and 2 in the first"):
        read_table(io.BytesIO(b"\n\na,b\n\n1,2,3\n"), "rows.csv")


def test_bytes_that_are_in_no_windows_encoding_come_back(tmp_path):
    content = b"a,b\n1,caf\xe9 \x81\n2,y\n"
    table, back = rewritten(content, tmp_path)
    assert table.notes == ("Not UTF-8: read as Latin-1, because some bytes are not Windows-1252.",)
    assert back.read_bytes() == b"a,b,new\n1,caf\xe9 \x81,0\n2,y,1\n"


# Workbooks


@pytest.fixture
def book(tmp_path):
    """A workbook with formulas, stored and not, an error, formats, a second sheet, a chart and a part of its own."""
    pytest.importorskip("openpyxl")
    from openpyxl import Workbook
    from openpyxl.chart import LineChart, Reference
    from openpyxl.styles import PatternFill

    made = Workbook()
    sheet = made.active
    sheet.title = "data"
    for row in (
        ["a", "when", "ratio", "sum"],
        *([i, pd.Timestamp("2026-01-01"), i / 8, f"=A{i + 1}*2"] for i in (1, 2, 3)),
    ):
        sheet.append(row)
    for i in (2, 3, 4):
        sheet.cell(i, 2).number_format = "dd.mm.yy"
        sheet.cell(i, 3).number_format = "0.0%"
    sheet["C3"] = "#DIV/0!"
    sheet["E2"].fill = PatternFill("solid", "FFFF00")  # a cell with a colour and nothing in it, beside the table
    sheet["G2"].fill = PatternFill("solid", "FF0000")
    chart = LineChart()
    chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=4))
    sheet.add_chart(chart, "H2")
    made.create_sheet("notes")["A1"] = "kept"
    made.save(tmp_path / "plain.xlsx")
    # A stored result, which openpyxl does not write, and a part that no library knows.
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as old, zipfile.ZipFile(tmp_path / "rows.xlsx", "w") as new:
        for part in old.infolist():
            content = old.read(part)
            if part.filename == "xl/worksheets/sheet1.xml":
                for i in (2, 3):
                    stored = rb"<f>A%d*2</f><v>%d</v>" % (i, 2 * i - 2)
                    content, count = re.subn(rb"<f>A%d\*2</f><v\s*(/>|></v>)" % i, stored, content)
                    assert count == 1
            new.writestr(part, content, zipfile.ZIP_DEFLATED)
        new.writestr("custom/secret.bin", bytes(100_000), zipfile.ZIP_DEFLATED)
    return tmp_path / "rows.xlsx"


def test_a_workbook_comes_back_as_values_with_columns_more(book, tmp_path):
    from openpyxl import load_workbook

    table = read_table(book)
    assert table.frame["sum"].tolist()[:2] == [2, 4]
    assert "Formulas without a stored result count as missing: 1." in " ".join(table.notes)
    assert "Cells with an error such as #DIV/0! count as missing: 1." in table.notes
    back = tmp_path / "back.xlsx"
    table.add(back, pd.DataFrame({"alternative": [0, 1, 1], "named": ["a<b", "=1+1", None]}))
    written = load_workbook(back)
    assert written.sheetnames == ["table"]
    sheet = written.active
    assert [cell.value for cell in sheet[1]] == ["a", "when", "ratio", "sum", "alternative", "named"]
    assert [sheet.cell(i, 4).value for i in (2, 3, 4)] == [2, 4, None]
    assert [sheet.cell(i, 5).value for i in (2, 3, 4)] == [0, 1, 1]
    assert [sheet.cell(i, 6).value for i in (2, 3, 4)] == ["a<b", "=1+1", None]
    assert sheet["B2"].value == pd.Timestamp("2026-01-01")
    assert sheet["C3"].value is None
    assert sheet["F3"].data_type == "s"
    again = read_table(back)
    assert list(again.frame.columns) == [*table.frame.columns, "alternative", "named"]
    pd.testing.assert_frame_equal(again.frame[table.frame.columns], table.frame)


def sheet_only(xml, tmp_path):
    """A workbook with a sheet of this XML."""
    from openpyxl import Workbook

    Workbook().save(tmp_path / "empty.xlsx")
    with zipfile.ZipFile(tmp_path / "empty.xlsx") as old, zipfile.ZipFile(tmp_path / "rows.xlsx", "w") as new:
        for part in old.infolist():
            sheet = part.filename == "xl/worksheets/sheet1.xml"
            new.writestr(part, xml if sheet else old.read(part), zipfile.ZIP_DEFLATED)
    return tmp_path / "rows.xlsx"


@pytest.mark.parametrize(
    ("cell", "uncomputed"),
    [
        ("<c><f>A1</f></c>", 1),
        ("<c><f>A1</f><v/></c>", 1),
        ("<c><f>A1</f><v>0</v></c>", 0),
        ('<c t="str"><f>A1</f><v></v></c>', 0),  # its result is an empty text
        ("<c><v/></c>", 0),
    ],
)
def test_a_formula_without_a_stored_result_is_noticed(cell, uncomputed, tmp_path):
    pytest.importorskip("openpyxl")
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rows = f"<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c>{cell}</row>"
    xml = f'<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'
    notes = " ".join(read_table(sheet_only(xml.encode(), tmp_path)).notes)
    assert (f"Formulas without a stored result count as missing: {uncomputed}." in notes) == bool(uncomputed)


@pytest.mark.parametrize("prefix", ["", "x:"])
def test_rows_that_the_sheet_leaves_out_and_names_of_elements(tmp_path, prefix):
    pytest.importorskip("openpyxl")
    names = 'xmlns{}="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'.format(
        f":{prefix[:-1]}" if prefix else ""
    )
    xml = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<P:worksheet {names}><P:dimension ref="A1:B6"/><P:sheetData>'
        '<P:row r="1" spans="1:2"><P:c r="A1" t="inlineStr"><P:is><P:t>a</P:t></P:is></P:c>'
        '<P:c r="B1" t="inlineStr"><P:is><P:t>b</P:t></P:is></P:c></P:row>'
        '<P:row r="2"><P:c r="A2"><P:v>1</P:v></P:c><P:c><P:v>2</P:v></P:c></P:row><P:row r="3" ht="20"/>'
        '<P:row r="5"><P:c r="B5"><P:v>5</P:v></P:c></P:row><P:row><P:c><P:v>7</P:v></P:c></P:row>'
        "</P:sheetData></P:worksheet>"
    ).replace("P:", prefix)
    table = read_table(sheet_only(xml.encode(), tmp_path))
    assert table.frame["a"].tolist()[0::4] == [1, 7]
    assert len(table.frame) == 5
    table.add(tmp_path / "back.xlsx", pd.DataFrame({"new": [10, 11, 12, 13, 14]}))
    again = read_table(tmp_path / "back.xlsx").frame
    assert again["new"].tolist() == [10, 11, 12, 13, 14]
    pd.testing.assert_frame_equal(again[["a", "b"]], table.frame)
    assert pd.read_excel(tmp_path / "back.xlsx")["new"].tolist() == [10, 11, 12, 13, 14]


def test_a_chart_sheet_before_the_table(tmp_path):
    pytest.importorskip("openpyxl")
    from openpyxl import Workbook, load_workbook
    from openpyxl.chart import LineChart, Reference

    made = Workbook()
    sheet = made.active
    for row in (["a", "b"], [1, 2], [3, 4]):
        sheet.append(row)
    sheet.print_title_rows = "1:1"
    chart = LineChart()
    chart.add_data(Reference(sheet, min_col=1, min_row=1, max_row=3))
    made.create_chartsheet("picture", 0).add_chart(chart)
    made.save(tmp_path / "rows.xlsx")
    table, back = rewritten((tmp_path / "rows.xlsx").read_bytes(), tmp_path, "rows.xlsx")
    assert table.frame.to_numpy().tolist() == [[1, 2], [3, 4]]
    copied = load_workbook(back)
    assert [cell.value for cell in copied.active["C"]] == ["new", 0, 1]


# Arrow


def test_times_and_dictionaries_of_times(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    from altclust.tables import TableEncoder, learn_recipe

    when = pa.array(np.array(["2026-01-01", "2026-01-02", "2026-01-01"], dtype="M8[ns]"))
    rows = pa.table(
        {
            "when": when.dictionary_encode(),
            "clock": pa.array([1, 10**9 + 1, None], pa.time64("ns")),
            "count": pa.array([5, 6, 5]).dictionary_encode(),
            "x": [1.0, 2.5, 9.0],
        }
    )
    with pa.ipc.new_file(str(tmp_path / "rows.arrow"), rows.schema) as writer:
        writer.write_table(rows)
    table = read_table(tmp_path / "rows.arrow")
    assert table.frame["clock"].tolist()[:2] == ["00:00:00.000000001", "00:00:01.000000001"]
    assert "when (date, 2 values)" in " ".join(learn_recipe(table.frame, TableEncoder()).sentences)
    table.add(tmp_path / "back.arrow", pd.DataFrame({"new": [0, 1, 1]}))
    with pa.OSFile(str(tmp_path / "back.arrow")) as file:
        assert pa.ipc.open_file(file).read_all().drop_columns(["new"]).equals(rows)
    pq.write_table(rows.select(["clock", "x"]), tmp_path / "rows.parquet")
    assert read_table(tmp_path / "rows.parquet").frame["clock"].isna().tolist() == [False, False, True]


def test_a_column_that_cannot_be_read_is_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    huge = pa.array([2**31 - 1, 1], pa.int32()).cast(pa.date32())
    rows = pa.table({"x": [1.0, 2.0], "odd date": huge})
    with pa.ipc.new_file(str(tmp_path / "rows.arrow"), rows.schema) as writer:
        writer.write_table(rows)
    with pytest.raises(InputError, match=r"rows\.arrow has a column 'odd date' of type 'date32"):
        read_table(tmp_path / "rows.arrow")
