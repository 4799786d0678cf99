from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from altclust.base.errors import InputError
from altclust.tables.column_types import column_type
from altclust.tables.dates import read_dates
from altclust.tables.known import as_known, known_columns, measured
from altclust.tables.numerals import read_numerals

N = 60
COLUMNS = {
    "height": (np.linspace(150, 190, N), "number"),
    "rating": (np.arange(N) % 5 + 1, "ordered"),
    "year": (np.arange(N) % 3 + 2007, "ordered"),
    "screen": (np.array(["14", "15", "17"] * 20), "ordered"),
    "grade": (np.array(["1.0", "1.5", "2.0"] * 20), "ordered"),
    "island": (np.array(["Biscoe", "Dream", "none"] * 20), "category"),
    "flag": (np.arange(N) % 2, "yes/no"),
    "member": (np.array(["Yes", "No"] * 30), "yes/no"),
    "bool": (np.arange(N) % 2 == 0, "yes/no"),
    "sex": (np.array(["male", "female"] * 30), "category"),
    "joined": (np.array([f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(N)]), "date"),
    "seen": (np.array([f"2024-03-{i % 28 + 1:02d}T{i % 24:02d}:15:00Z" for i in range(N)]), "date"),
    "flown": (np.array([f"{i % 12 + 1}/{i % 28 + 1}/1990 {i % 24}:00:00" for i in range(N)]), "date"),
    "born": (np.array([f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2020" for i in range(N)]), "date"),
    "due": (np.array([f"2020/{i % 12 + 1}/{i % 28 + 1}" for i in range(N)]), "date"),
    "unclear": (np.array([f"{i % 12 + 1}/{i % 9 + 1}/2020" for i in range(N)]), "text"),
    "price": (np.array([f"${3 * i},{i:03d}.26" for i in range(1, N + 1)]), "money"),
    "euro": (np.array([f"{i},5 €" for i in range(N)]), "money"),
    "share": (np.array([f"{i}%" for i in range(N)]), "percent"),
    "zip": (np.arange(N) * 7 + 10_000, "text"),
    "post_code": (np.array([f"0{i:04d}" for i in range(N)]), "text"),
    "code": (np.array(["007", "008", "009"] * 20), "category"),
    "customer_id": (np.random.default_rng(0).permutation(10**6)[:N], "identifier"),
    "number": (np.arange(N) + 5, "identifier"),
    "comment": (np.array([f"it was day {i}" for i in range(N)]), "text"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_type_of_a_column(name):
    cells, kind = COLUMNS[name]
    for column in (pd.Series(cells, name=name), pd.Series(cells, name=name).astype(str)):
        assert column_type(column).kind == kind


@pytest.mark.parametrize("name", ["rating", "year", "screen", "grade", "island", "flag", "member", "sex"])
def test_numbers_and_words_with_few_values_are_both_levels(name):
    typed = column_type(pd.Series(COLUMNS[name][0], name=name))
    assert len(typed.levels) == typed.distinct > 1


def test_a_zip_code_can_be_a_category():
    cells = pd.Series(COLUMNS["zip"][0], name="zip")
    assert column_type(cells, wanted="category").levels[0] == "10000"
    assert column_type(cells, wanted="number").numerals.values[0] == 10_000


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["950", "1,234", "1,001"], [950, 1234, 1001]),
        (["1,234.50", "12,000,000"], [1234.5, 12e6]),
        (["1,5", "2,25", "3"], [1.5, 2.25, 3]),
        (["1.234,50", "7,5"], [1234.5, 7.5]),
        (["1.234,50", "999,00", "2.000"], [1234.5, 999, 2000]),
        (["0,125", "0,250"], [0.125, 0.25]),
        (["0.125", "2.000"], [0.125, 2]),
        (["1.234.567", "2.000"], [1234567, 2000]),
        (["$3,788", "$1,200"], [3788, 1200]),
        (["(1,200.50)", "-$3", "−2"], [-1200.5, -3, -2]),
        (["1 234 567", "12"], [1234567, 12]),
        (["1'234.5", "1e3"], [1234.5, 1000]),
        (["€ 1.263", "€ 764"], [1263, 764]),
        (["764 €", "12.500 €"], [764, 12500]),
        (["€ 1.263", "€ 764", "€ 0.50"], [1.263, 764, 0.5]),
        (["$3.459", "$3.519"], [3.459, 3.519]),
    ],
)
def test_the_decimal_mark_is_found_from_all_cells(cells, values):
    found = read_numerals(pd.Series(cells))
    assert found.values.tolist() == values
    assert not found.doubt


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["1,234.50", "999.5", "1,5"], ["'1,234.50'", "'1,5'"]),
        (["1,234", "2,500"], ["'1,234' is 1234 or 1.234", "'2,500' is 2500 or 2.5"]),
        (["1,234", "2.000"], ["'1,234' is 1234 or 1.234", "'2.000' is 2 or 2000"]),
        (["2.000", "950", "1.500"], ["'2.000' beside '950' is 2 or 2000"]),
        ([*(f"{i // 1000}.{i % 1000:03d}" for i in range(1001, 3000)), "950"], ["'1.001' beside '950'"]),
        (["1 000", "1.263", "764"], ["'1.263' beside '764' is 1.263 or 1263"]),
        (["€ 1.263", "€ 2.500"], ["'€ 1.263' is 1.263 or 1263"]),
    ],
)
def test_what_can_be_read_in_two_ways_is_told_with_two_cells(cells, told):
    doubt = read_numerals(pd.Series(cells)).doubt
    assert all(part in doubt for part in told)
    assert not read_numerals(pd.Series(cells), ",").doubt


