"""What must not matter: the width of a number, how many threads add it up, the unit it was measured in, the array
library that holds it. And what must not be hidden: a tie.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from tests.conftest import examples, objective_at, random_problem
from threadpoolctl import threadpool_limits

from altclust import KDAC
from altclust.core.certificate import certify
from altclust.core.engines import DenseEngine
from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi
from altclust.core.solvers import ISM, subspace_distance
from altclust.core.solvers.grassmann import orthonormal

FIXED = {"n_clusters": 2, "n_components": 2, "sigma": 3.0, "random_state": 0}


def two_views(n, seed=0, d=5):
    """Rows with one clustering that is known and one that is hidden."""
    rng = np.random.default_rng(seed)
    known, hidden = rng.integers(0, 2, (2, n))
    X = rng.standard_normal((n, d))
    X[:, 0] += 8 * known
    X[:, 1] += 7 * hidden
    return StandardScaler().fit_transform(X) * 3, known


def assert_same_view(one, other, angle):
    assert nmi(one.labels_, other.labels_) == pytest.approx(1.0)  # whatever the numbers of the clusters
    assert subspace_distance(orthonormal(one.components_.T), orthonormal(other.components_.T)) < angle
    assert other.overlap_ == pytest.approx(one.overlap_, abs=1e-12)
    assert other.cost_ == pytest.approx(one.cost_, abs=10 * angle)


@pytest.mark.parametrize("n", [150, 1000])
def test_single_and_double_precision_agree(n):
    X, known = two_views(n)
    double = KDAC(**FIXED).fit(X, known)
    single = KDAC(**FIXED).fit(X.astype(np.float32), known)
    assert_same_view(double, single, 1e-3)
    assert nmi(single.predict(X), double.predict(X.astype(np.float32))) == pytest.approx(1.0)
    assert single.components_.dtype == double.components_.dtype == np.float64


@examples(4)
@given(seed=st.integers(0, 10_000))
def test_single_precision_finds_the_same_in_any_table(seed):
    X, known = two_views(80, seed)
    assert_same_view(KDAC(**FIXED).fit(X, known), KDAC(**FIXED).fit(X.astype(np.float32), known), 1e-2)


@pytest.mark.parametrize("n", [1000, pytest.param(5000, marks=pytest.mark.slow)])
def test_one_and_two_threads_agree(n):
    """With as many rows as linear algebra is split over threads: sums then differ in their last digits."""
    X, known = two_views(n)
    with threadpool_limits(1):
        one = KDAC(**FIXED).fit(X, known)
    with threadpool_limits(2):
        two = KDAC(**FIXED).fit(X, known)
    assert_same_view(one, two, 1e-6)


def test_one_and_two_processes_search_alike():
    X, known = two_views(80)
    one, two = (KDAC(2, n_components=1, n_jobs=jobs, random_state=0).fit(X, known) for jobs in (1, 2))
    assert_same_view(one, two, 1e-12)


@pytest.mark.parametrize(
    ("n", "factor"),
    [
        (100, 1e6),
        *(pytest.param(n, factor, marks=pytest.mark.slow) for n in (200, 4000) for factor in (1e6, 1e-6)),
    ],
)
def test_the_unit_does_not_matter(n, factor):
    """Everything automatic, as users have it: σ goes along, all else stays."""
    X, known = two_views(n)
    plain, scaled = (KDAC(2, random_state=0).fit(rows, known) for rows in (X, factor * X))
    assert_same_view(plain, scaled, 1e-3)
    assert scaled.sigma_ == pytest.approx(factor ** (1 - plain.settings_.whitening) * plain.sigma_, rel=1e-6)
    assert np.allclose(scaled.feature_weights_, plain.feature_weights_, atol=1e-3)
    assert nmi(scaled.predict(factor * X), plain.predict(X)) == pytest.approx(1)  # clusters may have other numbers


@examples(4)
@given(seed=st.integers(0, 10_000), exponent=st.integers(-30, 30))
def test_no_unit_matters(seed, exponent):
    """By powers of two every digit stays the same, so the answer does."""
    X, known = two_views(60, seed)
    factor = 2.0**exponent
    plain, scaled = (KDAC(**FIXED | {"sigma": 3.0 * f}, tol=0.1).fit(f * X, known) for f in (1.0, factor))
    assert np.array_equal(plain.labels_, scaled.labels_)
    assert subspace_distance(plain.components_.T, scaled.components_.T) < 1e-7


def test_torch_searches_as_numpy_does():
    torch = pytest.importorskip("torch")
    X, known = two_views(80)
    model = KDAC(2, n_components=1, random_state=0)
    with threadpool_limits(1):
        theirs = clone(model).fit(torch.asarray(X), torch.asarray(known))
    assert np.array_equal(model.fit(X, known).labels_, theirs.labels_)


def tetrahedron():
    """Four clusters, each as far from every other, without any noise that would prefer two of them."""
    corners = 4.0 * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    around = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)])
    return np.vstack([corner + around for corner in corners])


def test_a_tie_between_clusterings_is_reported():
    """Two clusters of four alike: any pairing is as good, and the eigenvalues say so; four are clear."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fixed = {"n_components": 3, "sigma": 2.0, "solver": "lbfgs", "random_state": 0}
        tied, clear = (KDAC(k, **fixed).fit(tetrahedron()) for k in (2, 4))
    assert tied.certificate_.cluster_eigengap < 1e-6
    assert "one of many equally good embeddings" in tied.certificate_.verdict
    assert clear.certificate_.cluster_eigengap > 0.9
    assert "one of many" not in clear.certificate_.verdict


def test_a_tie_between_directions_is_reported():
    """In the limit of a wide kernel Φ has few eigenvalues that are not zero: a q that cuts between zeros has no gap."""
    problem, engine, _, _ = random_problem(0)
    d = engine.X.shape[1]
    wide = replace(problem, kernel=Gaussian(1e4 * problem.kernel.sigma), n_components=d // 2)
    W = np.eye(d)[:, : d // 2]
    objective = objective_at(wide, DenseEngine(engine.X, wide.kernel, engine.given), W)
    solution = ISM(tol=1e-9)(objective, W)
    certificate = certify(wide, objective.engine, solution.W, objective.gamma)
    assert abs(certificate.eigengap) < 1e-6
    assert "no eigengap" in certificate.verdict


def test_as_many_clusters_as_rows_have_no_next_eigenvalue():
    rows = np.arange(6.0).reshape(3, 2) ** 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KDAC(3, n_components=1, sigma=1.0, random_state=0).fit(rows)
    assert np.isnan(model.certificate_.cluster_eigengap)
