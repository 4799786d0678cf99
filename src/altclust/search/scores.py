"""Scores of a trial that need no labels: what tells a view from a cut through a cloud."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..base.backend import Array
from ..core.descent import with_constant
from ..core.embedding import unit_rows
from ..core.kernels import Gaussian
from ..core.lloyd import best_lloyd
from ..core.metrics import normalised_cut
from ..core.reduced import ReducedObjective
from .discriminants import discriminant_directions
from .heuristics import median_distance
from .mixture import mixture
from .spec import SearchSpec
from .trials import Trial

CLEAR = (1.5, 3.0)  # below the first contrast clusters overlap; the second is as clear as it gets
WIDTH = 0.2  # of the kernel for the contrast, over the median distance
STEP = 0.1  # spreads of a cloud that differ by less count as equal


def scores(spec: SearchSpec, trials: list[Trial], rng: np.random.Generator) -> pd.DataFrame:
    """One row per trial.

    The columns are:

    contrast
        How much smaller the normalised cut of the clusters is than that of a Gaussian cloud, see `Contrast`.
    clear
        What the contrast is above 1.5, up to 3: below, clusters overlap, and differences are luck.
    mixture
        How much better one Gaussian for each cluster describes the rows than one for all, see `mixture`; the square
        root of the gain, because in many columns it grows with the number of clusters by overfitting, too.
    evenness
        Entropy of the cluster sizes over that of equal sizes.
    """
    left = spec.given.subtracted_from(spec.X)
    contrast = Contrast(len(spec.X), max(trial.n_components for trial in trials), rng)

    def one(trial: Trial) -> dict[str, float]:
        rows = left if trial.subtract_given else spec.X
        codes = np.unique(trial.labels, return_inverse=True)[1]
        k, shares = int(codes.max()) + 1, np.bincount(codes) / len(codes)
        apart = contrast(rows @ trial.W, codes, trial.sigma)
        gain = mixture(rows @ discriminant_directions(rows, codes, k), codes)
        return {
            "contrast": apart,
            "clear": float(np.clip(apart, *CLEAR)) - CLEAR[0],
            "mixture": float(np.sqrt(max(gain, 0.0))),
            "evenness": float(-np.sum(shares * np.log(shares)) / np.log(max(k, 2))),
        }

    return pd.DataFrame([one(trial) for trial in trials])


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
        width = min(WIDTH * median_distance(Z, np.random.default_rng(self.seed)), sigma)
        scales = np.round(np.log(np.maximum(spreads / width, 1e-3)) / STEP).astype(int)
        cut = normalised_cut(Gaussian(width).gram(Z), codes, k)
        return float(np.log(self._empty(k, tuple(scales)) / cut))

    def _empty(self, k: int, scales: tuple[int, ...]) -> float:
        """The normalised cut of a cloud with these spreads, over the width of the kernel, in logarithmic steps."""
        if (k, scales) not in self._cuts:
            n, q = len(self.cloud), len(scales)
            rng = np.random.default_rng(self.seed)
            cloud = self.cloud[:, :q] if q > 1 else ndtri((np.arange(n) + 0.5) / n)[:, None]
            cloud = cloud * np.exp(STEP * np.array(scales))
            no_given = np.zeros((n, 0))
            objective = ReducedObjective(cloud - cloud.mean(axis=0), no_given, Gaussian(1.0), k, 0.0, rough=True)
            objective.find_landmarks(np.eye(q), rng)
            U = with_constant(objective.at(np.eye(q)).U)
            labels = best_lloyd(unit_rows(U), k, rng, 3)[0]
            self._cuts[k, scales] = normalised_cut(objective.kernel.gram(objective.X), labels, k)
        return self._cuts[k, scales]
