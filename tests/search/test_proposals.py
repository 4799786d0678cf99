from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from altclust import Settings
from altclust.base.given import Given
from altclust.core.kernels import Gaussian
from altclust.core.lloyd import best_lloyd
from altclust.core.metrics import nmi
from altclust.core.solvers.grassmann import orthonormal
from altclust.datasets import views
from altclust.search.discriminants import alternate_discriminants
from altclust.search.independent_components import LightTails, independent_directions, light_tailed
from altclust.search.proposals import ALTERNATED, FIXED, SOURCES, Proposal, fit_proposal, numbers_of_clusters, proposals
from altclust.search.short_fits import Placed, short_fit
from altclust.search.spec import SearchSpec


def question(n=100, shapes=("blobs", "blobs"), clusters=(2, 2), seed=0, **kwargs):
    data = views(n, shapes, clusters, random_state=seed)
    return SearchSpec(data.X, Given.from_codes(data.given), Settings(**kwargs)), data


@cache
def trial(source):
    """The trial of two clusters from a source, fitted once for all tests."""
    return fit_proposal(question(n_clusters=2, n_components=2)[0], Proposal(source, 2), 0)


def normalised_spectrum(rows, sigma):
    """All eigenvalues of the centred normalised kernel, largest first, by numpy."""
    K = Gaussian(sigma).gram(rows)
    scale = 1 / np.sqrt(K.sum(axis=1))
    H = np.eye(len(rows)) - 1 / len(rows)
    return np.linalg.eigvalsh(H @ (scale[:, None] * K * scale) @ H)[::-1]


def test_the_spectrum_is_that_of_the_normalised_kernel():
    asked, _ = question(clusters=(2, 3))
    settings = Settings(3, sigma=0.4, degree_floor=0.3)
    W, rng = np.eye(6)[:, 2:4], np.random.default_rng(0)
    found = short_fit(asked, "direct", Placed(asked.X, None), settings, W, rng, rough=False)
    values = normalised_spectrum(asked.X @ found.W, 0.4)
    assert np.allclose(found.spectrum, values[:3], atol=1e-8)


def test_rough_fits_are_close_to_exact_ones():
    asked, data = question(200, clusters=(2, 3))
    placed, settings = Placed(asked.X, None), Settings(3, sigma=1.0, degree_floor=0.3, pull=1.0)
    W = np.eye(6)[:, 2:4]
    rough, exact = (
        short_fit(asked, "direct", placed, settings, W, np.random.default_rng(0), rough=r) for r in (True, False)
    )
    assert nmi(rough.labels, exact.labels) > 0.95
    assert rough.cost == pytest.approx(exact.cost, rel=0.02)
    assert nmi(exact.labels, data.alternative) > 0.95


@pytest.mark.parametrize(("given", "sought", "avoided"), [(0, slice(2, 4), slice(0, 2)), (1, slice(0, 2), slice(2, 4))])
def test_independent_directions_find_the_plane_that_tells_nothing_of_what_is_given(given, sought, avoided):
    """Two directions at random would have 2/8 of their length in each plane of eight columns."""
    found, left = [], []
    for seed in range(4):
        data = views(300, ("blobs", "rings"), (2, 2), noise_columns=4, random_state=seed)
        W = independent_directions(
            data.X, Given.from_codes(data.labels[f"view_{given + 1}"]), 2, np.random.default_rng(0)
        )
        assert np.allclose(W.T @ W, np.eye(2), atol=1e-10)
        found.append(np.sum(W[sought] ** 2) / 2)
        left.append(np.sum(W[avoided] ** 2) / 2)
    assert np.mean(found) > 0.55  # pin
    assert np.mean(left) < 0.15  # pin


