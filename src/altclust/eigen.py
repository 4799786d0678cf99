"""The few eigenvectors that the method lives on: the smallest of Φ (W step), the leading of the kernel (U step)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, lapack
from scipy.sparse.linalg import lobpcg

from .kernels import Array

METHODS = ("auto", "full", "subset", "lobpcg", "power")
MANY_COLUMNS = 256  # from where a warm LOBPCG is faster than LAPACK's subset


def lapack_subset(A: Array, low: int, high: int) -> tuple[Array, Array]:
    """Eigenpairs low to high of a symmetric matrix, counted from the smallest.

    LAPACK's subset driver may return fewer than asked for where many eigenvalues agree (a σ so small that K is the
    identity): then all are computed.
    """
    values, V = eigh(A, subset_by_index=[low, high])
    if len(values) <= high - low:
        values, V = eigh(A, driver="evd")
        values, V = values[low : high + 1], V[:, low : high + 1]
    return values, V


def fix_signs(V: Array) -> Array:
    """Turn every column so that its entry of largest modulus is positive."""
    pivots = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return V * np.where(pivots < 0, -1.0, 1.0)


def smallest_eigenvectors(A: Array, q: int, *, start: Array | None = None, method: str = "auto") -> tuple[Array, Array]:
    """The q eigenvectors of a symmetric matrix with the smallest eigenvalues, eig_min in the paper.

    Parameters
    ----------
    A : array, shape (d, d)
        Symmetric.
    q : int
        How many.
    start : array, shape (d, q), optional
        A guess that the iterative methods begin from, such as the last W.
    method : {"auto", "full", "subset", "lobpcg", "power"}
        LAPACK for all eigenvectors or only the wanted ones, LOBPCG, or the coordinate-wise power method of Lei,
        Zhong and Dhillon (2016), which the paper proposes for many columns. "auto" is LAPACK's subset below
        256 columns and LOBPCG from a start above: ``benchmarks/eigen.py`` measured 0.5 against 1.9 ms at 128
        columns, 9 against 2 at 512 and 500 against 40 at 2048, while the power method took 377 ms at 512.

    Returns
    -------
    values : array, shape (q,)
        Ascending.
    vectors : array, shape (d, q)
        Orthonormal, signs fixed by their entry of largest modulus.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    d = len(A)
    if method == "auto":
        method = "lobpcg" if d >= MANY_COLUMNS and start is not None else "subset"
    if method == "full":
        values, V = eigh(A)
        values, V = values[:q], V[:, :q]
    elif method == "power":
        values, V = _coordinate_power(A, q, start)
    elif method == "lobpcg" and d >= 5 * q + 5:  # scipy's lobpcg itself turns to LAPACK below that
        values, V = _lobpcg_smallest(A, q, start)
    else:
        values, V = lapack_subset(A, 0, q - 1)
    return values, fix_signs(V)


def _lobpcg_smallest(A: Array, q: int, start: Array | None) -> tuple[Array, Array]:
    X = _start_block(len(A), q, start)
    scale = np.linalg.norm(A, ord="fro") or 1.0
    with warnings.catch_warnings():  # it warns at every tolerance that it misses; the residual below decides
        warnings.simplefilter("ignore")
        values, V = lobpcg(A, X, largest=False, tol=1e-9 * scale, maxiter=200)
    order = np.argsort(values)
    values, V = values[order], np.linalg.qr(V[:, order])[0]
    if np.linalg.norm(A @ V - V * values) > 1e-6 * scale:
        return lapack_subset(A, 0, q - 1)
    return values, V


