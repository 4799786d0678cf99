from __future__ import annotations

import json
import shlex
from datetime import date
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas._libs.parsers import STR_NA_VALUES
from tests.conftest import examples

from altclust.base.errors import InputError
from altclust.tables import Recipe, TableEncoder, read_table
from altclust.tables import learn_recipe as learn
from altclust.tables.column_types import numbers_of
from altclust.tables.known import known_columns
from altclust.tables.readable import readable
from altclust.tables.values import NO_ANSWER, labels

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


def learn_recipe(frame, known=(), **how):
    return learn(frame, TableEncoder(**how), known)


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
        "customer_id (a number for every row)",
        "note (text with 60 values)",
        "same (constant)",
        "nothing (empty)",
    ):
        assert reason in said(recipe)
    assert {decision.argument for decision in recipe.decisions} <= set(TableEncoder().get_params())


def test_every_column_is_listed_once_with_its_type_use_and_reason(frame):
    listed = learn_recipe(frame, known={"member"}, drop=["flag"]).table.set_index("column")
    assert list(listed.index) == list(frame.columns)
    assert listed.loc["city"].tolist() == ["category", "normal scores", "3 values"]
    assert listed.loc["income"].tolist() == ["number", "numbers", "numbers"]
    assert listed.loc["note"].tolist() == ["text", "left out", "text with 60 values"]
    assert listed.loc["flag"].tolist() == ["yes/no", "left out", "as asked"]
    assert listed.loc["member", "use"] == "given"


def test_columns_of_few_values_are_used_alike_whatever_their_type(frame):
    recipe = learn_recipe(frame.assign(year=np.arange(N) % 3 + 2007))
    X = recipe.apply(frame.assign(year=np.arange(N) % 3 + 2007))
    assert list(X.columns) == ["income", "height", "city", "member", "flag", "year"]
    assert X.std().between(0.8, 1.2).all()
    assert (
        "Used by their associations with other columns: city (category, 3 values), member (yes/no, 2 values)"
        in said(recipe)
    )
    without = learn_recipe(frame, encode=False)
    assert list(without.apply(frame).columns) == ["income", "height"]
    assert "city (only 3 values)" in said(without)


def test_one_more_column_does_not_change_how_the_others_are_used(frame):
    rng = np.random.default_rng(1)
    more = frame.assign(weight=frame["income"].astype(float) + rng.normal(0, 4, N), age=rng.gamma(9, 5, N))
    assert set(learn_recipe(frame).names) < set(learn_recipe(more).names)


def test_a_column_of_few_values_has_no_gaps_of_its_own():
    frame = pd.DataFrame({"rating": np.arange(1000) % 2 + 1, "x": np.random.default_rng(0).normal(size=1000)})
    score = np.sort(learn_recipe(frame).apply(frame)["rating"])
    assert np.diff(score[20:-20]).max() < 0.1
    assert abs(np.corrcoef(score, np.sort(np.random.default_rng(1).normal(size=1000)))[0, 1]) > 0.99


def test_associations_between_columns_of_few_values_remain():
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 3, 600)
    names = np.array(["b", "a", "c"])
    frame = pd.DataFrame({f"q{j}": names[(hidden + (rng.random(600) < 0.1)) % 3] for j in range(4)})
    X = learn_recipe(frame).apply(frame)
    assert np.abs(X.corr().to_numpy()[np.triu_indices(4, 1)]).min() > 0.4
    alone = frame.apply(lambda answers: rng.permutation(answers))
    assert np.abs(learn_recipe(alone).apply(alone).corr().to_numpy()[np.triu_indices(4, 1)]).max() < 0.2


def test_what_was_asked_for_is_used(frame):
    recipe = learn_recipe(frame, columns=["c*", "flag"], drop=["customer_id"], encode=False)
    assert [column.name for column in recipe.columns] == ["city", "flag"]
    assert "customer_id (as asked)" in said(recipe)
    assert learn_recipe(frame, columns=["customer_id", "income"]).columns[0].kind == "number"


