from __future__ import annotations

import numpy as np
import pytest

from altclust import KDAC
from altclust.core.metrics import nmi
from altclust.core.problem import remove_given
from altclust.datasets import views
from altclust.models.residuals import GivenMeans


def centred(n=300, clusters=(3, 2), **kwargs):
    data = views(n, ("blobs",) * len(clusters), clusters, random_state=0, **kwargs)
    return data.X - data.X.mean(axis=0), list(data.labels.values())


@pytest.mark.parametrize("clusters", [(2, 2), (3, 2), (5, 2)])
def test_training_rows_lose_what_the_regression_explains(clusters):
    X, labels = centred(clusters=clusters)
    left = GivenMeans.fit(X, labels[:1]).remove(X)
    wanted = remove_given(X, labels[:1])
    right = np.isclose(left, wanted, atol=1e-8).all(axis=1)  # where the discriminant is
    assert right.mean() >= 0.99
    assert not np.isclose(X, wanted, atol=1e-8).all(axis=1).any()


def test_several_given_clusterings_that_are_correlated():
    X, labels = centred(clusters=(2, 2, 2), echo=0.7)
    assert 0.1 < nmi(labels[0], labels[1]) < 0.9
    means = GivenMeans.fit(X, labels[:2])
    assert [len(m) for m in means.means] == [2, 2]
    assert np.allclose(means.remove(X), remove_given(X, labels[:2]), atol=1e-8)


def test_the_same_clustering_twice_is_subtracted_once():
    X, labels = centred()
    twice = GivenMeans.fit(X, [labels[0], labels[0]]).remove(X)
    assert np.allclose(twice, GivenMeans.fit(X, labels[:1]).remove(X), atol=1e-8)


def test_rows_with_unknown_labels_have_their_cluster_guessed():
    X, labels = centred()
    partly = np.where(np.arange(len(X)) % 3 == 0, -1, labels[0])
    left = GivenMeans.fit(X, [partly]).remove(X)
    known = partly >= 0
    assert np.allclose(left[known], remove_given(X, [partly])[known], atol=1e-8)
    for code in range(3):
        hidden = (partly < 0) & (labels[0] == code)
        assert np.abs(left[hidden, :2].mean(axis=0)).max() < 0.2
        assert np.abs(X[hidden, :2].mean(axis=0)).max() > 0.5


def test_new_rows_are_treated_like_training_rows():
    data = views(400, ("blobs", "blobs"), (2, 2), random_state=0)
    model = KDAC(2, n_components=2, sigma=1.0, subtract_given=True, random_state=0).fit(data.X[:300], data.given[:300])
    assert model.subtract_given_ is True
    assert np.mean(model.predict(data.X[:300]) == model.labels_) >= 0.99
    assert nmi(model.predict(data.X[300:]), data.alternative[300:]) > 0.9
