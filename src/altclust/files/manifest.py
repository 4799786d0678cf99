"""What altclust wrote to a folder, by size and SHA-256: only that may be replaced or removed by a later run."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

NAME = ".altclust.json"
LARGEST = 1_000_000  # bytes of a manifest that is read


class Written(NamedTuple):
    """One file as it was written."""

    name: str
    bytes: int
    sha256: str


def describe(path: Path, name: str | None = None) -> Written:
    """A file as it is now, under its own or another name."""
    with path.open("rb") as file:
        return Written(
            name or path.name, os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest()
        )


def read_manifest(folder: Path) -> set[Written]:
    """What is recorded; nothing where there is no manifest, or a damaged one."""
    try:
        with (folder / NAME).open("rb") as file:
            plain = json.loads(file.read(LARGEST))
        return {Written(str(one["name"]), int(one["bytes"]), str(one["sha256"])) for one in plain["files"]}
    except (OSError, ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return set()


def as_text(files: Iterable[Written]) -> str:
    """The manifest of these files."""
    listed = [one._asdict() for one in sorted(files)]
    return json.dumps({"altclust": "files written to this folder", "files": listed}, indent=1) + "\n"


def is_unchanged(path: Path, written: Collection[Written]) -> bool:
    """Whether this file is as altclust wrote it."""
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            return False
        sizes = {one.bytes for one in written if one.name == path.name}
        return found.st_size in sizes and describe(path) in written
    except OSError:
        return False
