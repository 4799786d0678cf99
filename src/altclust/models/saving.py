"""Save a fitted KDAC as plain arrays and JSON, and load it; all keys, types and shapes of a file are checked here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import MISSING, asdict, fields
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from ..base.errors import InputError, short_repr
from ..base.given import Levels
from ..base.validation import check_parameters, check_solver, column_names
from ..core.certificate import Certificate
from ..core.coordinates import Coordinates
from ..core.embedding import KernelMap
from ..core.guess import Effect, Guess
from ..core.initialization import check_start, check_subspace
from ..core.kernel_family import Kernel
from ..core.kernels import from_dict, to_dict
from ..core.solvers import SOLVERS, Status
from ..files.model_archive import read_model, write_model
from ..search.obvious import Obvious
from ..search.settings import Settings
from ..search.significance import Significance
from ..search.witnesses import Witness
from .fit_view import settings_of
from .fitted_view import FittedView

LARGEST = 1e100  # of any number in a model: squares of them, and sums of those, are finite
MAP_ARRAYS = ("landmarks", "coefficients", "offset", "centres", "weights")
KINDS: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "str": (str,), "bool": (bool,)}
STORED = "stored"  # in place of an array, which is in the file beside the JSON
SCALARS = {f.name: str(f.type) for f in fields(FittedView) if f.type in KINDS}

Arrays = dict[str, np.ndarray]


def save_kdac(model: Any, path: str | os.PathLike) -> None:
    """Write a fitted `altclust.KDAC`."""
    view: FittedView = model.fitted_
    arrays, params = dict(_arrays(view)), model.get_params(deep=False) | {"callback": None}
    names = column_names(model)
    if names is not None:
        arrays["feature_names_in_"] = np.asarray(names)
    if params["settings"] is not None:
        arrays |= dict(_directions(params["settings"], "asked"))
        params["settings"] = _plain_settings(params["settings"])
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
    meta = _header(view) | {"params": params, "n_features_in": len(view.mean)}
    write_model(path, "KDAC", arrays, meta)


def _arrays(view: FittedView) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of a view, by their names in the file."""
    chosen = view.coordinates
    plain: dict[str, Any] = {"labels": view.labels, "feature_weights": view.feature_weights, "mean": chosen.mean}
    plain |= {"basis": chosen.basis, "reduction": chosen.reduction, "map.widths": view.kernel_map.widths}
    plain |= {f"map.{name}": getattr(view.kernel_map, name) for name in MAP_ARRAYS}
    plain |= {f"history.{name}": values for name, values in view.history.items()}
    plain |= {f"effects.{i}": table for i, table in enumerate(chosen.effects)}
    plain |= dict(_directions(view.settings, "settings"))
    for i, one in enumerate(view.levels):
        plain |= {f"levels.{i}.labels": _saved_labels(one.labels), f"levels.{i}.edges": one.edges}
    if chosen.guess is not None:
        for name in ("weights", "intercepts"):
            plain |= {f"guess.{name}.{i}": part for i, part in enumerate(getattr(chosen.guess, name))}
        effect = chosen.guess.measured
        if effect is not None:
            plain |= {"measured.landmarks": effect.landmarks, "measured.coefficients": effect.coefficients}
            plain["measured.sigma"] = np.array([effect.sigma])
    return ((name, np.asarray(a)) for name, a in plain.items() if a is not None)