def test_types_can_be_chosen(frame):
    recipe = learn_recipe(
        frame.assign(zip=[f"{i % 20:05d}" for i in range(N)]), types={"zip": "category", "note": "text"}
    )
    assert {column.name: column.kind for column in recipe.columns}["zip"] == "category"
    assert learn_recipe(frame, types={"flag": "number"}).columns[-1].levels == ()
    for wrong, message in (
        ({"zip": "category"}, "types='zip' is not a column"),
        ({"city": "colour"}, "types='colour' is not a type: choose one of number, ordered"),
        ({"city": "number"}, "types='number' asks for numbers in column 'city', which has others"),
        ({"city": "date"}, "types='date' asks for dates such as 2026-11-16 or 21.09.2020 in column 'city'"),
    ):
        with pytest.raises(InputError, match=message):
            learn_recipe(frame, types=wrong)


def test_missing_categories_are_a_level_of_their_own(frame):
    frame.loc[:19, "city"] = ""
    recipe = learn_recipe(frame)
    assert "Missing cells are a level of their own: 20 in city." in recipe.sentences
    assert set(recipe.columns[2].levels) == {"Graz", "Linz", "Wien", NO_ANSWER}
    codes = recipe.columns[2].read(frame["city"])
    assert len(set(codes[:20])) == 1
    assert not set(codes[:20]) & set(codes[20:])
    assert readable(frame, recipe)["city"].tolist()[0] == NO_ANSWER


def test_columns_that_are_empty_together_have_one_level_for_it():
    rng = np.random.default_rng(0)
    empty, alone = rng.random(600) < 0.4, rng.random(600) < 0.3
    frame = pd.DataFrame({f"q{j}": rng.choice(list("abc"), 600) for j in range(5)})
    frame = frame.mask(np.column_stack([empty, empty, empty, empty, alone]), "")
    frame["note"] = np.where(empty, "", "seen")
    frame["size"] = rng.normal(size=600)
    recipe = learn_recipe(frame)
    assert (
        f"Missing cells are a level of their own: {empty.sum()} in q0 (together with q1, q2, q3, note), "
        f"{alone.sum()} in q4." in recipe.sentences
    )
    assert [NO_ANSWER in column.levels for column in recipe.columns] == [True, False, False, False, True, False]
    listed = recipe.table.set_index("column")
    assert listed.loc["q1", "why"] == "3 values, empty together with q0"
    assert listed.loc["note"].tolist() == ["category", "counted once", "constant, and empty with q0"]
    assert np.abs(recipe.apply(frame).corr().to_numpy()[np.triu_indices(6, 1)]).max() < 0.15
    assert recipe.apply(frame).std().between(0.9, 1.1).all()
    assert Recipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


def test_logarithms_are_proposed_and_taken_on_request(frame):
    frame["price"] = np.exp(np.random.default_rng(0).normal(5, 1.5, N))
    assert "Skewed, so that logarithms may show more: price." in learn_recipe(frame).sentences
    for log in ("auto", ["price"], "price"):
        recipe = learn_recipe(frame, log=log, columns=["price"])
        assert "Logarithms are taken: price." in recipe.sentences
        taken = np.log(frame["price"])
        assert recipe.apply(frame)["price"].to_numpy() == pytest.approx((taken - taken.mean()) / taken.std(ddof=0))
    with pytest.raises(InputError, match="log='income' cannot be taken: the column has values such as -1"):
        learn_recipe(frame.assign(income=np.arange(N) * 1.5 - 1), log=["income"])


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