def test_proposals_leave_open_only_what_is_open():
    asked, _ = question(320)
    always = set(SOURCES) - {"columns", "kept"}
    shapes = {"components", "thin"}
    for k in numbers_of_clusters(320):
        assert {one.source for one in proposals(asked) if one.n_clusters == k} == (
            always if k <= 3 else always - shapes
        )
    fixed = proposals(replace(asked, fixed=Settings(n_clusters=4)))
    assert set(fixed) == {Proposal(source, 4) for source in always}
    assert proposals(replace(asked, fixed=Settings(n_clusters=4, sigma=1.0))) == [Proposal(FIXED, 4)]

    def left(**fixed):
        return {one.source for one in proposals(replace(asked, fixed=Settings(**fixed)))}

    assert left(subtract_given=True) == {"residual", "centroids", "whitened"}
    assert left(subtract_given=True, whitening=0.0) == {"residual", "centroids"}
    assert left(subtract_given=False) == {"direct", *shapes}
    assert left(whitening=1.0) == {"whitened"}
    assert {one.source for one in proposals(replace(asked, given=Given.nothing(300)))} == always
    few = replace(asked, X=asked.X[:4], given=asked.given.take(slice(4)))
    assert {one.n_clusters for one in proposals(few)} == {2}
    assert {one.source for one in proposals(replace(asked, columns=np.eye(6, 2)))} == always | {"columns"}


@pytest.mark.parametrize("source", ["components", "thin", "residual", "centroids", "direct", "whitened"])
def test_a_source_finds_the_hidden_clusters(source):
    data, found = question()[1], trial(source)
    assert (found.source, found.n_clusters, found.n_components) == (source, 2, 2)
    assert nmi(found.labels, data.alternative) > 0.85
    if found.settings.whitening == 0:
        assert np.allclose(found.W.T @ found.W, np.eye(2), atol=1e-8)
    assert found.smallest == np.bincount(found.labels, minlength=2).min() / len(data.X)
    assert found.overlap == pytest.approx(nmi(found.labels, data.given))


@pytest.mark.parametrize("seed", range(3))
def test_a_smaller_cluster_is_found_as_one_of_more_and_the_others_are_joined(seed):
    """Two clusters of a long cloud have less inertia than the small cluster beside it."""
    rng, codes = np.random.default_rng(seed), np.repeat([0, 1], [240, 60])
    X = np.column_stack([3 * rng.standard_normal(300), rng.standard_normal(300) + 5 * codes])
    X = np.column_stack([X, rng.standard_normal((300, 3))])
    X -= X.mean(axis=0)

    def found(W):
        return nmi(best_lloyd(X @ W, 2, np.random.default_rng(0), 5)[0], codes)

    assert found(np.eye(5)) < 0.1
    assert found(alternate_discriminants(X, 2, np.random.default_rng(0))) > 0.85


def test_numbers_of_clusters_have_rows_for_each():
    assert numbers_of_clusters(400) == [2, 3, 4, 5, 6, 8, 10, 13, 17]
    assert numbers_of_clusters(90) == [2, 3, 4]
    assert numbers_of_clusters(12) == [2]


def test_components_with_light_tails_come_first():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(400), rng.choice([-1.0, 1.0], 400), rng.standard_t(3, 400)])
    found = light_tailed((X - X.mean(axis=0)) @ np.linalg.qr(rng.standard_normal((3, 3)))[0])
    assert found.shape == (400, 3)
    assert np.allclose(found.std(axis=0), 1)
    assert abs(np.corrcoef(found[:, 0], X[:, 1])[0, 1]) > 0.99
    assert np.all(np.diff(np.mean(found**4, axis=0)) >= 0)
    assert light_tailed(np.zeros((50, 3))).shape[0] == 50  # nothing to find, and no error


def test_a_subspace_with_light_tails_is_a_minimum_and_avoids_what_is_given():
    data = views(300, ("moons", "rings"), random_state=6)
    rng, known = np.random.default_rng(0), Given.from_codes(data.given).indicators()
    start = orthonormal(np.eye(6)[:, 2:4] + 0.2 * rng.standard_normal((6, 2)))
    found, tail = LightTails(data.X, known).near(start)
    assert np.linalg.svd(found[2:4])[1].min() > 0.9  # the plane of the rings
    for W in (start, orthonormal(found + 0.1 * rng.standard_normal((6, 2)))):
        assert penalised_tail(data.X, W, data.given) > tail
    assert tail == pytest.approx(penalised_tail(data.X, found, data.given))


