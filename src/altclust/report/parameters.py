"""The parameters of a view: values, meanings, and how they were chosen."""

from __future__ import annotations

from inspect import signature
from numbers import Integral, Real
from typing import Any

import numpy as np

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
    return [
        {"name": name, "value": _value(model, name), "origin": _origin(model, name), "meaning": meaning}
        for name, meaning in MEANINGS.items()
    ]


def _value(model: Any, name: str) -> str:
    value = getattr(model, f"{name}_", getattr(model, name))
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


def _origin(model: Any, name: str) -> str:
    asked = getattr(model, name)
    if not isinstance(asked, str) or asked != "auto":
        default = signature(type(model)).parameters[name].default
        return "default" if np.array_equal(asked, default) else "set"
    return "searched for" if model.tuning_ is not None and name in SEARCHED else "chosen by altclust"
