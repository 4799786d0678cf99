"""How many threads the linear algebra may use."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

FEW_ROWS = 1500


@cache
def _controller() -> ThreadpoolController:
    """Looking up the loaded libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()


def fitting_threads(n: int) -> Any:
    """A context in which matrices of n rows are computed by as many threads as pay off.

    Threads that wait for each other cost more than they bring on small matrices (benchmarks/fit.py).
    """
    return _controller().limit(limits=1 if n < FEW_ROWS else None)
