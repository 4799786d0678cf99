import numpy as np
import pytest
from scipy.stats import kurtosis
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.neighbors import KNeighborsClassifier

from altclust.datasets import views


def accuracy(X, labels):
    """Of a neighbour's label, which tells any shape."""
    return KNeighborsClassifier(3).fit(X[::2], labels[::2]).score(X[1::2], labels[1::2])


def test_one_table_several_clusterings():
    data = views(300, ("blobs", "moons", "rings"), (4, 2, 2), noise_columns=3, random_state=0)
    assert data.X.shape == (300, 9)
    assert data.feature_names == ("x1", "y1", "x2", "y2", "x3", "y3", "noise1", "noise2", "noise3")
    assert list(data.labels) == ["view_1", "view_2", "view_3"]
    assert data.given is data.labels["view_1"]
    assert data.alternative is data.labels["view_2"]
    assert [len(np.unique(y)) for y in data.labels.values()] == [4, 2, 2]
    np.testing.assert_allclose(data.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0), 1)


def test_every_view_lives_in_its_own_two_columns():
    data = views(400, ("blobs", "moons", "rings"), random_state=1)
    for i, labels in enumerate(data.labels.values()):
        for j in range(4):
            told = accuracy(data.X[:, 2 * j : 2 * j + 2], labels)
            assert told > 0.95 if i == j else told < 0.7
    first, second, third = data.labels.values()
    assert max(nmi(first, second), nmi(first, third), nmi(second, third)) < 0.05


def test_seeds():
    first, again, other = (views(40, random_state=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.given, again.given)
    assert not np.array_equal(first.X, other.X)


def test_shares_are_the_sizes_of_the_clusters():
    data = views(2000, ("blobs", "moons"), (3, 2), shares=[(0.7, 0.2, 0.1), (0.9, 0.1)], random_state=0)
    np.testing.assert_allclose(np.bincount(data.given) / 2000, (0.7, 0.2, 0.1), atol=0.03)
    np.testing.assert_allclose(np.bincount(data.alternative) / 2000, (0.9, 0.1), atol=0.03)
    assert np.bincount(views(30, shares=[(1, 0, 0), (1, 0, 0)], random_state=0).given).tolist() == [28, 1, 1]


def test_an_echo_makes_views_resemble_each_other():
    told = [nmi(d.given, d.alternative) for d in (views(500, echo=e, random_state=0) for e in (0, 0.5, 1))]
    assert told[0] < 0.05 < told[1] < 0.5
    assert told[2] == pytest.approx(1)


def test_degrees_of_freedom_make_heavy_tails():
    light, heavy = (views(3000, ("blobs",), (1,), degrees_of_freedom=f, random_state=0) for f in (None, 3.0))
    assert abs(kurtosis(light.X[:, 0])) < 0.5
    assert kurtosis(heavy.X[:, 0]) > 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 3}, "n"),
        ({"shapes": ("blobs", "stars")}, "every one must be among blobs, moons, rings"),
        ({"shapes": ()}, "every one must be among"),
        ({"shapes": ("moons",), "clusters": (3,)}, "2 for moons and rings"),
        ({"clusters": (2,)}, "one number per shape"),
    ],
)
def test_mistakes_get_a_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        views(**arguments)
