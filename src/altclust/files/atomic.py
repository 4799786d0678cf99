"""Files that are there whole or not at all, one by one or several together."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks: there nothing is cleared away
    fcntl = None  # type: ignore[assignment]

HIDDEN = ".altclust-"  # how the names of files begin that are not finished


class Together:
    """Files that get their names when all of them are written, or never: a context in which `write` may be called.

    Until then each is a hidden file beside its name. Where this process is killed, the next write of that name clears
    it away.
    """

    def __init__(self) -> None:
        self._filled: list[tuple[Path, Path]] = []
        self._locks = ExitStack()

    def write(self, path: str | os.PathLike, write: Callable[[Path], Any]) -> None:
        """Let `write` fill a hidden file that is to have this path."""
        target = Path(path)
        with _naming(target):
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            _clear_away(target)
            temporary = _hidden(target, self._locks)
            try:
                write(temporary)
                with temporary.open("rb+") as file:
                    os.fsync(file.fileno())  # a name must not be on the disk before its content
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            self._filled.append((temporary, target))

    def __enter__(self) -> Together:
        return self

    def __exit__(self, failed: type[BaseException] | None, *rest: object) -> None:
        with self._locks:
            try:
                for temporary, target in self._filled if failed is None else ():
                    with _naming(target):
                        os.replace(temporary, target)
            finally:
                for temporary, _ in self._filled:
                    temporary.unlink(missing_ok=True)


def write_whole(path: str | os.PathLike, write: Callable[[Path], Any]) -> None:
    """Let `write` fill a temporary file beside path, then rename it: a file is there whole or not at all."""
    if Path(path).name.startswith(HIDDEN):  # a part of something that is written together
        write(Path(path))
        return
    with Together() as files:
        files.write(path, write)


def _hidden(target: Path, locks: ExitStack) -> Path:
    """A new file that is locked, and so not cleared away, until the locks are closed or this process ends."""
    while True:
        temporary = target.with_name(f"{_beginning(target)}{secrets.token_hex(4)}{target.suffix}")
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if fcntl is None:
            os.close(handle)
            return temporary
        locks.callback(os.close, handle)
        with suppress(OSError):  # a file system without locks, where nothing is cleared away
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # else it was cleared away before it was locked
            return temporary


def _clear_away(target: Path) -> None:
    """Remove what processes that were killed left beside the target."""
    pattern = f"{escape(_beginning(target))}????????{escape(target.suffix)}"
    for left in target.parent.glob(pattern) if fcntl is not None else ():
        with suppress(OSError):  # somebody is writing it, or it is not ours to remove
            handle = os.open(left, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(handle)


def _beginning(target: Path) -> str:
    return f"{HIDDEN}{target.stem[:40]}-"  # a name has a longest length


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Let the system's errors name the file that was asked for; some writers forget to say that the disk is full."""
    try:
        yield
    except OSError as error:
        full = error.errno is None and target.parent.is_dir() and shutil.disk_usage(target.parent).free < 2**16
        code = errno.ENOSPC if full else error.errno
        if code is None:
            raise
        raise OSError(code, os.strerror(code), str(target)) from error


def can_write(folder: Path) -> bool:
    """Whether files can be written to this folder, which need not be there yet."""
    nearest = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK)
