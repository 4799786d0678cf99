"""Whether several Gaussians describe rows better than one: clusters, or a cut through a cloud."""

from __future__ import annotations

import numpy as np

from ..base.backend import Array
from ..core.metrics import one_hot
from .heuristics import SLIGHT

STEPS = 10  # of EM


def mixture(Z: Array, codes: np.ndarray) -> float:
    """What a mixture of Gaussians with one covariance gains over one Gaussian: log-likelihood per row.

    A few EM steps start from the clusters. The penalty is that of BIC for the additional centres and shares.

    Parameters
    ----------
    Z : array, shape (n, q)
    codes : int array, shape (n,)
        Clusters, from 0 on.
    """
    k, n = int(codes.max()) + 1, len(Z)
    Z = Z - Z.mean(axis=0)
    values, axes = np.linalg.eigh(Z.T @ Z / n)
    wide = values > 1e-10 * values[-1]
    if k < 2 or not wide.any():
        return 0.0
    Z = Z @ (axes[:, wide] / np.sqrt(values[wide]))
    q = Z.shape[1]
    member = one_hot(codes)
    for _ in range(STEPS):
        sizes = member.sum(axis=0) + 1e-9
        centres = member.T @ Z / sizes[:, None]
        within = np.eye(q) - (centres * sizes[:, None]).T @ centres / n + SLIGHT * np.eye(q)
        towards = np.linalg.solve(within, centres.T)
        joint = Z @ towards + (np.log(sizes / n) - np.sum(centres.T * towards, axis=0) / 2)
        highest = joint.max(axis=1, keepdims=True)
        member = np.exp(joint - highest)
        total = member.sum(axis=1, keepdims=True)
        member /= total
    density = np.mean(highest + np.log(total)) - np.sum(Z * np.linalg.solve(within, Z.T).T) / (2 * n)
    gained = density - np.linalg.slogdet(within)[1] / 2 + q / 2
    return float(gained - (k - 1) * (q + 1) * np.log(n) / (2 * n))
