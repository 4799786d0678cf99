"""From an estimator and what is passed to its `fit`, to a fitted view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..base.errors import InputError
from ..base.keep import check_keep
from ..base.memory import free_memory, gigabytes
from ..base.validation import check_originals, check_solver, column_names, enough_memory
from ..core.kernel_choice import make_kernel
from ..core.kernels import Gaussian
from ..core.solvers import LBFGS, SOLVERS
from ..data.opening import checked_rows
from ..data.rows import ArrayRows, Rows
from ..search.spec import Spec
from .fitted_view import FittedView
from .fitting import fit_sample
from .sample import Sample
from .solving import SolveOptions
from .sparse_rows import Reduced, check_sparse

BUFFERS = 3  # n x n arrays of an alternation


def fit_view(
    model: Any, X: Any, y: Any, keep: Any, originals: pd.DataFrame | None, rng: np.random.Generator
) -> FittedView:
    """Fit a sample of the rows, wherever they are, and label all of them."""
    options, reduced = _options(model), None
    rows: Rows
    with enough_memory("fit"):
        if sparse.issparse(X):
            reduced = Reduced.of(check_sparse(model, X, reset=True), rng)
            rows = ArrayRows(reduced.rows)
        else:
            rows = checked_rows(model, X, reset=True)
        names = column_names(model)
        spec = replace(
            _spec(model),
            originals=check_originals(originals, rows.n, names),
            keep=check_keep(keep, rows.n, float(model.keep_weight)),
        )
        if reduced is not None and (not isinstance(spec.init, str) or spec.subspace is not None):
            problem = "must be left out for a sparse X, which is clustered in its leading principal directions."
            raise InputError(problem, argument="subspace" if isinstance(spec.init, str) else "init")
        _check_used(model, options)
        _check_sample(model, rows, options)
        sample = Sample.of(rows.encode(y), names, spec, int(model.sample_size), rng)
        view = fit_sample(sample, spec, options, rng)
    return view if reduced is None else reduced.lifted(view)


def first_number(n_clusters: Any) -> int | None:
    """The number of clusters of the first view; None if it is to be searched for."""
    numbers = n_clusters if isinstance(n_clusters, list | tuple) else [n_clusters]
    if not numbers or not all(k == "auto" or (isinstance(k, Integral) and int(k) >= 1) for k in numbers):
        problem = 'must contain a whole number of at least 1, or "auto", for each view.'
        raise InputError(problem, argument="n_clusters", value=n_clusters)
    return None if numbers[0] == "auto" else int(numbers[0])


def _check_sample(model: Any, rows: Rows, options: SolveOptions) -> None:
    """Refuse a sample whose kernel does not fit in memory, and more clusters than its rows."""
    m = min(rows.n, int(model.sample_size))
    k = first_number(model.n_clusters)
    if m < rows.n and k is not None and k > m:
        problem = f"is more than the {m:,} rows of the sample: raise sample_size, or ask for fewer clusters."
        raise InputError(problem, argument="n_clusters", value=k)
    if options.reduced and isinstance(make_kernel(model.kernel, 1.0), Gaussian):
        return
    needed = 8.0 * BUFFERS * m * m
    if needed > free_memory():
        problem = (
            f"rows need {gigabytes(needed)} for all pairs of them, more than is free: lower it, or use the Gaussian "
            'kernel with solver="auto", which needs no pairs.'
        )
        raise InputError(problem, argument="sample_size", value=m)


def _check_used(model: Any, options: SolveOptions) -> None:
    """Refuse parameters that the solver or the kernel would not use."""
    if options.reduced and isinstance(make_kernel(model.kernel, 1.0), Gaussian):
        return
    other = "another kernel than the Gaussian" if options.reduced else "a solver that alternates between D, W and U"
    for name in ("degree_floor", "pull"):
        value = getattr(model, name)
        if not isinstance(value, str) and value:
            raise InputError(f"is not used by {other}: leave it out.", argument=name, value=value)


def _spec(model: Any) -> Spec:
    """The parameters that are fixed, as Python numbers: small numpy integers overflow early."""

    def fixed(name: str, kind: Callable[[Any], Any]) -> Any:
        value = getattr(model, name)
        return None if isinstance(value, str) else kind(value)

    sigma = None if isinstance(model.sigma, str) else model.sigma
    k = first_number(model.n_clusters)
    kinds: dict[str, Callable[[Any], Any]] = {"n_components": int, "subtract_given": bool}
    kinds |= dict.fromkeys(("novelty_weight", "whitening", "degree_floor", "pull"), float)
    found = {name: fixed(name, kind) for name, kind in kinds.items()}
    found |= {"n_clusters": k, "scaling": model.scaling, "init": model.init, "subspace": model.subspace}
    return Spec(**found, sigma=sigma, keep_obvious=bool(model.keep_obvious), kernel=model.kernel)


def _options(model: Any) -> SolveOptions:
    name = "ism" if isinstance(model.solver, str) and model.solver == "auto" else model.solver
    solver = SOLVERS[name]() if isinstance(name, str) else check_solver(name)
    reduced = isinstance(solver, LBFGS) or (isinstance(model.solver, str) and model.solver == "auto")
    names = ("n_init", "rounding", "max_iter", "tol", "callback", "n_jobs")
    alternating = reduced and not isinstance(solver, LBFGS)
    return SolveOptions(solver, **{n: getattr(model, n) for n in names}, reduced=reduced, alternating=alternating)
