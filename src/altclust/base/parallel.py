"""How many threads the linear algebra may use, and processes that end with the one that they work for."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

FEW_ROWS = 1500
LOOK = 1.0  # seconds between looks at who the parent is


@cache
def _controller() -> ThreadpoolController:
    """Looking up the loaded libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()


def fitting_threads(n: int) -> Any:
    """A context in which matrices of n rows are computed by as many threads as pay off.

    Threads that wait for each other cost more than they bring on small matrices (benchmarks/fit.py).
    """
    return _controller().limit(limits=1 if n < FEW_ROWS else None)


@cache
def end_with_parent() -> None:
    """Where joblib started this process, let it end when whoever started it is gone; asked again, nothing happens.

    Left alone, it would work on until its task is done, and then wait for more for minutes.
    """
    if multiprocessing.current_process().name.startswith("Loky"):  # as joblib calls them
        threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
