"""The parameters of one fit: fixed values, and a search or heuristics for the others."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.backend import Array
from ..base.given import Given
from ..base.progress import Callback
from ..base.validation import check_sizes
from ..core.initialization import check_start, check_subspace
from .heuristics import check_outliers, check_sigma, median_distance, number_of_clusters
from .spec import MOST_ROWS, Parameters, SearchSpec, Spec
from .tuning import Tuning, search_parameters

logger = logging.getLogger(__name__)

FEWEST_ROWS = 12  # below, heuristics are used instead of a search


def resolve_parameters(
    spec: Spec,
    centred: Array,
    given: Given,
    rng: np.random.Generator,
    *,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    names: Sequence[str] | None = None,
) -> tuple[Parameters, SearchSpec, Tuning | None]:
    """Find the parameters that a spec leaves open.

    Parameters
    ----------
    spec : Spec
    centred : array, shape (n, d)
    given : Given
    rng : Generator
    n_jobs : int, optional
        Number of parallel processes of the search.
    callback : callable, optional
        Called with a `Progress` during the search; a true return value stops it.
    names : sequence of str, optional
        Names of the columns.

    Returns
    -------
    parameters : Parameters
    search : SearchSpec
        The search with the k that was found, to repeat it on other rows.
    tuning : Tuning or None
        The search, if there was one.
    """
    n, d = centred.shape
    if not given:
        spec = replace(spec, subtract_given=False)
    if not isinstance(spec.init, str):
        spec = replace(spec, n_components=check_start(spec.init, d, spec.n_components).shape[1])
    if spec.subspace is not None:
        spec = replace(spec, subspace=check_subspace(spec.subspace, d))
    k = spec.n_clusters
    check_sizes(n, d, k or 1, spec.n_components)
    check_outliers(centred)
    spectral = isinstance(spec.init, str) and spec.init == "spectral"
    if spec.sigma is None and spectral and k != 1 and n >= FEWEST_ROWS and (k is None or k < min(n, MOST_ROWS)):
        tuning = search_parameters(centred, given, spec, n_jobs=n_jobs, callback=callback, names=names)
        logger.info("chose %s", tuning.reasons)
        parameters = Parameters(**tuning.parameters, kernel=spec.kernel)
        fixed = replace(spec, n_clusters=parameters.n_clusters, originals=None)
        return parameters, SearchSpec(centred, given, fixed), tuning
    sigma = median_distance(centred, rng) if spec.sigma is None else check_sigma(spec.sigma, centred)
    if k is None:
        k = number_of_clusters(centred, given, sigma, rng)
    weight = 1.0 if spec.novelty_weight is None else spec.novelty_weight
    subtract, floor = bool(spec.subtract_given), spec.degree_floor
    held = spec.whitening or 0.0, floor, spec.pull or 0.0, spec.subspace, spec.kernel
    parameters = Parameters(k, spec.n_components, sigma, weight, spec.scaling, subtract, spec.init, *held)
    # directions that were passed as init are tested by a search, as if it had found them
    width = sigma if isinstance(spec.init, str) else None
    fixed = Spec(k, spec.n_components, width, weight, spec.scaling, subtract, whitening=held[0], degree_floor=floor)
    return parameters, SearchSpec(centred, given, replace(fixed, keep=spec.keep)), None
