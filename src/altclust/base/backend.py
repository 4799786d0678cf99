"""Array libraries and devices: detecting them, and converting arrays between them."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from array_api_compat import (
    array_namespace,
    device,
    is_cupy_array,
    is_numpy_namespace,
    is_torch_array,
    is_torch_namespace,
    to_device,
)
from numpy.typing import NDArray

Array = NDArray[np.floating]

LARGEST_SINGLE = 1e8  # fourth powers of distances stay far from overflow in single precision


def into(xp: ModuleType, function: Callable[..., Any], *arrays: Array, out: Array | None) -> Array:
    """Compute function(*arrays), in place in out if the array library supports it.

    The array API standard has no out=, but allocating n x n memory costs more than the arithmetic that fills it.
    """
    if out is None or not (is_numpy_namespace(xp) or is_torch_namespace(xp)):
        return function(*arrays)
    return function(*arrays, out=out)


def like(A: Array, model: Array) -> Array:
    """Convert A to the array library, device and dtype of model; no copy if it matches already."""
    if isinstance(model, np.ndarray):  # ten times faster than below, which matters for small tables
        return np.asarray(A, dtype=model.dtype)
    return array_namespace(model).asarray(A, dtype=model.dtype, device=device(model))


def to_numpy(A: Array) -> Array:
    """Convert an array of any library and device to a numpy array of float64."""
    if is_torch_array(A) or is_cupy_array(A):
        A = to_device(A, "cpu")
    if not isinstance(A, np.ndarray):
        A = np.from_dlpack(A)
    return np.asarray(A, dtype=np.float64)


def fits_single(table: Array) -> bool:
    """Whether the powers of these entries neither overflow nor underflow in single precision."""
    return bool(1 / LARGEST_SINGLE <= max(table.max(), -table.min()) <= LARGEST_SINGLE)


def host(array: Any) -> np.ndarray:
    """Convert an array of any library to numpy, with the same dtype."""
    return array.detach().cpu().numpy() if is_torch_array(array) else np.asarray(array)
