"""Shortcuts change the time and not the answer: every fit here is made with one of them switched off, too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import issparse

from altclust import KDAC
from altclust.core import problem, reduced
from altclust.core.engines import DenseEngine
from altclust.core.linalg import eigen
from altclust.core.metrics import nmi
from altclust.core.reduced import ReducedObjective
from altclust.core.solvers import subspace_distance
from altclust.datasets import views
from altclust.search import halves


def table(n=300, noise=3):
    data = views(n, ("blobs", "blobs"), (3, 3), noise_columns=noise, random_state=3)
    return data.X / data.X.std(axis=0), data.given


def without_landmarks(patch, used):
    find = ReducedObjective.find_landmarks

    def none(self, W, rng):
        find(self, W, rng)
        used.append(self.landmarks is not None)
        self.landmarks = None
        return True

    patch.setattr(ReducedObjective, "find_landmarks", none)
    patch.setattr(ReducedObjective, "are_enough", lambda self, W: True)


def without_warm_starts(patch, used):
    follow, embed = reduced.follow_eigenvectors, DenseEngine.embed

    def follow_afresh(apply, whole, n, k, around):
        used.append(around is not None)
        return follow(apply, whole, n, k, None)

    def embed_afresh(self, W, k, start=None):
        used.append(start is not None)
        return embed(self, W, k)

    patch.setattr(reduced, "follow_eigenvectors", follow_afresh)
    patch.setattr(DenseEngine, "embed", embed_afresh)


def without_sparse_products(patch, used):
    near = reduced._near_pairs

    def dense(K):
        used.append(issparse(near(K)))
        return K

    patch.setattr(reduced, "_near_pairs", dense)


def without_single_precision(patch, used):
    in_widths = halves.Carried._in_widths

    def double(self, Z):
        used.append(self.single)
        self.single = False
        return in_widths(self, Z)

    patch.setattr(halves.Carried, "_in_widths", double)


@pytest.mark.parametrize(
    ("off", "settings"),
    [
        pytest.param(without_landmarks, {"sigma": 1.0, "n_components": 2}, id="landmarks"),
        pytest.param(without_warm_starts, {"sigma": 0.3, "n_components": 2}, id="warm starts"),
        pytest.param(without_warm_starts, {"sigma": 1.0, "n_components": 2, "solver": "ism"}, id="warm starts of ISM"),
        pytest.param(
            without_sparse_products, {"sigma": 0.1, "n_components": 2}, id="sparse products", marks=pytest.mark.slow
        ),
        pytest.param(without_single_precision, {}, id="single precision"),
    ],
)
def test_the_answer_is_the_same_without(off, settings, monkeypatch):
    for module in (reduced, eigen):
        monkeypatch.setattr(module, "FEW", 100)  # as if 300 rows were many
    monkeypatch.setattr(reduced, "FEW_PAIRS", 1.0)  # and all kernels sparse
    X, given = table()
    fast = KDAC(3, random_state=0, **settings).fit(X, given)
    used: list[bool] = []
    off(monkeypatch, used)
    slow = KDAC(3, random_state=0, **settings).fit(X, given)
    assert any(used)
    assert nmi(fast.labels_, slow.labels_) == pytest.approx(1.0)
    assert subspace_distance(fast.components_.T, slow.components_.T) < 0.02
    assert fast.cost_ == pytest.approx(slow.cost_, rel=1e-3)


def test_the_answer_is_the_same_without_the_row_space(monkeypatch):
    """Columns that repeat others: directions beyond the row space show nothing."""
    X, given = table()
    X = np.hstack([X, X[:, :4]])
    fast = KDAC(3, sigma=1.0, n_components=2, random_state=0).fit(X, given)
    monkeypatch.setattr(problem, "row_space", lambda X, tolerance=0.0: (X, None))
    slow = KDAC(3, sigma=1.0, n_components=2, random_state=0).fit(X, given)
    assert nmi(fast.labels_, slow.labels_) > 0.95


def test_the_answer_is_the_same_without_a_sample():
    X, given = table(1200)
    settings = {"sigma": 1.0, "n_components": 2, "random_state": 0}
    sampled, whole = (KDAC(3, sample_size=size, **settings).fit(X, given) for size in (400, 3000))
    assert (sampled.sample_size_, whole.sample_size_) == (400, 1200)
    assert nmi(sampled.labels_, whole.labels_) > 0.95
    assert subspace_distance(sampled.components_.T, whole.components_.T) < 0.2
