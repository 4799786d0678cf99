"""Cluster quality and overlap: the measures of the paper's table."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score

from ..base.backend import Array
from ..base.known import read_given
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


def overlap(labels: np.ndarray, given: Any) -> float:
    """The largest NMI of the labels with a given clustering over its known rows: 0 independent, 1 identical.

    For a measurement it is how far this determines the labels: the mean squared canonical correlation between the
    indicators of the labels and the features of the measurement's kernel, minus what chance gives (adjusted as R² is).
    Any smooth function of the measurement counts, not only linear ones.

    Parameters
    ----------
    labels : int array, shape (n,)
    given : None, labels or numbers of shape (n,), several columns of them, or `altclust.Known`
        As y in `altclust.KDAC.fit`. With nothing given the overlap is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from altclust.metrics import overlap
    >>> round(overlap(np.array([0, 0, 1, 1]), ["a", "a", "b", "b"]), 6)
    1.0
    """
    return read_given(given, len(labels)).overlap(labels)


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
    >>> from altclust.core.metrics import match_labels
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
