from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.conftest import NIGHTLY, some

from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi
from altclust.core.problem import remove_given
from altclust.datasets import views
from altclust.search.selection import persistence
from altclust.search.spec import SearchSpec, Spec
from altclust.search.trajectories import (
    CLEAR,
    COOLED,
    FANNED,
    FIRST_CLUSTERS,
    RESIDUAL,
    RESIDUAL_CLUSTERS,
    Trajectory,
    Trial,
    independent_directions,
    run,
    separation,
    short_fit,
    trajectories,
)


def question(n=100, shapes=("blobs", "blobs"), clusters=(2, 2), seed=0, **kwargs):
    data = views(n, shapes, clusters, random_state=seed)
    return SearchSpec(data.X, [data.given], Spec(**kwargs)), data


@cache
def walk(source):
    """The trials of one trajectory of two clusters, walked once for all tests."""
    return run(question(n_clusters=2, n_components=2)[0], Trajectory(source, 2), 0)


def trial(source, stage, labels, k=2):
    spectrum = np.array([0.9, 0.5, 0.4])
    return Trial(source, stage, k, 1.0, 1.0, np.eye(3, 1), np.array(labels), spectrum, 0.0, 0.5, 1.0, -1.0)


def normalised_spectrum(rows, sigma):
    """All eigenvalues of the centred normalised kernel, largest first, by numpy."""
    K = Gaussian(sigma).gram(rows)
    scale = 1 / np.sqrt(K.sum(axis=1))
    H = np.eye(len(rows)) - 1 / len(rows)
    return np.linalg.eigvalsh(H @ (scale[:, None] * K * scale) @ H)[::-1]


def test_separation_is_that_of_the_normalised_kernel():
    asked, _ = question(clusters=(2, 3))
    W = np.eye(6)[:, 2:4]
    found, _ = short_fit(asked, asked.X, "cooled", 0, 3, W, 0.4, np.random.default_rng(0))
    values = normalised_spectrum(asked.X @ found.W, 0.4)
    assert np.allclose(found.spectrum, values[: len(found.spectrum)], atol=1e-8)
    for k in (2, 3, 4):
        wanted = np.log((1 - values[k - 1] + CLEAR) / (1 - values[k - 2] + CLEAR))
        assert separation(found.spectrum, k) == pytest.approx(wanted)
    assert found.suggested == 3
    assert found.separation == separation(found.spectrum, 3) > 1


@pytest.mark.parametrize("k", [0, 1, 4])
def test_separation_of_what_the_spectrum_does_not_reach(k):
    assert separation(np.array([0.9, 0.5, 0.4]), k) == 0


@pytest.mark.parametrize(("given", "sought", "avoided"), [(0, slice(2, 4), slice(0, 2)), (1, slice(0, 2), slice(2, 4))])
def test_independent_directions_find_the_plane_that_tells_nothing_of_what_is_given(given, sought, avoided):
    """Two directions at random would have 2/8 of their length in each plane of eight columns."""
    found, left = [], []
    for seed in range(4):
        data = views(300, ("blobs", "rings"), (2, 2), noise_columns=4, random_state=seed)
        W = independent_directions(data.X, [data.labels[f"view_{given + 1}"]], 2, np.random.default_rng(0))
        assert np.allclose(W.T @ W, np.eye(2), atol=1e-10)
        found.append(np.sum(W[sought] ** 2) / 2)
        left.append(np.sum(W[avoided] ** 2) / 2)
    assert np.mean(found) > 0.55  # pin
    assert np.mean(left) < 0.15  # pin


def test_persistence_is_one_for_identical_neighbours_and_for_a_single_stage():
    same = [trial("cooled", stage, [0, 0, 1, 1]) for stage in range(3)]
    for values in persistence(same):
        assert values == pytest.approx([1, 1, 1])
    for values in persistence(same[:1]):
        assert values == pytest.approx([1])


