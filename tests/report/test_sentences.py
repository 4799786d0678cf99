from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from altclust.report.effects import LARGEST, column_effects, strongest
from altclust.report.sentences import cell, cluster_sentence, describe, listing, rows, share, text, with_others

CODES = np.repeat([0, 1], 50)


def effect(column, codes=CODES, k=2):
    (found,) = column_effects(pd.DataFrame({"column": column}), codes, k)
    return found


def test_means_differ_by_cohens_d():
    noise = np.tile([-1.0, 1.0], 50)
    found = effect(10 + noise + 2 * (CODES == 1))
    assert found.size == pytest.approx(np.array([-2, 2]) / math.sqrt(50 / 49))
    assert found.inside == pytest.approx([10, 12])
    assert found.outside == pytest.approx([12, 10])


def test_shares_differ_by_cohens_h():
    column = ["yes"] * 40 + ["no"] * 10 + ["yes"] * 10 + ["no"] * 40
    found = effect(column)
    assert found.size == pytest.approx(np.full(2, 2 * math.asin(math.sqrt(0.8)) - 2 * math.asin(math.sqrt(0.2))))
    assert found.levels == ["yes", "no"]
    assert found.inside == pytest.approx([0.8, 0.8])
    assert found.outside == pytest.approx([0.2, 0.2])


def test_missing_cells_are_ignored():
    noise = np.tile([-1.0, 1.0], 50)
    whole, gaps = noise + 3 * CODES, noise + 3 * CODES
    gaps = np.concatenate([gaps, [np.nan, np.inf, np.nan]])
    assert effect(gaps, np.append(CODES, [0, 1, 1])).size == pytest.approx(effect(whole).size)
    holes = ["a", "b"] * 25 + ["a"] * 50 + [None, None]
    assert effect(holes, np.append(CODES, [0, 1])).inside == pytest.approx([0.5, 1.0])


def test_far_from_zero_as_near():
    noise = np.tile([-1.0, 1.0], 50) + CODES
    assert effect(1e9 + noise).size == pytest.approx(effect(noise).size, rel=1e-6)


def test_no_spread():
    assert effect(np.full(100, 7.0)).size == pytest.approx([0, 0])
    assert effect(CODES * 3).size == pytest.approx([-LARGEST, LARGEST])


def test_names_and_odd_cells_have_no_effect():
    frame = pd.DataFrame({"id": [f"C{i}" for i in range(100)], "list": [[1]] * 100, "same": ["x"] * 100})
    assert column_effects(frame, CODES, 2) == []


def test_one_cluster_and_an_empty_one():
    assert effect(np.arange(100.0), np.zeros(100, dtype=int), k=2).size == pytest.approx([0, 0])


def test_columns_of_one_name():
    frame = pd.DataFrame(np.column_stack([CODES, -CODES]), columns=["x", "x"])
    assert [f.size[1] for f in column_effects(frame, CODES, 2)] == [LARGEST, -LARGEST]


def test_a_sentence():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [200, 67, 133])
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=400),
            "income": rng.normal(size=400) * 4 + np.where(codes == 2, 52.1, 31.0),
            "age": rng.normal(size=400) * 10 + np.where(codes == 2, 28, 41),
        }
    )
    top = strongest(column_effects(frame, codes, 3), 2, 6)
    sentence = cluster_sentence("cluster 2", 133, 400, [f for f in top if abs(f["effect"]) > 0.2])
    assert sentence == (
        "Cluster 2 (133 rows, 33 %): much higher income, 51.9 (others 31.0); clearly lower age, 29.0 (others 39.8)."
    )


@pytest.mark.parametrize(
    ("size", "words"),
    [(0.3, "slightly higher x"), (0.6, "higher x"), (-0.9, "clearly lower x"), (-1.5, "much lower x")],
)
def test_words_by_size(size, words):
    feature = {"name": "x", "level": None, "effect": size, "comparison": "1 (others 2)"}
    assert describe(feature) == f"{words}, 1 (others 2)"


def test_text_in_words():
    feature = {"name": "region", "level": "north", "effect": 0.9, "comparison": "70 % (others 20 %)"}
    assert describe(feature) == "region is “north” for 70 % (others 20 %)"


def test_nothing_sets_it_apart():
    faint = [{"name": "x", "level": None, "effect": 0.1, "comparison": "1 (others 2)"}]
    said = "Cluster 0 (1 row, 50 %): no single column differs from the other rows."
    assert cluster_sentence("cluster 0", 1, 2, faint) == cluster_sentence("cluster 0", 1, 2, []) == said
    assert cluster_sentence("young savers", 0, 2, []) == "young savers (0 rows, 0 %) is empty."


