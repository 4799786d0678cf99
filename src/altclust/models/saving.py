"""Save a fitted KDAC as plain arrays and JSON, and load it; all keys, types and shapes of a file are checked here."""

from __future__ import annotations

import os
from dataclasses import MISSING, asdict, fields
from math import isfinite
from numbers import Integral
from typing import Any

import numpy as np

from ..base.errors import InputError, short_repr
from ..base.validation import check_parameters, check_solver, column_names
from ..core.certificate import Certificate
from ..core.embedding import KernelMap
from ..core.engines import DENSE_ROWS
from ..core.initialization import check_start, check_subspace
from ..core.kernel_choice import from_dict, to_dict
from ..core.linalg.eigen import METHODS
from ..core.solvers import SOLVERS, Status
from ..files.model_archive import read_model, write_model
from ..search.obvious import Obvious
from ..search.significance import Significance
from ..search.witnesses import Witness
from .fitted_view import FittedView
from .residuals import Effect, GivenMeans

LARGEST = 1e100  # of any number in a model: squares of them, and sums of those, are finite
MAP_ARRAYS = ("landmarks", "coefficients", "offset", "centres", "weights")
GIVEN_MEANS = ("means", "weights", "intercepts")
KINDS: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "str": (str,), "bool": (bool,)}
SCALARS = {f.name: str(f.type) for f in fields(FittedView) if f.type in KINDS}
SHAPES: dict[str, tuple[str, ...]] = {f.name: f.metadata["shape"] for f in fields(FittedView) if "shape" in f.metadata}


