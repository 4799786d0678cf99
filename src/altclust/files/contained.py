"""Files in formats that expand, read by a child process with a limit on memory and time.

A small file can hold a huge table, and a damaged one can crash the library that reads it. What comes back from a child
is plain, and its size is known. The child imports nothing but the library of the format, so that it starts fast.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..base.memory import free_memory, gigabytes
from .npy import TAKEN, BadFile

READERS = Path(__file__).with_name("contained_readers.py")
START = f"import runpy, sys; sys.path[:] = {{path!r}}; runpy.run_path({str(READERS)!r}, run_name='__main__')"
ENVIRONMENT = {  # threads and pools of memory reserve more than they use
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


@contextmanager
def contained(
    reader: str, file: BinaryIO, most: float, seconds: float, **how: Any
) -> Iterator[tuple[dict[str, Any], Path]]:
    """Read a file in a child process; a context with its answer and the folder with the files that it wrote.

    The reader is a function of `contained_readers`, called with `how`. The child may take so many bytes of memory (only
    Linux enforces it), never more than are free, and so many seconds. BadFile if the file is refused, needs more, or
    ends the child.
    """
    memory = min(most, TAKEN * free_memory())
    with tempfile.TemporaryDirectory(prefix="altclust-") as name, _on_disk(file) as source:
        folder = Path(name)
        job = {
            "reader": reader,
            "folder": name,
            "memory": int(memory) if math.isfinite(memory) else None,
            "seconds": math.ceil(seconds),
            "how": how,
        }
        try:
            subprocess.run(
                [sys.executable, "-c", START.format(path=sys.path), json.dumps(job)],
                stdin=source,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                env=os.environ | ENVIRONMENT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise BadFile(f"takes longer than {seconds:g} seconds to read: pass a part of it.") from error
        try:
            answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError("the child ended without an answer") from error
        if answer.get("memory"):
            raise BadFile(f"needs more than {gigabytes(memory)} of memory to be read: pass a part of it.")
        if "refused" in answer:
            raise BadFile(answer["refused"])
        if "error" in answer:
            raise ValueError(answer["error"])
        yield answer, folder


@contextmanager
def _on_disk(file: BinaryIO) -> Iterator[BinaryIO]:
    """The file, or a copy of one that is in memory, as a file of the operating system, at its beginning."""
    file.seek(0)
    try:
        file.fileno()
    except OSError:
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            yield copy
    else:
        yield file
