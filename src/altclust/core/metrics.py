"""Cluster quality and overlap: the measures of the paper's table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import stats
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import mutual_info_score, normalized_mutual_info_score

from ..base.backend import Array
from .kernels import Gaussian

NO_CUT = 1e-3  # a smaller normalised cut counts as none


def nmi(a: np.ndarray, b: np.ndarray) -> float:
    """Normalised mutual information I(a, b) / √(H(a) H(b)), the paper's choice of mean.

    Examples
    --------
    >>> from altclust.metrics import nmi
    >>> nmi([0, 0, 1, 1], ["a", "a", "b", "b"])
    1.0
    """
    return float(normalized_mutual_info_score(a, b, average_method="geometric"))


def overlap(labels: np.ndarray, given: Iterable[np.ndarray]) -> float:
    """The largest NMI of the labels with a given clustering over its known rows: 0 independent, 1 identical.

    For a measurement it is the `dependence` of the labels on it.

    Parameters
    ----------
    labels : int array, shape (n,)
    given : iterable of int arrays, shape (n,), or float arrays, shape (n, m)
        Codes, where −1 is unknown, or features of a measurement, where NaN is. With nothing given the overlap is NaN.
    """
    found = [
        dependence(labels, known)[0] if known.ndim == 2 else nmi(labels[known >= 0], known[known >= 0])
        for known in given
    ]
    return max(found, default=float("nan"))


def overlap_p_value(labels: np.ndarray, given: Iterable[np.ndarray]) -> float:
    """The smallest p-value of independence between labels and what is given, times the number of things given.

    NaN if nothing is given. Arguments are those of `overlap`.
    """
    found = [dependence(labels, known if known.ndim == 2 else _indicators(known))[1] for known in given]
    return min(1.0, len(found) * min(found)) if found else float("nan")


def _indicators(codes: np.ndarray) -> Array:
    known = codes >= 0
    Y = np.full((len(codes), int(codes.max()) + 1), np.nan)
    Y[known] = one_hot(codes[known]) if known.any() else 0.0
    return Y


def dependence(labels: np.ndarray, features: Array) -> tuple[float, float]:
    """How far a measurement determines labels: 0 independent, 1 determined; and the p-value of independence.

    It is the mean squared canonical correlation between the indicators of the labels and the features of the
    measurement's kernel, minus what chance gives (adjusted as R² is). Any smooth function of the measurement counts,
    not only linear ones. The p-value is that of Pillai's trace.

    Parameters
    ----------
    labels : int array, shape (n,)
        From 0 on.
    features : array, shape (n, m)
        NaN is unknown, see `altclust.Known`.
    """
    known = ~np.isnan(features[:, 0])
    if not known.any():
        return 0.0, 1.0
    codes, A = np.unique(labels[known], return_inverse=True)[1], features[known]
    return dependence_of_sums(np.bincount(codes), one_hot(codes).T @ A if len(codes) else A[:0], A.T @ A)


def dependence_of_sums(sizes: np.ndarray, sums: Array, squares: Array) -> tuple[float, float]:
    """`dependence` from the sizes of the clusters (k,), the sums of the features in them (k, m) and AᵀA (m, m)."""
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


def nmi_matrix(labels: list[np.ndarray]) -> Array:
    """The NMI of every pair of clusterings with labels from 0 on, from one product of all their indicator columns."""
    columns = [one_hot(codes) for codes in labels]
    begins = np.cumsum([0] + [c.shape[1] for c in columns[:-1]])
    stacked = np.hstack(columns)
    joint = stacked.T @ stacked / len(stacked)
    shares = stacked.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint / np.outer(shares, shares)), 0.0)
    information = np.add.reduceat(np.add.reduceat(terms, begins, axis=0), begins, axis=1)
    entropy = np.diag(information)
    scale = np.sqrt(np.outer(entropy, entropy))
    return np.where(scale > 1e-12, information / np.maximum(scale, 1e-12), 0.0)


def one_hot(codes: np.ndarray, k: int | None = None) -> Array:
    """Indicator columns of k labels from 0 on, or of as many as there are."""
    return np.eye(codes.max() + 1 if k is None else k)[codes]


def match_labels(labels: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Renumber clusters so that they share as many rows as possible with the same numbers in a reference.

    Parameters
    ----------
    labels, reference : int arrays, shape (n,)
        From 0 on; −1 in the reference is unknown. Clusters without a match get the remaining numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from altclust.metrics import match_labels
    >>> match_labels(np.array([1, 1, 0, 0, 2]), np.array([0, 0, 0, 1, 1])).tolist()
    [0, 0, 1, 1, 2]
    """
    known = reference >= 0
    size = 1 + int(max(labels.max(), reference.max()))
    shared = np.zeros((size, size), dtype=int)
    np.add.at(shared, (labels[known], reference[known]), 1)
    return linear_sum_assignment(shared, maximize=True)[1][labels]


def hsic(X: Array, Y: Array, *, sigma: float, sigma_y: float | None = None) -> float:
    """Hilbert–Schmidt independence criterion Tr(K H L H) / (n − 1)², with Gaussian K and L.

    Parameters
    ----------
    X : array, shape (n, p)
    Y : array, shape (n, m)
    sigma : float
        Width of the kernel on X.
    sigma_y : float, optional
        Width of the kernel on Y; without it L = YYᵀ, as for cluster indicators.
    """
    n = len(X)
    K = Gaussian(sigma).gram(X)
    L = Y @ Y.T if sigma_y is None else Gaussian(sigma_y).gram(Y)
    L = L - L.mean(axis=0)
    L -= L.mean(axis=1, keepdims=True)
    return float(np.sum(K * L) / (n - 1) ** 2)


def normalised_cut(K: Array, labels: np.ndarray, k: int) -> float:
    """Σ_c cut_c / vol_c over k clusters, plus 0.001, so that its logarithm is finite; an empty cluster counts 1.

    vol_c is the sum of the degrees in c, and cut_c what of it goes to other clusters.
    """
    Y = np.eye(k, dtype=K.dtype)[labels]
    within, volume = np.sum(Y * (K @ Y), axis=0), K.sum(axis=0) @ Y
    cuts = np.where(volume > 0, 1 - within / np.where(volume > 0, volume, 1.0), 1.0)
    return NO_CUT + float(cuts.sum())


def table_nmi(counts: Array) -> float:
    """`nmi` of two clusterings from their contingency table."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    entropies = stats.entropy(counts.sum(axis=1)), stats.entropy(counts.sum(axis=0))
    if min(entropies) == 0:
        return float(max(entropies) == 0)
    return float(mutual_info_score(None, None, contingency=counts) / np.sqrt(entropies[0] * entropies[1]))
