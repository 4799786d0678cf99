from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from altclust import InputError
from altclust.apps.web import uploads as sources
from altclust.tables import read_table


def column(values, n=40):
    return np.resize(np.array(values), n)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"x": column([1.5, 2.5, 3.5]), "region": column(["n", "s"]), "segment": column(["a", "b"])}, ["segment"]),
        ({"x": column([1.5, 2.5, 3.5]), "region": column(["n", "s"])}, ["region"]),
        ({"count": column([1, 2, 3]), "cluster_id": np.arange(40), "true_label": column([0, 1])}, ["true_label"]),
        ({"count": column([1, 2, 3]), "name": [f"n{i}" for i in range(40)]}, []),
        ({"class": ["only"] * 40, "x": np.arange(40) / 3}, []),
    ],
)
def test_the_known_column_is_guessed(columns, expected):
    frame = pd.DataFrame(columns)
    assert sources.guess_given(frame) == expected
    assert sources.guess_given(frame.astype(str)) == expected  # as the cells of a CSV are


@pytest.mark.parametrize("smaller", [{"rows": 2}, {"columns": 1}])
def test_tables_beyond_the_limits_are_refused_in_a_sentence(smaller):
    with pytest.raises(InputError, match=r"people\.csv has 3 rows and 2 columns; the page reads at most"):
        read_table(io.BytesIO(b"a,b\n1,2\n3,4\n5,6\n"), "people.csv", replace(sources.PAGE, **smaller))


@pytest.mark.parametrize("name", sources.EXAMPLES)
def test_every_example_is_a_table_with_something_known(name, tmp_path):
    table = sources.example_table(name)
    assert sources.guess_given(table.frame) == [table.frame.columns[-1]]
    table.add(tmp_path / "t.csv", pd.DataFrame({"new": np.arange(len(table.frame))}))
    assert pd.read_csv(tmp_path / "t.csv")["new"].tolist() == list(range(len(table.frame)))
