from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from altclust.base.given import Given
from altclust.core.coordinates import Coordinates
from altclust.core.engines import DenseEngine
from altclust.core.initialization import SpectralStart, spectral_start
from altclust.core.kernels import Gaussian
from altclust.core.problem import Problem, coordinates, row_space, whiten


def test_indicators_are_the_centred_one_hot_columns():
    codes = np.array([0, 1, 1, 0, 2, 2, 2])
    Y = np.eye(3)[codes]
    H = np.eye(7) - 1 / 7
    assert np.allclose(Given.from_codes(codes).indicators("paper"), H @ Y)
    assert np.allclose(Given.from_codes(codes).indicators(), H @ Y / np.sqrt(Y.sum(axis=0)))
    assert Given.from_codes(codes, codes % 2).indicators().shape == (7, 5)
    assert Given.nothing(7).indicators().shape == (7, 0)


def test_unknown_labels_put_no_penalty_on_their_rows():
    """Moving a row whose label is unknown does not change the penalty: D and K aside, its γ is zero."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 40)
    codes[:7] = -1
    Y = Given.from_codes(codes).indicators()
    assert np.all(Y[:7] == 0)
    assert np.allclose(Y[7:].sum(axis=0), 0)
    known = Given.from_codes(codes[7:]).indicators()
    assert np.allclose(Y[7:], known)


@given(seed=st.integers(0, 1000), n=st.integers(3, 30), d=st.integers(1, 40))
@examples(10)
def test_row_space_keeps_all_distances(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, max(1, d // 2))) @ rng.standard_normal((max(1, d // 2), d))
    X -= X.mean(axis=0)
    rows, basis = row_space(X)
    assert rows.shape[1] <= min(n - 1, d)
    assert np.allclose(rows @ rows.T, X @ X.T, atol=1e-6 * np.abs(X @ X.T).max())
    if basis is not None:
        assert np.allclose(basis.T @ basis, np.eye(rows.shape[1]), atol=1e-10)


def rows_with(singular, n, d):
    """Rows with these singular values and random directions; not centred, which nothing here needs."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((size, len(singular))))[0] for size in (n, d))
    return (left * singular) @ right.T


@pytest.mark.parametrize(("n", "d"), [(40, 12), (12, 40), (12, 12)])
def test_the_row_space_has_all_directions_above_rounding_of_the_widest_one(n, d):
    rows, basis = row_space(rows_with([1.0, 1e-2, 5e-3, 1e-3, 1e-9], n, d))
    assert np.linalg.norm(rows, axis=0) == pytest.approx([1.0, 1e-2, 5e-3, 1e-3], rel=1e-4)
    assert basis.shape == (d, 4)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_whitened_rows_vary_equally_or_to_the_power_that_is_left(power):
    singular = np.array([8.0, 4.0, 2.0, 1.0, 0.07])  # the last is below a hundredth of the first
    rows, basis = whiten(rows_with(singular, 60, 9), power)
    spread = singular[:4] / np.sqrt(60)
    assert np.sqrt(np.mean(rows**2, axis=0)) == pytest.approx(spread ** (1 - power))
    assert np.linalg.norm(basis, axis=0) == pytest.approx(spread**-power)


def test_fully_whitened_directions_need_fifteen_rows_each_and_two_stay():
    counts = {n: whiten(rows_with([3.0, 2.0, 1.5, 1.0], n, 6), 1)[1].shape[1] for n in (20, 44, 45, 90)}
    assert counts == {20: 2, 44: 2, 45: 3, 90: 4}
    assert whiten(rows_with([3.0, 2.0, 1.5, 1.0], 20, 6), 0.5)[1].shape[1] == 4


def test_a_full_rank_table_is_left_alone():
    X = np.random.default_rng(0).standard_normal((50, 4))
    rows, basis = row_space(X)
    assert rows is X
    assert basis is None


