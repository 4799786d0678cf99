"""Optimality of W: first-order residual, Theorem 1, and the Riemannian Hessian."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from ..base.backend import Array
from .embedding import NOISE
from .kernels import Gaussian
from .problem import Gamma, KernelEngine, KernelObjective, Objective, Problem
from .proof import Proof, prove
from .reduced import ReducedObjective
from .solvers import first_order_residual
from .solvers.newton import riemannian_hessian

STATIONARY = 1e-2  # first-order residual up to which second-order conditions are evaluated
FEW_PRODUCTS = 20  # Hessian products up to which the whole Hessian is computed, and after which Lanczos restarts
PAIRS = 3e9  # kernel values that all Hessian products may compute, so that the time is bounded
FIXED_ONLY = "Not attempted: proofs are about the W problem of an alternation with a Gaussian kernel, U and D fixed."
FLAT = 1e-6  # relative to Φ's largest eigenvalue; smaller curvature counts as zero


@dataclass(frozen=True)
class Certificate:
    """Optimality conditions of W for the objective that was minimised.

    That is the W problem with U and D fixed after an alternation, and the objective of W alone after a descent, with
    the term that holds W close to its start. Theorem 1 is about the first only.

    Attributes
    ----------
    residual : float
        ‖ΦW − W(WᵀΦW)‖ / ‖ΦW‖; 0 at a stationary point (Lemma 2 of the paper).
    rank : int
        Rank of Φ; Theorem 1 requires full rank, `n_features`.
    n_features : int
    eigengap : float
        Smallest eigenvalue of Φ outside span W minus the largest inside; negative if W is not eig_min(Φ), NaN if W
        spans the whole space.
    best_n_components : int
        The q at which the eigengap would be largest.
    left, right : float
        Both sides of inequality (8): σ² times the eigengap, and Σ |γ_ij| K_ij ‖x_i − x_j‖⁴ / σ². NaN for other kernels
        than the Gaussian.
    smallest_curvature : float
        Smallest eigenvalue of the Riemannian Hessian on the tangent space at W; NaN if the space is empty or the
        iteration did not converge.
    verdict : str
        A one-sentence summary, and another sentence for each tie: a gap that is zero up to rounding, so that the
        solution is not unique.
    cluster_eigengap : float
        Relative gap (λ_k − λ_(k+1)) / λ_k between the eigenvalue of U's last column and the next one; NaN if either
        is missing or λ_k is rounding.
    sample_cost, second_cost : float
        The cost of the sample that was fitted, and that of a second, independent sample of the same size in the
        directions that were found; NaN if all rows were fitted.
    second_agreement : float
        NMI between the labels of the second sample and those that a fit of it gives; NaN if all rows were fitted.
    proved : bool
        Whether it is proved in ball arithmetic that the W problem has a strict local minimum near W (extra `proof`).
    proof : str
        What is proved, or why not, in a sentence.
    minimum_radius, minimum_distance : float
        Within which radius that minimum is the only stationary point, and how far W is from it at most, as tangents
        of angles; NaN if nothing is proved.
    """

    residual: float
    rank: int
    n_features: int
    eigengap: float
    best_n_components: int
    left: float
    right: float
    smallest_curvature: float
    verdict: str
    cluster_eigengap: float = float("nan")
    sample_cost: float = float("nan")
    second_cost: float = float("nan")
    second_agreement: float = float("nan")
    proved: bool = False
    proof: str = ""
    minimum_radius: float = float("nan")
    minimum_distance: float = float("nan")

    @property
    def theorem_holds(self) -> bool:
        """Whether Theorem 1 applies: the inequality holds and Φ has full rank."""
        return bool(self.left >= self.right and self.rank == self.n_features)


def certify(
    problem: Problem,
    engine: KernelEngine,
    W: Array,
    gamma: Gamma,
    reduced: ReducedObjective | None = None,
    n_features: int | None = None,
) -> Certificate:
    """Check the optimality of W, shape (r, q), for the W problem with weights gamma, or for a reduced objective.

    n_features is the number of columns of the table, if the rows are expressed in fewer coordinates.
    """
    with nullcontext() if reduced is None else reduced.threads():
        objective: Objective = KernelObjective(engine, gamma) if reduced is None else reduced
        (d, q), k = W.shape, problem.n_clusters
        _, phi = objective.value_and_phi(W)
        values = eigh(phi, eigvals_only=True)
        size = float(np.max(np.abs(values)))
        residual = first_order_residual(W, phi @ W)
        rank = int(np.sum(np.abs(values) > 1e-10 * size))
        gaps = np.diff(values)
        gap = eigengap(phi, W)
        best = int(np.argmax(gaps)) + 1 if d > 1 else 1
        gaussian = isinstance(problem.kernel, Gaussian)  # the inequality is about no other
        sigma = problem.kernel.sigma if gaussian else float("nan")
        right = engine.fourth_moment(W, gamma) / sigma**2 if gaussian else float("nan")
        landmarks = None if reduced is None else reduced.landmarks
        n = len(engine.X)
        curvature = _smallest_curvature(objective, W, phi, PAIRS / (n * (n if landmarks is None else len(landmarks))))
        left = sigma**2 * gap
        theorem = None if reduced is not None or not gaussian else left >= right and rank == (n_features or len(W))
        verdict = _verdict(residual, STATIONARY, theorem, curvature, FLAT * size, whole=q == d)
        if reduced is None:
            behind = _cluster_eigengap(engine.embed(W, k + 1).values, k)
        else:
            columns = reduced.columns
            values_behind = replace(reduced, n_clusters=columns + 2, _last=None).at(W).values
            behind = _cluster_eigengap(values_behind[: len(reduced.X) - 1], columns)  # centring leaves n − 1 of them
        if abs(gap) <= FLAT * size:
            verdict += (
                f" Φ has no eigengap at q = {q}: W is one of many equally good subspaces; q = {best} has the widest."
            )
        if behind <= FLAT:
            verdict += f" U is one of many equally good embeddings, because its eigenvalues are tied at k = {k}."
        proof = Proof(False, FIXED_ONLY) if reduced is not None or not gaussian else prove(engine.X, sigma, gamma, W)
        found = residual, rank, n_features or len(W), gap, best, left, right, curvature, verdict, behind
        return Certificate(
            *found,
            proved=proof.proved,
            proof=proof.reason,
            minimum_radius=proof.radius,
            minimum_distance=proof.distance,
        )


def _cluster_eigengap(values: Array, columns: int) -> float:
    """(λ_m − λ_(m+1)) / λ_m of the centred kernel for the m columns of U; NaN if λ_m is rounding or the last."""
    if len(values) <= columns or values[columns - 1] <= NOISE * values[0]:
        return float("nan")
    return float((values[columns - 1] - values[columns]) / values[columns - 1])


def eigengap(phi: Array, W: Array) -> float:
    """The smallest eigenvalue of Φ outside span W minus the largest inside; NaN if W spans the whole space.

    Not a gap of Φ's sorted spectrum: W need not consist of the eigenvectors with the smallest eigenvalues.
    """
    if W.shape[1] == len(W):
        return float("nan")
    complement = _complement(W)
    inside, outside = (eigh(B.T @ phi @ B, eigvals_only=True) for B in (W, complement))
    return float(outside[0] - inside[-1])


def _complement(W: Array) -> Array:
    """An orthonormal basis of the directions outside span W, shape (d, d − q)."""
    return np.linalg.qr(W, mode="complete")[0][:, W.shape[1] :]


def _smallest_curvature(objective: Objective, W: Array, phi: Array, products: float) -> float:
    """Lanczos on about so many Hessian products, in coordinates P of the tangent space Z = W̄ P."""
    d, q = W.shape
    m = (d - q) * q
    if m == 0:
        return float("nan")
    complement = _complement(W)
    hessian = riemannian_hessian(objective, W, phi)

    def product(p: Array) -> Array:
        return (complement.T @ hessian(complement @ p.reshape(d - q, q))).ravel()

    if m <= FEW_PRODUCTS:
        H = np.column_stack([product(e) for e in np.eye(m)])
        return float(eigh((H + H.T) / 2, eigvals_only=True)[0])
    start = np.random.default_rng(0).standard_normal(m)
    operator = LinearOperator((m, m), matvec=product, dtype=float)
    try:
        return float(
            eigsh(
                operator,
                k=1,
                which="SA",
                v0=start,
                ncv=FEW_PRODUCTS,
                maxiter=max(5, int(products / FEW_PRODUCTS)),
                tol=1e-3,
                return_eigenvectors=False,
            )[0]
        )
    except (ArpackNoConvergence, ArpackError):
        return float("nan")


def _verdict(residual: float, bound: float, theorem: bool | None, curvature: float, flat: float, whole: bool) -> str:
    """In words; theorem is None if Theorem 1 is not about this objective."""
    if whole:
        return "W spans all columns, so there is nothing to optimise: every rotation gives the same view."
    if residual > bound:
        return f"Not stationary yet: the first-order residual is {residual:.2g}, above {bound:g}."
    if theorem and not curvature < -flat:
        return "A local minimum by Theorem 1: stationary, Φ of full rank, and the inequality holds."
    if np.isnan(curvature):
        loose = "" if theorem is None else "the inequality is inconclusive, and "
        return f"Stationary; {loose}the smallest curvature did not converge."
    if curvature > flat:
        loose = "" if theorem is None else " (Theorem 1's inequality, sufficient but loose, is inconclusive)"
        return f"A strict local minimum: stationary, and the Hessian is positive on the whole tangent space{loose}."
    if curvature >= -flat:
        return "Stationary, with a direction along which F is flat to second order."
    return "A saddle: stationary, but there is a direction along which F still falls."
