"""Halves of the rows: whether a view is found again in one, and what its clusters are in the other."""

from __future__ import annotations

import numpy as np

from ..base.backend import Array
from ..core.embedding import joint_codes
from ..core.kernels import Gaussian
from ..core.metrics import nmi_matrix, normalised_cut, one_hot
from .heuristics import ROWS_EACH, SLIGHT
from .proposals import Proposal, fit_proposal
from .spec import SearchSpec
from .trials import Trial

FAR = 100.0  # widths of the kernel, up to which single precision gives exponents to three digits


def cells_of(spec: SearchSpec) -> np.ndarray:
    """The given cluster of each row, by all given clusterings together."""
    return joint_codes(spec.given.clusterings, len(spec.X))


def split(cells: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Half of the rows of every cell."""
    order = np.lexsort((rng.random(len(cells)), cells))
    half = np.zeros(len(cells), dtype=bool)
    half[order[int(rng.integers(2)) :: 2]] = True
    return half


class Halves:
    """The halves of the rows of a search, in which its trials are sought again."""

    def __init__(self, spec: SearchSpec, seed: int) -> None:
        half = split(cells_of(spec), np.random.default_rng(seed))
        self.spec, self.seed = spec, seed
        self.parts = [(some, spec.take(np.flatnonzero(some))) for some in (half, ~half)]

    def found_again(self, trial: Trial) -> float:
        """The mean NMI of a trial with what its source finds in each half of the rows, carried to the other half.

        It is 0 if the rows are too few for halves.
        """
        if len(self.spec.X) / 2 < max(ROWS_EACH, 2 * trial.n_clusters):
            return 0.0
        return float(np.mean([self._agreement(trial, some, part) for some, part in self.parts]))

    def _agreement(self, trial: Trial, some: np.ndarray, part: SearchSpec) -> float:
        again = fit_proposal(part, Proposal(trial.source, trial.n_clusters), self.seed)
        rows = shown(self.spec, again)
        carried = Carried(again, rows[some]).labels(rows[~some])
        return float(nmi_matrix([carried, trial.labels[~some]])[0, 1])


def shown(spec: SearchSpec, trial: Trial) -> Array:
    """All rows of a search in the directions of a trial of some of them."""
    return (spec.given.subtracted_from(spec.X) if trial.subtract_given else spec.X) @ trial.W


class Carried:
    """The clusters of a trial in some rows, carried to others by the kernel."""

    def __init__(self, trial: Trial, rows: Array) -> None:
        self.sigma, self.kernel = trial.sigma, Gaussian(1.0)
        self.single = float(np.abs(rows).max()) <= FAR * trial.sigma
        self.rows = self._in_widths(rows)
        self.member = one_hot(np.append(trial.labels, trial.n_clusters - 1))[:-1].astype(self.rows.dtype)
        self.shares = SLIGHT * self.member.mean(axis=0)

    def labels(self, Z: Array) -> np.ndarray:
        """The clusters of other rows."""
        return np.argmax(self.kernel.between(self._in_widths(Z), self.rows) @ self.member + self.shares, axis=1)

    def score(self, Z: Array) -> tuple[float, np.ndarray]:
        """Minus the log of the normalised cut of the carried clusters, and these clusters."""
        labels = self.labels(Z)
        return -float(
            np.log(normalised_cut(self.kernel.gram(self._in_widths(Z)), labels, self.member.shape[1]))
        ), labels

    def _in_widths(self, Z: Array) -> Array:
        """Rows in units of σ, in single precision if that is accurate: in half of the time."""
        return np.asarray(Z / self.sigma, dtype=np.float32 if self.single else float)
