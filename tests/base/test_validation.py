"""Bad input: one sentence that names the argument, the value and the remedy."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from tests.conftest import kdac

from altclust import KDAC, InputError, Settings
from altclust.base.errors import sentence
from altclust.base.known import read_given
from altclust.base.sklearn_compat import InvalidParameterError

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 3))
given = rng.integers(0, 2, 40)


def with_entry(value):
    bad = X.copy()
    bad[3, 1] = value
    return bad


BAD = {
    "nan": ((with_entry(np.nan), given), {}, r"X has NaN in column 1 \(1 of 40 rows\): fill it in"),
    "infinity": ((with_entry(np.inf), given), {}, r"X has infinity in column 1 .*: fill it in"),
    "fewer rows than clusters": (
        (X, given),
        {"n_clusters": 41},
        "^n_clusters=41 is more than the 40 rows: ask for fewer",
    ),
    "one given cluster": ((X, np.zeros(40)), {}, r"given has 1 cluster\(s\) .* pass at least two"),
    "no known label": ((X, np.full(40, -1)), {}, r"given has 0 cluster\(s\)"),
    "wrong length": ((X, given[:-1]), {}, "given has 39 labels for 40 rows: pass one label for each row"),
    "identifiers": ((X, np.arange(40)), {}, "given has 40 distinct values in 40 rows: that is an identifier"),
    "cube of labels": ((X, np.zeros((40, 2, 2))), {}, "given has 3 dimensions"),
    "lists as labels": ((X, [[1], [1, 2]] * 20), {}, r"given has \[1\] as a label: pass one string or number per row"),
    "all rows equal": ((np.ones((40, 3)), given), {}, "X has 40 equal rows"),
    "sigma": ((X, given), {"sigma": 0.0}, '^sigma=0.0 is not allowed: pass a number above 0 or "auto".$'),
    "negative weight": (
        (X, given),
        {"novelty_weight": -1},
        r'^novelty_weight=-1 is not allowed: pass a number from 0 to 1e\+09 or "auto".$',
    ),
    "too many directions": (
        (X, given),
        {"n_components": 4},
        r"^n_components=4 is more than the 3 column\(s\): ask for at most 3",
    ),
    "sparse rows that are equal": ((sparse.csr_matrix(np.ones((40, 3))), given), {}, "X has 40 equal rows"),
    "sparse rows with NaN": ((sparse.csr_matrix(X * np.nan), given), {}, "X has NaN, infinity or values beyond"),
    "complex sparse rows": ((sparse.csr_matrix(X + 1j), given), {}, "X is a sparse matrix of complex128"),
    "sparse rows and a start": (
        (sparse.csr_matrix(X), given),
        {"init": np.eye(3)},
        "init must be left out for a sparse X, which is clustered in its leading principal directions",
    ),
    "sparse labels": ((X, sparse.eye(40)), {}, "given is a sparse matrix"),
    "complex": ((X + 1j, given), {}, "Complex data not supported"),
    "overflow": ((X * 1e200, given), {}, "powers overflow: rescale"),
    "underflow": ((X * 1e-200, given), {}, "powers underflow: rescale"),
    "start of wrong shape": (
        (X, given),
        {"init": np.eye(4)},
        r"init has shape \(4, 4\): pass an array of shape \(3, q\)",
    ),
    "text as start": ((X, given), {"init": [["a"], ["b"], ["c"]]}, "init is not an array of numbers"),
    "start against q": ((X, given), {"init": np.eye(3), "n_components": 2}, "init has 3 columns but n_components=2"),
    "dependent start": ((X, given), {"init": np.ones((3, 2))}, "init has NaN, infinity or dependent columns"),
    "sigma beyond reach": ((X, given), {"sigma": 1e-200}, "^sigma=1e-200 does not fit rows that spread over"),
    "sigma too wide": ((X, given), {"sigma": 1e200}, r"^sigma=1e\+200 does not fit rows that spread over"),
    "huge weight": (
        (X, given),
        {"novelty_weight": 1e300},
        r"^novelty_weight=1e\+300 is not allowed: pass a number from 0",
    ),
    "signs as labels": ((X, np.where(given, 1, -1)), {}, "-1 count as unknown"),
    "unknown solver": ((X, given), {"solver": "magic"}, "^solver='magic' is not allowed: pass .*\"ism\""),
    "a function as solver": ((X, given), {"solver": print}, "is not a solver: pass a name, or a dataclass"),
    "one row": ((X[:1], None), {}, r"minimum of 2 is required"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_a_sentence(case):
    arguments, params, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        kdac(**({"n_clusters": 2} | params)).fit(*arguments)


def test_an_error_separates_its_argument_from_the_sentence():
    with pytest.raises(InputError) as caught:
        KDAC(41).fit(X, given)
    error = pickle.loads(pickle.dumps(caught.value))  # as it comes back from another process
    assert str(error) == "n_clusters=41 is more than the 40 rows: ask for fewer clusters."
    assert (error.argument, error.value) == ("n_clusters", "41")
    assert sentence(error, "--clusters") == "--clusters 41 is more than the 40 rows: ask for fewer clusters."


@pytest.mark.parametrize(
    "params", [{"n_clusters": -1}, {"sample_size": 99}, {"n_jobs": 0}, {"callback": 3}, {"tol": "x"}]
)
def test_a_wrong_parameter_is_named_in_our_own_words(params):
    with pytest.raises(InvalidParameterError) as caught:
        KDAC(**params).fit(X, given)
    ((name, value),) = params.items()
    assert isinstance(caught.value, InputError)
    assert str(caught.value).startswith(f"{name}={value!r} is not allowed: pass ")
    assert "parameter of" not in str(caught.value)
    assert "instance" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(KDAC()._parameter_constraints))
def test_every_parameter_says_what_it_takes(name):
    with pytest.raises(InputError, match=rf"^{name}=.* is not allowed: pass .+\.$"):
        KDAC(**{name: object()}).fit(X, given)


def test_the_values_of_an_option_are_listed():
    with pytest.raises(InputError, match=r"^whitening=0\.3 is not allowed: pass 0 or 0\.5 or 1 or None\.$"):
        KDAC(2, settings=Settings(whitening=0.3)).fit(X, given)


def test_fewer_distinct_rows_than_clusters():
    few = np.arange(40)[:, None] % 3 * np.array([1.0, 2.0])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        KDAC(5, sigma=1.0, random_state=0).fit(few)
    said = [str(warning.message) for warning in found]
    sentence = "n_clusters=5 leaves 2 cluster(s) empty, because many rows are equal: ask for fewer clusters."
    assert said.count(sentence) == 1
    assert not any("distinct clusters" in text for text in said)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_columns_are_named(frame):
    table = frame({"age": [1.0, 2.0, 3.0, 4.0], "city": ["Bonn", "Rome", "Oslo", "Bonn"]})
    with pytest.raises(InputError, match=r"X has text in column 'city' \(such as 'Bonn'\): drop the column or encode"):
        KDAC(2).fit(table)


def test_other_columns_that_are_no_numbers_are_named():
    table = pd.DataFrame({"age": [1.0, 2.0], "when": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    with pytest.raises(InputError, match=r"X has a Timestamp in column 'when' \(such as '2020-01-01"):
        KDAC(2).fit(table)


def test_nan_in_a_frame_is_named():
    frame = pd.DataFrame(with_entry(np.nan), columns=["a", "b", "c"])
    with pytest.raises(InputError, match="X has NaN in column 'b'"):
        KDAC(2).fit(frame, given)


def test_constant_columns_warn_and_get_no_weight():
    table = np.column_stack([X, np.full(40, 7.3)])
    with pytest.warns(UserWarning, match=r"1 constant column\(s\) \(3\)"):
        model = KDAC(2, random_state=0).fit(table, given)
    assert model.feature_weights_[3] == pytest.approx(0, abs=1e-12)
    assert np.allclose(model.components_[:, 3], 0, atol=1e-8)


def test_more_directions_than_the_rows_span():
    table = np.column_stack([X[:, 0], 2 * X[:, 0], X[:, 1]])
    with pytest.warns(UserWarning, match=r"^n_components=3 is more than the 2 directions that the rows span"):
        model = KDAC(2, n_components=3, random_state=0).fit(table, given)
    assert model.components_.shape == (2, 3)


def codes(labels, n=4):
    return [c.tolist() for c in read_given(labels, n, "clusterings").clusterings]


def test_labels_of_every_kind():
    assert codes(["a", "b", "a", "c"]) == [[0, 1, 0, 2]]
    assert codes([1.5, 2.5, np.nan, 1.5]) == [[0, 1, -1, 0]]
    assert codes(np.array([3, -1, 5, 3])) == [[0, -1, 1, 0]]
    assert codes(["x", None, "y", "-1"]) == [[0, -1, 1, 2]]
    assert codes([True, False, True, True]) == [[0, 1, 0, 0]]
    assert codes(pd.Series(["a", None, "b", "b"], dtype="category")) == [[0, -1, 1, 1]]
    assert codes(pd.Series([1, pd.NA, 2, 2], dtype="Int64")) == [[0, -1, 1, 1]]
    assert codes(pl.Series(["a", None, "b", "b"])) == [[0, -1, 1, 1]]
    assert codes(pd.DataFrame({"a": [1, 1, 2, 2], "b": list("xyxy")})) == [[0, 0, 1, 1], [0, 1, 0, 1]]
    assert codes(pl.DataFrame({"a": [1, 1, 2, 2], "b": list("xyxy")})) == [[0, 0, 1, 1], [0, 1, 0, 1]]
    assert codes([[1, "x"], [1, "y"], [2, "x"], [2, None]]) == [[0, 0, 1, 1], [0, 1, 0, -1]]
    assert codes(None) == []
    assert codes(np.array(["a", "b", "a", "b"]).reshape(-1, 1)) == [[0, 1, 0, 1]]
