"""Columns with few values as they were: views that they reproduce are obvious groups, whatever they became in X."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, InputError, Settings, find
from altclust.datasets import penguins
from altclust.metrics import nmi
from altclust.report import Shown, render, summarise
from altclust.tables import TableEncoder, learn_recipe


@pytest.fixture(scope="module")
def birds():
    return penguins(as_frame=True).drop(columns=["island", "year"])


@pytest.fixture(scope="module")
def found(birds):
    return find(birds, given="species", n_clusters=2)


def is_left_aside(model, name):
    place = list(model.feature_names_in_).index(name)
    rules = [rule.columns for rule in model.tuning_.obvious]
    return (name,) in rules and not model.components_[:, place].any() and model.feature_weights_[place] == 0


def test_the_sexes_are_an_obvious_group_and_not_called_significant(found):
    """A category becomes normal scores, in which its values cannot be seen any more."""
    assert is_left_aside(found.model, "sex")
    tested = found.model.significance_
    assert tested.p_value > 0.05  # the measurements alone find the same two groups again, without a gap
    assert [witness.column for witness in tested.witnesses] == ["sex"]
    assert "Obvious groups that were found but not chosen: nearly " in str(found)
    assert "sex" in found.summary["left_out"]


def test_the_number_of_clusters_may_be_searched_for(birds):
    assert is_left_aside(find(birds, given="species", significance=False).model, "sex")


def test_a_column_that_was_left_aside_is_a_witness_of_what_is_found_without_it(found):
    assert [witness.column for witness in found.model.significance_.witnesses] == ["sex"]
    assert "Also differs in sex, which these clusters do not use" in found.verdict
    assert found.verdict.startswith("Not significant: 2 clusters of ")


def test_rows_are_shown_in_all_columns_after_some_were_left_aside(found):
    assert len(found.model.plot()) == 2
    found.model.plot()[0].figure.clear()


def test_a_fit_without_a_search_knows_them_too_and_says_so(birds):
    recipe = learn_recipe(birds, TableEncoder(), ["species"])
    X, originals = recipe.apply(birds), recipe.originals(birds)
    start = np.eye(X.shape[1])[:, X.columns == "sex"]
    model = KDAC(2, sigma=0.3, random_state=0, settings=Settings(init=start, pull=100.0))
    assert model.fit(X, birds["species"]).fitted_.obvious_group is None
    model.fit(X, birds["species"], originals=originals)
    assert model.significance_.is_obvious
    assert model.significance_.verdict == "Obvious groups: These clusters are nearly groups of the values of sex."
    summary = summarise(model, X, birds["species"], Shown(values=birds))
    assert summary["headline"]["badge"] == "Obvious groups"
    assert summary["significance"]["is_real"] is False
    assert summary["left_out"] is None


def test_a_sample_of_the_rows_knows_them_too(birds):
    recipe = learn_recipe(birds, TableEncoder(), ["species"])
    model = KDAC(2, sample_size=300, random_state=0)
    model.fit(recipe.apply(birds), birds["species"], originals=recipe.originals(birds))
    assert ("sex",) in [rule.columns for rule in model.tuning_.obvious]


def test_originals_are_text(birds):
    originals = learn_recipe(birds, TableEncoder(), ["species"]).originals(birds)
    assert originals.columns.tolist() == ["sex"]
    assert set(originals["sex"]) == {"male", "female", "(missing)"}
    assert learn_recipe(birds[["body_mass_g"]], TableEncoder()).originals(birds) is None


@pytest.mark.parametrize(
    ("originals", "said"),
    [
        (pd.DataFrame({"a": ["x"] * 9}), "originals are not a frame of 30 rows"),
        ([1, 2], "originals are not a frame of 30 rows"),
        (pd.DataFrame({"b": ["x"] * 30}), "originals have a column 'b', which X does not have"),
    ],
)
def test_originals_that_do_not_fit(originals, said):
    X = pd.DataFrame({"a": np.arange(30.0)})
    with pytest.raises(InputError, match=said):
        KDAC(2, sigma=1.0).fit(X, originals=originals)


def test_the_list_of_columns_tells_what_was_left_aside(found, birds):
    told = found.columns.set_index("column")
    assert told.index.tolist() == birds.columns.tolist()
    assert told.loc["sex"].tolist() == ["category", "left aside", "its values are an obvious group"]
    assert told.loc["body_mass_g", "use"] == "numbers"
    page = render(found.summary)
    assert "All 6 columns of the table" in page
    assert "its values are an obvious group" in page


def test_a_split_of_dates_is_an_obvious_group_and_the_search_goes_on():
    """Three seasons have the widest gaps of the table, and tell only when rows were recorded."""
    rng = np.random.default_rng(0)
    days = np.datetime64("2007-11-01") + 365 * rng.integers(0, 3, 240) + rng.integers(0, 40, 240)
    sizes = {name: rng.standard_normal(240) for name in ("length", "width")}
    found = find(pd.DataFrame({"day": days, **sizes, "site": rng.choice(["a", "b"], 240)}), given="site")
    assert is_left_aside(found.model, "day")
    assert not found.model.significance_.is_real


def test_ratings_that_go_together_are_no_obvious_group():
    """Two of six ratings nearly reproduce what all six show: they are not the reason for it."""
    rng = np.random.default_rng(0)
    attitude = rng.integers(0, 2, 300)
    answers = np.clip(np.round(1.3 + 2.4 * attitude[:, None] + rng.normal(0, 0.8, (300, 6))), 1, 5).astype(int)
    table = pd.DataFrame(answers, columns=[f"q{i}" for i in range(6)])
    found = find(table.assign(age=rng.integers(18, 80, 300), region=rng.choice(["a", "b"], 300)), given="region")
    assert nmi(found.labels, attitude) > 0.9
    assert found.model.significance_.is_real
