"""Files that are there whole or not at all, and models in them: plain arrays and JSON, never pickle."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .validate import InputError

FORMAT = 1


def write_whole(path: str | os.PathLike, write: Callable[[Path], Any]) -> None:
    """Let `write` fill a temporary file beside path, then rename it: a file is there whole or not at all."""
    target = Path(path)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=target.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o644)  # mkstemp's own mode shuts out other readers
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_model(path: str | os.PathLike, kind: str, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
    """Write arrays and JSON-able meta."""
    header = json.dumps({"altclust": kind, "format": FORMAT, **meta}, default=_plain)
    plain = {name: a.astype(str) if a.dtype == object else a for name, a in arrays.items()}

    def save(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, header=np.array(header), **plain)

    write_whole(path, save)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cannot save a {type(value).__name__}")


def read_model(path: str | os.PathLike, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the meta of a model of this kind."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = json.loads(str(arrays.pop("header")))
        written, version = meta["altclust"], meta["format"]
    except (ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise InputError(f"{os.fspath(path)!r} is not a model saved by altclust, or it is damaged.") from error
    if written != kind:
        raise InputError(f"{os.fspath(path)!r} holds a {written}, not a {kind}: load it with {written}.load.")
    if version > FORMAT:
        raise InputError(f"{os.fspath(path)!r} was saved by a newer altclust (format {version}): upgrade to load it.")
    return arrays, meta
