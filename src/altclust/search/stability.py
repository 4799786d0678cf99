"""Stability of a trial: whether the same kind of start finds its clusters in halves of the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.metrics import nmi_matrix
from .spec import SearchSpec
from .trajectories import Trajectory, follow
from .trials import Trial

FEWEST_ROWS = 40  # of which halves can be searched


def stability(spec: SearchSpec, trial: Trial, rng: np.random.Generator) -> float:
    """The mean NMI of a trial with the same trial in two random halves; NaN if they are too small, or on a grid."""
    n, k = len(spec.X), trial.n_clusters
    if n < max(FEWEST_ROWS, 4 * k) or trial.source == "grid":
        return float("nan")
    order, found = rng.permutation(n), []
    for half in (order[: n // 2], order[n // 2 :]):
        X = spec.X[half]
        some = replace(spec, X=X - X.mean(axis=0), given=[codes[half] for codes in spec.given])
        again = next(follow(some, Trajectory(trial.source, k), rng, only=trial.stage), None)
        if again is not None:
            found.append(float(nmi_matrix([again.labels, trial.labels[half]])[0, 1]))
    return float(np.mean(found)) if found else float("nan")
