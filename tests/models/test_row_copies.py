"""A row of weight 2 is two rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.models.test_kdac import MEDIAN, two_views

from altclust import KDAC, InputError, Known
from altclust.core.metrics import nmi
from altclust.models.display import rows_to_show
from altclust.models.row_copies import copies

FIXED = {"n_clusters": 2, "n_components": 2, "sigma": MEDIAN, "random_state": 0}


def test_whole_weights_are_numbers_of_copies():
    assert copies([2, 0, 1.0], 3).tolist() == [0, 0, 2]
    assert copies(np.ones(5, dtype=int), 5).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("scale", [1e-300, 0.37, 1e3])
def test_other_weights_are_scaled_and_their_shares_kept(scale):
    weights = np.random.default_rng(0).gamma(2.0, size=400)
    found = np.bincount(copies(scale * weights, 400), minlength=400)
    assert abs(found.sum() - 2000) <= 1
    assert np.abs(found - 2000 * weights / weights.sum()).max() <= 1.0
    assert np.abs(np.cumsum(found) - np.cumsum(2000 * weights / weights.sum())).max() <= 0.5 + 1e-6


def test_a_very_large_sum_is_scaled_as_well():
    assert len(copies([10**9, 3 * 10**9], 2)) == 10_000


@pytest.mark.parametrize("searched", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_weighted_fit_is_the_fit_of_the_repeated_rows(searched):
    X, known, hidden = two_views()
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    options = {"random_state": 0} if searched else FIXED
    weighted = KDAC(**options).fit(X, known, sample_weight=weights)
    repeated = KDAC(**options).fit(np.repeat(X, weights, axis=0), np.repeat(known, weights))
    for name in ("cost_", "quality_", "overlap_", "components_", "mean_", "feature_weights_", "sigma_"):
        assert np.array_equal(getattr(weighted, name), getattr(repeated, name)), name
    assert np.array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)
    assert np.array_equal(weighted.predict(X), repeated.predict(X))
    assert nmi(weighted.labels_, hidden) > 0.9


def test_the_order_of_weighted_rows_hardly_matters():
    X, known, _ = two_views()
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    order = np.random.default_rng(2).permutation(len(X))
    weighted = KDAC(**FIXED).fit(X[order], known[order], sample_weight=weights[order])
    repeated = KDAC(**FIXED).fit(np.repeat(X, weights, axis=0), np.repeat(known, weights))
    assert weighted.cost_ == pytest.approx(repeated.cost_, rel=repeated.tol)
    assert nmi(weighted.predict(X), repeated.predict(X)) > 0.99


def test_weights_of_one_change_nothing():
    X, known, _ = two_views()
    plain, weighted = KDAC(**FIXED).fit(X, known), KDAC(**FIXED).fit(X, known, sample_weight=np.ones(len(X)))
    assert plain.cost_ == weighted.cost_
    assert np.array_equal(plain.labels_, weighted.labels_)


def test_a_row_of_weight_zero_has_no_influence_and_gets_its_label_by_predict():
    X, known, hidden = two_views()
    weights = np.ones(len(X))
    weights[::5] = 0
    spoiled = X.copy()
    spoiled[0] = 1e6
    model = KDAC(**FIXED).fit(spoiled, known, sample_weight=weights)
    without = KDAC(**FIXED).fit(X[weights > 0], known[weights > 0])
    assert model.cost_ == without.cost_
    assert np.array_equal(model.labels_[::5], model.predict(spoiled[::5]))
    assert nmi(model.labels_[1:], hidden[1:]) > 0.9


def test_what_is_given_keeps_its_names_and_may_be_a_frame_a_measurement_or_a_kernel():
    X, known, _ = two_views()
    weights = np.full(len(X), 2)
    weights[: np.argmax(known == 1)] = 0  # the first label is first seen without weight
    frame = pd.DataFrame({"group": np.array(["b", "a"])[known]}, index=np.arange(len(X)) + 7)
    model = KDAC(**FIXED).fit(pd.DataFrame(X, columns=list("uvwxyz")), frame, sample_weight=weights)
    assert model.feature_names_in_.tolist() == list("uvwxyz")
    shown = rows_to_show(model, model._given)[1]["group"]
    assert np.array_equal(shown, frame["group"][weights > 0])
    for part in (Known.measurement(X[:, 0]), Known.kernel(X[:, :1] @ X[:, :1].T)):
        assert KDAC(**FIXED).fit(X, part, sample_weight=weights).overlap_ < 0.5


def test_copies_are_no_evidence():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    model = KDAC(2, random_state=0).fit(X, sample_weight=np.full(80, 5))
    assert len(model.fitted_.search.X) == 80
    assert model.significance_.p_value > 0.05


@pytest.mark.slow
def test_other_views_of_a_weighted_search_have_a_label_for_every_row():
    X, known, _ = two_views()
    weights = np.arange(len(X)) % 3
    model = KDAC(random_state=0).fit(X, known, sample_weight=weights)
    shown = model.views_
    assert len(shown) > 1
    assert all(view.labels.shape == (len(X),) for view in shown)
    assert all(shown[0].variant(k).labels.shape == (len(X),) for k in shown[0].variants)


def test_sparse_rows_have_weights_too():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((90, 40)) * (rng.random((90, 40)) < 0.2))
    weights = np.arange(90) % 3
    model = KDAC(**FIXED).fit(X, sample_weight=weights)
    repeated = KDAC(**FIXED).fit(X[np.repeat(np.arange(90), weights)])
    assert model.cost_ == repeated.cost_
    assert np.array_equal(model.labels_[weights == 0], model.predict(X[weights == 0]))


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), r"sample_weight has the shape \(3,\) for 120 rows"),
        (2.0, r"sample_weight has the shape \(\) for 120 rows"),
        (np.r_[np.ones(119), -1], "sample_weight has -1 in row 119: pass finite weights of at least 0"),
        (np.r_[np.nan, np.ones(119)], "sample_weight has nan in row 0"),
        (np.r_[np.zeros(119), 1], "sample_weight has fewer than two weights above zero"),
        (["a"] * 120, "sample_weight must be numbers"),
    ],
)
def test_bad_weights_are_refused_in_one_sentence(weights, sentence):
    X, known, _ = two_views()
    assert len(X) == 120
    with pytest.raises(InputError, match=sentence):
        KDAC(**FIXED).fit(X, known, sample_weight=weights)


def test_rows_that_are_not_in_memory_have_no_weights(tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((5, 2)))
    with pytest.raises(InputError, match="sample_weight needs an array, a frame or a sparse matrix in memory"):
        KDAC().fit(tmp_path / "rows.npy", sample_weight=np.ones(5))
