"""A mixed table in a scikit-learn pipeline."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import altclust
from altclust import KDAC, InputError, TableEncoder
from altclust.datasets import moons, penguins

# scikit-learn declares these for no estimator: its transformers treat the rows of the fit as they treat new ones.
BY_DESIGN = dict.fromkeys(
    ("check_transformer_general", "check_transformer_data_not_an_array"),
    "columns with few values have no gaps in the rows of the fit, and are the same for equal new rows",
)


@pytest.fixture(scope="module")
def birds() -> pd.DataFrame:
    frame = penguins(as_frame=True)
    return frame.set_axis(frame.index + 1000)


def test_check_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(TableEncoder(), expected_failed_checks=BY_DESIGN, on_fail=None, on_skip=None)
    assert [one["check_name"] for one in results if one["status"] == "failed"] == []
    assert {one["check_name"] for one in results if one["status"] == "xfail"} == set(BY_DESIGN)


def test_parameters_are_those_of_find():
    ours, theirs = inspect.signature(TableEncoder).parameters, inspect.signature(altclust.find).parameters
    assert {name: one.default for name, one in ours.items()} == {name: theirs[name].default for name in ours}


def test_rows_of_the_fit_have_no_gaps_and_new_rows_are_equal_where_they_are(birds):
    encoder = TableEncoder(drop=["species"])
    X = encoder.fit_transform(birds)
    assert X.index.equals(birds.index)
    assert X.columns.tolist() == encoder.get_feature_names_out().tolist() == encoder.recipe_.names
    assert "species" not in X
    pd.testing.assert_frame_equal(X, clone(encoder).fit_transform(birds))
    new = encoder.transform(birds.tail(5))
    assert new.index.equals(birds.index[-5:])
    assert X["island"].nunique() == len(birds)
    assert encoder.transform(birds)["island"].nunique() == birds["island"].nunique()
    numbers = ["bill_length_mm", "body_mass_g"]
    np.testing.assert_allclose(X[numbers].tail(5), new[numbers])
    np.testing.assert_allclose(X[numbers].std(ddof=0), 1)
    twice = encoder.transform(birds.iloc[[0, 0]])
    assert twice.iloc[0].equals(twice.iloc[1])


def test_new_rows_with_new_levels_missing_cells_and_other_columns(birds):
    encoder = TableEncoder(drop=["species"]).fit(birds)
    row = birds.iloc[[0]].assign(island="Elba", body_mass_g=np.nan, more="x")[::-1]
    new = encoder.transform(row[["more", "year", "sex", "body_mass_g", *birds.columns[1:5]]]).iloc[0]
    assert new["island"] == 0
    median = birds["body_mass_g"].median()
    assert new["body_mass_g"] == pytest.approx((median - birds["body_mass_g"].fillna(median).mean()) / spread(birds))


def spread(birds: pd.DataFrame) -> float:
    return birds["body_mass_g"].fillna(birds["body_mass_g"].median()).std(ddof=0)


def test_a_pipeline_of_numbers_finds_what_find_finds():
    data = moons(150, random_state=0)
    frame = pd.DataFrame(data.X, columns=list(data.feature_names))
    found = altclust.find(frame, data.given, n_clusters=2, significance=False)
    views = make_pipeline(TableEncoder(), KDAC(2, random_state=0)).fit(frame, data.given)
    assert np.array_equal(views[-1].labels_, found.labels)
    assert views[-1].feature_names_in_.tolist() == list(frame.columns)
    assert np.array_equal(views.predict(frame.tail(9)), found.predict(frame.tail(9)))


def test_a_pipeline_of_a_mixed_table_labels_new_rows(birds):
    views = make_pipeline(TableEncoder(drop=["species"]), KDAC(2, sigma=1.0, random_state=0))
    views.fit(birds, birds["species"])
    labels = views.predict(birds)
    assert np.mean(labels == views[-1].labels_) > 0.9
    assert np.array_equal(views.predict(birds.tail(9)), labels[-9:])
    assert np.array_equal(pickle.loads(pickle.dumps(views)).predict(birds), labels)
    assert "TableEncoder" in views._repr_html_()


def test_set_output_and_a_column_transformer(birds):
    encoder = TableEncoder().set_output(transform="polars")
    assert isinstance(encoder.fit_transform(birds), pl.DataFrame)
    both = make_column_transformer((TableEncoder(), ["island", "year"])).set_output(transform="pandas")
    assert both.fit_transform(birds).columns.tolist() == ["tableencoder__island", "tableencoder__year"]


def test_tables_of_other_libraries(birds):
    expected = TableEncoder().fit(birds).transform(birds)
    frame = pl.DataFrame({name: [None if pd.isna(one) else one for one in birds[name]] for name in birds})
    np.testing.assert_allclose(TableEncoder().fit(frame).transform(frame), expected)
    as_dict = birds.to_dict("list")
    np.testing.assert_allclose(TableEncoder().fit(as_dict).transform(as_dict), expected)
    array = birds.to_numpy()
    from_array = TableEncoder().fit(array)
    np.testing.assert_allclose(from_array.transform(array), expected)
    assert not hasattr(from_array, "feature_names_in_")
    assert not hasattr(TableEncoder().fit(birds).fit(array), "feature_names_in_")
    assert from_array.get_feature_names_out()[0] == "column_1"


def test_parameters_can_be_compared_and_set():
    assert TableEncoder(drop=["a"]) == TableEncoder(drop=["a"]) != TableEncoder()
    assert clone(TableEncoder(log="auto")).log == "auto"
    assert repr(TableEncoder(encode=False)) == "TableEncoder(encode=False)"
    assert TableEncoder().set_params(impute=False) == TableEncoder(impute=False)


def test_mistakes_get_a_sentence(birds):
    encoder = TableEncoder(drop=["species"])
    for use in (encoder.transform, lambda _: encoder.get_feature_names_out()):
        with pytest.raises(NotFittedError):
            use(birds)
    encoder.fit(birds)
    with pytest.raises(InputError, match="The table has no column 'island'"):
        encoder.transform(birds.drop(columns="island"))
    with pytest.raises(InputError, match="Column 'body_mass_g' held numbers"):
        encoder.transform(birds.assign(body_mass_g="heavy"))
    with pytest.raises(InputError, match=r"input_features differs from the columns of the fit: leave it out\."):
        encoder.get_feature_names_out(["a"])
    with pytest.raises(InputError, match="X has no rows"):
        encoder.transform(birds.head(0))
    with pytest.raises(InputError, match=r"drop='colour' is not a column"):
        TableEncoder(drop=["colour"]).fit(birds)
    with pytest.raises(InputError, match="X has 2 features, but TableEncoder is expecting 3 features as input"):
        TableEncoder().fit(np.eye(9)[:, :3]).transform(np.eye(9)[:, :2])
    with pytest.raises(TypeError, match="Sparse data was passed"):
        encoder.fit(sparse.eye_array(5))
    with pytest.raises(ValueError, match="Reshape your data"):
        encoder.fit(birds["island"].to_numpy())


def test_columns_can_be_one_name_or_none():
    table = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 3)), columns=["ab", "a", "b"])
    assert list(TableEncoder(drop="ab").fit_transform(table)) == ["a", "b"]
    assert list(TableEncoder(columns="a*", drop=None, log=None).fit_transform(table)) == ["ab", "a"]
    assert list(TableEncoder(columns=None).fit_transform(table)) == ["ab", "a", "b"]
