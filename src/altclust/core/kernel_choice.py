"""Kernels by their names, and as plain values in files."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ..base.errors import InputError
from .kernel_family import Linear, Mixture, Multiquadratic, Polynomial, RationalQuadratic, SelfTuning, Squared
from .kernels import Gaussian

KERNELS: dict[str, type[Any]] = {
    "gaussian": Gaussian,
    "self_tuning": SelfTuning,
    "rational_quadratic": RationalQuadratic,
    "multiquadratic": Multiquadratic,
    "squared": Squared,
    "linear": Linear,
    "polynomial": Polynomial,
}


def make_kernel(choice: Any, sigma: float) -> Any:
    """The kernel of a name, or an object itself, with this width if it has none of its own."""
    if isinstance(choice, str):
        return Gaussian(sigma) if choice == "gaussian" else KERNELS[choice]().at(sigma)
    return choice.at(sigma)


def to_dict(kernel: Any) -> dict[str, Any]:
    """A kernel of this module as plain values."""
    if isinstance(kernel, Mixture):
        return {"name": "mixture", "kernels": [to_dict(one) for one in kernel.kernels], "weights": list(kernel.weights)}
    name = next((name for name, known in KERNELS.items() if type(kernel) is known), None)
    if name is None:
        raise InputError(f"kernel={kernel!r} cannot be saved: only altclust's own kernels can.")
    return {"name": name, **{field.name: getattr(kernel, field.name) for field in fields(kernel)}}


def from_dict(plain: dict[str, Any]) -> Any:
    """The kernel of `to_dict`; ValueError if it is none."""
    values = dict(plain)
    name = values.pop("name")
    if name == "mixture":
        weights = tuple(float(w) for w in values["weights"])
        return Mixture(tuple(from_dict(one) for one in values["kernels"]), weights)
    known = KERNELS[name]
    for key, number in values.items():
        if key not in {field.name for field in fields(known)} or not (
            number is None or (isinstance(number, int | float) and not isinstance(number, bool) and number > 0)
        ):
            raise ValueError(f"kernel has {key}={number!r}")
    return known(**values)
