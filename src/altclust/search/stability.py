"""Stability of a trial: whether the same kind of start finds its clusters in half of the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.metrics import nmi_matrix
from .spec import SearchSpec
from .trajectories import Trajectory, follow
from .trials import Trial

FEWEST_ROWS = 40  # of which halves can be searched


def stability(spec: SearchSpec, trial: Trial, rng: np.random.Generator) -> float:
    """The NMI of a trial with the same trial in a random half of the rows; NaN if it is too small, or on a grid."""
    n, k = len(spec.X), trial.n_clusters
    if n < max(FEWEST_ROWS, 4 * k) or trial.source == "grid":
        return float("nan")
    half = rng.permutation(n)[: n // 2]
    X = spec.X[half]
    some = replace(spec, X=X - X.mean(axis=0), given=[codes[half] for codes in spec.given])
    again = next(follow(some, Trajectory(trial.source, k), rng, only=trial.stage), None)
    return float("nan") if again is None else float(nmi_matrix([again.labels, trial.labels[half]])[0, 1])
