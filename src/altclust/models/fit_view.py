"""From an estimator and what is passed to its `fit`, to a fitted view."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.keep import check_keep
from ..base.memory import free_memory, gigabytes
from ..base.validation import check_originals, check_solver, column_names, enough_memory
from ..core.kernels import Gaussian, make_kernel
from ..core.solvers import LBFGS, SOLVERS
from ..data.opening import checked_rows
from ..data.rows import ArrayRows, SparseRows
from ..search.settings import Settings
from .fitted_view import FittedView
from .fitting import fit_sample
from .sample import Sample
from .solving import SolveOptions
from .sparse_rows import Reduced

OWN = dict.fromkeys(("n_clusters", "n_components", "sigma", "novelty_weight"), "auto") | {"kernel": "gaussian"}
NUMBERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("n_clusters", "n_components", "n_init"), int),
    **dict.fromkeys(("novelty_weight", "whitening", "degree_floor", "pull", "keep_weight"), float),
    **dict.fromkeys(("subtract_given", "keep_obvious"), bool),
}
BUFFERS = 3  # n x n arrays of an alternation


def fit_view(
    model: Any, X: Any, y: Any, keep: Any, originals: pd.DataFrame | None, rng: np.random.Generator
) -> FittedView:
    """Fit a sample of the rows, wherever they are, and label all of them."""
    options, reduced = _options(model), None
    with enough_memory("fit"):
        rows = checked_rows(model, X, reset=True)
        if isinstance(rows, SparseRows):
            reduced = Reduced.of(rows.X, rng)
            rows = ArrayRows(reduced.rows)
        names, settings = column_names(model), settings_of(model)
        originals = check_originals(originals, rows.n, names)
        keep = check_keep(keep, rows.n, settings.keep_weight)
        if reduced is not None and (settings.has_start or settings.subspace is not None):
            problem = "must be left out for a sparse X, which is clustered in its leading principal directions."
            raise InputError(problem, argument="init" if settings.has_start else "subspace")
        _check_used(settings, options)
        _check_sample(settings, min(rows.n, int(model.sample_size)), rows.n, options)
        sample = Sample.of(rows.encode(y), names, keep, originals, int(model.sample_size), rng)
        view = fit_sample(sample, settings, options, rng)
    return view if reduced is None else reduced.lifted(view)


def first_number(n_clusters: Any) -> int | None:
    """The number of clusters of the first view; None if it is to be searched for."""
    numbers = n_clusters if isinstance(n_clusters, list | tuple) else [n_clusters]
    if not numbers or not all(k == "auto" or (isinstance(k, Integral) and int(k) >= 1) for k in numbers):
        problem = 'must contain a whole number of at least 1, or "auto", for each view.'
        raise InputError(problem, argument="n_clusters", value=n_clusters)
    return None if numbers[0] == "auto" else int(numbers[0])


def _check_sample(settings: Settings, m: int, n: int, options: SolveOptions) -> None:
    """Refuse a sample of m of n rows whose kernel does not fit in memory, and more clusters than its rows."""
    if m < n and settings.n_clusters is not None and settings.n_clusters > m:
        problem = f"is more than the {m:,} rows of the sample: raise sample_size, or ask for fewer clusters."
        raise InputError(problem, argument="n_clusters", value=settings.n_clusters)
    if options.reduced and isinstance(make_kernel(settings.kernel, 1.0), Gaussian):
        return
    needed = 8.0 * BUFFERS * m * m
    if needed > free_memory():
        problem = (
            f"rows need {gigabytes(needed)} for all pairs of them, more than is free: lower it, or use the Gaussian "
            'kernel with solver="auto", which needs no pairs.'
        )
        raise InputError(problem, argument="sample_size", value=m)


def _check_used(settings: Settings, options: SolveOptions) -> None:
    """Refuse settings that the solver or the kernel would not use."""
    if options.reduced and isinstance(make_kernel(settings.kernel, 1.0), Gaussian):
        return
    other = "another kernel than the Gaussian" if options.reduced else "a solver that alternates between D, W and U"
    for name in ("degree_floor", "pull"):
        value = getattr(settings, name)
        if value:
            raise InputError(f"is not used by {other}: leave it out.", argument=name, value=value)


def settings_of(model: Any) -> Settings:
    """The settings of an estimator, from `settings` and from its own parameters where these are set.

    Numbers are those of Python: small integers of numpy overflow early.
    """
    asked, found = model.settings or Settings(), {}
    asked.check()
    own = {name: getattr(model, name) for name in OWN} | {"n_clusters": first_number(model.n_clusters) or "auto"}
    for name, value in own.items():
        other = getattr(asked, name)
        if isinstance(value, str) and value == OWN[name]:
            found[name] = other
        elif other is None or other == value:
            found[name] = value
        else:
            problem = f"differs from settings.{name}={other!r}: set one of them."
            raise InputError(problem, argument=name, value=value)
    merged = vars(asked) | found | {"kernel": found["kernel"] or OWN["kernel"]}
    plain = {name: kind(merged[name]) for name, kind in NUMBERS.items() if merged[name] is not None}
    return Settings(**merged | plain)


def _options(model: Any) -> SolveOptions:
    name = "ism" if isinstance(model.solver, str) and model.solver == "auto" else model.solver
    solver = SOLVERS[name]() if isinstance(name, str) else check_solver(name)
    reduced = isinstance(solver, LBFGS) or (isinstance(model.solver, str) and model.solver == "auto")
    names = ("max_iter", "tol", "callback", "n_jobs")
    alternating = reduced and not isinstance(solver, LBFGS)
    return SolveOptions(solver, **{n: getattr(model, n) for n in names}, reduced=reduced, alternating=alternating)
