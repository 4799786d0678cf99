from __future__ import annotations

import numpy as np
import pytest

from altclust.core.embedding import ROUNDINGS, KernelMap, round_to_labels
from altclust.core.engines import DenseEngine
from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi


def three_blobs(n=120, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    X = 4 * np.array([[0.0, 0], [1, 0], [0, 1]])[truth] + 0.5 * rng.standard_normal((n, 2))
    return X - X.mean(axis=0), truth


@pytest.mark.parametrize("method", ROUNDINGS)
def test_rounding_recovers_blobs_and_centres_agree_with_labels(method):
    X, truth = three_blobs()
    embedding = DenseEngine(X, Gaussian(1.0)).embed(np.eye(2), 3)
    labels, centres = round_to_labels(embedding.U, 3, method, np.random.default_rng(0))
    assert nmi(labels, truth) == pytest.approx(1)
    kernel_map = KernelMap.fit(X, embedding, centres, Gaussian(1.0))
    assert np.array_equal(kernel_map.labels(X), labels)


def test_the_map_extends_u():
    X, _ = three_blobs()
    embedding = DenseEngine(X, Gaussian(1.0)).embed(np.eye(2), 3)
    _, centres = round_to_labels(embedding.U, 3, "kmeans", np.random.default_rng(0))
    kernel_map = KernelMap.fit(X, embedding, centres, Gaussian(1.0))
    assert np.allclose(kernel_map.rows(X), embedding.U, atol=1e-10)
    assert np.allclose(kernel_map.rows(X, block=7), embedding.U, atol=1e-10)
    assert kernel_map.rows(X[:0]).shape == (0, 3)


def test_a_row_far_from_everything_gets_the_label_of_its_nearest_cluster():
    X, _ = three_blobs()
    engine = DenseEngine(X, Gaussian(0.5))
    embedding = engine.embed(np.eye(2), 3)
    labels, centres = round_to_labels(embedding.U, 3, "kmeans", np.random.default_rng(0))
    kernel_map = KernelMap.fit(X, embedding, centres, Gaussian(0.5))
    for i in (0, 1, 2, 3):
        centre = X[labels == labels[i]].mean(axis=0)
        far = 1e4 * centre / np.linalg.norm(centre)
        assert kernel_map.labels(far[None])[0] == labels[np.argmin(np.linalg.norm(X - far, axis=1))]


def test_fewer_landmarks_give_nearly_the_same_map():
    X, _ = three_blobs(400)
    embedding = DenseEngine(X, Gaussian(1.0)).embed(np.eye(2), 3)
    _, centres = round_to_labels(embedding.U, 3, "kmeans", np.random.default_rng(0))
    whole = KernelMap.fit(X, embedding, centres, Gaussian(1.0))
    thin = whole.thinned(X, np.random.default_rng(0))
    assert len(thin.landmarks) < len(whole.landmarks)
    assert np.linalg.norm(thin.rows(X) - embedding.U) <= 0.05 * np.linalg.norm(embedding.U)
    thinned, degrees = (one.from_kernel(one.kernel.between(X, one.landmarks))[1] for one in (thin, whole))
    assert np.median(np.abs(thinned / degrees - 1)) <= 0.02


@pytest.mark.parametrize("scale", [1.0, 1e25, 1e-25])
def test_single_precision_is_kept_as_long_as_its_squares_fit(scale):
    X, _ = three_blobs()
    Z, kernel = scale * X, Gaussian(scale)
    embedding = DenseEngine(Z, kernel).embed(np.eye(2), 3)
    labels, centres = round_to_labels(embedding.U, 3, "kmeans", np.random.default_rng(0))
    found = KernelMap.fit(Z, embedding, centres, kernel)
    single = Z.astype(np.float32)
    assert found.block(single).dtype == (np.float32 if scale == 1.0 else np.float64)
    assert np.array_equal(found.labels(single), labels)
