import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from altclust.datasets import growth, large_gaussians, moons, small_gaussians

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
