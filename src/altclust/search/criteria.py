"""Criteria of a trial that need no labels: what tells a view from a cut through a cloud."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..base.backend import Array
from ..core.descent import with_constant
from ..core.embedding import unit_rows
from ..core.kernels import Gaussian
from ..core.lloyd import best_lloyd
from ..core.metrics import nmi_matrix, normalised_cut
from ..core.problem import remove_given
from ..core.reduced import ReducedObjective
from .discriminants import discriminant_directions
from .heuristics import median_distance
from .mixture import mixture
from .spec import SearchSpec
from .trajectories import AGAIN
from .trials import Trial

CONTRASTS, COUNTED = (-3.0, 3.0, 9.0), (-3.0, 3.0, 3.3)  # how much a contrast counts: a large one hardly more
LEAST_MIXTURE = -1.0  # a lower gain counts as this
OF_ONE = ("contrast", "mixture", "evenness", "steadiness")  # criteria that do not depend on other trials
APART, ROUND = 2.5, 0.1  # clusters of such a contrast that no mixture describes so well are curved
SEEN = 1.5  # the contrast from which on clusters of a narrow kernel may rank first
SAMPLES, SAMPLED = 4, 0.85  # samples of rows in which curved and thin clusters must show, and their share of the rows
# sources whose starts resemble each other, so that their agreement tells nothing
ALIKE = {"centroids": "residual", "joined": "residual", AGAIN: "residual"}
WIDTH = 0.2  # of the kernel for the contrast, over the median distance
STEP = 0.1  # spreads of a cloud that differ by less count as equal


def criteria(
    spec: SearchSpec, trials: list[Trial], rng: np.random.Generator, known: pd.DataFrame | None = None
) -> pd.DataFrame:
    """One row per trial; known is the table of the first ones, of which only the agreement is computed again.

    The columns are:

    agreement
        How well the other sources found the same clusters: the largest NMI with a trial of each of them, averaged.
        Trials that started from the best ones of all sources do not count.
    contrast
        How much smaller the normalised cut of the clusters is than that of a Gaussian cloud, see `Contrast`; of what
        is above 3, a twentieth counts, up to 9.
    mixture
        How much better one Gaussian for each cluster describes the rows than one for all, see `mixture`; of a gain g
        above 1, 2√g − 1 counts.
    evenness
        Entropy of the cluster sizes over that of equal sizes.
    steadiness
        Of curved clusters and those of a narrow kernel only: the NMI with the clusters that the same directions and
        kernel show in 85 % of the rows. Gaps by chance, or between rounded values, are elsewhere in other samples.
    """
    X = spec.X
    left = remove_given(X, spec.given) if spec.given else X
    labels = [np.unique(trial.labels, return_inverse=True)[1] for trial in trials]
    alike = nmi_matrix(labels)
    sources = np.array([ALIKE.get(trial.source, trial.source) for trial in trials])
    first = np.array([trial.source != AGAIN for trial in trials])
    contrast = Contrast(len(X), max(trial.n_components for trial in trials), rng)
    rows = []
    for i, (trial, codes) in enumerate(zip(trials, labels, strict=True)):
        others = [alike[i, first & (sources == s)].max() for s in np.unique(sources[first]) if s != sources[i]]
        agreement = float(np.mean(others)) if others else 0.0
        if known is not None and i < len(known):
            rows.append({"agreement": agreement} | {name: known[name].iloc[i] for name in OF_ONE})
            continue
        shown = (left if trial.subtract_given else X) @ trial.W
        k, shares = int(codes.max()) + 1, np.bincount(codes) / len(codes)
        clear = float(np.interp(contrast(shown, codes, trial.sigma), CONTRASTS, COUNTED))
        gain = _damped(mixture(left @ discriminant_directions(left, codes, k), codes))
        thin = contrast.is_narrow(shown, trial.sigma) and clear >= SEEN
        curved = clear >= APART and gain < ROUND and spec.has_few_columns
        rows.append(
            {
                "agreement": agreement,
                "contrast": clear,
                "mixture": gain,
                "evenness": float(-np.sum(shares * np.log(shares)) / np.log(max(k, 2))),
                "steadiness": _steadiness(shown, codes, trial, contrast.seed) if thin or curved else np.nan,
            }
        )
    return pd.DataFrame(rows)


def _steadiness(Z: Array, codes: np.ndarray, trial: Trial, seed: int) -> float:
    """The mean NMI of the clusters of a trial with those of some of its rows Z, shape (n, q), by the same kernel."""
    rng, n, k, found = np.random.default_rng(seed), len(Z), int(codes.max()) + 1, []
    for _ in range(SAMPLES):
        some = rng.permutation(n)[: int(SAMPLED * n)]
        objective = _without_given(Z[some], trial.sigma, k, floor=trial.degree_floor)
        found.append(nmi_matrix([_clusters(objective, k, rng), codes[some]])[0, 1])
    return float(np.mean(found))


def _without_given(Z: Array, sigma: float, k: int, **options: Any) -> ReducedObjective:
    """The objective of rows Z, shape (n, q), as they are; W has no choice."""
    return ReducedObjective(Z - Z.mean(axis=0), np.zeros((len(Z), 0)), Gaussian(sigma), k, 0.0, **options)


def _clusters(objective: ReducedObjective, k: int, rng: np.random.Generator) -> np.ndarray:
    """The clusters that an objective shows in all directions of its rows."""
    U = with_constant(objective.at(np.eye(objective.X.shape[1])).U)
    return best_lloyd(unit_rows(U), k, rng, 3)[0]


def _damped(gain: float) -> float:
    """A gain above 1 counts less and less: in many columns it grows with the number of clusters by overfitting, too."""
    return 2 * np.sqrt(gain) - 1 if gain > 1 else max(gain, LEAST_MIXTURE)


class Contrast:
    """How much smaller the normalised cut of clusters is than that of a Gaussian cloud, as a difference of logarithms.

    The cloud has the same covariance, and its clusters are those of the same kernel, width and k: the gap statistic of
    Tibshirani, Walther and Hastie (2001) for normalised cuts. A cut through a cloud has a contrast of about 0, whatever
    its shape. The width is 0.2 times the median distance, or that of the fit if it is smaller. In one direction the
    cloud consists of quantiles, because the gaps of a random one differ much.

    Parameters
    ----------
    n : int
        Rows.
    q : int
        The most directions.
    rng : Generator
    """

    def __init__(self, n: int, q: int, rng: np.random.Generator) -> None:
        self.cloud, self.seed = rng.standard_normal((n, q)), int(rng.integers(2**31))
        self._cuts: dict[tuple, float] = {}

    def __call__(self, Z: Array, codes: np.ndarray, sigma: float) -> float:
        """The contrast of rows Z, shape (n, q), with clusters from 0 on that a fit at this width found."""
        k = int(codes.max()) + 1
        centred = Z - Z.mean(axis=0)
        spreads = np.sqrt(np.maximum(np.linalg.eigvalsh(centred.T @ centred / len(Z)), 0.0))
        if k < 2 or not spreads.any():
            return 0.0
        width = min(self._width(Z), sigma)
        scales = np.round(np.log(np.maximum(spreads / width, 1e-3)) / STEP).astype(int)
        cut = normalised_cut(Gaussian(width).gram(Z), codes, k)
        return float(np.log(self._empty(k, tuple(scales)) / cut))

    def is_narrow(self, Z: Array, sigma: float) -> bool:
        """Whether a kernel of this width sees smaller gaps than that of the contrast."""
        return sigma < self._width(Z)

    def _width(self, Z: Array) -> float:
        return WIDTH * median_distance(Z, np.random.default_rng(self.seed))

    def _empty(self, k: int, scales: tuple[int, ...]) -> float:
        """The normalised cut of a cloud with these spreads, over the width of the kernel, in logarithmic steps."""
        if (k, scales) not in self._cuts:
            q, rng = len(scales), np.random.default_rng(self.seed)
            cloud = self.cloud[:, :q] if q > 1 else ndtri((np.arange(len(self.cloud)) + 0.5) / len(self.cloud))[:, None]
            objective = _without_given(cloud * np.exp(STEP * np.array(scales)), 1.0, k, rough=True)
            objective.find_landmarks(np.eye(q), rng)
            labels = _clusters(objective, k, rng)
            self._cuts[k, scales] = normalised_cut(objective.kernel.gram(objective.X), labels, k)
        return self._cuts[k, scales]
