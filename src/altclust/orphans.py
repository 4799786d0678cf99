"""A process that searches on behalf of another ends with it, however that one ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from functools import cache

LOOK = 1.0  # seconds between looks at who the parent is


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
