"""Views that are made of missing cells."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import altclust
from altclust.base.given import Given
from altclust.search.significance import Significance
from altclust.tables import TableEncoder
from altclust.tables.readable import empty_cells


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((150, 4)), columns=list("abcd")).assign(given=rng.choice(["x", "y"], 150))
    frame.loc[rng.random(150) < 0.4, ["a", "b"]] = np.nan
    frame.loc[rng.random(150) < 0.05, "c"] = np.nan
    return frame


def test_columns_that_are_empty_together_are_one_column(table):
    found = empty_cells(table, TableEncoder().fit(table.drop(columns="given")).recipe_)
    assert list(found) == ["empty cells of a, b", "empty cells of c"]
    assert np.array_equal(found.iloc[:, 0] == "empty", table["a"].isna())


def test_a_view_of_empty_cells_is_told_as_such(table):
    result = altclust.find(table, "given", n_clusters=2, significance=False)
    labels = table["a"].isna().to_numpy().astype(int)
    test = Significance(0.001, 0.001, 0.95, 0.95, 1.0, np.ones(3), 150)
    view = replace(result.model.fitted_, labels=labels, significance=test)
    others = result.study.others(result.model)
    found = view.witnessed(others, Given.nothing(150), np.random.default_rng(0)).significance
    assert not found.is_real
    assert found.verdict == "Obvious groups: These clusters are rows with and without empty cells of a, b."
