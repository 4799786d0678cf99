"""Stability of a trial: whether the same kind of start finds its clusters in half of the rows."""

from __future__ import annotations

import numpy as np

from ..core.metrics import nmi_matrix
from .spec import SearchSpec
from .trajectories import Trajectory, follow
from .trials import Trial

FEWEST_ROWS = 40  # of which halves can be searched


def stability(spec: SearchSpec, trials: list[Trial], rng: np.random.Generator) -> list[float]:
    """The NMI of each trial with the same trial in a random half of the rows; NaN if it is too small, or on a grid."""
    n = len(spec.X)
    half = rng.permutation(n)[: n // 2]
    some = spec.take(half)
    found = []
    for trial in trials:
        again = None
        if n >= max(FEWEST_ROWS, 4 * trial.n_clusters) and trial.source != "grid":
            again = next(follow(some, Trajectory(trial.source, trial.n_clusters), rng, only=trial.stage), None)
        alike = np.nan if again is None else nmi_matrix([again.labels, trial.labels[half]])[0, 1]
        found.append(float(alike))
    return found
