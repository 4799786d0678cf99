"""Products of two views, and the same view with another number of clusters.

Twelve clusters that are four corners times three colours are two views. A trial T is such a product if a coarser trial
B of its clusters and a clustering C that is found with B given are independent, leave little of T open, and add up: the
centres of T's clusters are sums of an effect of B and an effect of C. Clusters of one view that merely form groups do
not add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from ..base.backend import Array
from ..base.given import Given
from ..base.thresholds import INDEPENDENT
from ..core.metrics import nmi_matrix, one_hot
from .proposals import Proposal, fit_proposal
from .selection import NEARLY, REJECTED, judge, without_halves
from .spec import SearchSpec
from .trials import Trial

LITTLE = 0.2  # share of an entropy that counts as nothing left
INTERACTION = 0.05  # share of the variance that B leaves between clusters, up to which effects add up
SQUARE = 4  # clusters: two views of two clusters each cannot be told from the corners of a square
STARTS = ("residual", "whitened")  # of the second factor


def factor(spec: SearchSpec, trials: list[Trial], table: pd.DataFrame, seed: int) -> int:
    """The place of the best trial, or of the clearer factor of it if it is a product."""
    score = table["score"].to_numpy()
    best = int(np.argmax(score))
    whole = trials[best]
    rows = spec.given.subtracted_from(spec.X) @ whole.W
    for place in _coarser(trials, score, best) if whole.n_clusters > SQUARE else ():
        part = trials[place]
        other = _other_factor(spec, part, whole.n_clusters // part.n_clusters + 1, seed)
        pair = part.labels, other.labels
        left = _entropy(whole.labels, *pair) - _entropy(*pair)
        open_before = _entropy(whole.labels, part.labels) - _entropy(part.labels)
        if (
            nmi_matrix(list(pair))[0, 1] <= INDEPENDENT
            and left <= LITTLE * open_before
            and interaction(rows, *pair) <= INTERACTION
        ):
            return place
    return best


def variants(trials: list[Trial], table: pd.DataFrame, place: int) -> dict[int, int]:
    """For each other number of clusters with which the view of a trial is nearly as clear: the place of that trial."""
    score = without_halves(table)
    found: dict[int, int] = {}
    for i in np.argsort(-score, kind="stable"):
        k, own = trials[i].n_clusters, trials[place].n_clusters
        coarse, fine = (trials[i], trials[place]) if k < own else (trials[place], trials[i])
        near = max(k, own) < 2 * min(k, own) and k not in (own, *found)  # twice as many may be a product
        if near and score[i] >= score[place] - NEARLY and _is_function(coarse, fine):
            found[k] = int(i)
    return dict(sorted(found.items()))


def interaction(rows: Array, first: np.ndarray, second: np.ndarray) -> float:
    """The share of the variance between cells, without the effect of the first factor, that effects do not add up to.

    Parameters
    ----------
    rows : array, shape (n, q)
    first, second : int arrays, shape (n,)
        Two clusterings; a cell is a pair of their clusters.
    """
    rows = rows - rows.mean(axis=0)
    cells = one_hot(np.unique(np.column_stack([first, second]), axis=0, return_inverse=True)[1].ravel())
    effects = np.column_stack([one_hot(first), one_hot(second)])

    def fitted(columns: Array) -> Array:
        return columns @ np.linalg.lstsq(columns, rows, rcond=None)[0]

    alone, added, means = fitted(one_hot(first)), fitted(effects), fitted(cells)
    noise = np.sum((rows - means) ** 2) / max(len(rows) - cells.shape[1], 1)
    beyond = max(float(np.sum((means - added) ** 2)) - noise * max(cells.shape[1] - effects.shape[1] + 1, 0), 0.0)
    second_effect = float(np.sum((added - alone) ** 2))
    return beyond / (beyond + second_effect) if beyond else 0.0


def _coarser(trials: list[Trial], score: np.ndarray, best: int) -> Iterator[int]:
    """The best trial of each number of clusters up to half of it that is nearly a function of the best one."""
    seen: set[int] = set()
    for i in np.argsort(-score, kind="stable"):
        k = trials[i].n_clusters
        few = 2 * k <= trials[best].n_clusters and k not in seen and score[i] > -REJECTED / 2
        if few and _is_function(trials[i], trials[best]):
            seen.add(k)
            yield int(i)


def _other_factor(spec: SearchSpec, part: Trial, most: int, seed: int) -> Trial:
    """The best clustering of up to so many clusters that differs from a trial too."""
    given = Given.joined([spec.given, Given.from_codes(part.labels)], len(spec.X))
    beside = replace(spec, given=given)
    found = [fit_proposal(beside, Proposal(source, k), seed) for k in range(2, most + 1) for source in STARTS]
    return found[int(judge(beside, found, np.random.default_rng(seed))["score"].argmax())]


def _is_function(coarse: Trial, fine: Trial) -> bool:
    """Whether the clusters of one trial are nearly unions of those of another."""
    open_after = _entropy(coarse.labels, fine.labels) - _entropy(fine.labels)
    return open_after <= LITTLE * _entropy(coarse.labels)


def _entropy(*labels: np.ndarray) -> float:
    """The joint entropy of labels."""
    shares = np.unique(np.column_stack(labels), axis=0, return_counts=True)[1] / len(labels[0])
    return float(-np.sum(shares * np.log(shares)))
