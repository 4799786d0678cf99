"""A fitted KDAC as plain arrays and JSON, and back."""

from __future__ import annotations

import os
from dataclasses import asdict
from numbers import Integral
from typing import Any

import numpy as np

from .certificate import Certificate
from .confidence import Confidence
from .engines import DENSE_ROWS
from .given_means import GivenMeans
from .kernels import Gaussian
from .solvers import SOLVERS
from .spectral import KernelMap
from .storage import read_model, write_model
from .validate import InputError

ARRAYS = ("labels_", "components_", "mean_", "feature_weights_", "feature_names_in_")
MAP_ARRAYS = ("landmarks", "coefficients", "offset", "centres", "weights")
SCALARS = (
    "novelty_",
    "quality_",
    "cost_",
    "status_",
    "n_iter_",
    "sigma_",
    "novelty_weight_",
    "n_components_",
    "n_clusters_",
    "n_features_in_",
    "engine_",
    "approximation_error_",
    "subtract_given_",
)
GIVEN_MEANS = ("means", "weights", "intercepts")


def save_kdac(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted `altclust.KDAC`."""
    arrays = {name: np.asarray(getattr(model, name)) for name in ARRAYS if hasattr(model, name)}
    arrays |= {f"map.{name}": getattr(model._map, name) for name in MAP_ARRAYS}
    arrays |= {f"history.{name}": values for name, values in model.history_.items()}
    if model._given_means is not None:
        parts = {name: getattr(model._given_means, name) for name in GIVEN_MEANS}
        arrays |= {f"given.{name}.{i}": part for name, values in parts.items() for i, part in enumerate(values)}
    params = model.get_params(deep=False) | {"callback": None}
    if not isinstance(params["init"], str):
        arrays["init"], params["init"] = np.asarray(params["init"], dtype=float), None
    if not isinstance(params["solver"], str):
        kind = next((name for name, solver in SOLVERS.items() if type(params["solver"]) is solver), None)
        if kind is None:
            raise InputError(f"solver={params['solver']!r} cannot be saved: only altclust's own solvers can.")
        params["solver"] = {"name": kind, **asdict(params["solver"])}
    seed = params["random_state"]
    params["random_state"] = int(seed) if isinstance(seed, Integral) else None
    scalars = {name: getattr(model, name) for name in SCALARS}
    meta = {"params": params, "scalars": scalars, "reach": model._map.reach}
    if model._certificate is not None or len(model.labels_) <= DENSE_ROWS:
        meta["certificate"] = asdict(model.certificate_)
    if model._confidence is not None:
        meta["confidence"] = asdict(model._confidence) | {"reference": model._confidence.reference.tolist()}
    write_model(path, "KDAC", arrays, meta)


def load_kdac(cls: type, path: str | os.PathLike) -> Any:
    """Read what `save_kdac` wrote into a new instance of cls."""
    arrays, meta = read_model(path, "KDAC")
    arrays.setdefault(
        "map.weights", np.ones(len(arrays["map.landmarks"]))
    )  # before there were fewer landmarks than rows
    meta = {"reach": 0.0} | meta
    meta["scalars"].setdefault("approximation_error_", 0.0)
    params = meta["params"]
    if params["init"] is None:
        params["init"] = arrays["init"]
    if isinstance(params["solver"], dict):
        params["solver"] = SOLVERS[params["solver"].pop("name")](**params["solver"])
    model = cls(**params)
    for name, value in meta["scalars"].items():
        setattr(model, name, value)
    for name in ARRAYS:
        if name in arrays:
            setattr(model, name, arrays[name])
    if hasattr(model, "feature_names_in_"):
        model.feature_names_in_ = model.feature_names_in_.astype(object)
    model.history_ = {n.removeprefix("history."): a for n, a in arrays.items() if n.startswith("history.")}
    kernel = Gaussian(model.sigma_)
    model._map = KernelMap(**{name: arrays[f"map.{name}"] for name in MAP_ARRAYS}, kernel=kernel, reach=meta["reach"])
    model._certificate = Certificate(**meta["certificate"]) if "certificate" in meta else None
    model._certify = None
    confidence = meta.get("confidence")
    model._confidence = confidence and Confidence(**confidence | {"reference": np.array(confidence["reference"])})
    model._question = model.tuning_ = None
    count = sum(name.startswith("given.means.") for name in arrays)
    parts = {name: [arrays[f"given.{name}.{i}"] for i in range(count)] for name in GIVEN_MEANS}
    model._given_means = GivenMeans(**parts) if count else None
    return model
