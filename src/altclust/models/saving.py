"""A fitted KDAC as plain arrays and JSON, and back: every key, type and shape of a file is checked once, here."""

from __future__ import annotations

import os
from dataclasses import MISSING, asdict, fields
from math import isfinite
from numbers import Integral
from typing import Any

import numpy as np

from ..base.errors import InputError, shown
from ..base.validation import check_parameters, check_solver
from ..core.certificate import Certificate
from ..core.embedding import KernelMap
from ..core.engines import DENSE_ROWS
from ..core.initialization import check_start
from ..core.kernels import Gaussian
from ..core.linalg.eigen import METHODS
from ..core.solvers import SOLVERS, Status
from ..files.model_archive import read_model, write_model
from ..search.significance import Confidence
from .residuals import GivenMeans

ARRAYS = ("labels_", "components_", "mean_", "feature_weights_", "feature_names_in_")
MAP_ARRAYS = ("landmarks", "coefficients", "offset", "centres", "weights")
SCALARS = {
    "overlap_": "float",
    "quality_": "float",
    "cost_": "float",
    "status_": "str",
    "n_iter_": "int",
    "sigma_": "float",
    "novelty_weight_": "float",
    "n_components_": "int",
    "n_clusters_": "int",
    "n_features_in_": "int",
    "engine_": "str",
    "approximation_error_": "float",
    "subtract_given_": "bool",
}
GIVEN_MEANS = ("means", "weights", "intercepts")
KINDS: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "str": (str,), "bool": (bool,)}


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
    if model._certificate is not None or (model._certify is not None and len(model.labels_) <= DENSE_ROWS):
        meta["certificate"] = asdict(model.certificate_)
    if model._confidence is not None:
        meta["confidence"] = asdict(model._confidence) | {"reference": model._confidence.reference.tolist()}
    write_model(path, "KDAC", arrays, meta)


def load_kdac(cls: type, path: str | os.PathLike) -> Any:
    """Read what `save_kdac` wrote into a new instance of cls; only names that are known here are ever set."""
    arrays, meta = read_model(path, "KDAC")
    try:
        return _restored(cls, arrays, meta)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise InputError(f"{os.fspath(path)!r} is a damaged model ({why}): save it again.") from error


