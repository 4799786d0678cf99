import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kurtosis
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.neighbors import KNeighborsClassifier
from tests.conftest import examples

from altclust.datasets import growth, large_gaussians, moons, small_gaussians, views

MAKERS = [small_gaussians, large_gaussians, moons, growth]


def side(values):
    return (values > 0).astype(int)


def contingency(data):
    return np.histogram2d(data.given, data.alternative, bins=2)[0]


@pytest.mark.parametrize("make", MAKERS)
@given(n=st.integers(4, 300), seed=st.integers(0, 2**32 - 1))
@examples(6)
def test_any_number_of_rows(make, n, seed):
    data = make(n, random_state=seed)
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert data.X.shape == (n, len(data.feature_names))
    assert np.isfinite(data.X).all()
    assert len(set(data.feature_names)) == len(data.feature_names)
    for y in data.labels.values():
        assert y.dtype == np.int64
        assert y.shape == (n,)
    table = contingency(data)
    assert table.sum() == n
    assert table.max() - table.min() <= 1


@pytest.mark.parametrize("make", MAKERS)
def test_the_two_clusterings_are_independent(make):
    data = make(128, random_state=0)
    np.testing.assert_array_equal(contingency(data), np.full((2, 2), 32))


@pytest.mark.parametrize("make", MAKERS)
def test_seeds(make):
    first, again, other = make(40, random_state=3), make(40, random_state=3), make(40, random_state=4)
    np.testing.assert_array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    from_generator = make(40, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(first.X, from_generator.X)


@pytest.mark.parametrize("make", MAKERS)
def test_a_generator_moves_on(make):
    rng = np.random.default_rng(0)
    assert not np.array_equal(make(40, random_state=rng).X, make(40, random_state=rng).X)


@pytest.mark.parametrize("make", MAKERS)
def test_the_global_generator_is_left_alone(make):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    make(40)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_small_gaussians_labels_are_signs():
    data = small_gaussians(400, random_state=0)
    np.testing.assert_array_equal(data.given, side(data.X[:, 0]))
    np.testing.assert_array_equal(data.alternative, side(data.X[:, 1]))


def test_large_gaussians_labels_are_sides_of_a_turned_plane():
    data = large_gaussians(400, random_state=0)
    np.testing.assert_array_equal(data.given, side(data.X[:, 0] + data.X[:, 1]))
    np.testing.assert_array_equal(data.alternative, side(data.X[:, 2]))
    # The plane holds x1 = x2, up to the blobs' own width.
    assert np.std(data.X[:, 0] - data.X[:, 1]) == pytest.approx(np.sqrt(2), rel=0.15)


def test_moons_labels_are_the_gaussians_and_the_nearer_parabola():
    data = moons(400, random_state=0)
    np.testing.assert_array_equal(data.given, side(data.X[:, 2] + data.X[:, 3]))
    t = np.linspace(-2, 2, 400)
    curves = [np.column_stack([t, t**2]), np.column_stack([2 + t, 8 - 1.4 * t**2])]
    distance = [np.min(np.linalg.norm(data.X[:, None, :2] - curve, axis=2), axis=1) for curve in curves]
    np.testing.assert_array_equal(data.alternative, np.argmin(distance, axis=0))


def test_moons_cannot_be_split_by_a_line():
    data = moons(400, random_state=0)
    A = np.column_stack([data.X[:, :2], np.ones(400)])
    plane, *_ = np.linalg.lstsq(A, 2.0 * data.alternative - 1, rcond=None)
    assert np.mean(side(A @ plane) == data.alternative) < 0.98


def test_growth_labels_halve_the_diamond():
    data = growth(400, 8, random_state=0)
    np.testing.assert_array_equal(data.given, side(data.X[:, 0] + data.X[:, 1]))
    np.testing.assert_array_equal(data.alternative, side(data.X[:, 0] - data.X[:, 1]))


@pytest.mark.parametrize(
    ("make", "signal", "half_width"), [(large_gaussians, 3, 20.0), (moons, 4, 10.0)], ids=["large", "moons"]
)
def test_noise_columns(make, signal, half_width):
    few, many = make(400, noise_columns=1, random_state=0), make(400, noise_columns=5, random_state=0)
    assert many.X.shape == (400, signal + 5)
    assert many.feature_names[signal:] == ("noise1", "noise2", "noise3", "noise4", "noise5")
    np.testing.assert_array_equal(few.X, many.X[:, : signal + 1])
    noise = many.X[:, signal:]
    assert np.abs(noise).max() <= half_width
    assert noise.std() == pytest.approx(half_width / np.sqrt(3), rel=0.05)
    correlation = np.corrcoef(np.column_stack([noise, many.given, many.alternative]).T)
    assert np.abs(correlation - np.eye(7)).max() < 0.2


def test_growth_only_appends_columns():
    np.testing.assert_array_equal(growth(64, 10, random_state=1).X, growth(64, 200, random_state=1).X[:, :10])
    assert growth(64, 2).feature_names == ("x1", "x2")
    assert np.abs(growth(64, 200, random_state=1).X[:, 2:]).max() <= 30


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: small_gaussians(3), "n must be at least 4, got 3"),
        (lambda: moons(400, noise_columns=-1), "noise_columns must be at least 0, got -1"),
        (lambda: growth(128, 1), "d must be at least 2, got 1"),
    ],
)
def test_too_small(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_not_whole():
    with pytest.raises(TypeError, match=r"n must be a whole number of at least 4, got 40\.5"):
        large_gaussians(40.5)
    assert small_gaussians(np.int32(8)).X.shape == (8, 2)


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


def test_seeds_of_views():
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
