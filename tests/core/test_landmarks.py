"""Landmarks: as few rows as leave out no more of the kernel's trace than allowed, and a count of what is left."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples
from threadpoolctl import threadpool_limits

from altclust.core.kernels import Gaussian
from altclust.core.landmarks import choose_landmarks

seeds = st.integers(0, 10_000)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield


def cloud(seed, copies=1):
    """Projected rows, a kernel from narrow to wide, a tolerance and a limit."""
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(2, 120)), int(rng.integers(1, 5))
    Z = np.repeat(rng.standard_normal((n, q)) + 3 * rng.integers(0, 2, (n, 1)), copies, axis=0)
    most = int(rng.integers(1, len(Z) + 20))
    return Z, Gaussian(10 ** rng.uniform(-1.5, 1.5)), 10 ** rng.uniform(-6, -0.5), most


def left_out(Z, kernel, pivots):
    """1 − trace(C M⁺ Cᵀ) / n, by an eigendecomposition of M."""
    K = kernel.gram(Z)
    values, V = np.linalg.eigh(K[np.ix_(pivots, pivots)])
    whitened = K[:, pivots] @ V[:, values > 1e-13] / np.sqrt(values[values > 1e-13])
    return 1 - np.sum(whitened**2) / len(Z)


@pytest.mark.parametrize("copies", [1, 4])
@given(seed=seeds)
@examples(10)
def test_what_is_left_out_is_counted_and_small(copies, seed):
    Z, kernel, tolerance, most = cloud(seed, copies)
    pivots, error = choose_landmarks(Z, kernel, tolerance, most, np.random.default_rng(seed))
    assert error <= tolerance or len(pivots) == min(most, len(Z))
    assert 1 <= len(pivots) <= most
    assert len(np.unique(Z[pivots], axis=0)) == len(pivots)
    assert error == pytest.approx(left_out(Z, kernel, pivots), abs=1e-9)


@given(seed=seeds)
@examples(5)
def test_the_same_seed_draws_the_same_pivots(seed):
    Z, kernel, tolerance, most = cloud(seed)
    first, second = (choose_landmarks(Z, kernel, tolerance, most, np.random.default_rng(seed)) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert first[1] == second[1]


def test_few_landmarks_stand_for_a_smooth_kernel_and_all_for_a_narrow_one():
    Z = np.random.default_rng(0).standard_normal((2000, 2))
    counts = [
        len(choose_landmarks(Z, Gaussian(s), 1e-2, 2000, np.random.default_rng(0))[0]) for s in (10.0, 1.0, 0.3, 1e-4)
    ]
    assert counts[0] <= 5
    assert counts == sorted(counts)
    assert counts[3] >= 0.98 * 2000


def test_pivots_are_nearly_as_good_as_the_leading_eigenvectors():
    rng = np.random.default_rng(0)
    Z, kernel = rng.standard_normal((500, 2)), Gaussian(0.7)
    values = np.linalg.eigvalsh(kernel.gram(Z))[::-1]
    for rank in (10, 20, 40):
        errors = [choose_landmarks(Z, kernel, 0.0, rank, np.random.default_rng(s))[1] for s in range(10)]
        assert values[rank:].sum() / 500 <= min(errors)
        assert np.median(errors) <= values[rank // 2 :].sum() / 500


def test_rare_rows_get_a_landmark():
    """Uniform draws would miss three rows far from 2,997 others most of the time."""
    rng = np.random.default_rng(0)
    Z = np.concatenate([0.01 * rng.standard_normal((2997, 2)), [[9, 9], [9, -9], [-9, 9]]])
    for seed in range(5):
        pivots, _ = choose_landmarks(Z, Gaussian(1.0), 1e-4, 100, np.random.default_rng(seed))
        assert {2997, 2998, 2999} <= set(pivots.tolist())


class Impatient(np.random.Generator):
    """A generator that refuses to be asked for ever."""

    asked = 0

    def choice(self, *args, **kwargs):
        self.asked += 1
        assert self.asked < 1000, "the choice of landmarks does not end"
        return super().choice(*args, **kwargs)


@pytest.mark.parametrize("tolerance", [0.0, 1e-15, 1e-10])
@pytest.mark.parametrize("sigma", [0.5, 30.0])
def test_an_unreachable_tolerance_ends_where_only_rounding_is_left(sigma, tolerance):
    Z = np.repeat(np.random.default_rng(0).standard_normal((5, 2)), 8, axis=0)
    pivots, error = choose_landmarks(Z, Gaussian(sigma), tolerance, 40, Impatient(np.random.PCG64(0)))
    assert len(np.unique(Z[pivots], axis=0)) == len(pivots) <= 5
    assert error < 1e-11


@pytest.mark.parametrize("n", [1, 40])
def test_equal_rows_need_one_landmark(n):
    pivots, error = choose_landmarks(np.ones((n, 2)), Gaussian(0.1), 1e-2, 40, np.random.default_rng(0))
    assert len(pivots) == 1
    assert error == pytest.approx(0, abs=1e-12)
