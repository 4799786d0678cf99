from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, tune
from altclust.search.obvious import few_valued


@pytest.fixture(scope="module")
def frame():
    """Two groups in two columns, and a column of two years whose gap is wider."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, 160)
    columns = {name: 3 * groups + rng.standard_normal(160) for name in ("length", "width")}
    columns |= {"noise": rng.standard_normal(160), "year": rng.integers(2007, 2009, 160).astype(float)}
    frame = pd.DataFrame(columns)
    return (frame - frame.mean()) / frame.std(), rng.integers(0, 2, 160)


def test_few_valued_columns(frame):
    table = frame[0].to_numpy()
    assert few_valued(table, list(frame[0])).columns.tolist() == ["year"]
    assert few_valued(table).columns.tolist() == ["column 3"]
    assert few_valued(table[:, :3]).empty
    assert few_valued(np.where(table > 0, 0.0, table)).shape[1] == 4  # one value in half of the rows


def test_a_column_with_few_values_is_left_aside_and_the_search_goes_on(frame):
    X, given = frame
    tuning = tune(X, given, n_clusters=2)
    assert ("year",) in [rule.columns for rule in tuning.obvious]
    assert np.allclose(tuning.settings.init[3], 0)  # no direction contains the year
    kept = tune(X, given, n_clusters=2, keep_obvious=True)
    assert kept.obvious == ()
    assert not np.allclose(kept.settings.init[3], 0)


def test_a_column_of_a_wide_table_that_was_left_aside_is_in_no_direction():
    rng = np.random.default_rng(0)
    X, groups, flag = rng.standard_normal((200, 206)), rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    X[:, :2] += 6 * groups[:, None]
    X[:, 2:4] = 3.0 * flag[:, None]
    tuning = tune(X, n_clusters=2)
    assert tuning.obvious[0].columns == ("column 2",)
    assert np.all(tuning.settings.init[2] == 0)
    assert np.abs(tuning.settings.init[:2]).min() > 0.5  # the columns that show the groups


def test_coin_flips_are_obvious_groups_and_never_significant(tmp_path):
    rng = np.random.default_rng(0)
    X, given = rng.integers(0, 2, (120, 3)).astype(float), rng.integers(0, 2, 120)
    model = KDAC(2, random_state=0).fit(X, given)
    found = model.significance_
    assert found.is_obvious
    assert not found.is_real
    assert found.verdict.startswith("Obvious groups: These clusters are ")
    model.save(tmp_path / "model.npz")
    assert KDAC.load(tmp_path / "model.npz").significance_.obvious == found.obvious
