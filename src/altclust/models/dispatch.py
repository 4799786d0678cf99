"""How an estimator is fitted: in memory, in blocks of rows, or in the leading directions of sparse rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from array_api_compat import is_torch_array
from scipy import sparse

from ..base.backend import fits_single, host
from ..base.errors import InputError
from ..base.keep import check_keep
from ..base.known import known_arrays, read_known
from ..base.validation import (
    centre,
    check_originals,
    check_solver,
    column_names,
    enough_memory,
    scan_rows,
    warn_of_dominant,
)
from ..core.engines import choose
from ..core.kernel_choice import make_kernel
from ..core.solvers import LBFGS, SOLVERS
from ..data.opening import checked_rows
from ..data.rows import ArrayRows, Rows
from ..search.spec import Spec
from .fitted_view import FittedView
from .fitting import fit_in_memory
from .solving import SolveOptions
from .sparse_rows import Reduced, check_sparse
from .streaming import fit_streamed


def fit_view(
    model: Any, X: Any, y: Any, keep: Any, originals: pd.DataFrame | None, rng: np.random.Generator
) -> FittedView:
    """Fit in memory or in blocks, depending on the location and number of the rows."""
    if sparse.issparse(X):
        return _fit_sparse(model, X, y, keep, rng)
    rows = checked_rows(model, X, reset=True)
    names = column_names(model)
    spec = replace(
        _spec(model),
        originals=check_originals(originals, rows.n, names),
        keep=check_keep(keep, rows.n, float(model.keep_weight)),
    )
    return _fit_rows(model, rows, y, spec, names, rng)


def _spec(model: Any) -> Spec:
    """The parameters that are fixed, as Python numbers: small numpy integers overflow early."""

    def fixed(name: str, kind: Callable[[Any], Any]) -> Any:
        value = getattr(model, name)
        return None if isinstance(value, str) else kind(value)

    sigma = None if isinstance(model.sigma, str) else model.sigma
    kinds: dict[str, Callable[[Any], Any]] = {"n_clusters": int, "n_components": int, "subtract_given": bool}
    kinds |= dict.fromkeys(("novelty_weight", "whitening", "degree_floor", "pull"), float)
    found = {name: fixed(name, kind) for name, kind in kinds.items()}
    found |= {"scaling": model.scaling, "init": model.init, "subspace": model.subspace}
    return Spec(**found, sigma=sigma, keep_obvious=bool(model.keep_obvious), kernel=model.kernel)


def _options(model: Any) -> SolveOptions:
    name = "ism" if isinstance(model.solver, str) and model.solver == "auto" else model.solver
    solver = SOLVERS[name]() if isinstance(name, str) else check_solver(name)
    reduced = isinstance(solver, LBFGS) or (isinstance(model.solver, str) and model.solver == "auto")
    names = ("n_init", "rounding", "max_iter", "tol", "callback", "engine", "memory_limit", "n_jobs")
    return SolveOptions(solver, **{n: getattr(model, n) for n in names}, reduced=reduced, samples=model._samples)


def _fit_sparse(model: Any, X: Any, y: Any, keep: Any, rng: np.random.Generator) -> FittedView:
    """Fit sparse rows in their leading principal directions."""
    spec = replace(_spec(model), keep=check_keep(keep, X.shape[0], float(model.keep_weight)))
    if not isinstance(spec.init, str) or spec.subspace is not None:
        problem = "must be left out for a sparse X, which is clustered in its leading principal directions."
        raise InputError(problem, argument="subspace" if isinstance(spec.init, str) else "init")
    with enough_memory("fit"):
        reduced = Reduced.of(check_sparse(model, X, reset=True), rng)
    return reduced.lifted(_fit_rows(model, ArrayRows(reduced.rows), y, spec, None, rng))


def _fit_rows(
    model: Any, rows: Rows, y: Any, spec: Spec, names: Sequence[str] | None, rng: np.random.Generator
) -> FittedView:
    options = _options(model)
    kind, reason = choose(rows, model.engine, model.memory_limit, make_kernel(model.kernel, 1.0).low_rank)
    if kind != "lowrank":
        try:
            table = scan_rows(np.asarray(rows.take(np.arange(rows.n))[0], dtype=np.float64), names)
            columns = read_known(host(y) if is_torch_array(y) else y, rows.n)
            given, known = known_arrays(columns), ", ".join(map(str, columns))
            centred, mean = centre(table, names)
            if names is not None or rows.d == model.n_features_in_:
                warn_of_dominant(centred, names)
            single = rows.model(kind)
            if single is not None and single.dtype.itemsize < 8 and not fits_single(centred):
                single = None
            return fit_in_memory(
                centred, mean, given, spec, options, kind, reason, single, rng, names=names, known=known
            )
        except MemoryError as error:
            if model.engine != "auto":
                raise InputError(f'engine="{kind}" does not fit in memory: choose "lowrank" or "auto".') from error
            reason = "the exact kernel did not fit in memory"
    with enough_memory("fit"):
        coded, levels = rows.encode(y)
        return fit_streamed(coded, levels, names, spec, options, reason, rng)
