"""The loaders on the authors' real files."""

from functools import partial

import numpy as np
import pytest

from altclust import datasets
from altclust.datasets.cache import REGISTRY


def side(values):
    return (values > 0).astype(int)


def same_partition(a, b):
    return np.array_equal(a, b) or np.array_equal(a, 1 - b)


def signal_moments(data):
    """Mean and standard deviation of the signal columns in the four groups, in a fixed order."""
    signal = data.X[:, [name.startswith("x") for name in data.feature_names]]
    group = 2 * data.given + data.alternative
    rows = [np.concatenate([signal[group == g].mean(0), signal[group == g].std(0)]) for g in range(4)]
    # Rounded coarsely enough that the noise in a centre does not change its place.
    return np.array(sorted(rows, key=lambda row: np.round(row / 3).tolist()))


@pytest.mark.parametrize("name", REGISTRY)
def test_every_registered_file_is_there_and_sound(authors_files, name):
    assert datasets.fetch(name).is_file()


def test_small_gaussians(authors_files):
    data = datasets.load_small_gaussians()
    assert data.X[0].tolist() == [-2.4677, -2.4912]
    # Blocks of ten rows: (-, -), (+, -), (-, +), (+, +).
    np.testing.assert_array_equal(data.given, np.repeat([0, 1, 0, 1], 10))
    np.testing.assert_array_equal(data.alternative, np.repeat([0, 0, 1, 1], 10))


def test_large_gaussians_200_has_the_two_sides_of_the_plane(authors_files):
    data = datasets.load_large_gaussians(200)
    assert same_partition(data.given, side(data.X[:, 0] + data.X[:, 1]))
    assert same_partition(data.alternative, side(data.X[:, 2]))


def test_large_gaussians_1000_gives_the_exclusive_or(authors_files):
    data = datasets.load_large_gaussians(1000)
    diagonal, height = side(data.X[:, 0] + data.X[:, 1]), side(data.X[:, 2])
    assert same_partition(data.alternative, diagonal)
    assert same_partition(data.given, diagonal ^ height)


@pytest.mark.parametrize("load", [datasets.load_moons, datasets.load_moons_noise])
def test_moons_give_the_gaussians(authors_files, load):
    data = load()
    assert same_partition(data.labels["gaussians"], side(data.X[:, 2] + data.X[:, 3]))
    assert data.given is data.labels["gaussians"]
    first, second = data.X[data.alternative == 0], data.X[data.alternative == 1]
    assert np.abs(first[:, 1] - first[:, 0] ** 2).max() < 1.5
    assert np.abs(second[:, 1] - (8 - 1.4 * (second[:, 0] - 2) ** 2)).max() < 1.5


def test_faces(authors_files):
    data = datasets.load_faces()
    assert list(data.labels) == ["identity", "pose"]
    assert np.bincount(data.labels["pose"]).tolist() == [157, 155, 156, 156]
    np.testing.assert_allclose(data.X.std(axis=0), 1, atol=1e-5)


def test_webkb_files_describe_the_same_pages(authors_files):
    reduced, counts = datasets.load_webkb(139), datasets.load_webkb(500)
    for data in (reduced, counts):
        assert np.bincount(data.given).tolist() == [226, 252, 255, 308]
        assert np.bincount(data.alternative).tolist() == [244, 153, 86, 558]
    assert counts.X.dtype == np.float64
    assert not (counts.X % 1).any()
    assert counts.X.min() == 0


@pytest.mark.parametrize("colours", [256, 106])
def test_flower_rebuilds_the_picture(authors_files, colours):
    data = datasets.load_flower(colours)
    assert data.image.shape == (256, 350, 3)
    assert data.image.dtype == np.uint8
    assert data.pixel_rows.dtype == np.int64
    np.testing.assert_array_equal(data.X[data.pixel_rows], data.image)
    assert len(np.unique(data.X, axis=0)) == colours
    assert data.given is None
    assert data.alternative is None


def test_growth_files_share_their_geometry(authors_files):
    for d in (64, 1024):
        data = datasets.load_growth(d)
        table = np.histogram2d(data.given, data.alternative, bins=2)[0]
        np.testing.assert_array_equal(table, np.full((2, 2), 32))


@pytest.mark.parametrize(
    ("load", "generate", "tolerance"),
    [
        (datasets.load_small_gaussians, partial(datasets.small_gaussians, 4000), 0.1),
        (datasets.load_large_gaussians, partial(datasets.large_gaussians, 4000), 0.5),
        (datasets.load_moons, partial(datasets.moons, 4000), 0.3),
        (partial(datasets.load_moons_noise, 1000), partial(datasets.moons, 4000, 3), 0.3),
        (datasets.load_growth, partial(datasets.growth, 4000, 64), 0.5),
    ],
    ids=["SG", "LG", "Moon", "MoonN", "growth"],
)
def test_generated_sets_resemble_the_files(authors_files, load, generate, tolerance):
    shipped, ours = load(), generate(random_state=0)
    assert shipped.feature_names == ours.feature_names
    np.testing.assert_allclose(signal_moments(shipped), signal_moments(ours), rtol=0, atol=tolerance)
    noise = [name.startswith("noise") for name in ours.feature_names]
    if any(noise):
        assert shipped.X[:, noise].std() == pytest.approx(ours.X[:, noise].std(), rel=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.load_large_gaussians(400), "n must be one of 200, 1000, got 400"),
        (lambda: datasets.load_moons_noise(400), "n must be one of 200, 1000, got 400"),
        (lambda: datasets.load_webkb(501), "columns must be one of 139, 500, got 501"),
        (lambda: datasets.load_flower(3), "colours must be one of 256, 106, got 3"),
        (lambda: datasets.load_growth(65), "d must be one of 64, .*, 4096, got 65"),
    ],
)
def test_sizes_that_do_not_exist(call, message):
    with pytest.raises(ValueError, match=message):
        call()
