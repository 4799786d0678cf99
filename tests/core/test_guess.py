"""What is given about a row, guessed from the row: what it adds is removed as if it were known."""

from __future__ import annotations

import numpy as np
import pytest

from altclust import InputError
from altclust.base.given import Given
from altclust.base.known import read_given
from altclust.core.coordinates import Coordinates
from altclust.core.guess import Guess
from altclust.core.metrics import nmi
from altclust.data.rows import ArrayRows
from altclust.data.sums import given_effects
from altclust.datasets import views


def centred(n=300, clusters=(3, 2), **kwargs):
    data = views(n, ("blobs",) * len(clusters), clusters, random_state=0, **kwargs)
    return data.X - data.X.mean(axis=0), list(data.labels.values())


def guessed(X, labels):
    """The rows without what guessed clusters add to them."""
    given = Given.from_codes(*labels)
    effects = given_effects(ArrayRows(X, given), np.zeros(X.shape[1]))
    guess = Guess.fit(X, given, np.zeros_like(X))
    return Coordinates(np.zeros(X.shape[1]), tuple(effects), (False,) * len(labels), guess)(X)


def left_of(X, labels):
    return Given.from_codes(*labels).subtracted_from(X)


@pytest.mark.parametrize("clusters", [(2, 2), (3, 2), (5, 2)])
def test_rows_lose_what_the_regression_explains(clusters):
    X, labels = centred(clusters=clusters)
    left, wanted = guessed(X, labels[:1]), left_of(X, labels[:1])
    right = np.isclose(left, wanted, atol=1e-8).all(axis=1)  # where the discriminant is
    assert right.mean() >= 0.99
    assert not np.isclose(X, wanted, atol=1e-8).all(axis=1).any()


def test_several_given_clusterings_that_are_correlated():
    X, labels = centred(clusters=(2, 2, 2), echo=0.7)
    assert 0.1 < nmi(labels[0], labels[1]) < 0.9
    assert np.allclose(guessed(X, labels[:2]), left_of(X, labels[:2]), atol=1e-8)


def test_the_same_clustering_twice_is_subtracted_once():
    X, labels = centred()
    assert np.allclose(guessed(X, [labels[0], labels[0]]), guessed(X, labels[:1]), atol=1e-8)


def test_rows_with_unknown_labels_have_their_cluster_guessed():
    X, labels = centred()
    partly = np.where(np.arange(len(X)) % 3 == 0, -1, labels[0])
    left, known = guessed(X, [partly]), partly >= 0
    assert np.allclose(left[known], left_of(X, [partly])[known], atol=1e-8)
    for code in range(3):
        hidden = (partly < 0) & (labels[0] == code)
        assert np.abs(left[hidden, :2].mean(axis=0)).max() < 0.2
        assert np.abs(X[hidden, :2].mean(axis=0)).max() > 0.5


def test_more_columns_than_rows():
    X, labels = centred(n=60)
    wide = np.hstack([X, 0.1 * np.random.default_rng(0).standard_normal((60, 200))])
    wide -= wide.mean(axis=0)
    right = np.isclose(guessed(wide, labels[:1]), left_of(wide, labels[:1]), atol=1e-8).all(axis=1)
    assert right.mean() >= 0.95


def test_the_effect_of_a_measurement_is_predicted():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 600)
    X = rng.normal(size=(600, 4)) + 15 * (t**2)[:, None] * rng.normal(size=4)
    X -= X.mean(axis=0)
    given = read_given(t, 600)
    effect = X - given.subtracted_from(X)
    guess = Guess.fit(X[:400], given.take(slice(400)), effect[:400])
    assert np.sum((guess.effect(X[400:], []) - effect[400:]) ** 2) < 0.05 * np.sum(effect[400:] ** 2)


def test_too_few_labels_to_guess_are_told():
    X, _ = centred(n=30)
    codes = np.full(30, -1)
    codes[:3] = [0, 1, 2]
    with pytest.raises(InputError, match=r"3 known labels of 3 clusters: too few .* pass Settings\(subtract_given"):
        Guess.fit(X, Given.from_codes(codes), np.zeros_like(X))