def test_a_column_with_too_many_words_for_numbers_says_how_many(frame):
    frame.loc[: N // 5 - 1, "income"] = "unknown"
    listed = learn_recipe(frame).table.set_index("column").loc["income"]
    assert listed["use"] == "left out"
    assert listed["why"].endswith(f": {N // 5} of {N} cells are not numbers, such as 'unknown'")
    assert "are not numbers" not in learn_recipe(frame).table.set_index("column").loc["note", "why"]


def test_missing_words_are_told_and_other_words_are_levels(frame):
    frame["city"] = np.resize(["Graz", "Wien", "Linz", "unknown", "none", "?", "n/a", "-", "NULL", "."], N)
    recipe = learn_recipe(frame, columns=["city"])
    assert f"Missing cells are a level of their own: {N // 2} in city." in recipe.sentences
    assert set(recipe.columns[0].levels) == {"Graz", "Wien", "Linz", "unknown", "none", "(missing)"}


def test_a_column_that_is_mostly_missing_is_left_out(frame):
    frame["rare"] = ["", "2", "3", *[""] * (N - 3)]
    assert "rare (97% missing)" in said(learn_recipe(frame, drop=["note", "same", "nothing", "customer_id", ""]))


def test_new_rows_are_read_as_the_old_ones(frame):
    recipe = learn_recipe(frame)
    stored = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert stored == recipe
    X = recipe.apply(frame)
    assert stored.apply(frame.iloc[::-1]).iloc[::-1].to_numpy() == pytest.approx(X.to_numpy())  # wherever a row stands
    few = frame.head(3).assign(city=["Graz", "Salzburg", ""])
    assert stored.apply(few)["income"].tolist() == pytest.approx(X["income"][:3].tolist())
    assert stored.middles(few)["city"].tolist()[1:] == [0, 0]  # an unknown city may be any of them
    assert stored.apply(few)["city"][0] == pytest.approx(X["city"][0]) or frame["city"][0] != "Graz"
    with pytest.raises(InputError, match="no column 'income'"):
        recipe.apply(few.drop(columns="income"))
    with pytest.raises(InputError, match="'income' held numbers in the table that was clustered"):
        recipe.apply(few.assign(income="much"))


def test_dates_of_new_rows_are_read_in_the_order_of_the_old_ones(frame):
    frame["seen"] = [f"{i % 12 + 1}/{i % 28 + 1}/2020" for i in range(N)]
    recipe = learn_recipe(frame)
    assert "Dates read from text: seen ('1/1/2020' is 2020-01-01)." in recipe.sentences
    stored = Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))
    few = frame.iloc[1:2].assign(seen="2/3/2020")
    told = readable(few, stored)["seen"].iloc[0]
    assert told.date() == date(2020, 2, 3)
    assert stored.apply(few)["seen"].iloc[0] < stored.apply(few.assign(seen="3/2/2020"))["seen"].iloc[0]


def test_equal_rows_get_different_scores():
    frame = pd.DataFrame({"a": ["x", "y"] * 30, "b": ["u", "v"] * 30})
    assert not learn_recipe(frame).apply(frame).duplicated().any()


def test_in_the_middle_of_their_levels_equal_rows_are_equal():
    frame = pd.DataFrame({"city": ["Graz", "Wien", "Graz", "Graz", "Wien"] * 8, "size": np.tile(np.arange(20) / 7, 2)})
    recipe = learn_recipe(frame)
    drawn, middle = recipe.apply(frame), recipe.middles(frame)
    assert middle.drop_duplicates().shape == (20, 2)
    assert np.array_equal(drawn["size"], middle["size"])
    assert drawn["city"].nunique() == 40


def test_rows_in_original_units_for_methods_that_count(frame):
    counts = learn_recipe(frame).counts(frame)
    assert counts["income"].tolist() == frame["income"].astype(float).tolist()
    assert counts.filter(like="city=").sum(axis=1).eq(1).all()


def test_nothing_to_cluster_says_why(frame):
    with pytest.raises(InputError, match=r"No column can be clustered: 'note' is left out \(text with 60 values\)"):
        learn_recipe(frame[["note"]])
    letter = "This is a letter, and 'not' a table [of rows]: it has no columns"
    with pytest.raises(InputError) as refused:
        learn_recipe(pd.DataFrame({letter: [f"line {i}" for i in range(N)]}))
    proposed = str(refused.value).rpartition("such as --as ")[2].removesuffix(".")
    (pattern,) = shlex.split(proposed)
    assert pattern.endswith("*=category")
    assert fnmatchcase(letter, pattern.removesuffix("=category"))
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
    recipe = learn_recipe(frame, standardise=False)
    X = recipe.apply(frame)
    assert recipe.table["type"].tolist() == ["number", "yes/no", "date", "category", "number"]
    assert X["n"].tolist() == [1, 3, 3, 7]
    assert X["mixed"].tolist() == [1, 2, 3.5, 2]
    assert X["when"].tolist() == pytest.approx(2026 + np.arange(4) / 365, abs=0.003)


def test_labels_are_text_and_missing_ones_none():
    assert labels(pd.Series([1.0, np.nan, 2.0])).tolist() == ["1", None, "2"]
    assert labels(pd.Series(["a", " NA ", "", "-", None])).tolist() == ["a", None, None, None, None]
    assert labels(pd.Series(["none", "None", "some"])).tolist() == ["none", None, "some"]  # one is an answer
    assert labels(pd.Series(pd.Categorical(["x", None]))).tolist() == ["x", None]


