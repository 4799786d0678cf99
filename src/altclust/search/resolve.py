"""Closing the settings of one fit: fixed values, and a search or heuristics for the others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..base.progress import Callback
from ..base.validation import check_sizes
from ..core.initialization import check_start, check_subspace
from .heuristics import ROWS_EACH, check_outliers, check_sigma, median_distance, number_of_clusters
from .settings import Settings
from .spec import SearchSpec, searched_rows
from .tuning import Tuning, search_parameters

logger = logging.getLogger(__name__)


def resolve_settings(
    search: SearchSpec,
    rng: np.random.Generator,
    *,
    names: Sequence[str] | None = None,
    originals: pd.DataFrame | None = None,
    n_jobs: int | None = None,
    callback: Callback | None = None,
) -> tuple[Settings, SearchSpec, Tuning | None]:
    """Find the settings that are open.

    Parameters
    ----------
    search : SearchSpec
        All centred rows, what is given about them, and the settings.
    rng : Generator
    names : sequence of str, optional
        Names of the columns.
    originals : DataFrame, optional
        As in `altclust.KDAC.fit`.
    n_jobs : int, optional
        Number of parallel processes of the search.
    callback : callable, optional
        Called with a `Progress` during the search; a true return value stops it.

    Returns
    -------
    settings : Settings
        Closed: q is None if the spectral start is to choose it, the floor if several are tried.
    search : SearchSpec
        The search with the k that was found, to repeat it on other rows.
    tuning : Tuning or None
        The search, if there was one.
    """
    X, given, asked = search.X, search.given, search.fixed
    n, d = X.shape
    if not given:
        asked = replace(asked, subtract_given=False)
    if asked.has_start:
        asked = replace(asked, n_components=check_start(asked.init, d, asked.n_components).shape[1])
    if asked.subspace is not None:
        asked = replace(asked, subspace=check_subspace(asked.subspace, d))
    k = asked.n_clusters
    check_sizes(n, d, k or 1, asked.n_components)
    check_outliers(X)
    spectral = isinstance(asked.init, str) and asked.init == "spectral"
    if asked.sigma is None and spectral and k != 1 and n >= ROWS_EACH and (k is None or k < searched_rows(n)):
        search = replace(search, fixed=asked)
        tuning = search_parameters(search, names=names, originals=originals, n_jobs=n_jobs, callback=callback)
        logger.info("chose %s", tuning.reasons)
        return tuning.settings, replace(search, fixed=replace(asked, n_clusters=tuning.settings.k)), tuning
    sigma = median_distance(X, rng) if asked.sigma is None else check_sigma(asked.sigma, X)
    found = replace(
        asked,
        n_clusters=number_of_clusters(X, given, sigma, rng) if k is None else k,
        sigma=sigma,
        novelty_weight=asked.weight,
        subtract_given=bool(asked.subtract_given),
        whitening=asked.whitening or 0.0,
        pull=asked.pull or 0.0,
    )
    # directions that were passed as init are tested by a search, as if it had found them
    free = replace(found, sigma=None if asked.has_start else sigma, init="spectral", pull=None, subspace=None)
    return found, replace(search, fixed=free), None
