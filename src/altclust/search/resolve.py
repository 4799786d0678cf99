"""The values of one fit: what the user fixed, and a search or rules of thumb for the rest."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.backend import Array
from ..base.validation import check_sizes
from ..core.initialization import check_start
from .heuristics import check_outliers, check_sigma, median_distance, number_of_clusters
from .trajectories import MOST_ROWS, Question
from .tuning import Tuning, search_parameters

logger = logging.getLogger(__name__)

FEWEST_ROWS = 12  # below, there is nothing to search in


@dataclass(frozen=True)
class Setting:
    """Values of every parameter; q is None where the spectral start is to choose it."""

    n_clusters: int
    n_components: int | None
    sigma: float
    novelty_weight: float
    scaling: str
    subtract_given: bool
    init: str | Array


def settle(
    kdac: Any, centred: Array, given: list[np.ndarray], rng: np.random.Generator
) -> tuple[Setting, Question, Tuning | None]:
    """Fill in what a KDAC left open.

    Parameters
    ----------
    kdac : KDAC
        With valid parameters.
    centred : array, shape (n, d)
    given : list of int arrays, shape (n,)
    rng : Generator

    Returns
    -------
    setting : Setting
    question : Question
        What was asked, with the k that was found: for asking it again of other rows.
    tuning : Tuning or None
        The search, if there was one.
    """
    n, d = centred.shape
    # Python's own numbers: numpy's small ones overflow early
    k = None if isinstance(kdac.n_clusters, str) else int(kdac.n_clusters)
    q = None if isinstance(kdac.n_components, str) else int(kdac.n_components)
    weight = None if isinstance(kdac.novelty_weight, str) else float(kdac.novelty_weight)
    subtract = None if isinstance(kdac.subtract_given, str) else bool(kdac.subtract_given)
    if not given:
        subtract = False
    if not isinstance(kdac.init, str):
        q = check_start(kdac.init, d, q).shape[1]
    check_sizes(n, d, k or 1, q)
    check_outliers(centred)
    if (
        isinstance(kdac.sigma, str)
        and isinstance(kdac.init, str)
        and kdac.init == "spectral"
        and k != 1
        and n >= FEWEST_ROWS
        and (k is None or k < min(n, MOST_ROWS))
    ):
        told = kdac.callback
        watch = told and (lambda done, total, best: told(0, best.cost, 1 - done / total, best.overlap))
        tuning = search_parameters(
            centred,
            given,
            n_clusters=k,
            n_components=q,
            novelty_weight=weight,
            scaling=kdac.scaling,
            subtract_given=subtract,
            n_jobs=kdac.n_jobs,
            watch=watch,
            rng=rng,
        )
        logger.info("chose %s", tuning.reasons)
        setting = Setting(**tuning.parameters)
        return setting, Question(centred, given, setting.n_clusters, q, weight, kdac.scaling, subtract), tuning
    sigma = median_distance(centred, rng) if isinstance(kdac.sigma, str) else check_sigma(kdac.sigma, centred)
    if k is None:
        k = number_of_clusters(centred, given, sigma, rng)
    weight, subtract = 1.0 if weight is None else weight, bool(subtract)
    setting = Setting(k, q, sigma, weight, kdac.scaling, subtract, kdac.init)
    # directions that were found elsewhere are judged by a search, as if they had been found here
    searched = not isinstance(kdac.init, str)
    asked = Question(centred, given, k, q, weight, kdac.scaling, subtract, None if searched else sigma)
    return setting, asked, None
