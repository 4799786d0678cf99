"""The parameters of a view: values, meanings, and how they were chosen."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from ..search.settings import Settings

MEANINGS = {
    "n_clusters": "number of clusters",
    "n_components": "number of learnt directions",
    "sigma": "kernel width: the distance up to which rows count as neighbours",
    "novelty_weight": "penalty for overlap with what was given",
    "subtract_given": "whether the means of the given clusters were subtracted first",
    "scaling": "how the penalty is scaled",
    "solver": "optimiser of the directions",
    "sample_size": "rows that were fitted; all others are labelled by them",
    "init": "start of the directions",
    "n_init": "number of random starts, where the start is random",
    "rounding": "how clusters were made from the embedding",
    "max_iter": "largest number of rounds",
    "tol": "change of the directions at which the solver stops",
    "random_state": "random seed",
}
SEARCHED = ("n_clusters", "n_components", "sigma", "subtract_given")


def parameters(model: Any) -> list[dict[str, str]]:
    """Every parameter as name, value, origin and meaning."""
    asked, defaults = _asked(model), _asked(type(model)())
    found = []
    for name, meaning in MEANINGS.items():
        value = getattr(model, f"{name}_", asked[name])
        origin = "default" if np.array_equal(asked[name], defaults[name]) else "set"
        if _is_open(asked[name]):
            origin = "searched for" if model.tuning_ is not None and name in SEARCHED else "chosen by altclust"
        found.append({"name": name, "value": _words(name, value), "origin": origin, "meaning": meaning})
    return found


def _asked(model: Any) -> dict[str, Any]:
    """What was set, in the settings of an estimator or as its own parameters; "auto" where it was left open."""
    asked = {name: "auto" if value is None else value for name, value in vars(model.settings or Settings()).items()}
    own = {name: value for name, value in model.get_params(deep=False).items() if name not in asked}
    return asked | own | {name: getattr(model, name) for name in asked if not _is_open(getattr(model, name, "auto"))}


def _is_open(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _words(name: str, value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, str) or value is None:
        return value or "none"
    if isinstance(value, Integral):
        return str(value)
    if isinstance(value, Real):
        return f"{value:.6g}"
    if name == "init":
        return f"directions of shape {np.shape(value)}"
    return type(value).__name__
