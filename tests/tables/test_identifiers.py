from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from altclust.base.errors import InputError
from altclust.tables.column_types import column_type
from altclust.tables.known import known_columns, measured

N = 400
rng = np.random.default_rng(0)
steps = np.cumsum(rng.geometric(0.3, N))
IDENTIFIERS = {
    "rownames": np.arange(1, N + 1),
    "shuffled": rng.permutation(N) + 1000,
    "order numbers with gaps": 10_248 + steps,
    "a sample of order numbers": np.sort(rng.choice(50_000, N, replace=False)),
    "two series of numbers": np.concatenate([np.arange(1000, 1200), np.arange(9000, 9200)]),
    "shuffled order numbers": rng.permutation(10_248 + steps),
    "a few of them twice": np.concatenate([rng.permutation(np.arange(1, N - 9)), np.arange(1, 11)]),
    "with a missing one": np.where(np.arange(N) == 7, np.nan, np.arange(N) + 1),
    "every tenth": 10 * rng.permutation(N),
    "subjects in blocks": np.arange(300, 340).repeat(10),
    "blocks, some shorter": np.delete(np.arange(1, 51).repeat(8), [9, 90, 130]),
    "birds, each seen twice": np.random.default_rng(1).permutation(np.arange(N // 2).repeat(2)),
    "two to four visits": np.random.default_rng(1).permutation(np.arange(500).repeat(np.resize([2, 3, 4], 500))),
    "subject_id": rng.integers(1, 40, N),
    "customerID": rng.integers(1, 5000, N),
    "InvoiceNo": rng.integers(1, 200, N),
    "house number": rng.integers(1, 200, N),
    "Subject": rng.integers(300, 340, N),
    "customer": np.random.default_rng(1).integers(1, 250, N),
}
MEASUREMENTS = {
    "price": np.exp(rng.normal(7, 0.8, N)).round(),
    "rounded price": 50 * np.exp(rng.normal(7, 0.8, N)).round(),
    "population": np.exp(rng.normal(12, 2, N)).round(),
    "population, falling": -np.sort(-np.exp(rng.normal(12, 2, N)).round()),
    "population, rising": np.sort(np.exp(rng.normal(12, 2, N)).round()),
    "price, rising": np.sort(np.exp(rng.normal(7, 0.8, N)).round()),
    "age": rng.integers(18, 90, N),
    "age, rising": np.sort(rng.integers(18, 90, N)),
    "count": rng.poisson(30, N),
    "count, rising": np.sort(rng.poisson(300, N)),
    "year": rng.integers(1950, 2020, N),
    "year, rising": np.sort(rng.integers(1950, 2020, N)),
    "year of a panel": np.arange(1980, 2020).repeat(10),
    "hour": np.resize(np.arange(24), N),
    "day of the year": np.resize(np.arange(1, 101), N),
    "month of a trend": np.sort(rng.choice(35, N, p=np.arange(1, 36) / 630)),
    "large": rng.integers(0, 10**9, N),
    "age_of_patient": np.random.default_rng(1).integers(18, 90, N),
    "heat_index": rng.integers(60, 110, N),
    "height": np.sort(rng.normal(170, 9, N)).round(1),
    "grid": np.linspace(0, 1, N),
    "number": rng.integers(1, 200, N),
    "number of rooms": rng.integers(1, 200, N),
    "GrossDinNorm": rng.integers(1, 200, N),
    "paid": rng.integers(1, 10_000, N),
}


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_numbers_of_rows_are_identifiers_whatever_their_name(name):
    for cells in (
        pd.Series(IDENTIFIERS[name], name=name),
        pd.Series(IDENTIFIERS[name], name=name).astype("Int64").astype(str),
    ):
        assert column_type(cells).kind == "identifier"


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_measurements_are_not(name):
    assert column_type(pd.Series(MEASUREMENTS[name], name=name)).kind == "number"


def test_uniform_measurements_are_rarely_taken_for_identifiers():
    drawn = [
        pd.Series(rng.integers(0, size, n), name="x")
        for n in (20, 60, 400)
        for size in (n, 10 * n, n * n // 8)
        for _ in range(60)
    ]
    assert sum(column_type(cells).kind == "identifier" for cells in drawn) <= 3


def test_names_of_subjects_are_identifiers_also_where_they_repeat():
    cells = pd.Series([f"S{i % 40:02d}" for i in range(N)])
    assert column_type(cells.rename("subject")).kind == "identifier"
    assert column_type(cells.rename("town")).kind == "text"
    assert column_type(pd.Series(["a", "b"] * 200, name="patient")).kind == "category"


def test_sorted_labels_are_a_clustering_and_identifiers_are_not():
    assert measured(known_columns(pd.DataFrame({"class": np.arange(15).repeat(24)}))) == []
    for name in ("order numbers with gaps", "shuffled order numbers", "subject_id"):
        with pytest.raises(InputError, match=r"is an identifier \("):
            known_columns(pd.DataFrame({name: IDENTIFIERS[name]}))


def test_given_columns_with_very_many_values_are_to_be_confirmed():
    towns = pd.Series([f"town {i % 150}" for i in range(N)])
    with pytest.raises(InputError) as refused:
        known_columns(pd.DataFrame({"home town": towns}))
    assert str(refused.value) == (
        "given='home town' has 150 different values, which are many for a clustering: leave it out, or confirm that "
        "it is a clustering by its type category (--as 'home town=category')."
    )
    assert known_columns(pd.DataFrame({"home town": towns}), {"home town": "category"})["home town"].nunique() == 150
    with pytest.raises(InputError, match=r"a clustering by its type category \(--as subject=category\)"):
        known_columns(pd.DataFrame({"subject": [f"S{i % 40}" for i in range(N)]}))
    with pytest.raises(InputError, match=r"a measurement by its type number \(--as row=number\)"):
        known_columns(pd.DataFrame({"row": np.arange(N)}))
    with pytest.raises(InputError, match=r"is an identifier \(a name for every row\): leave it out\."):
        known_columns(pd.DataFrame({"id": [f"S{i}" for i in range(N)]}))
