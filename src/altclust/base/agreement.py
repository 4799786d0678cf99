"""Agreement of two clusterings, and of a clustering with a measurement, from counts and sums over rows."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.metrics import mutual_info_score

from .backend import Array


def table_nmi(counts: Array) -> float:
    """`altclust.metrics.nmi` of two clusterings from their contingency table."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    entropies = stats.entropy(counts.sum(axis=1)), stats.entropy(counts.sum(axis=0))
    if min(entropies) == 0:
        return float(max(entropies) == 0)
    return float(mutual_info_score(None, None, contingency=counts) / np.sqrt(entropies[0] * entropies[1]))


def dependence_of_sums(sizes: np.ndarray, sums: Array, squares: Array) -> tuple[float, float]:
    """How far features A determine labels: 0 independent, 1 determined; and the p-value of independence.

    From the sizes (k,) of the clusters, the sums (k, m) of the features in them, and the squares AᵀA. See
    `altclust.metrics.overlap`; the p-value is that of Pillai's trace.
    """
    sums, sizes = sums[sizes > 0], sizes[sizes > 0]
    n = int(sizes.sum())
    if len(sizes) < 2:
        return 0.0, 1.0
    mean = sums.sum(axis=0) / n
    gram = squares - n * np.outer(mean, mean)
    between = sums - sizes[:, None] * mean
    inverse = np.linalg.pinv(gram, rcond=1e-10, hermitian=True)
    p, q = len(sizes) - 1, int(np.linalg.matrix_rank(gram, tol=1e-10 * np.trace(gram), hermitian=True))
    least, most = min(p, q), max(p, q)
    if least == 0 or n - 1 <= p + q:
        return 0.0, 1.0
    trace = float(np.clip(np.sum((between @ inverse) * between / sizes[:, None]), 0.0, least * (1 - 1e-12)))
    chance = most / (n - 1)
    degrees = least * most, least * (n - 1 - most)
    ratio = trace / (least - trace) * degrees[1] / degrees[0]
    return float(max(0.0, (trace / least - chance) / (1 - chance))), float(stats.f.sf(ratio, *degrees))
