"""What every kernel promises: the explicit formulas, derivatives, and solvers that work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import random_problem, some

from altclust import KDAC, InputError
from altclust.core.certificate import certify
from altclust.core.engines.family import FamilyEngine
from altclust.core.initialization import random_start
from altclust.core.kernel_family import (
    Kernel,
    Linear,
    Mixture,
    Multiquadratic,
    Polynomial,
    RationalQuadratic,
    SelfTuning,
    Squared,
)
from altclust.core.kernels import KERNELS, Gaussian, from_dict, make_kernel, to_dict
from altclust.core.problem import KernelObjective
from altclust.core.solvers import ISM, Status
from altclust.datasets import views

FAMILY = {  # the kernel, and f(β) once more
    "gaussian": (Gaussian, lambda b, s: np.exp(-b / 2 / s**2)),
    "self_tuning": (SelfTuning, lambda b, s: np.exp(-b / 2)),
    "rational_quadratic": (RationalQuadratic, lambda b, s: 1 / (1 + b / 2 / s**2)),
    "heavy_tails": (lambda s: RationalQuadratic(s, 0.5), lambda b, s: (1 + b / s**2) ** -0.5),
    "multiquadratic": (Multiquadratic, lambda b, s: -np.sqrt(b + s**2)),
    "squared": (lambda s: Squared(), lambda b, s: -b),
    "linear": (lambda s: Linear(), lambda b, s: b),
    "polynomial": (Polynomial, lambda b, s: (b / s**2 + 1) ** 2),
    "cubic": (lambda s: Polynomial(s, 3), lambda b, s: (b / s**2 + 1) ** 3),
    "mixture": (
        lambda s: Mixture((Gaussian(s), RationalQuadratic(s, 2.0)), (1, 3)),
        lambda b, s: 0.25 * np.exp(-b / 2 / s**2) + 0.75 * (1 + b / 4 / s**2) ** -2,
    ),
}


class Case:
    """A random problem with one kernel, seen by its engine and pair by pair."""

    def __init__(self, name, seed):
        self.problem, dense, _, self.W = random_problem(seed)
        self.X, self.given = dense.X, dense.given
        self.sigma = max(self.problem.kernel.sigma, 0.3 * np.abs(self.X).max())
        make, self.f = FAMILY[name]
        self.kernel = make(self.sigma)
        self.engine = FamilyEngine(self.X, self.kernel, dense.given)
        self.embedding = self.engine.embed(self.W, self.problem.n_clusters)
        self.gamma = self.engine.weigh(self.embedding, self.embedding.degrees, self.problem.novelty_weight)
        self.objective = KernelObjective(self.engine, self.gamma)

    def explicit(self):
        """The kernel, γ and Φ, from every pair by itself; slopes of f by differences of complex numbers."""
        apart = self.X[:, None, :] - self.X[None, :, :]
        Z = self.X @ self.W
        product = self.kernel.product
        beta = Z @ Z.T if product else np.sum((apart @ self.W) ** 2, axis=2)
        scale = np.ones_like(beta)
        if isinstance(self.kernel, SelfTuning):
            near = np.sort(np.linalg.norm(apart, axis=2), axis=1)[:, 7]
            local = self.sigma * np.maximum(near / np.median(near), 0.1)
            scale = 1 / np.outer(local, local)
        K = self.f(beta * scale, self.sigma)
        step = 1e-20
        slope = np.imag(self.f(beta * scale + 1j * step, self.sigma)) / step * scale
        degrees = K.sum(axis=1) if self.kernel.normalised else np.ones(len(K))
        U = self.embedding.U - self.embedding.U.mean(axis=0)
        U = U * (self.embedding.values > 1e-9 * self.embedding.values[0])
        A = U @ U.T - self.problem.novelty_weight * self.given @ self.given.T
        weights = A / np.sqrt(np.outer(degrees, degrees))
        if product:
            phi = -2 * self.X.T @ (weights * slope) @ self.X
        else:
            phi = -2 * np.einsum("ij,ija,ijb->ab", weights * slope, apart, apart)
        return K, degrees, weights, phi


@pytest.mark.parametrize("name", FAMILY)
def test_against_the_explicit_formula(name):
    for seed in range(some(4, 20)):
        case = Case(name, seed)
        K, degrees, weights, phi = case.explicit()
        size = np.sum(np.abs(weights * K))
        value, ours = case.engine.value_and_phi(case.W, case.gamma)
        assert np.allclose(case.engine.degrees(case.W), degrees, rtol=1e-7)
        assert value == pytest.approx(np.sum(weights * K), abs=1e-6 * size)
        assert case.engine.value(case.W, case.gamma) == pytest.approx(value, abs=1e-11 * size)
        scale = np.abs(phi).max() + 1e-9 * size
        assert np.max(np.abs(ours - phi)) <= 1e-9 * scale
        also, gradient = case.engine.value_and_gradient(case.W, case.gamma)
        assert also == pytest.approx(value, abs=1e-11 * size)
        assert np.max(np.abs(gradient - phi @ case.W)) <= 1e-9 * scale


@pytest.mark.parametrize("name", FAMILY)
def test_the_u_step_is_the_leading_eigenspace(name):
    case = Case(name, 3)
    K, degrees, *_ = case.explicit()
    n, k = len(K), case.problem.n_clusters
    H = np.eye(n) - 1 / n
    Q = H @ (K / np.sqrt(np.outer(degrees, degrees))) @ H
    values = np.linalg.eigvalsh(Q)[::-1]
    found = case.embedding
    assert np.allclose(found.values, values[:k], atol=1e-5 * values[0])
    kept = found.values > 1e-6 * values[0]  # k may be above the rank
    U = found.U[:, kept]
    assert np.linalg.norm(Q @ U - U * found.values[kept]) < 1e-4 * values[0]


@pytest.mark.parametrize("name", FAMILY)
def test_derivatives_match_finite_differences(name):
    for seed in range(some(4, 20)):
        case = Case(name, seed)
        objective, W = case.objective, case.W
        Z = np.random.default_rng(seed).standard_normal(W.shape)
        step = 1e-5 * case.sigma / np.linalg.norm(case.X @ Z, axis=1).max()
        ahead, behind = W + step * Z, W - step * Z
        gradient = objective.value_and_gradient(W)[1]
        slope = np.sum(gradient * Z)
        numeric = (objective.value(ahead) - objective.value(behind)) / (2 * step)
        K, _, weights, _ = case.explicit()
        rounding = 1e-15 * np.sum(np.abs(weights) * np.abs(K).max()) / step
        assert abs(slope - numeric) <= 1e-6 * abs(slope) + rounding
        bent = objective.hessian(W, objective.value_and_phi(W)[1])(Z)
        numeric_bent = (objective.value_and_gradient(ahead)[1] - objective.value_and_gradient(behind)[1]) / (2 * step)
        noise = 1e-13 * np.linalg.norm(gradient) / step
        assert np.linalg.norm(bent - numeric_bent) <= 1e-6 * np.linalg.norm(bent) + 10 * noise


@pytest.mark.parametrize("name", FAMILY)
def test_safeguarded_ism_never_rises(name):
    for seed in range(some(15, 200)):
        case = Case(name, seed)
        solution = ISM(max_iter=30)(case.objective, case.W)
        values = solution.history[:, 0]
        assert np.all(np.diff(values) <= 1e-9 * np.abs(values).max()), seed
        assert np.allclose(solution.W.T @ solution.W, np.eye(solution.W.shape[1]), atol=1e-9)


@pytest.mark.parametrize("name", ["squared", "linear"])
def test_one_eigendecomposition_is_enough(name):
    for seed in range(10):
        case = Case(name, seed)
        solution = ISM()(case.objective, case.W)
        assert solution.n_iter <= 1
        assert solution.status is Status.CONVERGED
        phi = case.objective.value_and_phi(case.W)[1]
        smallest = np.linalg.eigvalsh(phi)[: case.W.shape[1]].sum()
        assert solution.value == pytest.approx(
            smallest / 2, rel=1e-5, abs=1e-8 * np.abs(phi).max()
        )  # the global minimum
        other = random_start(*case.W.shape, np.random.default_rng(seed))
        assert case.objective.value(other) >= solution.value - 1e-9 * abs(solution.value)


@pytest.mark.parametrize("name", FAMILY)
def test_the_certificate_is_that_of_the_hessian(name):
    case = Case(name, 5)
    solution = ISM(tol=1e-7)(case.objective, case.W)
    problem = replace(case.problem, kernel=case.kernel)
    certificate = certify(problem, case.engine, solution.W, case.gamma)
    assert name == "gaussian" or (np.isnan(certificate.left) and np.isnan(certificate.right))
    assert certificate.residual < 1e-5
    assert certificate.smallest_curvature > -1e-5 * np.abs(case.objective.value_and_phi(solution.W)[1]).max()


def test_kernels_are_kernels_and_survive_json():
    for name in KERNELS:
        kernel = make_kernel(name, 2.0)
        assert isinstance(kernel, Kernel)
        assert from_dict(to_dict(kernel)) == kernel
    mixed = Mixture((Gaussian(1.0), RationalQuadratic()), (1, 2)).at(3.0)
    assert mixed.kernels == (Gaussian(1.0), RationalQuadratic(3.0))
    assert from_dict(to_dict(mixed)) == mixed
    with pytest.raises(ValueError, match="kernel has alpha"):
        from_dict({"name": "rational_quadratic", "sigma": 1.0, "alpha": -1})


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: Mixture((Gaussian(1.0), Linear())), "all of differences"),
        (lambda: Mixture((Gaussian(1.0),), (-1,)), "at least 0"),
        (lambda: RationalQuadratic(-1.0), "positive"),
        (lambda: KDAC(kernel="cosine").fit(np.eye(5)), "kernel='cosine' is not allowed"),
        (lambda: RationalQuadratic().value(np.zeros(3)), "has no sigma"),
    ],
)
def test_mistakes_are_told(wrong, told):
    with pytest.raises(InputError, match=told):
        wrong()


CHOICES = [*KERNELS, Mixture((Gaussian(2.0), RationalQuadratic()))]


@pytest.mark.parametrize("kernel", CHOICES, ids=str)
@pytest.mark.parametrize("sample_size", [100, 3000])
def test_fit_predict_save_and_load(tmp_path, kernel, sample_size):
    data = views(120, ("blobs", "blobs"), (2, 2), random_state=0)
    model = KDAC(2, n_components=2, sigma=1.2, kernel=kernel, sample_size=sample_size, random_state=0)
    model.fit(data.X, data.given)
    assert model.status_ == "converged"
    assert model.overlap_ < 0.3
    assert np.mean(model.predict(data.X) == model.labels_) > 0.98
    model.save(tmp_path / "model.npz")
    again = KDAC.load(tmp_path / "model.npz")
    assert np.array_equal(again.predict(data.X), model.predict(data.X))
    assert again.get_params()["kernel"] == model.kernel
