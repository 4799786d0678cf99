from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from altclust.tables import TableEncoder, learn_recipe
from altclust.tables.readable import readable

N = 730
rng = np.random.default_rng(0)
days = pd.date_range("2016-01-01", periods=N)


def counted_once(frame, known=(), **how):
    recipe = learn_recipe(frame, TableEncoder(**how), known)
    listed = recipe.table.set_index("column")
    copies = listed.index[listed["use"] == "counted once"]
    assert not set(copies) & {*recipe.names, *readable(frame, recipe)}
    assert set(copies) <= set(recipe.hidden)
    told = [one for one in recipe.sentences if one.startswith("Counted once with another column: ")]
    assert len(told) == bool(len(copies))
    return {name: listed.loc[name, "why"] for name in copies}


def test_the_parts_of_a_date_count_once():
    frame = pd.DataFrame(
        {
            "year": days.year,
            "month": days.month,
            "name of the month": days.month_name(),
            "day": days.day,
            "weekday": days.day_name(),
            "date": days.strftime("%d.%m.%Y"),
            "day of the year": days.day_of_year,
            "days since": np.arange(N) * 1.5,
            "rain": rng.gamma(1, 3, N),
        }
    )
    assert counted_once(frame) == {
        "year": "the year of date",
        "month": "the month of date",
        "name of the month": "the month of date",
        "day": "the day of date",
        "weekday": "the weekday of date",
        "day of the year": "the day of the year of date",
        "days since": "a near copy of date",
    }
    assert counted_once(frame.drop(columns="date")).keys() == {"name of the month", "day of the year"}


def test_numbers_with_the_same_ranks_count_once():
    price = np.exp(rng.normal(3, 1, N))
    frame = pd.DataFrame(
        {
            "net": price,
            "gross": 1.19 * price,
            "log": np.log(price),
            "rounded": [f"{value:.1f} €".replace(".", ",") for value in price],
            "falling": -price + rng.normal(0, 0.01, N),
            "related": price * np.exp(rng.normal(0, 0.3, N)),
            "other": rng.normal(size=N),
        }
    )
    assert counted_once(frame) == dict.fromkeys(["gross", "log", "rounded", "falling"], "a near copy of net")
    assert counted_once(frame.assign(net="x")).keys() == {"log", "rounded", "falling"}
    assert counted_once(frame, types={"gross": "number"}).keys() == {"log", "rounded", "falling"}
    assert counted_once(frame, columns=["net", "gross", "other"]).keys() == {"log", "rounded", "falling"}


def test_codes_and_their_names_count_once():
    code = rng.integers(0, 5, N)
    many = rng.integers(0, 25, N)
    frame = pd.DataFrame(
        {
            "code": code + 1,
            "label": np.array(["red", "green", "blue", "white", "black"])[code],
            "nearly": np.where(np.arange(N) == 3, "?", np.array(list("vwxyz"))[code]),
            "joined": np.array(["warm", "cold", "cold", "none", "none"])[code],
            "department": many * 7,
            "description": np.array([f"department of {i}" for i in range(25)])[many],
            "rare": np.arange(N) % 100 == 0,
            "rare too": np.arange(N) % 100 == 1,
            "size": rng.normal(size=N),
        }
    )
    assert counted_once(frame) == {
        "label": "a near copy of code",
        "nearly": "a near copy of code",
        "description": "a near copy of department",
    }
    assert counted_once(frame, known={"label"}) == {
        "code": "a near copy of label",
        "nearly": "a near copy of label",
        "description": "a near copy of department",
    }


@pytest.mark.parametrize("n", [5, 60, 400])
def test_columns_that_have_nothing_in_common_are_no_copies(n):
    numbers = {f"x{j}": rng.normal(size=n) for j in range(20)}
    words = {f"w{j}": rng.choice(list("abcd"), n, p=[0.9, 0.06, 0.03, 0.01]) for j in range(20)}
    assert counted_once(pd.DataFrame(numbers | words)) == {}