def _restored(cls: type, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> Any:
    scalars = {"approximation_error_": 0.0, "subtract_given_": False} | meta["scalars"]  # which old models lack
    scalars.setdefault("overlap_", scalars.get("novelty_"))  # its name until models had an overlap
    scalars = {name: _plain(name, scalars[name], kind) for name, kind in SCALARS.items()}
    q, k, d = (scalars[name] for name in ("n_components_", "n_clusters_", "n_features_in_"))
    if scalars["status_"] not in {*Status}:
        raise ValueError(f"status_ is {shown(scalars['status_'])}")
    if not (scalars["sigma_"] > 0 and isfinite(scalars["sigma_"])):
        raise ValueError(f"sigma_ is {scalars['sigma_']}")
    labels = arrays["labels_"]
    if labels.dtype.kind != "i" or labels.ndim != 1 or not len(labels) or not 0 <= labels.min() <= labels.max() < k:
        raise ValueError(f"labels_ are no labels of {k} clusters")

    model = _with_params(cls, dict(meta["params"]), arrays, len(labels), d)
    vars(model).update(scalars)
    model.labels_ = labels
    model.components_ = _floats(arrays, "components_", q, d)
    model.mean_, model.feature_weights_ = (_floats(arrays, name, d) for name in ("mean_", "feature_weights_"))
    if "feature_names_in_" in arrays:
        model.feature_names_in_ = _shaped("feature_names_in_", arrays["feature_names_in_"], "U", d).astype(object)
    found = {name.removeprefix("history."): a for name, a in arrays.items() if name.startswith("history.")}
    model.history_ = {name: _shaped(f"history.{name}", a, "fi", scalars["n_iter_"]) for name, a in found.items()}

    r = len(np.atleast_1d(arrays["map.landmarks"]))
    arrays.setdefault("map.weights", np.ones(r))  # before there were fewer landmarks than rows
    sizes = {"landmarks": (r, q), "coefficients": (r, k), "offset": (k,), "centres": (k, k), "weights": (r,)}
    parts = {name: _floats(arrays, f"map.{name}", *sizes[name]) for name in MAP_ARRAYS}
    reach = _plain("reach", meta.get("reach", 0.0), "float")
    model._map = KernelMap(**parts, kernel=Gaussian(scalars["sigma_"]), reach=reach)
    model._given_means = _given_means(arrays, d)
    model._certificate = _dataclass(Certificate, meta["certificate"]) if "certificate" in meta else None
    confidence = meta.get("confidence")
    if confidence is not None:
        reference = np.array(confidence["reference"], dtype=float)
        confidence = _dataclass(Confidence, confidence | {"reference": _shaped("reference", reference, "f", None)})
    model._confidence = confidence
    model._question = model.tuning_ = model._certify = model._given = None
    return model


def _with_params(cls: Any, params: dict[str, Any], arrays: dict[str, np.ndarray], n: int, d: int) -> Any:
    """An unfitted model with the parameters of the file, none of which its class would refuse."""
    unknown = params.keys() - set(cls._get_param_names())
    if unknown:
        raise ValueError(f"it has the unknown parameter {shown(min(unknown))}")
    if params.get("init", "spectral") is None:
        params["init"] = check_start(arrays["init"], d, None) if arrays["init"].dtype.kind == "f" else None
    if isinstance(params.get("solver"), dict):
        values = dict(params["solver"])
        params["solver"] = check_solver(_dataclass(SOLVERS[values.pop("name")], values))
        if getattr(params["solver"], "eigen", "auto") not in METHODS:
            raise ValueError(f"solver has eigen={shown(params['solver'].eigen)}")
    model = cls(**params)
    check_parameters(model)
    for name, most in (("n_clusters", n), ("n_components", d)):
        value = getattr(model, name)
        if not isinstance(value, str) and value > most:
            raise ValueError(f"{name} is {value}, and there are {most}")
    return model


def _given_means(arrays: dict[str, np.ndarray], d: int) -> GivenMeans | None:
    parts: dict[str, list[np.ndarray]] = {name: [] for name in GIVEN_MEANS}
    for i in range(len({name.split(".")[-1] for name in arrays if name.startswith("given.")})):
        c = len(np.atleast_1d(arrays[f"given.means.{i}"]))
        parts["means"].append(_floats(arrays, f"given.means.{i}", c, d))
        parts["weights"].append(_floats(arrays, f"given.weights.{i}", c, d))
        name = f"given.intercepts.{i}"  # minus infinity for a cluster that is never guessed
        parts["intercepts"].append(_shaped(name, arrays[name], "f", c))
    return GivenMeans(**parts) if parts["means"] else None


def _floats(arrays: dict[str, np.ndarray], name: str, *shape: int) -> np.ndarray:
    """An array of finite numbers of this shape."""
    array = _shaped(name, arrays[name], "f", *shape)
    if array.dtype not in (np.float32, np.float64) or not np.isfinite(array).all():
        raise ValueError(f"{name} has entries that are no numbers")
    return array


def _shaped(name: str, array: np.ndarray, kinds: str, *shape: int | None) -> np.ndarray:
    """The array, if it has this shape, where None is any length, and is of one of these kinds."""
    fits = len(shape) == array.ndim and all(s in (None, a) for s, a in zip(shape, array.shape, strict=True))
    if array.dtype.kind not in kinds or not fits or (0 in array.shape and None not in shape):
        wanted = " x ".join("any" if s is None else str(s) for s in shape)
        raise ValueError(f"{name} should be {wanted}, and is {shown(array.shape)} of {shown(str(array.dtype))}")
    return array


def _plain(name: str, value: Any, kind: str) -> Any:
    """A value of JSON, if it is of this kind."""
    right = isinstance(value, KINDS[kind]) and isinstance(value, bool) == (kind == "bool")
    if not right:
        raise ValueError(f"{name} is {shown(value)}")
    return float(value) if kind == "float" else value


def _dataclass(cls: Any, plain: dict[str, Any]) -> Any:
    """One of our dataclasses from JSON, if each of its values is there, of its kind, and no others are."""
    kinds = {field.name: str(field.type) for field in fields(cls)}
    missing = [f.name for f in fields(cls) if f.default is MISSING and f.name not in plain]
    strange = missing + [name for name in plain if name not in kinds]
    if strange:
        raise ValueError(f"{cls.__name__} lacks {shown(strange[0])}, or should not have it")
    return cls(**{name: _plain(name, v, kinds[name]) if kinds[name] in KINDS else v for name, v in plain.items()})
