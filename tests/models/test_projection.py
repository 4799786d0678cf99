"""KernelProjection: supervised, unsupervised, and independent of what is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from altclust import InputError, KernelProjection, Known
from altclust.base.known import read_given
from altclust.core.kernels import KERNELS
from altclust.core.metrics import overlap

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 5))


@pytest.mark.filterwarnings("ignore")
def test_follows_the_conventions_of_scikit_learn():
    check_estimator(KernelProjection(), on_skip=None)


@pytest.mark.parametrize(
    "y", [X[:, 1], X[:, 1] ** 2, np.sin(3 * X[:, 1]), (X[:, 1] > 0).astype(int), X[:, 1].argsort().argsort()]
)
def test_the_column_that_a_target_depends_on_is_found(y):
    model = KernelProjection(1).fit(X, y)
    assert abs(model.components_[0, 1]) > 0.9
    assert model.status_ == "converged"
    assert model.certificate_.residual < 1e-2
    assert "local minimum" in model.certificate_.verdict


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel):
    labels = RNG.integers(0, 3, 240)
    moved = X + 4 * np.eye(3, 5)[labels]
    model = KernelProjection(2, kernel=kernel).fit(moved, labels)
    near = KNeighborsClassifier(5).fit(model.transform(moved), labels)
    assert near.score(model.transform(moved), labels) > 0.9
    assert np.allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-8)


def test_what_is_known_is_avoided():
    batch, kind = RNG.integers(0, 2, (2, 240))
    moved = X.copy()
    moved[:, 0] += 4 * batch + 3 * kind  # both move the first column, and kind also the second
    moved[:, 1] += 3 * kind
    plain, free = (
        KernelProjection(1).fit(moved, kind),
        KernelProjection(1, novelty_weight=3).fit(moved, kind, known=batch),
    )
    age = Known.measurement(free.transform(moved).ravel())
    assert overlap(batch, age) < 0.1
    assert overlap(kind, age) > 0.4
    assert abs(free.components_[0, 1]) > abs(plain.components_[0, 1])
    measured = KernelProjection(1, novelty_weight=3).fit(moved, kind, known=pd.DataFrame({"dose": moved[:, 0]}))
    assert abs(measured.components_[0, 0]) < 0.5


def test_unknown_targets_do_not_count():
    y = (X[:, 2] > 0).astype(float)
    some = np.where(RNG.random(240) < 0.5, y, np.nan)
    assert abs(KernelProjection(1).fit(X, some).components_[0, 2]) > 0.9
    assert np.allclose(read_given(some, 240).indicators()[np.isnan(some)], 0)


def test_without_a_target_the_clusters_are_shown():
    labels = RNG.integers(0, 2, 240)
    moved = X + 8 * labels[:, None] * np.eye(1, 5)
    model = KernelProjection(1, random_state=0).fit(moved)
    assert abs(model.components_[0, 0]) > 0.95
    away = KernelProjection(1, random_state=0).fit(moved, known=labels)
    assert abs(away.components_[0, 0]) < 0.3


def test_in_a_pipeline_with_names():
    frame = pd.DataFrame(X, columns=list("abcde"))
    pipe = make_pipeline(KernelProjection(2), KNeighborsClassifier()).fit(frame, X[:, 0] > 0)
    assert pipe.score(frame, X[:, 0] > 0) > 0.9
    model = clone(pipe[0]).set_output(transform="pandas")
    assert list(model.fit_transform(frame, X[:, 0]).columns) == ["kernelprojection0", "kernelprojection1"]


def test_mistakes_are_told():
    with pytest.raises(InputError, match="n_components=0 is not allowed"):
        KernelProjection(0).fit(X)
    with pytest.raises(InputError, match="cluster"):
        KernelProjection().fit(X, np.zeros(240))
    with pytest.raises(InputError, match="for 240 rows"):
        KernelProjection().fit(X, X[:, 0], known=[1, 2])