def _directions(settings: Settings, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays of settings, by their names in the file."""
    for part in ("init", "subspace"):
        value = getattr(settings, part)
        if value is not None and not isinstance(value, str):
            yield f"{name}.{part}", np.asarray(value, dtype=float)


def _plain_settings(settings: Settings) -> dict[str, Any]:
    """Settings as JSON, without their arrays."""
    plain = vars(settings) | {name.removeprefix("."): STORED for name, _ in _directions(settings, "")}
    return plain | ({"kernel": to_dict(settings.kernel)} if isinstance(settings.kernel, Kernel) else {})


def _settings(plain: dict[str, Any], arrays: Arrays, name: str, d: int) -> Settings:
    """Settings from JSON and from arrays with these names, after the checks of their class."""
    found = dict(plain)
    for part, check in (("init", partial(check_start, n_components=None)), ("subspace", check_subspace)):
        if found[part] == STORED:
            found[part] = check(arrays[f"{name}.{part}"], d)
        elif not isinstance(found[part], str | None):
            raise ValueError(f"{part} is {short_repr(found[part])}")
    if isinstance(found["kernel"], dict):
        found["kernel"] = from_dict(found["kernel"])
    settings = _dataclass(Settings, found)
    settings.check()
    return settings


def _saved_labels(labels: np.ndarray | None) -> np.ndarray | None:
    """Labels as an array of numbers or of text."""
    if labels is None or labels.dtype.kind in "biufU":
        return labels
    kinds = {type(label) for label in labels.tolist()}
    plain = kinds <= {int, float} or kinds <= {bool} or kinds <= {str}
    try:
        return np.array(labels.tolist() if plain else [str(label) for label in labels])
    except Exception as error:  # whatever a foreign class does
        raise InputError("given has labels that cannot be written as text: give them as text or numbers.") from error


def _header(view: FittedView) -> dict[str, Any]:
    """The rest of a view, as JSON."""
    significance, chosen = view.significance, view.coordinates
    return {
        "settings": _plain_settings(view.settings),
        "scalars": {name: getattr(view, name) for name in SCALARS},
        "reach": view.kernel_map.reach,
        "floor": view.kernel_map.floor,
        "kernel": to_dict(view.kernel_map.kernel),
        "levels": [{"name": one.name, "kind": one.kind, "size": one.size} for one in view.levels],
        "measured": list(chosen.measured),
        "guessed": chosen.guess is not None,
        "certificate": None if view.certificate is None else asdict(view.certificate),
        "significance": significance and asdict(significance) | {"reference": significance.reference.tolist()},
    }


def load_kdac(cls: type, path: str | os.PathLike) -> tuple[Any, FittedView]:
    """Read a file of `save_kdac`: a new instance of cls with its parameters, and its view."""
    arrays, meta = read_model(path, "KDAC")
    try:
        return _restored(cls, arrays, meta)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise InputError(f"{os.fspath(path)!r} is a damaged model ({why}): save it again.") from error


def _restored(cls: type, arrays: Arrays, meta: dict[str, Any]) -> tuple[Any, FittedView]:
    d = _plain("n_features_in", meta["n_features_in"], "int")
    view = _view(arrays, meta, d)
    model = _with_params(cls, dict(meta["params"]), arrays, len(view.labels), d)
    model.n_features_in_ = d
    if "feature_names_in_" in arrays:
        model.feature_names_in_ = _shaped("feature_names_in_", arrays["feature_names_in_"], "U", d).astype(object)
    return model, view


def _view(arrays: Arrays, meta: dict[str, Any], d: int) -> FittedView:
    scalars = {name: _plain(f"{name}_", meta["scalars"][name], kind) for name, kind in SCALARS.items()}
    settings = _settings(meta["settings"], arrays, "settings", d)
    q, k = (_plain(name, getattr(settings, name), "int") for name in ("n_components", "n_clusters"))
    if scalars["status"] not in {*Status}:
        raise ValueError(f"status_ is {short_repr(scalars['status'])}")
    if settings.sigma is None or not 1 / LARGEST <= settings.sigma <= LARGEST:  # else its square is 0 or infinite
        raise ValueError(f"sigma is {short_repr(settings.sigma)}")
    labels = arrays["labels"]
    if labels.dtype.kind != "i" or labels.ndim != 1 or not len(labels) or not 0 <= labels.min() <= labels.max() < k:
        raise ValueError(f"labels are not labels of {k} clusters")
    found = {name.removeprefix("history."): a for name, a in arrays.items() if name.startswith("history.")}
    r = len(np.atleast_1d(arrays["map.landmarks"]))
    sizes = {"landmarks": (r, q), "coefficients": (r, k), "offset": (k,), "centres": (k, k), "weights": (r,)}
    parts = {name: _floats(arrays, f"map.{name}", *sizes[name]) for name in MAP_ARRAYS}
    reach, floor = (_plain(name, meta[name], "float") for name in ("reach", "floor"))
    if not (-LARGEST <= reach <= 0 <= floor <= LARGEST):
        raise ValueError(f"reach is {reach} and floor is {floor}")
    kernel = from_dict(meta["kernel"])
    if not all(1 / LARGEST <= number <= LARGEST for number in _numbers(meta["kernel"])):
        raise ValueError("the kernel has a number that is too small or too large")
    widths = _floats(arrays, "map.widths", r) if "map.widths" in arrays else None
    if widths is not None and not (widths > 1 / LARGEST).all():
        raise ValueError("map.widths has entries that are not positive")
    levels = tuple(_levels(arrays, one, f"levels.{i}") for i, one in enumerate(meta["levels"]))
    return FittedView(
        **scalars,
        settings=settings,
        labels=labels,
        feature_weights=_floats(arrays, "feature_weights", d),
        history={name: _shaped(f"history.{name}", a, "fi", scalars["n_iter"]) for name, a in found.items()},
        tuning=None,
        coordinates=_coordinates(arrays, meta, levels, d, q),
        kernel_map=KernelMap(**parts, kernel=kernel, reach=reach, floor=floor, widths=widths),
        levels=levels,
        certificate=None if meta["certificate"] is None else _dataclass(Certificate, meta["certificate"]),
        significance=None if meta["significance"] is None else _significance(meta["significance"]),
    )


def _numbers(plain: dict[str, Any]) -> Iterator[float]:
    """The numbers of a kernel, and of the kernels in it."""
    for value in plain.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield from _numbers(one)
            elif isinstance(one, int | float):
                yield float(one)


def _significance(plain: dict[str, Any]) -> Significance:
    reference = np.array(plain["reference"], dtype=float)
    plain = plain | {"reference": _shaped("reference", reference, "f", None)}
    plain["witnesses"] = tuple(_dataclass(Witness, one) for one in plain["witnesses"])
    columns = [tuple(str(name) for name in one["columns"]) for one in plain["obvious"]]
    plain["obvious"] = tuple(
        _dataclass(Obvious, one | {"columns": names}) for one, names in zip(plain["obvious"], columns, strict=True)
    )
    return _dataclass(Significance, plain)


def _levels(arrays: Arrays, plain: dict[str, Any], name: str) -> Levels:
    size = _plain("size", plain["size"], "int")
    labels, edges = arrays.get(f"{name}.labels"), None
    if labels is not None:
        labels = _shaped(f"{name}.labels", labels, "biufU", size)
    if f"{name}.edges" in arrays:
        edges = _floats(arrays, f"{name}.edges", size - 1)
    name, kind = (_plain(part, plain[part], "str") for part in ("name", "kind"))
    return Levels(name, kind, size, labels=labels, edges=edges)


def _coordinates(arrays: Arrays, meta: dict[str, Any], levels: tuple[Levels, ...], d: int, q: int) -> Coordinates:
    reduction = None
    m = d
    if "reduction" in arrays:
        m = np.atleast_2d(arrays["reduction"]).shape[1]
        reduction = _floats(arrays, "reduction", d, m)
    measured = tuple(_plain("measured", one, "bool") for one in meta["measured"])
    if len(measured) not in (0, len(levels)):
        raise ValueError("measured does not fit levels")
    effects = tuple(_floats(arrays, f"effects.{i}", one.size + 1, m) for i, one in enumerate(levels) if measured)
    guess = None
    if _plain("guessed", meta["guessed"], "bool"):
        clusterings = [len(table) - 1 for table, number in zip(effects, measured, strict=True) if not number]
        parts = [_discriminant(arrays, i, most, m) for i, most in enumerate(clusterings)]
        guess = Guess(tuple(w for w, _ in parts), tuple(c for _, c in parts), _effect(arrays, m))
    return Coordinates(_floats(arrays, "mean", d), effects, measured, guess, _floats(arrays, "basis", m, q), reduction)


def _discriminant(arrays: Arrays, i: int, most: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights and intercepts of one given clustering, of at most so many clusters."""
    c = len(np.atleast_1d(arrays[f"guess.weights.{i}"]))
    if c > most:
        raise ValueError(f"guess.weights.{i} has {c} clusters, but effects.{i} has {most}")
    name = f"guess.intercepts.{i}"  # minus infinity for a cluster that is never guessed
    intercepts = _shaped(name, arrays[name], "f", c)
    finite = np.abs(intercepts) <= LARGEST
    if not finite.any() or not np.all(finite | (intercepts == -np.inf)):
        raise ValueError(f"{name} has entries that are not finite numbers")
    return _floats(arrays, f"guess.weights.{i}", c, m), intercepts


def _effect(arrays: Arrays, m: int) -> Effect | None:
    if "measured.landmarks" not in arrays:
        return None
    r = len(np.atleast_1d(arrays["measured.landmarks"]))
    landmarks, coefficients = (_floats(arrays, f"measured.{name}", r, m) for name in ("landmarks", "coefficients"))
    effect = Effect(landmarks, coefficients, float(_floats(arrays, "measured.sigma", 1)[0]))
    if effect.sigma < 1 / LARGEST:
        raise ValueError(f"measured.sigma is {effect.sigma}")
    return effect


def _with_params(cls: Any, params: dict[str, Any], arrays: Arrays, n: int, d: int) -> Any:
    """An unfitted model with the parameters of the file, after the checks of its class."""
    unknown = params.keys() - set(cls._get_param_names())
    if unknown:
        raise ValueError(f"it has the unknown parameter {short_repr(min(unknown))}")
    if params.get("settings") is not None:
        params["settings"] = _settings(params["settings"], arrays, "asked", d)
    if isinstance(params.get("solver"), dict):
        values = dict(params["solver"])
        if "callback" in values:
            raise ValueError("solver has a callback")
        params["solver"] = check_solver(_dataclass(SOLVERS[values.pop("name")], values))
    if isinstance(params.get("kernel"), dict):
        params["kernel"] = from_dict(params["kernel"])
    model = cls(**params)
    check_parameters(model)
    asked = settings_of(model)
    for name, most in (("n_clusters", n), ("n_components", d)):
        value = getattr(asked, name)
        if value is not None and value > most:
            raise ValueError(f"{name} is {value}, but at most {most} are possible")
    return model


def _floats(arrays: Arrays, name: str, *shape: int) -> np.ndarray:
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


def _dataclass(cls: Any, plain: dict[str, Any]) -> Any:
    """One of our dataclasses from JSON, after a check that exactly its fields are present, each of its type."""
    kinds = {field.name: str(field.type) for field in fields(cls)}
    missing = [f.name for f in fields(cls) if f.default is MISSING and f.name not in plain]
    strange = missing + [name for name in plain if name not in kinds]
    if strange:
        raise ValueError(f"{cls.__name__} lacks {short_repr(strange[0])}, or should not have it")
    return cls(**{name: _plain(name, v, kinds[name]) if kinds[name] in KINDS else v for name, v in plain.items()})
