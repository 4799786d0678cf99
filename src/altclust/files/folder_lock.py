"""One run at a time in a folder: a lock that the system releases when the process ends, however it ends.

The package filelock leaves its file in the folder, which could then not be removed when it stays empty.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: two runs are not kept apart there
    fcntl = None  # type: ignore[assignment]

NAME = ".altclust.lock"
MOST = 100  # attempts to make it in a folder that others remove


@contextmanager
def only_run_in(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; BlockingIOError if another run holds it.

    What of the folder does not exist is made, and removed again if it stays empty.
    """
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    handle = _locked(folder)
    try:
        yield
    finally:
        if _is_at(handle, folder / NAME):
            (folder / NAME).unlink(missing_ok=True)  # before it is released: the next one makes its own
        os.close(handle)
        for made in new:
            with suppress(OSError):  # it is no longer empty
                made.rmdir()


def _locked(folder: Path) -> int:
    for tried in count(1):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o666)
        except (FileNotFoundError, FileExistsError):
            if tried < MOST:  # the run before has just removed the folder
                continue
            raise
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise
        except OSError:  # a file system without locks
            return handle
        if _is_at(handle, folder / NAME):
            return handle
        os.close(handle)  # the run before removed it after it was opened here
    raise AssertionError("unreachable")


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
