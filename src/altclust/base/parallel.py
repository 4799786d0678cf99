"""The number of threads for linear algebra, and worker processes that end with their parent."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

FEW_ROWS = 3001  # up to 3,000 rows, the default sample, more threads do not help
LOOK = 1.0  # seconds between checks that the parent is alive


@cache
def _controller() -> ThreadpoolController:
    """Cached, because listing the loaded libraries takes milliseconds."""
    return ThreadpoolController()


def fitting_threads(n: int) -> Any:
    """A context that limits BLAS to one thread if the matrices have few rows.

    On small matrices, synchronising threads costs more than they save, and many times as much where other programs use
    the cores (benchmarks/fit.py).
    """
    return _controller().limit(limits=1 if n < FEW_ROWS else None)


@cache
def end_with_parent() -> None:
    """If this is a joblib worker, exit when its parent process ends. Further calls do nothing.

    Otherwise the worker would finish its task, and then wait for minutes for another.
    """
    if multiprocessing.current_process().name.startswith("Loky"):  # joblib's name for its workers
        threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)