def test_a_file_has_the_same_missing_cells_as_its_pandas_frame(tmp_path):
    words = sorted(STR_NA_VALUES)
    rows = [f"{'none' if i % 3 else word},{word if i % 7 == 0 else i / 8}" for i, word in enumerate(words * 12)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["word,number", *rows]) + "\n")
    ours, theirs = read_table(path).frame, pd.read_csv(path)
    for name in ours.columns:
        assert labels(ours[name]).isna().tolist() == labels(theirs[name]).isna().tolist()
    assert learn_recipe(ours) == learn_recipe(theirs)


def test_identifiers_and_dropped_columns_appear_nowhere(frame):
    frame["order"] = 10_000 + np.cumsum(np.arange(N) % 3 + 1)
    recipe = learn_recipe(frame, drop=["member"])
    assert recipe.table.set_index("column").loc["order", "why"] == "rises evenly with the rows"
    assert {"customer_id", "order", "member", ""} == set(recipe.hidden)
    assert not {"customer_id", "order", "member", ""} & set(readable(frame, recipe))
    assert "order" not in readable(frame)
    chosen = learn_recipe(frame, columns=["income", "order"])
    assert {"order", "city"} <= set(readable(frame, chosen))  # as asked, and beside what was asked for


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
    found = numbers_of(column)
    if found is not None:
        assert found.values.shape == (len(values),)
        assert not np.isinf(found.values).any()
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


def test_numbers_that_were_read_from_text_are_told(frame):
    told = said(learn_recipe(frame.assign(price=[f"${7 * i},{i:03d}.50" for i in range(10, 10 + N)])))
    assert "Used as numbers: income, height, price (money)." in told
    assert "Numbers read from text: height ('" in told
    assert "price ('$70,010.50' is 70010.5)" in told


def test_numbers_that_can_be_read_in_two_ways_are_refused(frame):
    prices = frame.assign(price=[f"{i + 1},{i:03d}" for i in range(N)])
    with pytest.raises(InputError, match=r"decimal is needed to read column 'price', where '1,000' is 1000 or 1, '60,"):
        learn_recipe(prices)
    assert learn_recipe(prices, decimal=".", columns=["price"], standardise=False).apply(prices)["price"][1] == 2001
    assert learn_recipe(prices, decimal=",", columns=["price"], standardise=False).apply(prices)["price"][1] == 2.001
    assert "price" not in learn_recipe(prices, drop=["price"]).names
    with pytest.raises(InputError, match="decimal=';' is not a decimal mark"):
        learn_recipe(prices, decimal=";")


def test_what_columns_are_used_as_is_told_and_a_name_with_brackets_is_a_name():
    frame = pd.DataFrame({"a[1]": [1, 2, 1, 2], "b": [1.5, 2.5, 3.5, 9.5], "c": list("xyxy")})
    listed = learn_recipe(frame, known={"a[1]": "given", "c": "to agree with"}).table.set_index("column")
    assert listed["use"].tolist() == ["given", "numbers", "to agree with"]
    assert known_columns(frame[["a[1]"]], {"a[1]": "number"})["a[1]"].tolist() == [1.0, 2.0, 1.0, 2.0]


def test_logarithms_of_a_column_without_numbers_are_refused(frame):
    with pytest.raises(InputError, match="log='city' has the type category, and only numbers have logarithms"):
        learn_recipe(frame, log=["income", "city"])
    with pytest.raises(InputError, match=r"log='income' is not clustered \(given\)"):
        learn_recipe(frame, known=["income"], log="income")
    with pytest.raises(InputError, match=r"log='income' is not clustered \(left out\)"):
        learn_recipe(frame, drop=["income"], log=["income"])
    assert learn_recipe(frame, log=["*"], known=["city"], drop=["note"]).names  # a pattern asks for no single column


def test_a_name_that_is_no_column_gets_the_nearest_or_the_first_ones(frame):
    for argument in ("columns", "drop", "log"):
        with pytest.raises(InputError, match=rf"{argument}='Heigth' is not a column: did you mean 'height'\?"):
            learn_recipe(frame, **{argument: ["Heigth"]})
    with pytest.raises(InputError, match=r"types='CITY' is not a column: did you mean 'city'\?"):
        learn_recipe(frame, types={"CITY": "category"})
    wide = pd.DataFrame({f"column {i}": [1.0, 2.0] for i in range(9)})
    with pytest.raises(InputError, match=r"the nearest of 9 columns are 'column 0', .*'column 5'\."):
        learn_recipe(wide, drop=["x"])
