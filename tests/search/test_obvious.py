"""Columns that reproduce a view are named; others are not."""

import numpy as np
import pandas as pd
import pytest

from altclust.base.given import Given
from altclust.datasets import penguins
from altclust.search.obvious import reproduced_by

N = 200
rng = np.random.default_rng(0)
noise = rng.normal(size=(N, 3))
coins = rng.integers(0, 2, (N, 2))
codes = rng.integers(0, 3, N)
NAMES = ["a", "b", "c", "d", "e"]


def found_in(labels, table):
    return reproduced_by(labels, table, NAMES[: table.shape[1]])


def test_a_column_with_few_values():
    found = found_in(codes, np.column_stack([noise, 2007 + codes]))
    assert found.columns == ("d",)
    assert found.few_valued
    assert found.agreement == 1
    assert found.sentence == "These clusters are the column d." == str(found)


def test_groups_of_values_and_cells_that_are_missing():
    frame = pd.DataFrame({"noise": noise[:, 0], "year": np.where(codes == 2, np.nan, codes)})
    assert reproduced_by(codes == 2, frame).sentence == "These clusters are groups of the values of year."
    assert reproduced_by(codes, frame).sentence == "These clusters are the column year."


def test_a_cross_table_even_where_no_column_alone_tells_anything():
    table = np.column_stack([noise, coins])
    for labels in (2 * coins[:, 0] + coins[:, 1], coins[:, 0] ^ coins[:, 1]):
        found = found_in(labels, table)
        assert found.columns == ("d", "e")
        assert found.few_valued
        assert found.sentence == "These clusters are a cross table of d and e."


def test_a_split_of_a_column_with_many_values_is_a_rule_but_not_a_fact_about_values():
    found = reproduced_by(noise[:, 1] > 0.53, noise)
    assert found.columns == ("column 1",)
    assert not found.few_valued
    at = float(found.rule.removeprefix("a split of column 1 at "))
    assert np.array_equal(noise[:, 1] > at, noise[:, 1] > 0.53)
    three = found_in(np.digitize(noise[:, 1], [-0.5, 0.6]), noise)
    assert three.rule.startswith("a split of b at -0.5 and 0.6")


def test_splits_of_two_columns():
    labels = 2 * (noise[:, 0] > 0) + (noise[:, 2] > 0.5)
    found = found_in(labels, noise)
    assert set(found.columns) == {"a", "c"}
    assert not found.few_valued
    assert found.agreement >= 0.95
    assert found.rule.startswith("a cross table of ")
    assert " at " in found.rule


def test_a_value_in_more_than_a_quarter_of_the_rows_counts_as_few_values():
    amounts = np.where(rng.random(N) < 0.4, 0.0, rng.lognormal(size=N))
    assert found_in(amounts > 0, np.column_stack([noise, amounts])).few_valued


def test_features_of_one_column_of_text_are_one_column():
    colour = rng.integers(0, 5, N)
    features = np.column_stack([noise, np.eye(5)[colour]])
    found = reproduced_by(colour, features, ["a", "b", "c", *(f"colour={level}" for level in "rgbyk")])
    assert found.columns == ("colour",)
    assert found.rule == "the column colour"


def test_text_dates_and_identifiers():
    frame = pd.DataFrame({"id": [f"row {i}" for i in range(N)], "day": pd.date_range("2020-01-01", periods=N)})
    found = reproduced_by(np.arange(N) >= 31, frame)
    assert found.rule == "a split of day at 2020-02-01"
    assert found.few_valued  # it tells when rows were recorded
    assert reproduced_by(codes, frame) is None
    assert reproduced_by(codes, frame.assign(kind=np.array(["x", "y", "z"])[codes])).rule == "the column kind"


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_noise_reproduces_nothing_however_rare_a_cluster_is(share):
    labels = (rng.random(N) < share).astype(int)
    labels[:3] = 1
    assert found_in(labels, np.column_stack([noise, coins])) is None


