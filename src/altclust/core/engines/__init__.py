"""Engines: how the kernel K(XW) is applied to rows in memory. An engine never imports a solver."""

from __future__ import annotations

from typing import Any

from ...base.backend import Array
from ..kernels import Gaussian
from ..problem import KernelEngine
from .dense import DenseEngine
from .family import FamilyEngine


def make_engine(X: Array, kernel: Any, given: Array | None) -> KernelEngine:
    """The engine of a kernel, for rows in memory."""
    return DenseEngine(X, kernel, given) if isinstance(kernel, Gaussian) else FamilyEngine(X, kernel, given)


__all__ = ["DenseEngine", "FamilyEngine", "make_engine"]