def test_a_subspace_with_light_tails_is_never_worse_than_the_start():
    """With heavy tails the steps may go round in circles."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        X, given = rng.standard_t(3, (400, 6)), rng.integers(0, 2, 400)
        X -= X.mean(axis=0)
        start = orthonormal(rng.standard_normal((6, 2)))
        tail = LightTails(X, Given.from_codes(given).indicators()).near(start)[1]
        assert tail <= penalised_tail(X, start, given) + 1e-9


def penalised_tail(X, W, given):
    """The definition: the mean fourth power of the length of whitened rows, and four times what is explained."""
    root = np.linalg.cholesky(X.T @ X / len(X))
    Z, V = X @ np.linalg.inv(root).T, orthonormal(root.T @ W)
    explained = 0.0
    for part in (Z[given == c] for c in np.unique(given)):
        second = part.T @ part / len(part) - np.eye(Z.shape[1])
        explained += len(part) / len(Z) * (np.sum((part.mean(axis=0) @ V) ** 2) + np.sum((second @ V) ** 2))
    return np.mean(np.sum((Z @ V) ** 2, axis=1) ** 2) + 4 * explained


def test_columns_that_stand_out_are_searched_by_themselves():
    asked, data = question(150)
    asked = replace(asked, columns=np.eye(6)[:, 2:5])
    for source in ("columns", "components"):
        found = fit_proposal(asked, Proposal(source, 2), 0)
        assert found.in_columns
        assert np.allclose(found.W[[0, 1, 5]], 0)
        assert nmi(found.labels, data.alternative) > 0.9
    assert not fit_proposal(asked, Proposal("residual", 2), 0).in_columns


def test_thin_shapes_are_sought_in_few_columns_and_in_halves_of_them():
    asked, _ = question(160, n_clusters=2)
    n, d = asked.X.shape
    assert 20 * d <= n < 40 * d
    assert asked.has_few_columns
    assert asked.take(np.arange(n // 2)).has_few_columns  # as the search, whose view is sought again
    wide = replace(asked, X=np.hstack([asked.X, np.random.default_rng(0).standard_normal((n, n // 20 + 1 - d))]))
    assert {one.source for one in proposals(asked)} - {one.source for one in proposals(wide)} == {"thin"}
    thin = fit_proposal(asked, Proposal("thin", 2), 0)
    assert (thin.settings.degree_floor, thin.settings.pull) == (1e-3, 1.0)
    fixed = replace(asked, fixed=Settings(n_clusters=2, degree_floor=0.2, pull=0.5))
    for source in ("thin", "residual"):
        found = fit_proposal(fixed, Proposal(source, 2), 0)
        assert (found.settings.degree_floor, found.settings.pull) == (0.2, 0.5)


@pytest.mark.parametrize("source", [FIXED, ALTERNATED])
@pytest.mark.parametrize("residual", [False, True])
def test_a_fixed_sigma_is_a_single_trial(residual, source):
    asked, _ = question(n_clusters=2, sigma=0.8, subtract_given=residual)
    found = fit_proposal(asked, Proposal(source, 2), 0)
    assert found.sigma == 0.8
    rows = asked.given.subtracted_from(asked.X) if residual else asked.X
    values = normalised_spectrum(rows @ found.W, 0.8)
    assert np.allclose(found.spectrum, values[: len(found.spectrum)], atol=1e-8)


@pytest.mark.parametrize("source", ["components", "residual"])
def test_same_seed_same_trial(source):
    again = fit_proposal(question(n_clusters=2, n_components=2)[0], Proposal(source, 2), 0)
    assert np.array_equal(trial(source).W, again.W)
    assert np.array_equal(trial(source).labels, again.labels)
    assert (trial(source).sigma, trial(source).cost) == (again.sigma, again.cost)
