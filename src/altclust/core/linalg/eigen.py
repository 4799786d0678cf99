"""Eigenvectors for the smallest eigenvalues of Φ (W step) and the largest of the kernel (U step)."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.linalg import LinAlgError, eigh, get_lapack_funcs
from scipy.sparse.linalg import lobpcg

from ...base.backend import Array
from .krylov import GUARDS, Ritz, krylov, leading_ritz, ritz

METHODS = ("auto", "full", "subset", "lobpcg", "power")
MANY_COLUMNS = 600  # from here on LOBPCG with a start is faster than LAPACK's subset, even without an eigengap


def lapack_subset(A: Array, low: int, high: int) -> tuple[Array, Array]:
    """Eigenpairs low to high of a symmetric matrix, counted from the smallest.

    LAPACK's subset driver may return fewer pairs than requested, or fail, if many eigenvalues are equal (σ so small
    that K is the identity, or all rows equal): then all pairs are computed.
    """
    try:
        values, V = eigh(A, subset_by_index=[low, high])
        found = len(values)
    except LinAlgError:
        found = 0
    if found <= high - low:
        values, V = eigh(A, driver="evd")
        values, V = values[low : high + 1], V[:, low : high + 1]
    return values, V


def fix_signs(V: Array) -> Array:
    """Flip the sign of columns so that their entry of largest modulus is positive."""
    pivots = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    return np.where(pivots < 0, -V, V)


def smallest_eigenvectors(A: Array, q: int, *, start: Array | None = None, method: str = "auto") -> tuple[Array, Array]:
    """The q smallest eigenvalues, ascending, and eigenvectors (d, q) of a symmetric matrix: eig_min in the paper.

    The methods are LAPACK for all eigenvectors ("full") or only the wanted ones ("subset"), LOBPCG, or the
    coordinate-wise power method of Lei, Zhong and Dhillon (2016), which the paper proposes for many columns; the last
    two begin with `start` (d, q), such as the last W. "auto" is LAPACK's subset below 600 columns and LOBPCG from a
    start above: ``benchmarks/eigen.py`` measured 0.5 against 1.9 ms at 128 columns, 9 against 2 at 512 and 500 against
    40 at 2048, while the power method took 377 ms at 512. Signs are fixed by the entry of largest modulus.
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
    elif method == "lobpcg" and d >= 5 * q + 5:  # scipy's lobpcg itself uses LAPACK below that
        values, V = _lobpcg_smallest(A, q, start)
    else:
        values, V = lapack_subset(A, 0, q - 1)
    return values, fix_signs(V)


def _lobpcg_smallest(A: Array, q: int, start: Array | None) -> tuple[Array, Array]:
    X = _start_block(len(A), q, start)
    scale = np.linalg.norm(A, ord="fro") or 1.0
    with warnings.catch_warnings():  # it warns if it misses tol; the residual is checked below
        warnings.simplefilter("ignore")
        values, V = lobpcg(A, X, largest=False, tol=1e-9 * scale, maxiter=200)
    order = np.argsort(values)
    values, V = values[order], np.linalg.qr(V[:, order])[0]
    if np.linalg.norm(A @ V - V * values) > 1e-6 * scale:
        return lapack_subset(A, 0, q - 1)
    return values, V


def _coordinate_power(A: Array, q: int, start: Array | None) -> tuple[Array, Array]:
    """Coordinate-wise power method on shift·I − A, one eigenvector after the other with deflation.

    Each step updates only the coordinates of x that differ most from those of Ax/‖Ax‖, and updates Ax by
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
        for iteration in range(20_000):
            rayleigh = (x @ z) / (x @ x)
            gap = z / rayleigh - x
            if iteration % 50 == 0 and np.linalg.norm(gap) <= 1e-8 * np.linalg.norm(x):
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
    """The k leading eigenvalues, descending, and eigenvectors of the symmetric Q ≤ I of the U step.

    Well separated clusters make the leading eigenvalues equal, and single-vector Lanczos (ARPACK) then silently returns
    wrong eigenvectors: it missed copies in a third of such trials. A small σ makes them crowd below 1, where Krylov
    spaces of Q converge very slowly. So three methods are tried in turn: a block Krylov space of Q, from the last U if
    there is one; one of (pole − Q)⁻¹ with a pole just above the spectrum, which separates close eigenvalues for one
    Cholesky factorisation (a fifth of LAPACK's cost); and LAPACK.
    """
    n = len(Q)
    k = min(k, n)
    block = np.random.default_rng(0).standard_normal((n, GUARDS if start is not None else k + GUARDS))
    if start is not None:
        # an exactly invariant start would end the Krylov space at once, even if it is not the leading one
        noise = 1e-6 * np.random.default_rng(1).standard_normal(start.shape) / np.sqrt(n)
        block = np.hstack([start + noise, block])
    if n > max(FEW, 25 * block.shape[1]):
        found = ritz(Q.__matmul__, krylov(Q.__matmul__, block, 5), k)
        if found.error > ANGLE:
            found = _inverse_ritz(Q, found, k)
        if found.error <= ANGLE:
            return found.values[:k], fix_signs(found.vectors[:, :k])
    values, V = lapack_subset(Q, n - k, n - 1)
    return values[::-1], fix_signs(V[:, ::-1])


def follow_eigenvectors(
    apply: Callable[[Array], Array], whole: Callable[[], Array], n: int, k: int, around: Array | None
) -> tuple[Array, Array]:
    """The k leading eigenvalues of a numpy matrix Q that changes in small steps, and vectors that begin with theirs.

    Where eigenvalues are close, a restarted Krylov space that starts with the vectors that were returned last time
    (around) needs a third of the time of `leading_eigenvectors`: products (apply is B -> Q B) instead of a
    factorisation. Q itself, whole(), is for few rows and where the products do not converge.
    """
    if n <= max(FEW, 25 * (k + GUARDS)):
        return leading_eigenvectors(whole(), k)
    known = np.zeros((n, 0)) if around is None else around
    # fresh columns, too: a vector that becomes a leading one need not be among the last
    fresh = np.random.default_rng(0).standard_normal((n, GUARDS + max(0, k + GUARDS - known.shape[1])))
    found = leading_ritz(apply, np.hstack([known, fresh]), k, error=ANGLE, least=3, depth=20)
    if not found.error <= ANGLE:
        return leading_eigenvectors(whole(), k, found.vectors[:, :k])
    return found.values[:k], fix_signs(found.vectors)


FEW = 500  # rows up to which LAPACK is faster than Krylov spaces
ANGLE = 1e-3  # residual over the gap between Ritz values: an estimate of the sine of the angle to the true subspace


def _inverse_ritz(Q: Array, found: Ritz, k: int) -> Ritz:
    top = 1.0 + 1e-3  # above every eigenvalue; if the leading ones are far below, a closer pole is better
    near = found.values[0] + 0.2 * (found.values[0] - found.values[-1])
    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), (Q,))
    for pole in (near, top) if near < 0.9 else (top,):
        shifted = -Q
        shifted.flat[:: len(Q) + 1] += pole
        factor, fails = potrf(shifted.T, lower=1, clean=0, overwrite_a=1)  # .T: Fortran order without a copy
        if not fails:
            break
    else:
        return found
    for _ in range(3):
        found = ritz(Q.__matmul__, krylov(lambda B: potrs(factor, B, lower=1)[0], found.vectors, 6), k)
        if found.error <= ANGLE:
            break
    return found