def test_spectral_start_is_phi_with_a_kernel_of_ones():
    """Equation (9): Σ γ_ij A_ij / σ², U from W = I, D = n I."""
    rng = np.random.default_rng(0)
    n = 30
    X = rng.standard_normal((n, 5))
    X -= X.mean(axis=0)
    codes = rng.integers(0, 2, n)
    problem = Problem(2, 2, 0.7, Gaussian(2.0))
    start = spectral_start(problem, DenseEngine(X, problem.kernel, Given.from_codes(codes).indicators("paper")))
    U, Y, H = start.embedding.U, np.eye(2)[codes], np.eye(n) - 1 / n
    gamma = H @ (U @ U.T - 0.7 * Y @ Y.T) @ H / n
    differences = X[:, None] - X[None]
    phi = np.einsum("ij,ija,ijb->ab", gamma, differences, differences) / 4.0
    assert np.allclose(start.values, np.linalg.eigvalsh(phi), atol=1e-10)
    assert np.allclose(phi @ start.vectors, start.vectors * start.values, atol=1e-10)
    assert np.sum(start.values < -1e-10) <= 2


def test_spectral_start_chooses_q_at_the_widest_gap():
    values = np.array([-9.0, -8.5, -1.0, 0.0, 5.0])
    assert SpectralStart(values, np.eye(5), None).gap(most=3) == 2
    assert SpectralStart(values[:1], np.eye(1), None).gap(most=3) == 1


def test_rows_back_in_the_table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 20))
    X -= X.mean(axis=0)
    rows, basis = row_space(X)
    inside = Coordinates(np.zeros(20), basis=basis)
    W = np.eye(rows.shape[1])[:, :2]
    assert np.allclose(X @ inside.to_table(W), rows @ W)
    assert inside.to_table(W) == pytest.approx(basis[:, :2])


@pytest.mark.parametrize("whitening", [0.0, 0.5, 1.0])
def test_directions_of_the_table_and_back(whitening):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [1, 2, 5, 9] + 3
    mean = X.mean(axis=0)
    rows, basis = coordinates(X - mean, whitening)
    inside, W = Coordinates(mean, basis=basis), np.linalg.qr(rng.standard_normal((4, 2)))[0]
    assert np.allclose(inside(X), rows)
    assert np.allclose(inside.from_table(inside.to_table(W)), W)
    assert np.allclose(inside.along(W)(X), rows @ W)
    assert np.allclose(inside.along(W)(X), (X - mean) @ inside.to_table(W))


def test_coordinates_of_reduced_rows_are_those_of_the_table():
    rng = np.random.default_rng(0)
    X, reduction = rng.standard_normal((30, 7)) + 2, np.linalg.qr(rng.standard_normal((7, 3)))[0]
    mean = X.mean(axis=0)
    rows = (X - mean) @ reduction
    effects, codes = (rng.standard_normal((3, 3)),), rng.integers(-1, 2, (30, 1))
    effects[0][-1] = 0  # of unknown codes
    small = Coordinates(np.zeros(3), effects, (False,), basis=rng.standard_normal((3, 2)))
    lifted = small.reduced_from(mean, reduction)
    assert np.allclose(lifted(X, codes), small(rows, codes))
    assert np.allclose(lifted.to_table(np.eye(2)), reduction @ small.basis)


def test_what_is_kept_enters_the_weights_of_the_pairs():
    rng = np.random.default_rng(0)
    n, s = 12, np.array([0.5, -0.2])
    X, B, Y = rng.standard_normal((n, 3)), rng.standard_normal((n, 2)), Given.from_codes(np.arange(n) % 2).indicators()
    engine = DenseEngine(X, Gaussian(1.0), Y)
    engine.keep = B, s
    embedding, degrees = engine.embed(np.eye(3)[:, :2], 2), rng.uniform(1, 2, n)
    F, weights = engine.weigh(embedding, degrees, 3.0)
    U = embedding.U - embedding.U.mean(axis=0)
    expected = (U @ U.T - 3 * Y @ Y.T + (B * s) @ B.T) / np.sqrt(np.outer(degrees, degrees))
    assert np.allclose((F * weights) @ F.T, expected)
