"""minCEntropy: clusters of low conditional entropy, from a kernel alone (Vinh and Epps 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given
from ..base.sklearn_compat import StrOptions
from ..base.validation import AUTO, COUNT, WEIGHT, WIDTH
from .base import Baseline, kmeans, make_gaussian


@dataclass(eq=False, repr=False, kw_only=True)
class MinCEntropy(Baseline):
    """minCEntropy+: minimise the conditional entropy of the rows, with a penalty for similarity to given clusterings.

    With the quadratic (Havrda–Charvát) entropy and a kernel K, both terms are sums over pairs within clusters C:
    maximise Σ_C (1/|C|) Σ_{i,j ∈ C} (K_ij − λ Σ_g [g_i = g_j]), where the second term is the quadratic
    information about each given clustering g. Rows are moved one by one to the cluster that maximises it.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    novelty_weight : float
        λ, the penalty, divided by the number of given clusterings; in units of the kernel's standard deviation.
    kernel : {"gaussian", "precomputed"}
        "precomputed": X is the kernel itself, shape (n, n), such as `gower_kernel` of a mixed table.
    sigma : float or "auto"
        Width of the Gaussian kernel; "auto" is the median distance between rows.
    n_init : int
        Number of starts; the first is k-means, the others are random.
    max_iter : int
        Limit on the sweeps over all rows.
    random_state : int, Generator or None

    Attributes
    ----------
    objective_ : float
        The maximised objective, divided by n.
    n_iter_ : int
        Sweeps of the best start.

    Notes
    -----
    After “minCEntropy: a novel information theoretic approach for the generation of alternative clusterings” (ICDM
    2010). The original's kernel width and weight are set by hand; the units of λ here are ours.
    """

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {
        "novelty_weight": [WEIGHT],
        "kernel": [StrOptions({"gaussian", "precomputed"})],
        "sigma": [WIDTH, AUTO],
        "n_init": [COUNT],
        "max_iter": [COUNT],
    }
    novelty_weight: float = 5.0
    kernel: str = "gaussian"
    sigma: float | str = "auto"
    n_init: int = 5
    max_iter: int = 50
    _most_rows = 20_000

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        n, k = len(X), self.n_clusters_
        if self.kernel == "precomputed":
            if X.shape != (n, n):
                raise InputError(f"X has shape {X.shape} but kernel='precomputed': pass the n x n kernel.")
            K: Any = X + self.mean_
            if not np.allclose(K, K.T):
                raise InputError("X is not symmetric but kernel='precomputed': pass the n x n kernel.")
        else:
            K = make_gaussian(self.sigma, X, rng).gram(X)
        spread = float(K.std()) or 1.0
        for codes in given.clusterings:
            alike = (codes[:, None] == codes) & (codes >= 0)
            K[alike] -= self.novelty_weight * spread / len(given.levels)
        starts = [kmeans(X, k, rng).labels_.copy(), *(rng.integers(k, size=n) for _ in range(1, self.n_init))]
        tries = [_climb(K, start, k, self.max_iter, rng) for start in starts]
        labels, self.objective_, self.n_iter_ = max(tries, key=lambda found: found[1])
        return labels


def _climb(
    K: Array, labels: np.ndarray, k: int, max_iter: int, rng: np.random.Generator
) -> tuple[np.ndarray, float, int]:
    """Move rows one by one to the cluster that increases Σ_C (1/|C|) Σ_{i,j ∈ C} K_ij most, until none moves."""
    n = len(K)
    member = np.zeros((n, k))
    member[np.arange(n), labels] = 1
    sums = K @ member  # of each row's kernel with every cluster
    sizes, within = member.sum(axis=0), np.sum(member * sums, axis=0)
    sweeps, moved = 0, True
    while moved and sweeps < max_iter:
        sweeps, moved = sweeps + 1, False
        for i in rng.permutation(n):
            here = labels[i]
            if sizes[here] <= 1:
                continue
            left = within[here] - 2 * sums[i, here] + K[i, i]
            loss = within[here] / sizes[here] - left / (sizes[here] - 1)
            joined = within + 2 * sums[i] + K[i, i]
            gain = joined / (sizes + 1) - np.divide(within, sizes, out=np.zeros(k), where=sizes > 0)
            gain[here] = loss
            there = int(np.argmax(gain))
            if gain[there] > loss + 1e-12:
                within[here], within[there] = left, joined[there]
                sizes[here] -= 1
                sizes[there] += 1
                sums[:, here] -= K[i]
                sums[:, there] += K[i]
                labels[i], moved = there, True
    return labels, float(np.sum(np.divide(within, sizes, out=np.zeros(k), where=sizes > 0)) / n), sweeps


def gower_kernel(table: pd.DataFrame) -> Array:
    """Similarities between the rows of a mixed table: 1 minus Gower's distance, shape (n, n).

    Parameters
    ----------
    table : DataFrame
        The distance of numbers is their difference over the column's range; that of anything else, including dates, is
        0 if equal and 1 if not. Columns with a missing cell are skipped for a pair; a pair without a common column
        gets the average similarity.

    Examples
    --------
    >>> import pandas as pd
    >>> from altclust.baselines import gower_kernel
    >>> gower_kernel(pd.DataFrame({"age": [20, 40, 30], "city": ["Graz", "Graz", "Wien"]})).round(2).tolist()
    [[1.0, 0.5, 0.25], [0.5, 1.0, 0.25], [0.25, 0.25, 1.0]]
    """
    total, counted = np.zeros((2, len(table), len(table)))
    for _, column in pd.DataFrame(table).items():
        there = column.notna().to_numpy()
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            there = there & np.isfinite(values)
            values = np.where(there, values, 0.0)
            values = values / (np.abs(values).max() or 1.0)  # so that the range does not overflow
            reach = np.ptp(values[there]) if there.any() else 0.0
            distance = np.abs(values[:, None] - values) / (reach or 1.0)
        else:
            codes = pd.factorize(column)[0]
            distance = (codes[:, None] != codes).astype(float)
        both = there[:, None] & there
        total += np.where(both, distance, 0)
        counted += both
    similar = 1 - total / np.maximum(counted, 1)
    compared = counted > 0
    return np.where(compared, similar, similar[compared].mean() if compared.any() else 0.0)
