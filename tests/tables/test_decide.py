from __future__ import annotations

import inspect
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from altclust.base.errors import InputError
from altclust.tables import Recipe, learn_recipe
from altclust.tables.values import labels, numbers, readable

N = 60


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "": [str(i) for i in range(N)],
            "customer_id": rng.permutation(10**6)[:N].astype(str),
            "income": rng.normal(50, 9, N).round(1).astype(str),
            "height": [f"{h:.1f}".replace(".", ",") for h in rng.normal(170, 9, N)],
            "city": rng.choice(["Graz", "Linz", "Wien"], N),
            "member": rng.choice(["yes", "no"], N),
            "flag": rng.choice(["0", "1"], N),
            "note": [f"text {i}" for i in range(N)],
            "same": "x",
            "nothing": "",
        }
    )


def said(recipe):
    return " ".join(recipe.sentences)


def test_measures_are_used_and_the_rest_is_named(frame):
    recipe = learn_recipe(frame.drop(columns=["city", "member", "flag"]))
    X = recipe.apply(frame)
    assert list(X.columns) == ["income", "height"]
    assert X.to_numpy().mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert X.to_numpy().std(axis=0) == pytest.approx([1, 1])
    for reason in (
        "(no name) (row numbers)",
        "customer_id (row numbers)",
        "note (text with 60 values)",
        "same (constant)",
        "nothing (empty)",
    ):
        assert reason in said(recipe)
    assert {decision.argument for decision in recipe.decisions} <= set(inspect.signature(learn_recipe).parameters)


def test_columns_of_a_few_values_count_as_one_column_each(frame):
    X = learn_recipe(frame, encode=True).apply(frame)
    assert list(X.columns) == ["income", "height", "city=Graz", "city=Linz", "city=Wien", "member=yes", "flag"]
    assert X.filter(like="city=").to_numpy().var(axis=0).sum() == pytest.approx(1)


def test_columns_of_a_few_values_are_used_by_themselves_only_as_the_majority(frame):
    assert "flag" in learn_recipe(frame).apply(frame)  # three of them beside two measures
    more = frame.assign(weight=frame["income"].astype(float) ** 2, age=np.sqrt(frame["income"].astype(float)))
    assert list(learn_recipe(more).apply(more).columns) == ["income", "height", "weight", "age"]


def test_what_was_asked_for_is_used(frame):
    recipe = learn_recipe(frame, columns=["c*", "flag"], drop=["customer_id"], encode=False)
    assert list(recipe.apply(frame).columns) == ["city=Graz", "city=Linz", "city=Wien", "flag"]
    assert "customer_id (as asked)" in said(recipe)
    coded = learn_recipe(frame, columns=["flag", "income"], categories=["flag"])
    assert list(coded.apply(frame).columns) == ["income", "flag=1"]


def test_missing_and_foreign_cells_get_the_median(frame):
    frame.loc[[0, 1], "income"] = ["NA", "unknown"]
    frame.loc[2, "income"] = "inf"
    recipe = learn_recipe(frame, columns=["income"], standardise=False)
    assert "Missing cells are replaced by the median: 3 in income." in recipe.sentences
    assert "Cells that are not numbers count as missing: income ('unknown')." in recipe.sentences
    X = recipe.apply(frame)["income"]
    assert X[0] == X[1] == X[2] == X[3:].median()
    with pytest.raises(InputError, match="Column 'income' has 3 missing cells"):
        learn_recipe(frame, impute=False)


def test_a_column_that_is_mostly_missing_is_left_out(frame):
    frame["rare"] = ["", "2", "3", *[""] * (N - 3)]
    assert "rare (97% missing)" in said(learn_recipe(frame, drop=["note", "same", "nothing", "customer_id", ""]))


