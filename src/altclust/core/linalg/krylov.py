"""Block Krylov methods for a symmetric matrix that is given by its products with blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...base.backend import Array

GUARDS = 3  # Ritz pairs that are kept beyond those requested, for the gap and for a thick restart


class Ritz(NamedTuple):
    """The k + 3 leading Ritz pairs of a subspace, descending; `error` is the residual of the first k over their gap."""

    values: Array
    vectors: Array
    error: float


def ritz(apply: Callable[[Array], Array], basis: Array, k: int) -> Ritz:
    """The leading Ritz pairs of the symmetric Q on the span of an orthonormal basis (n, m > k); apply is B -> Q B."""
    return _rayleigh(basis, apply(basis), k)[0]


def _rayleigh(basis: Array, image: Array, k: int) -> tuple[Ritz, Array, Array]:
    """The leading Ritz pairs from image = Q basis, the images of their vectors, the rotation to all Ritz vectors."""
    small = basis.T @ image
    values, T = np.linalg.eigh((small + small.T) / 2)
    values, T = np.flip(values)[: k + GUARDS], np.flip(T, axis=1)
    vectors, images = basis @ T[:, : k + GUARDS], image @ T[:, : k + GUARDS]
    gap = float(values[k - 1] - values[k])
    residual = np.linalg.norm(images[:, :k] - vectors[:, :k] * values[:k])
    return Ritz(values, vectors, float(residual) / max(gap, 1e-300)), images, T


def krylov(apply: Callable[[Array], Array], block: Array, depth: int) -> Array:
    """An orthonormal basis of the span of block, A block, …, A^(depth−1) block, where apply is B -> A B."""
    dependent = 4500 * np.finfo(float).eps  # 1e-12
    blocks = [np.linalg.qr(block)[0]]
    for _ in range(depth - 1):
        fresh = apply(blocks[-1])
        basis = np.hstack(blocks)
        for _ in range(2):  # once more: one pass of Gram–Schmidt leaves rounding behind
            fresh = fresh - basis @ (basis.T @ fresh)
        fresh, R = np.linalg.qr(fresh)
        sizes = np.abs(np.diagonal(R))
        if float(np.min(sizes)) < dependent * float(np.max(sizes)):
            break
        blocks.append(fresh)
    return np.hstack(blocks)


def leading_ritz(
    apply: Callable[[Array], Array],
    block: Array,
    k: int,
    *,
    error: float,
    least: int = 1,
    most: int = 30,
    depth: int = 10,
) -> Ritz:
    """The k leading eigenpairs of a symmetric Q with expensive products, by a thick-restart block Krylov method.

    No column is multiplied twice: the images of the basis are stored, and a restart rotates them with the basis. The
    space grows by the residuals of the leading Ritz vectors, which span the next Krylov block. The start is a block of
    at least k + 3 columns. At least and at most so many products are made: a start that is invariant but not leading is
    detected only after a few, and if the eigenvalues are too close to converge to the error of `Ritz`, the best pairs
    so far are returned. A basis of more than depth (k + 3) columns is restarted with the leading third of its Ritz
    vectors.
    """
    basis = np.linalg.qr(block)[0]
    image = apply(basis)
    found, images, T = _rayleigh(basis, image, k)
    for spent in range(1, most):
        if found.error <= error and spent >= least:
            break
        residuals = images - found.vectors * found.values
        sizes = np.linalg.norm(residuals, axis=0)
        fresh = residuals[:, sizes > 1e-13 * np.max(np.abs(found.values))]
        if fresh.shape[1] == 0:
            break
        for _ in range(2):  # once more: one pass of Gram–Schmidt leaves rounding behind
            fresh = np.linalg.qr(fresh - basis @ (basis.T @ fresh))[0]
        if basis.shape[1] + fresh.shape[1] > depth * (k + GUARDS):
            thick = T[:, : basis.shape[1] // 3]
            basis, image = basis @ thick, image @ thick
        basis = np.hstack([basis, fresh])
        image = np.hstack([image, apply(fresh)])
        found, images, T = _rayleigh(basis, image, k)
    return found