def save_kdac(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted `altclust.KDAC`."""
    view: FittedView = model._view
    if view.certify is not None and len(view.labels) <= DENSE_ROWS:
        view = view.certified()
    arrays = {f"{name}_": np.asarray(getattr(view, name)) for name in ("labels", *SHAPES)}
    names = column_names(model)
    if names is not None:
        arrays["feature_names_in_"] = np.asarray(names)
    arrays |= {f"map.{name}": getattr(view.kernel_map, name) for name in MAP_ARRAYS}
    arrays |= {f"history.{name}": values for name, values in view.history.items()}
    if view.given_means is not None:
        parts = {name: getattr(view.given_means, name) for name in GIVEN_MEANS}
        arrays |= {f"given.{name}.{i}": part for name, values in parts.items() for i, part in enumerate(values)}
        effect = view.given_means.measured
        if effect is not None:
            arrays |= {"measured.landmarks": effect.landmarks, "measured.coefficients": effect.coefficients}
            arrays["measured.sigma"] = np.array([effect.sigma])
    params = model.get_params(deep=False) | {"callback": None}
    if not isinstance(params["init"], str):
        arrays["init"], params["init"] = np.asarray(params["init"], dtype=float), None
    if params["subspace"] is not None:
        arrays["subspace"], params["subspace"] = np.asarray(params["subspace"], dtype=float), "stored"
    if not isinstance(params["solver"], str):
        kind = next((name for name, solver in SOLVERS.items() if type(params["solver"]) is solver), None)
        if kind is None:
            raise InputError(f"solver={params['solver']!r} cannot be saved: only altclust's own solvers can.")
        params["solver"] = {"name": kind, **asdict(params["solver"])}
        params["solver"].pop("callback", None)
    if not isinstance(params["kernel"], str):
        params["kernel"] = to_dict(params["kernel"])
    seed = params["random_state"]
    params["random_state"] = int(seed) if isinstance(seed, Integral) else None
    scalars = {f"{name}_": getattr(view, name) for name in SCALARS} | {"n_features_in_": len(view.mean)}
    meta = {"params": params, "scalars": scalars, "reach": view.kernel_map.reach, "floor": view.kernel_map.floor}
    meta["kernel"] = to_dict(view.kernel_map.kernel)
    if view.kernel_map.widths is not None:
        arrays["map.widths"] = view.kernel_map.widths
    if view.certificate is not None:
        meta["certificate"] = asdict(view.certificate)
    if view.significance is not None:
        meta["significance"] = asdict(view.significance) | {"reference": view.significance.reference.tolist()}
    write_model(path, "KDAC", arrays, meta)


def load_kdac(cls: type, path: str | os.PathLike) -> Any:
    """Read a file of `save_kdac` into a new instance of cls; only names that are known here are set."""
    arrays, meta = read_model(path, "KDAC")
    try:
        return _restored(cls, arrays, meta)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise InputError(f"{os.fspath(path)!r} is a damaged model ({why}): save it again.") from error


def _restored(cls: type, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> Any:
    absent = {
        "approximation_error_": 0.0,
        "subtract_given_": False,
        "whitening_": 0.0,
        "degree_floor_": 0.0,
        "pull_": 0.0,
        "overlap_p_value_": float("nan"),
        "known_": "",
    }
    stored = absent | meta["scalars"]  # missing in old models
    stored.setdefault("overlap_", stored.get("novelty_"))  # its name in old models
    scalars = {name: _plain(f"{name}_", stored[f"{name}_"], kind) for name, kind in SCALARS.items()}
    d = _plain("n_features_in_", stored["n_features_in_"], "int")
    q, k = scalars["n_components"], scalars["n_clusters"]
    if scalars["status"] not in {*Status}:
        raise ValueError(f"status_ is {short_repr(scalars['status'])}")
    if not 1 / LARGEST <= scalars["sigma"] <= LARGEST:  # else its square is 0 or infinite
        raise ValueError(f"sigma_ is {scalars['sigma']}")
    for name in ("novelty_weight", "whitening", "degree_floor", "pull"):
        if not isfinite(scalars[name]):
            raise ValueError(f"{name}_ is {scalars[name]}")
    labels = arrays["labels_"]
    if labels.dtype.kind != "i" or labels.ndim != 1 or not len(labels) or not 0 <= labels.min() <= labels.max() < k:
        raise ValueError(f"labels_ are not labels of {k} clusters")

    model = _with_params(cls, dict(meta["params"]), arrays, len(labels), d)
    lengths = {"q": q, "d": d}
    plain: dict[str, Any] = scalars | {
        name: _floats(arrays, f"{name}_", *(lengths[s] for s in shape)) for name, shape in SHAPES.items()
    }
    found = {name.removeprefix("history."): a for name, a in arrays.items() if name.startswith("history.")}
    r = len(np.atleast_1d(arrays["map.landmarks"]))
    arrays.setdefault("map.weights", np.ones(r))  # missing in old models, where all rows were landmarks
    sizes = {"landmarks": (r, q), "coefficients": (r, k), "offset": (k,), "centres": (k, k), "weights": (r,)}
    parts = {name: _floats(arrays, f"map.{name}", *sizes[name]) for name in MAP_ARRAYS}
    reach, floor = (_plain(name, meta.get(name, 0.0), "float") for name in ("reach", "floor"))
    if not (isfinite(reach) and reach <= 0 and isfinite(floor) and floor >= 0):
        raise ValueError(f"reach is {reach} and floor is {floor}")
    kernel = from_dict(meta.get("kernel", {"name": "gaussian", "sigma": scalars["sigma"]}))
    widths = _floats(arrays, "map.widths", r) if "map.widths" in arrays else None
    if widths is not None and not (widths > 1 / LARGEST).all():
        raise ValueError("map.widths has entries that are not positive")
    significance = meta.get("significance")
    if significance is not None:
        reference = np.array(significance["reference"], dtype=float)
        significance = significance | {"reference": _shaped("reference", reference, "f", None)}
        significance["witnesses"] = tuple(_dataclass(Witness, one) for one in significance.get("witnesses", ()))
        significance["obvious"] = tuple(_obvious(one) for one in significance.get("obvious", ()))
        significance = _dataclass(Significance, significance)
    view = FittedView(
        **plain,
        labels=labels,
        history={name: _shaped(f"history.{name}", a, "fi", scalars["n_iter"]) for name, a in found.items()},
        tuning=None,
        kernel_map=KernelMap(**parts, kernel=kernel, reach=reach, floor=floor, widths=widths),
        given_means=_given_means(arrays, d),
        certificate=_dataclass(Certificate, meta["certificate"]) if "certificate" in meta else None,
        significance=significance,
    )
    model.n_features_in_ = d
    if "feature_names_in_" in arrays:
        model.feature_names_in_ = _shaped("feature_names_in_", arrays["feature_names_in_"], "U", d).astype(object)
    model._publish(view)
    model._given = None
    return model


def _with_params(cls: Any, params: dict[str, Any], arrays: dict[str, np.ndarray], n: int, d: int) -> Any:
    """An unfitted model with the parameters of the file, after the checks of its class."""
    unknown = params.keys() - set(cls._get_param_names())
    if unknown:
        raise ValueError(f"it has the unknown parameter {short_repr(min(unknown))}")
    if params.get("init", "spectral") is None:
        params["init"] = check_start(arrays["init"], d, None) if arrays["init"].dtype.kind == "f" else None
    if params.get("subspace") is not None:
        params["subspace"] = check_subspace(arrays["subspace"], d)
    if isinstance(params.get("solver"), dict):
        values = dict(params["solver"])
        if "callback" in values:
            raise ValueError("solver has a callback")
        params["solver"] = check_solver(_dataclass(SOLVERS[values.pop("name")], values))
        if getattr(params["solver"], "eigen", "auto") not in METHODS:
            raise ValueError(f"solver has eigen={short_repr(params['solver'].eigen)}")
    if isinstance(params.get("kernel"), dict):
        params["kernel"] = from_dict(params["kernel"])
    model = cls(**params)
    check_parameters(model)
    for name, most in (("n_clusters", n), ("n_components", d)):
        value = getattr(model, name)
        if not isinstance(value, str) and value > most:
            raise ValueError(f"{name} is {value}, but at most {most} are possible")
    return model


def _given_means(arrays: dict[str, np.ndarray], d: int) -> GivenMeans | None:
    parts: dict[str, list[np.ndarray]] = {name: [] for name in GIVEN_MEANS}
    for i in range(len({name.split(".")[-1] for name in arrays if name.startswith("given.")})):
        c = len(np.atleast_1d(arrays[f"given.means.{i}"]))
        parts["means"].append(_floats(arrays, f"given.means.{i}", c, d))
        parts["weights"].append(_floats(arrays, f"given.weights.{i}", c, d))
        name = f"given.intercepts.{i}"  # minus infinity for a cluster that is never predicted
        intercepts = _shaped(name, arrays[name], "f", c)
        if not (np.abs(intercepts) <= LARGEST).any() or not np.all(
            (intercepts == -np.inf) | (np.abs(intercepts) <= LARGEST)
        ):
            raise ValueError(f"{name} has entries that are not finite numbers")
        parts["intercepts"].append(intercepts)
    effect = None
    if "measured.landmarks" in arrays:
        r = len(np.atleast_1d(arrays["measured.landmarks"]))
        landmarks, coefficients = (_floats(arrays, f"measured.{name}", r, d) for name in ("landmarks", "coefficients"))
        effect = Effect(landmarks, coefficients, float(_floats(arrays, "measured.sigma", 1)[0]))
        if effect.sigma < 1 / LARGEST:
            raise ValueError(f"measured.sigma is {effect.sigma}")
    return GivenMeans(**parts, measured=effect) if parts["means"] or effect is not None else None


def _floats(arrays: dict[str, np.ndarray], name: str, *shape: int) -> np.ndarray:
    """An array of finite numbers of this shape."""
    array = _shaped(name, arrays[name], "f", *shape)
    if array.dtype not in (np.float32, np.float64) or not np.isfinite(array).all():
        raise ValueError(f"{name} has entries that are not finite numbers")
    if not np.all(np.abs(array) <= LARGEST):
        raise ValueError(f"{name} has entries beyond {LARGEST:g}, whose powers overflow")
    return array


def _shaped(name: str, array: np.ndarray, kinds: str, *shape: int | None) -> np.ndarray:
    """Check that the array has this shape (None: any length) and one of these kinds; return it."""
    fits = len(shape) == array.ndim and all(s in (None, a) for s, a in zip(shape, array.shape, strict=True))
    if array.dtype.kind not in kinds or not fits or (0 in array.shape and None not in shape):
        wanted = " x ".join("any" if s is None else str(s) for s in shape)
        raise ValueError(
            f"{name} should be {wanted}, but is {short_repr(array.shape)} of {short_repr(str(array.dtype))}"
        )
    return array


def _plain(name: str, value: Any, kind: str) -> Any:
    """Check that a JSON value is of this kind; return it."""
    valid = isinstance(value, KINDS[kind]) and isinstance(value, bool) == (kind == "bool")
    if not valid:
        raise ValueError(f"{name} is {short_repr(value)}")
    return float(value) if kind == "float" else value


def _obvious(plain: dict[str, Any]) -> Obvious:
    columns = tuple(str(name) for name in plain["columns"])
    return _dataclass(Obvious, plain | {"columns": columns})


def _dataclass(cls: Any, plain: dict[str, Any]) -> Any:
    """One of our dataclasses from JSON, after a check that exactly its fields are present, each of its type."""
    kinds = {field.name: str(field.type) for field in fields(cls)}
    missing = [f.name for f in fields(cls) if f.default is MISSING and f.name not in plain]
    strange = missing + [name for name in plain if name not in kinds]
    if strange:
        raise ValueError(f"{cls.__name__} lacks {short_repr(strange[0])}, or should not have it")
    return cls(**{name: _plain(name, v, kinds[name]) if kinds[name] in KINDS else v for name, v in plain.items()})
