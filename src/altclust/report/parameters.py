"""The parameters of a view: their values, what they mean, and who chose them."""

from __future__ import annotations

from inspect import signature
from numbers import Integral, Real
from typing import Any

import numpy as np

MEANINGS = {
    "n_clusters": "clusters that were looked for",
    "n_components": "learnt directions",
    "sigma": "how far apart rows may be and still count as neighbours",
    "novelty_weight": "the price of resembling what was given",
    "subtract_given": "whether the means of the given clusters were taken away first",
    "scaling": "in which units the price counts",
    "solver": "how the directions were found",
    "engine": "how distances were computed",
    "init": "where the search began",
    "n_init": "random starts, where the search began at random",
    "rounding": "how clusters were made of the embedding",
    "max_iter": "rounds at most",
    "tol": "how little the directions may still move at the end",
    "random_state": "the seed of everything random",
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
        return "the default" if np.array_equal(asked, default) else "as asked for"
    return "searched for" if model.tuning_ is not None and name in SEARCHED else "chosen by altclust"
