"""A proof in ball arithmetic that there is a strict local minimum of the W problem near W.

The subspaces near that of an orthonormal [V, V̄] are the spans of V + V̄P. For h(P) = F(span(V + V̄P)) with the weights γ
fixed, let g ≥ ‖∇h(0)‖, let μ > 0 be at most the smallest eigenvalue of the Hessian of h at 0, and let

    L = Σ |γ_ij| (4.8 τ_ij^(3/2) + 19 τ_ij) with τ_ij = ‖x_i − x_j‖² / σ².

Then ‖D³h‖ ≤ L everywhere. So for ‖P‖ ≤ r = μ/(2L) the Hessian is at least μ/2, and if g < μr/2, there is exactly one
stationary point in this ball. It is a strict local minimum, and has ‖P‖ ≤ 2g/μ. (docs/solvers.md has the proof.)

All of these are computed in balls that contain the true values: X, γ, σ and W are what they are in double precision,
and nothing is rounded without its error being counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigvalsh

from ..base.backend import Array
from ..base.extras import MissingLibrary, needed_by
from .engines import DenseEngine
from .kernels import Gaussian
from .problem import Gamma, KernelObjective
from .solvers import first_order_residual
from .solvers.newton import newton_steps

MOST_DIRECTIONS, MOST_ROWS = 100, 1000  # a minute of work
BITS = 128
TINY, NEWTON_STEPS = 1e-13, 20  # the residual that is wanted, and steps towards it


@dataclass(frozen=True)
class Proof:
    """What was proved about W, or why nothing, in a sentence.

    Within `radius` of the minimum there is no other stationary point, as the Frobenius norm of tangents of angles; W is
    at most at `distance` from it. `curvature` (μ) and `eigengap` (of Φ) are lower bounds.
    """

    proved: bool
    reason: str
    radius: float = float("nan")
    distance: float = float("nan")
    curvature: float = float("nan")
    eigengap: float = float("nan")


def prove(X: Array, sigma: float, gamma: Gamma, W: Array) -> Proof:
    """Prove or refuse that F with these fixed weights has a strict local minimum near W, shape (d, q).

    Newton steps make the gradient smaller first: the ball is around their result.
    """
    if W.shape[0] == W.shape[1]:
        return Proof(False, "Nothing to prove: W spans all columns.")
    directions = (W.shape[0] - W.shape[1]) * W.shape[1]
    if directions > MOST_DIRECTIONS or len(X) > MOST_ROWS:
        most = f"at most {MOST_ROWS:,} and {MOST_DIRECTIONS} are tried"
        return Proof(False, f"Not attempted: {len(X):,} rows and {directions} tangent directions; {most}.")
    try:
        with needed_by("A proof"):
            import flint
    except MissingLibrary as error:
        return Proof(False, str(error))
    objective = KernelObjective(DenseEngine(X, Gaussian(sigma)), gamma)
    value, phi = objective.value_and_phi(W)
    history = [(value, first_order_residual(W, phi @ W), 0.0)]
    centre, _, _ = newton_steps(objective, W, value, phi, history, TINY, NEWTON_STEPS)
    with flint.ctx.workprec(BITS):
        return _prove(flint.arb, flint.arb_mat, X, sigma, gamma, W, centre)


def _prove(arb: Any, matrix: Any, X: Array, sigma: float, gamma: Gamma, W: Array, centre: Array) -> Proof:
    n, (d, q) = len(X), W.shape

    def exact(A: Array) -> Any:
        return matrix(*A.shape, A.ravel().tolist())

    basis = _orthonormal(arb, exact(np.linalg.qr(centre, mode="complete")[0]))
    rows = exact(X) * basis  # all that follows is about V and V̄ as unit vectors
    psi, lipschitz = _weights(arb, matrix, rows, exact(X), q, arb(sigma), exact(gamma.F), gamma.s.tolist())
    inside, outside = _columns(matrix, rows, 0, q), _columns(matrix, rows, q, d)
    precision = 1 / arb(sigma) ** 2
    ones = matrix(n, 1, [1] * n)

    def laplacian(sums: list[Any], image: Any, left: Any, right: Any) -> Any:
        """(1/σ²) Σ ψ_ij (l_i − l_j)(r_i − r_j)ᵀ from ψ1 and ψ times right."""
        return left.transpose() * (_scaled(matrix, sums, right) - image) * (2 * precision)

    sums, image = (psi * ones).entries(), psi * inside
    gradient = laplacian(sums, image, outside, inside)
    phi_in, phi_out = laplacian(sums, image, inside, inside), laplacian(sums, psi * outside, outside, outside)
    size = _norm(arb, gradient)

    # D²h(0)[A, A] = Tr(AᵀΦ̄A) − Tr(AΦAᵀ) − Σ ψ_ij (b_ijᵀ A a_ij)² / σ⁴, column by column of its matrix
    a, b = (block.transpose().tolist() for block in (inside, outside))
    both = _joined(matrix, [ones, inside])
    plain = psi * both
    by_a, by_b = ([psi * _scaled(matrix, column, both) for column in columns] for columns in (a, b))
    hessian = [[arb(0)] * (q * (d - q)) for _ in range(q * (d - q))]
    for p in range(d - q):
        for k in range(q):
            t = [x * y for x, y in zip(b[p], a[k], strict=True)]
            bent = (  # ω and its row sums, where ω_ij = ψ_ij (b_i − b_j)_p (a_i − a_j)_k
                _scaled(matrix, t, plain)
                + psi * _scaled(matrix, t, both)
                - _scaled(matrix, b[p], by_a[k])
                - _scaled(matrix, a[k], by_b[p])
            )
            row_sums = _columns(matrix, bent, 0, 1).entries()
            column = laplacian(row_sums, _columns(matrix, bent, 1, q + 1), outside, inside) * precision
            for i in range(d - q):
                for j in range(q):
                    value = -column[i, j]
                    value += phi_out[i, p] if j == k else 0
                    value -= phi_in[j, k] if i == p else 0
                    hessian[i * q + j][p * q + k] = value
    curvature = _smallest(arb, matrix, matrix(hessian))
    gap = _smallest(arb, matrix, phi_out) + _smallest(arb, matrix, -phi_in)
    found = {"curvature": _down(curvature), "eigengap": _down(gap)}
    if not curvature > 0:
        return Proof(
            False, f"Not proved: the smallest curvature is only known to be above {_down(curvature):.3g}.", **found
        )
    radius, near = curvature / (2 * lipschitz), 2 * size / curvature
    if not near < radius:
        sentence = f"Not proved: the gradient is only known to be below {_up(size):.3g}, and the curvature above "
        return Proof(False, f"{sentence}{_down(curvature):.3g} only within {_down(radius):.3g}.", **found)
    start = (basis.transpose() * exact(W)).tolist()
    tangents = matrix(start[q:]) * matrix(start[:q]).inv()
    distance = _up(_norm(arb, tangents) + near)
    reason = (
        "Proved: the W problem with these U and D has a strict local minimum at a distance of at most "
        f"{distance:.2g} from W, the only stationary point within {_down(radius - near):.2g} of it."
    )
    return Proof(True, reason, _down(radius - near), distance, **found)


def _orthonormal(arb: Any, A: Any) -> Any:
    """An exactly orthonormal basis near a float one: A(I + E)^(-1/2) with E = AᵀA − I."""
    d = A.nrows()
    E = A.transpose() * A - type(A)(d, d, [int(i == j) for i in range(d) for j in range(d)])
    size = _norm(arb, E)
    if not size < 0.5:
        raise ValueError("the basis is not orthonormal")
    rest = size * size  # the series beyond −E/2 is at most (3/8) ‖E‖² / (1 − ‖E‖)
    inverse = type(A)(d, d, [int(i == j) + arb(0, rest.upper()) for i in range(d) for j in range(d)]) - E * arb(0.5)
    return A * inverse


def _weights(arb: Any, matrix: Any, rows: Any, X: Any, q: int, sigma: Any, F: Any, s: list[float]) -> tuple[Any, Any]:
    """Ψ = γ ∘ K at the centre, and L."""
    n = rows.nrows()
    gamma = F * _scaled(matrix, s, F.transpose())
    inside = _columns(matrix, rows, 0, q)
    near, whole = (A * A.transpose() for A in (inside, X))
    psi = [[arb(0)] * n for _ in range(n)]  # the diagonal adds nothing to differences
    lipschitz, precision = arb(0), 1 / sigma**2
    for i in range(n):
        for j in range(i):
            weight = gamma[i, j]
            tau = ((whole[i, i] + whole[j, j] - 2 * whole[i, j]) * precision).abs_upper()
            lipschitz += 2 * abs(weight) * (arb(4.8) * tau * tau.sqrt() + 19 * tau)
            psi[i][j] = psi[j][i] = weight * ((2 * near[i, j] - near[i, i] - near[j, j]) * precision / 2).exp()
    return matrix(psi), lipschitz


def _smallest(arb: Any, matrix: Any, H: Any) -> Any:
    """A lower bound of the smallest eigenvalue: H − μI = LLᵀ + E in balls, so H ≥ μ − ‖E‖."""
    m = H.nrows()
    middle = np.array([float(x) for x in H.entries()]).reshape(m, m)
    middle = (middle + middle.T) / 2
    values = eigvalsh(middle)
    bound = float(values[0] - 1e-6 * np.abs(values).max())
    try:
        L = cholesky(middle - bound * np.eye(m), lower=True)
    except LinAlgError:
        return arb("-inf")
    factor = matrix(m, m, L.ravel().tolist())
    shift = matrix(m, m, [bound if i == j else 0 for i in range(m) for j in range(m)])
    symmetric = (H + H.transpose()) * arb(0.5)
    return arb(bound) - _norm(arb, symmetric - shift - factor * factor.transpose())


def _norm(arb: Any, A: Any) -> Any:
    """The Frobenius norm, at most."""
    return sum((x * x for x in A.entries()), arb(0)).abs_upper().sqrt()


def _scaled(matrix: Any, scale: Sequence[Any], A: Any) -> Any:
    """diag(scale) A."""
    m = A.ncols()
    return matrix(A.nrows(), m, [scale[i // m] * x for i, x in enumerate(A.entries())])


def _columns(matrix: Any, A: Any, start: int, stop: int) -> Any:
    m = A.ncols()
    return matrix(A.nrows(), stop - start, [x for i, x in enumerate(A.entries()) if start <= i % m < stop])


def _joined(matrix: Any, blocks: list[Any]) -> Any:
    lines = zip(*(block.tolist() for block in blocks), strict=True)
    return matrix([[x for part in line for x in part] for line in lines])


def _up(x: Any) -> float:
    return nextafter(float(x.upper()), inf)


def _down(x: Any) -> float:
    return nextafter(float(x.lower()), -inf)