def _coordinate_power(
    A: Array, q: int, start: Array | None, *, tol: float = 1e-8, max_iter: int = 20_000
) -> tuple[Array, Array]:
    """Coordinate-wise power method on shift·I − A, one eigenvector after the other with deflation.

    Each step refreshes only the coordinates of x that are furthest from those of Ax/‖Ax‖, and updates Ax by
    the changed columns alone: O(d·m) for m coordinates instead of O(d²).
    """
    d = len(A)
    shift = 1.01 * float(np.linalg.norm(A, ord=1)) + np.finfo(float).tiny  # above every eigenvalue
    B = -np.asarray(A, dtype=float).copy()
    B[np.diag_indices(d)] += shift
    m = max(d // 20, min(d, 10))
    X = _start_block(d, q, start)
    V = np.empty((d, q))
    values = np.empty(q)
    for j in range(q):
        x = X[:, j] - V[:, :j] @ (V[:, :j].T @ X[:, j])
        x /= np.linalg.norm(x) or 1.0
        z = B @ x
        for iteration in range(max_iter):
            rayleigh = (x @ z) / (x @ x)
            gap = z / rayleigh - x
            if iteration % 50 == 0 and np.linalg.norm(gap) <= tol * np.linalg.norm(x):
                break
            change = np.argpartition(np.abs(gap), d - m)[d - m :]
            z += B[:, change] @ gap[change]
            x[change] += gap[change]
        x -= V[:, :j] @ (V[:, :j].T @ x)
        V[:, j] = x / np.linalg.norm(x)
        top = V[:, j] @ (B @ V[:, j])
        values[j] = shift - top
        B -= top * np.outer(V[:, j], V[:, j])
    order = np.argsort(values)
    return values[order], np.linalg.qr(V[:, order])[0]


def _start_block(d: int, q: int, start: Array | None) -> Array:
    block = np.random.default_rng(0).standard_normal((d, q))
    if start is not None:
        # A start inside an invariant subspace that is not the smallest would never leave it.
        block = start + 1e-3 * block / np.sqrt(d)
    return np.linalg.qr(block)[0]


def leading_eigenvectors(Q: Array, k: int, start: Array | None = None) -> tuple[Array, Array]:
    """The k leading eigenvectors of the symmetric kernel matrix Q of the U step.

    Well separated clusters make the leading eigenvalues equal, and a single-vector Lanczos (ARPACK) then returns
    wrong ones without a word: it missed copies in a third of such trials. A small σ crowds them below 1, and
    Krylov spaces of Q itself take for ever. So: a block Krylov space of Q; where that does not settle, of
    (pole − Q)⁻¹ with a pole just above the spectrum, which tears the crowd apart for one Cholesky factorisation (a
    fifth of LAPACK's price); and LAPACK where that does not settle either.

    Parameters
    ----------
    Q : array, shape (n, n)
        With eigenvalues of at most 1.
    k : int
    start : array, shape (n, k), optional
        The last U.

    Returns
    -------
    values : array, shape (k,)
        Descending.
    vectors : array, shape (n, k)
    """
    n = len(Q)
    guards = np.random.default_rng(0).standard_normal((n, 3 if start is not None else k + 3))
    if start is None:
        block = guards
    else:  # an exactly invariant start would end the Krylov space at once, right or wrong
        noise = np.random.default_rng(1).standard_normal(start.shape)
        block = np.column_stack([start + 1e-6 * noise / np.sqrt(n), guards])
    if n > max(FEW, 25 * block.shape[1]):
        ritz = _ritz(Q, _krylov(lambda B: Q @ B, block, 5), k)
        if ritz.error > ANGLE:
            ritz = _inverse_ritz(Q, ritz, k)
        if ritz.error <= ANGLE:
            return ritz.values[:k], fix_signs(ritz.vectors[:, :k])
    values, V = lapack_subset(Q, n - k, n - 1)
    return values[::-1], fix_signs(V[:, ::-1])


FEW = 500  # rows up to which LAPACK is faster
ANGLE = 1e-3  # residual over the gap between Ritz values: an estimate of the sine of the angle to the true subspace


class _Ritz(NamedTuple):
    """Ritz pairs of a subspace, k + 3 of them, descending; `error` is the residual of the first k over their gap."""

    values: Array
    vectors: Array
    error: float


def _ritz(Q: Array, basis: Array, k: int) -> _Ritz:
    image = Q @ basis
    small = basis.T @ image
    values, T = np.linalg.eigh((small + small.T) / 2)
    values, T = values[::-1][: k + 3], T[:, ::-1][:, : k + 3]
    vectors = basis @ T
    gap = float(values[k - 1] - values[k])
    residual = np.linalg.norm(image @ T[:, :k] - vectors[:, :k] * values[:k])
    return _Ritz(values, vectors, float(residual / max(gap, 1e-300)))


def _krylov(apply: Callable[[Array], Array], block: Array, depth: int) -> Array:
    """An orthonormal basis of the span of block, A block, …, A^(depth−1) block."""
    blocks = [np.linalg.qr(block)[0]]
    for _ in range(depth - 1):
        fresh = apply(blocks[-1])
        basis = np.hstack(blocks)
        for _ in range(2):  # once more: one pass of Gram–Schmidt leaves rounding behind
            fresh = fresh - basis @ (basis.T @ fresh)
        fresh, R = np.linalg.qr(fresh)
        if np.min(np.abs(np.diag(R))) < 1e-12 * np.max(np.abs(np.diag(R))):
            break
        blocks.append(fresh)
    return np.hstack(blocks)


def _inverse_ritz(Q: Array, ritz: _Ritz, k: int, cycles: int = 3) -> _Ritz:
    top = 1.0 + 1e-3  # above every eigenvalue; where the leading ones are far below, a nearer pole serves better
    near = ritz.values[0] + 0.2 * (ritz.values[0] - ritz.values[-1])
    for pole in (near, top) if near < 0.9 else (top,):
        shifted = -Q
        shifted.flat[:: len(Q) + 1] += pole
        factor, fails = lapack.dpotrf(shifted.T, lower=1, clean=0, overwrite_a=1)  # .T: Fortran's order for free
        if not fails:
            break
    else:
        return ritz
    for _ in range(cycles):
        ritz = _ritz(Q, _krylov(lambda B: lapack.dpotrs(factor, B, lower=1)[0], ritz.vectors, 6), k)
        if ritz.error <= ANGLE:
            break
    return ritz