def test_overlapping_clusters_and_one_cluster_are_not_reproduced():
    data = penguins()
    assert reproduced_by(data.labels["sex"], data.X) is None
    assert reproduced_by(np.zeros(N, dtype=int), noise) is None


def test_nearly_is_told():
    labels = coins[:, 0].copy()
    labels[:6] ^= 1
    found = found_in(labels, np.column_stack([noise, coins]))
    assert 0.95 <= found.agreement < 1
    assert found.sentence.endswith("the column d, with an agreement of 97 %.")


def test_rows_in_no_cluster_are_left_out():
    labels = np.where(rng.random(N) < 0.3, -1, coins[:, 1])
    assert reproduced_by(labels, coins).rule == "column 1"


def test_values_within_given_clusters_are_obvious_as_well():
    """Residuals move the values of a column by the means of the given clusters: a cell may be cut in two by them."""
    rng = np.random.default_rng(0)
    given, a, b = rng.integers(0, 3, 300), rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    table = np.column_stack([a, b, rng.standard_normal(300)])
    labels = np.where((a == 0) & (b == 1) & (given == 2), 4, 2 * a + b)
    assert reproduced_by(labels, table) is None
    found = reproduced_by(labels, table, given=Given.from_codes(given))
    assert found.columns == ("column 0", "column 1")
    assert found.few_valued
    assert found.sentence == "These clusters are a cross table of column 0 and column 1, within the given clusters."
    assert reproduced_by(rng.integers(0, 3, 300), table, given=Given.from_codes(given)) is None


def test_numbers_that_go_together_are_no_obvious_group_unless_one_is_exact():
    wrong = np.array([np.isin(np.arange(N), range(i, N, 50)) for i in range(6)]).T  # two of a hundred rows
    ratings = pd.DataFrame(np.where(wrong, 1 - coins[:, :1], coins[:, :1])).add_prefix("r")
    assert reproduced_by(coins[:, 0], ratings).few_valued
    assert not reproduced_by(coins[:, 0], ratings, beside=ratings).few_valued
    assert reproduced_by(coins[:, 0], ratings[["r0"]], beside=ratings[["r0"]]).few_valued
    assert reproduced_by(coins[:, 0], ratings.astype(str), beside=ratings).few_valued
    exact = ratings.assign(r0=coins[:, 0])
    assert reproduced_by(coins[:, 0], exact, beside=exact).few_valued


def test_a_cross_table_of_several_columns_is_obvious_if_it_is_exact():
    rng = np.random.default_rng(0)
    flips = pd.DataFrame(rng.integers(0, 2, (400, 5)), columns=list("abcde"))
    cells = (4 * flips["a"] + 2 * flips["c"] + flips["d"]).to_numpy()
    found = reproduced_by(cells, flips)
    assert found.columns == ("a", "c", "d")
    assert found.rule == "a cross table of a, c and d"
    assert found.few_valued
    assert reproduced_by(np.where(rng.random(400) < 0.05, 0, cells), flips) is None
    assert reproduced_by(rng.integers(0, 4, 400), flips) is None


def test_a_frequent_value_is_no_obvious_group_where_columns_without_one_show_the_clusters():
    rng = np.random.default_rng(0)
    pressed = np.where(coins[:, 0] == 1, rng.uniform(50, 100, N), 0.0)  # as often 0 as not
    beside = pd.DataFrame({"pressed": pressed, "length": coins[:, 0] * 8 + rng.standard_normal(N)})
    assert reproduced_by(coins[:, 0], beside[["pressed"]]).few_valued
    assert not reproduced_by(coins[:, 0], beside[["pressed"]], beside=beside).few_valued
    noise = beside.assign(length=rng.standard_normal(N))
    assert reproduced_by(coins[:, 0], noise[["pressed"]], beside=noise).few_valued
    twice = beside.assign(length=2 * pressed)  # the same frequent value once more says nothing new
    assert reproduced_by(coins[:, 0], twice[["pressed"]], beside=twice).few_valued
    few = beside.assign(pressed=coins[:, 0])
    assert reproduced_by(coins[:, 0], few[["pressed"]], beside=few).few_valued
