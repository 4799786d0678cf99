"""Hierarchical clustering by mutual information with the rows and the given clusters (Dang and Bailey 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.backend import Array
from ..base.given import Given
from ..base.validation import AUTO, WEIGHT, WIDTH
from .base import Baseline, make_gaussian


@dataclass(eq=False, repr=False, kw_only=True)
class NACI(Baseline):
    """Hierarchical clustering by quadratic mutual information.

    Every row starts as a cluster. Each step merges the pair that maximises I(C; X) − η I(C; given), quadratic
    informations that are sums over pairs by Parzen windows. With kernel sums S_ab between clusters, R_a with all
    rows and T in total, a merge changes I(C; X) by (2 S_ab + 2 n_a n_b T/n² − 2 (n_a R_b + n_b R_a)/n)/n²,
    and I(C; given) by 2 v_a·v_b, where v_a holds n_ag/n − n_a n_g/n² for every given cluster g.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": as many as the first given clustering has.
    novelty_weight : float
        η, in units in which both informations of the given clustering are equal.
    sigma : float or "auto"
        Width of the kernel between rows, √2 times that of a Parzen window; "auto" is half the median distance.
    random_state : int, Generator or None
        Used only for the median distance of large tables.

    Notes
    -----
    After “A hierarchical information theoretic technique for the discovery of non linear alternative clusterings” (KDD
    2010). The update formulas are derived here from the quadratic mutual information; the units of η are ours.
    It needs all pairs of rows: more than 3,000 are refused.
    """

    _parameter_constraints: ClassVar[dict] = Baseline._parameter_constraints | {
        "novelty_weight": [WEIGHT],
        "sigma": [WIDTH, AUTO],
    }
    novelty_weight: float = 1.0
    sigma: float | str = "auto"
    _most_rows = 3000

    def _cluster(self, X: Array, given: Given, rng: np.random.Generator) -> np.ndarray:
        n = len(X)
        S = make_gaussian(self.sigma, X, rng, share=0.5).gram(X)
        R, T, sizes = S.sum(axis=1), float(S.sum()), np.ones(n)
        V = np.hstack([np.zeros((n, 0)), *(_deviations(codes) for codes in given.clusterings)])
        if given:  # η = 1 gives both informations the same weight
            about_rows = sum(_information(S, R, T, codes) for codes in given.clusterings)
            of_clusters = [V[codes == g].sum(axis=0) for codes in given.clusterings for g in range(codes.max() + 1)]
            about_given = float(np.sum(np.square(of_clusters)))
            V *= np.sqrt(self.novelty_weight * max(about_rows, 0.0) / max(about_given, 1e-300))
        labels, alive = np.arange(n), np.ones(n, dtype=bool)
        gain = (2 * S + 2 * T / n**2 - 2 * (R[:, None] + R) / n) / n**2 - 2 * V @ V.T
        np.fill_diagonal(gain, -np.inf)
        partner = np.argmax(gain, axis=1)
        best = gain[np.arange(n), partner]
        for _ in range(n - self.n_clusters_):
            a = int(np.argmax(best))
            b = int(partner[a])
            S[a] += S[b]
            S[:, a] += S[:, b]
            sizes[a], R[a], V[a] = sizes[a] + sizes[b], R[a] + R[b], V[a] + V[b]
            labels[labels == b], alive[b] = a, False
            row = (
                2 * S[a] + 2 * sizes[a] * sizes * T / n**2 - 2 * (sizes[a] * R + sizes * R[a]) / n
            ) / n**2 - 2 * V @ V[a]
            row[~alive], row[a] = -np.inf, -np.inf
            gain[b], gain[:, b], gain[a], gain[:, a] = -np.inf, -np.inf, row, row
            stale = alive & ((partner == a) | (partner == b))
            stale[a] = True
            partner[stale] = np.argmax(gain[stale], axis=1)
            better = alive & (row > gain[np.arange(n), partner])
            partner[better] = a
            best = np.where(alive, gain[np.arange(n), partner], -np.inf)
        return labels


def _deviations(codes: np.ndarray) -> Array:
    """Per row and given cluster: [row in it]/n − n_g/n² over the known rows; 0 for unknown rows."""
    known = codes >= 0
    member = np.eye(codes.max() + 1)[np.where(known, codes, 0)] * known[:, None]
    n = len(codes)
    return np.where(known[:, None], member / n - member.sum(axis=0) / (n * max(known.sum(), 1)), 0.0)


def _information(S: Array, R: Array, T: float, codes: np.ndarray) -> float:
    """The quadratic mutual information between a clustering and the rows."""
    n, total = len(codes), 0.0
    for c in range(codes.max() + 1):
        rows = codes == c
        total += S[np.ix_(rows, rows)].sum() + rows.sum() ** 2 * T / n**2 - 2 * rows.sum() * R[rows].sum() / n
    return float(total / n**2)
