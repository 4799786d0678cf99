"""Atomic writing: a file, or a group of files, appears complete or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from itertools import chain, count
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks: leftover files are not removed there
    fcntl = None  # type: ignore[assignment]

HIDDEN = ".altclust-"  # prefix of the names of unfinished files


class AtomicGroup:
    """A group of files that is written atomically: they are renamed to their paths when the context ends.

    Until then each is a hidden file in the same folder. If the process is killed, the next write to the same path
    removes the hidden file. `moved` has the paths that somebody else's files have, and those that were taken instead.
    """

    def __init__(self) -> None:
        self._filled: list[tuple[Path, Path, Callable[[Path], bool] | None]] = []
        self._locks = ExitStack()
        self.moved: dict[Path, Path] = {}

    def write(
        self, path: str | os.PathLike, write: Callable[[Path], Any], over: Callable[[Path], bool] | None = None
    ) -> None:
        """Call `write` with a hidden file, which is renamed to this path when the context ends.

        over says whether the file that has this path by then may be replaced; if not, another name is taken. Default:
        any is.
        """
        target = Path(path)
        with _naming(target):
            if over is None and target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            _remove_leftovers(target)
            temporary = _hidden(target, self._locks)
            try:
                write(temporary)
                with temporary.open("rb+") as file:
                    os.fsync(file.fileno())  # the rename must not reach the disk before the content
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
            self._filled.append((temporary, target, over))

    def write_first(self, path: str | os.PathLike, write: Callable[[Path], Any]) -> None:
        """`write`, but this file is the first that gets its name."""
        self.write(path, write)
        self._filled.insert(0, self._filled.pop())

    def __enter__(self) -> AtomicGroup:
        return self

    def __exit__(self, failed: type[BaseException] | None, *rest: object) -> None:
        with self._locks:
            try:
                for temporary, target, over in self._filled if failed is None else ():
                    with _naming(target):
                        self._name(temporary, target, over)
            finally:
                for temporary, *_ in self._filled:
                    temporary.unlink(missing_ok=True)

    def _name(self, temporary: Path, target: Path, over: Callable[[Path], bool] | None) -> None:
        if over is None:
            os.replace(temporary, target)
            return
        others = (target.with_name(f"{target.stem}-{i}{target.suffix}") for i in count(2))
        for path in chain([target], others):
            if _link(temporary, path):
                break
            if over(path):
                os.replace(temporary, path)
                break
        if path != target:
            self.moved[target] = path


def write_atomically(path: str | os.PathLike, write: Callable[[Path], Any]) -> None:
    """Call `write` with a temporary file in the same folder, then rename it to path."""
    if Path(path).name.startswith(HIDDEN):  # part of a group that is written together
        write(Path(path))
        return
    with AtomicGroup() as files:
        files.write(path, write)


def _link(temporary: Path, path: Path) -> bool:
    """Give a file a name that no other has; False if one has it."""
    try:
        os.link(temporary, path)  # unlike a rename, it never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if os.path.lexists(path):
            return False
        os.replace(temporary, path)
    return True


def _hidden(target: Path, locks: ExitStack) -> Path:
    """A new file, locked against removal until the locks are closed or this process ends."""
    while True:
        temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(4)}{target.suffix}")
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if fcntl is None:
            os.close(handle)
            return temporary
        locks.callback(os.close, handle)
        with suppress(OSError):  # a file system without locks: leftover files are not removed
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # else another process removed it before it was locked
            return temporary


def _remove_leftovers(target: Path) -> None:
    """Remove the hidden files of killed processes."""
    pattern = f"{escape(_prefix(target))}????????{escape(target.suffix)}"
    for left in target.parent.glob(pattern) if fcntl is not None else ():
        with suppress(OSError):  # another process is writing it, or owns it
            handle = os.open(left, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()
            finally:
                os.close(handle)


def _prefix(target: Path) -> str:
    return f"{HIDDEN}{target.stem[:40]}-"  # the length of file names is limited


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Let errors of the system name the target; detect a full disk where the writer's error has no code."""
    try:
        yield
    except OSError as error:
        full = error.errno is None and target.parent.is_dir() and shutil.disk_usage(target.parent).free < 2**16
        code = errno.ENOSPC if full else error.errno
        if code is None:
            raise
        raise OSError(code, os.strerror(code), str(target)) from error


def can_write(folder: Path) -> bool:
    """Whether files can be written to this folder, which need not exist yet."""
    nearest = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK)
