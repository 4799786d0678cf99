"""What is known: labels or measurements, and the features of a measurement."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from altclust import InputError, Known
from altclust.base.given import WIDTH, Levels, standardised
from altclust.base.known import is_measured, known_frame, read_given

RNG = np.random.default_rng(0)


def features(given, n):
    (A,) = read_given(given, n).each(np.asarray, np.asarray)
    return A


@given(seed=st.integers(0, 1000), n=st.integers(20, 400), ties=st.booleans())
@examples(20)
def test_features_are_a_factor_of_the_gaussian_kernel(seed, n, ties):
    rng = np.random.default_rng(seed)
    values = rng.lognormal(0, 2, n)
    values = np.ceil(values) if ties else values
    values[0] += 1e3  # at least two
    A = features(Known.measurement(values), n)
    z = standardised(values)
    K = np.exp(-0.5 * ((z[:, None] - z) / WIDTH) ** 2)
    assert abs(np.trace(K - A @ A.T)) <= 1e-3 * n
    assert np.abs(K - A @ A.T).max() < 0.05  # values are rounded to intervals
    assert A.shape[1] <= 30


def test_units_change_nothing_and_outliers_little():
    age = RNG.uniform(20, 80, 200)
    plain, scaled = (features(t, 200) for t in (age, 12 * age + 5))
    assert np.allclose(plain @ plain.T, scaled @ scaled.T, atol=1e-6)
    scores = standardised(np.append(age, 1e9))
    assert scores[:200].std() > 0.4  # not all squeezed into one point


def test_codes_of_other_values_are_those_of_their_interval():
    values = np.arange(100.0)
    levels = Levels.measured(values, cells=16)
    codes = levels.codes(np.array([np.nan, -5.0, 1000.0, 50.2, 50.0]))
    assert codes.tolist()[:3] == [-1, 0, levels.size - 1]
    assert len(levels.table) == len(levels.edges) + 1 == levels.size
    assert codes[3] == codes[4]
    assert (np.diff(levels.codes(values)) >= 0).all()


def test_codes_of_other_labels_are_those_of_equal_ones():
    (column,) = read_given(["b", None, "a", "b"] * 5, 20).levels
    assert column.codes(["a", "b", "c", None]).tolist() == [1, 0, -1, -1]
    (numbers,) = read_given([3, 1, -1, 3] * 5, 20).levels
    assert numbers.codes([1.0, 3, -1, 2, np.nan]).tolist() == [1, 0, -1, -1, -1]
    (kernel,) = Known.kernel(np.eye(20)).read(20).levels
    with pytest.raises(InputError, match="a kernel of the rows of the fit, which says nothing of other rows"):
        kernel.codes([0, 1])


@pytest.mark.parametrize(
    ("values", "measured"),
    [
        (RNG.normal(size=50), True),
        (RNG.integers(18, 80, 300), True),  # ages
        (np.arange(40).repeat(3), False),  # numbered clusters
        (np.arange(100), False),  # an identifier
        (RNG.integers(0, 5, 100), False),
        (RNG.integers(2010, 2025, 100), False),  # years may be labels
        (np.repeat([0.1, 0.2, 0.3], 20), False),
    ],
)
def test_what_counts_as_a_measurement(values, measured):
    assert is_measured(np.asarray(values, dtype=float)) is measured


def test_a_frame_of_labels_and_measurements():
    frame = pd.DataFrame({"site": list("ab") * 30, "age": RNG.normal(size=60), "year": [2019, 2020, 2021] * 20})
    frame.loc[3, "age"] = np.nan
    found = read_given(frame, 60)
    assert str(found) == "site: 2 clusters, age: a measurement, year: 3 clusters"
    assert str(found.measurements) == "age: a measurement"
    assert len(found.clusterings) == 2
    site, age, _ = found.each(np.asarray, np.asarray)
    assert np.array_equal(site, np.arange(60) % 2)
    assert np.isnan(age[3]).all()
    assert np.isfinite(np.delete(age, 3, axis=0)).all()
    stated = [Known.measurement(frame["year"]), frame["site"], Known.labels(frame["age"].fillna(0))]
    assert [one.kind for one in read_given(stated, 60).levels] == ["measurement", "labels", "labels"]
    assert list(known_frame(stated).columns) == ["year", "site", "age"]


def test_kernels_and_distances():
    Z = RNG.normal(size=(50, 2))
    D = np.linalg.norm(Z[:, None] - Z, axis=2)
    linear = features(Known.kernel(Z @ Z.T), 50)
    assert np.allclose(linear @ linear.T, Z @ Z.T, atol=1e-8)
    close = features(Known.distances(D), 50)
    width = np.median(D[np.triu_indices(50, 1)]) / 2
    assert np.abs(close @ close.T - np.exp(-0.5 * (D / width) ** 2)).max() < 0.5
    assert known_frame(Known.distances(D)) is None


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (Known.kernel(np.eye(3)), "shape \\(3, 3\\) for 10 rows"),
        (Known.kernel(np.triu(np.ones((10, 10)))), "not finite and symmetric"),
        (Known.distances(-np.ones((10, 10))), "negative distances"),
        (Known.kernel([["a"] * 10] * 10), "not an array of numbers"),
        (Known.measurement(list("abcdefghij")), "is not a column of numbers: pass it as labels"),
        (Known.measurement(np.r_[np.inf, np.arange(9)]), "infinity"),
        (Known.measurement(np.ones(10)), "no two different numbers"),
        (Known.measurement(np.arange(9)), "9 labels for 10 rows"),
        (list("abcdefghij"), "1 distinct|10 cluster"),
    ],
)
def test_mistakes_are_told(known, told):
    if isinstance(known, list):
        assert [one.kind for one in read_given(known, 10).levels] == ["labels"]
        return
    with pytest.raises(InputError, match=told):
        read_given(known, 10)