def test_new_rows_are_read_as_the_old_ones(frame):
    recipe = learn_recipe(frame, encode=True)
    stored = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert stored == recipe
    few = frame.head(3).assign(city=["Graz", "Salzburg", ""])
    X = stored.apply(few)
    assert X["income"].tolist() == pytest.approx(recipe.apply(frame)["income"][:3].tolist())
    assert X["city=Wien"].nunique() == 1  # an unknown city is none of them
    with pytest.raises(InputError, match="no column 'income'"):
        recipe.apply(few.drop(columns="income"))
    with pytest.raises(InputError, match="'income' held numbers in the table that was clustered"):
        recipe.apply(few.assign(income="much"))


def test_nothing_to_cluster_says_why(frame):
    with pytest.raises(InputError, match=r"No column can be clustered: 'note' is left out \(text with 60 values\)"):
        learn_recipe(frame[["note"]])
    with pytest.raises(InputError, match="columns='age' is not a column"):
        learn_recipe(frame, columns=["age"])


def test_typed_columns():
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 3, 7], dtype="Int64"),
            "b": [True, False, True, True],
            "when": pd.date_range("2026", periods=4),
            "c": pd.Categorical(["u", "v", "u", None]),
            "mixed": [1, "2", 3.5, None],
        }
    )
    recipe = learn_recipe(frame, encode=True, standardise=False)
    X = recipe.apply(frame)
    assert list(X.columns) == ["n", "b", "c=v", "mixed"]
    assert X["n"].tolist() == [1, 3, 3, 7]
    assert X["mixed"].tolist() == [1, 2, 3.5, 2]
    assert "when (dates)" in said(recipe)


def test_labels_are_text_and_missing_ones_none():
    assert labels(pd.Series([1.0, np.nan, 2.0])).tolist() == ["1", None, "2"]
    assert labels(pd.Series(["a", " NA ", "", "-", "None"])).tolist() == ["a", None, None, None, None]
    assert labels(pd.Series(pd.Categorical(["x", None]))).tolist() == ["x", None]


def test_readable_keeps_what_describes_rows(frame):
    told = readable(frame)
    assert told["height"].dtype == float
    assert set(told["city"]) == {"Graz", "Linz", "Wien"}
    assert "note" not in told


cell = st.one_of(st.floats(), st.integers(-5, 5), st.booleans(), st.none(), st.text(max_size=4))


@given(st.lists(cell, min_size=1, max_size=30))
@examples(50)
def test_any_cells_are_numbers_or_not(values):
    column = pd.Series(values, dtype=object, name="any")
    found = numbers(column)
    if found is not None:
        assert found[0].shape == (len(values),)
        assert not np.isinf(found[0]).any()
    assert labels(column).map(lambda label: label is None or isinstance(label, str)).all()


@given(st.lists(st.lists(cell, min_size=6, max_size=6), min_size=1, max_size=4), st.booleans())
@examples(25)
def test_any_table_becomes_finite_numbers_or_a_sentence(columns, encode):
    frame = pd.DataFrame({f"c{j}": pd.Series(values, dtype=object) for j, values in enumerate(columns)})
    try:
        X = learn_recipe(frame, encode=encode).apply(frame)
    except InputError as error:
        X, sentence = None, str(error)
    if X is None:
        assert "\n" not in sentence
    else:
        assert np.isfinite(X.to_numpy()).all()


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["950", "1,234", "1,001"], [950, 1234, 1001]),
        (["1,234.50", "12,000,000"], [1234.5, 12e6]),
        (["1,5", "2,25", "3"], [1.5, 2.25, 3]),
        (["1.234,50", "7,5"], [1234.5, 7.5]),
    ],
)
def test_commas_are_thousands_or_decimal_points(cells, values):
    assert numbers(pd.Series(cells))[0].tolist() == values


def test_a_comma_that_was_understood_is_told(frame):
    prices = frame.assign(price=[f"1,{7 * i:03d}" for i in range(N)])
    told = said(learn_recipe(prices))
    assert "Numbers with commas: height ('" in told
    assert "price ('1,000' is 1000)" in told