def test_persistence_compares_neighbours_of_the_same_source_only():
    trials = [
        trial("cooled", 0, [0, 0, 1, 1]),
        trial("cooled", 1, [0, 1, 0, 1]),  # tells nothing of the others
        trial("cooled", 2, [0, 0, 1, 1]),
        trial("cooled", 2, [1, 0, 1, 0]),  # the better match at the same stage counts
        trial("residual", 1, [0, 0, 1, 1]),
    ]
    best, mean = persistence(trials)
    assert best == pytest.approx([0, 1, 0, 1, 1], abs=1e-9)
    assert mean == pytest.approx([0, 0.5, 0, 1, 1], abs=1e-9)


def test_paths_leave_open_only_what_is_open():
    asked, _ = question()
    kinds = [(path.source, path.n_clusters) for path in trajectories(asked)]
    first = [(source, k) for source in ("cooled", "components") for k in FIRST_CLUSTERS]
    assert kinds == first + [("residual", k) for k in RESIDUAL_CLUSTERS]
    fixed = trajectories(replace(asked, fixed=Spec(n_clusters=4)))
    assert fixed == [Trajectory(source, 4) for source in ("cooled", "components", "residual")]
    assert trajectories(replace(asked, fixed=Spec(n_clusters=4, sigma=1.0))) == [Trajectory("fixed", 4)]
    assert {path.source for path in trajectories(replace(asked, fixed=Spec(subtract_given=True)))} == {"residual"}
    assert {path.source for path in trajectories(replace(asked, fixed=Spec(subtract_given=False)))} == {
        "cooled",
        "components",
    }
    assert {path.source for path in trajectories(replace(asked, given=[]))} == {"cooled", "components"}
    few = replace(asked, X=asked.X[:4], given=[asked.given[0][:4]])
    assert max(path.n_clusters for path in trajectories(few)) == 3


@pytest.mark.parametrize(
    ("source", "stages"), [("cooled", COOLED), ("components", len(FANNED)), ("residual", len(RESIDUAL))]
)
def test_a_walk_goes_through_sigma(source, stages):
    data, trials = question()[1], walk(source)
    assert sorted({t.stage for t in trials}) == list(range(stages))
    assert {(t.source, t.n_clusters, t.n_components) for t in trials} == {(source, 2, 2)}
    sigmas = [t.sigma for t in trials][1:]
    assert sigmas == sorted(sigmas, reverse=True)
    assert max(nmi(t.labels, data.alternative) for t in trials) > 0.9
    for t in trials:
        assert np.allclose(t.W.T @ t.W, np.eye(2), atol=1e-8)
        assert t.smallest == np.bincount(t.labels, minlength=2).min() / len(data.X)
        assert t.overlap == pytest.approx(nmi(t.labels, data.given))


def test_an_open_k_is_tried_at_what_the_spectrum_suggests():
    """On the path of one number of clusters; a nightly run goes all paths."""
    asked, data = question(some(120, 200), clusters=(2, 5))
    paths = trajectories(asked) if NIGHTLY else [Trajectory("cooled", FIRST_CLUSTERS[-1])]
    trials = [t for path in paths for t in run(asked, path, 0)]
    assert max(nmi(t.labels, data.alternative) for t in trials if t.n_clusters == 5) > 0.9


@pytest.mark.parametrize("residual", [False, True])
def test_a_fixed_sigma_is_a_single_trial(residual):
    asked, _ = question(n_clusters=2, sigma=0.8, subtract_given=residual)
    (found,) = run(asked, Trajectory("fixed", 2), 0)
    assert found.sigma == 0.8
    rows = remove_given(asked.X, asked.given) if residual else asked.X
    values = normalised_spectrum(rows @ found.W, 0.8)
    assert np.allclose(found.spectrum, values[: len(found.spectrum)], atol=1e-8)


@pytest.mark.parametrize("source", ["cooled", "components", "residual"])
def test_same_seed_same_trials(source):
    again = run(question(n_clusters=2, n_components=2)[0], Trajectory(source, 2), 0)
    for a, b in zip(walk(source), again, strict=True):
        assert np.array_equal(a.W, b.W)
        assert np.array_equal(a.labels, b.labels)
        assert (a.sigma, a.cost) == (b.sigma, b.cost)