@pytest.mark.parametrize(
    ("cells", "days"),
    [
        (["9/30/1990 0:00:00", "1/2/1991"], ["1990-09-30", "1991-01-02"]),
        (["30/9/1990", "1/2/1991"], ["1990-09-30", "1991-02-01"]),
        (["1.2.2020", "3.4.2021 14:30"], ["2020-02-01", "2021-04-03 14:30"]),
        (["2020/9/3", "2020-09-30", "2020.12.1"], ["2020-09-03", "2020-09-30", "2020-12-01"]),
        (["9/30/1990 12:30 AM", "9/30/1990 12:30 pm"], ["1990-09-30 00:30", "1990-09-30 12:30"]),
        (["2026-11-16T10:00:00+02:00", "2026-11-16"], ["2026-11-16 08:00", "2026-11-16"]),
        (["13-1-2020", "30-2-2020", "x"], ["2020-01-13", None, None]),
    ],
)
def test_dates_are_read_in_the_order_that_all_cells_tell(cells, days):
    expected = read_dates(pd.to_datetime(pd.Series(days), format="ISO8601")).values
    assert read_dates(pd.Series(cells)).values == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("cells", [["3/4/2020", "12/11/2020"], ["30/4/2020", "4/30/2020"], ["10.0.0.1", "1.2"]])
def test_dates_in_which_day_and_month_are_not_told_apart_are_not_read(cells):
    assert read_dates(pd.Series(cells), least=0.9) is None
    with pytest.raises(InputError, match="asks for dates such as 2026-11-16"):
        column_type(pd.Series(cells, name="when"), wanted="date")


def test_a_text_of_unclear_dates_says_why():
    assert column_type(pd.Series(COLUMNS["unclear"][0], name="unclear")).why == (
        "text with 36 values: dates such as '1/1/2020' do not tell which is the day and which the month"
    )


@pytest.mark.parametrize("cells", [["a", "b"], ["10.0.0.1", "192.168.1.1"], ["1,2,3", "4,5,6"], ["$", "€"]])
def test_what_is_not_a_number(cells):
    assert read_numerals(pd.Series(cells)) is None


def test_a_known_column_is_a_clustering_or_a_measurement():
    mass = pd.DataFrame({"mass": np.arange(94).repeat(4) * 25.0 + 2700})
    assert measured(known_columns(mass)) == ["mass"]
    assert known_columns(mass, {"m*": "category"})["mass"].nunique() == 94
    assert measured(known_columns(pd.DataFrame({"label": np.arange(50).repeat(4)}))) == []
    years = pd.DataFrame({"year": [2019, 2020, 2021] * 4, "site": list("ab") * 6})
    assert as_known(known_columns(years)) is not None
    kinds = [one.kind for one in as_known(known_columns(years, {"year": "number"}))]
    assert kinds == ["measurement", "auto"]
    with pytest.raises(InputError, match="not a column of numbers"):
        known_columns(years, {"site": "number"})