def test_at_most_three_features():
    many = [{"name": f"x{i}", "level": None, "effect": 1.0, "comparison": "2 (others 1)"} for i in range(6)]
    assert "x2" in cluster_sentence("cluster 0", 5, 9, many)
    assert "x3" not in cluster_sentence("cluster 0", 5, 9, many)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "0"),
        (-0.0001, "-0.000100"),
        (0.5, "0.500"),
        (31, "31.0"),
        (999.96, "1000"),
        (2014.4, "2014"),
        (52134, "52,100"),
        (1234567, "1,230,000"),
        (-52134, "-52,100"),
        (1e15, "1e+15"),
        (1.5e-7, "1.5e-07"),
    ],
)
def test_numbers_as_people_read_them(value, words):
    assert with_others(value, value) == f"{words} (others {words})"


def test_two_numbers_are_told_apart():
    assert with_others(52.1, 31.0) == "52.1 (others 31.0)"
    assert with_others(1000.2, 1000.4) == "1000.2 (others 1000.4)"
    assert with_others(0, 3) == "0.00 (others 3.00)"
    assert with_others(5, 5) == "5.00 (others 5.00)"


def test_cells():
    assert [cell(v) for v in (None, float("nan"), 3, 3.0, 31.0421, 52134.4, 123456.7, True, "a\nb")] == [
        "–",
        "–",
        "3",
        "3",
        "31.04",
        "52,134",
        "123,457",
        "True",
        "a b",
    ]
    assert len(cell("x" * 500)) == 80


def test_small_words():
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
    assert rows(1) == "1 row"
    assert rows(12345) == "12,345 rows"
    assert share(0.004) == "0.4 %"
    assert text(2.0) == "2"


NUMBERS = st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=12, max_size=12)
TEXT = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "<b>", ""])), min_size=12, max_size=12)
ODD = st.lists(st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)), min_size=12, max_size=12)
CONSTANT = st.floats(allow_nan=True).map(lambda v: [v] * 12)


@given(
    columns=st.lists(st.one_of(NUMBERS, TEXT, ODD, CONSTANT), max_size=5),
    codes=st.lists(st.integers(0, 3), min_size=12, max_size=12),
)
@examples(50)
def test_any_frame_has_finite_effects_and_sentences(columns, codes):
    frame = pd.DataFrame({f"column {j}": pd.Series(column) for j, column in enumerate(columns)}, index=range(12))
    effects = column_effects(frame, np.array(codes), 4)
    for cluster in range(4):
        features = strongest(effects, cluster, 6)
        assert all(math.isfinite(f[key]) for f in features for key in ("effect", "inside", "outside"))
        sentence = cluster_sentence(f"cluster {cluster}", codes.count(cluster), 12, features)
        assert sentence.endswith(".")
        assert "nan" not in sentence.replace("column", "")


def test_a_mean_of_zeros_up_to_rounding_is_zero():
    assert with_others(3.89e-16, 0.642) == "0.000 (others 0.642)"
    assert with_others(-2.2e-16, 0.671) == "0.000 (others 0.671)"
    assert with_others(3e-16, 5e-16) == "3e-16 (others 5e-16)"


def test_dates_are_told_as_dates():
    day = pd.Series(pd.to_datetime(["2017-01-01", "2017-01-03", "2020-05-01", "2020-05-03", None]), name="opened")
    effects = column_effects(day.to_frame(), np.array([0, 0, 1, 1, 1]), 2)
    first, second = (strongest(effects, code, 1)[0] for code in (0, 1))
    assert first["comparison"] == "2017-01-02 (others 2020-05-02)"
    assert describe(second).startswith("much later opened, 2020-05-02")
    assert [cell(value) for value in day] == ["2017-01-01", "2017-01-03", "2020-05-01", "2020-05-03", "–"]
    assert cell(pd.Timestamp("2020-05-01 13:45")) == "2020-05-01 13:45"


def test_levels_in_the_same_rows_are_told_once():
    codes = np.repeat([0, 1], 50)
    words = np.where(codes == 1, "no internet", np.resize(["yes", "no"], 100))
    frame = pd.DataFrame({"backup": words, "security": words, "charges": 3.0 * codes + np.resize([0.0, 1.0, 2.0], 100)})
    assert [one["name"] for one in strongest(column_effects(frame, codes, 2), 1, 6)] == ["charges", "backup"]
