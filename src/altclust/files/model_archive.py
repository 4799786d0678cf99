"""Saved models: plain arrays and JSON, never pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InputError
from .atomic import write_atomically
from .npy import BadFile, read_npz

FORMAT = 3  # what is saved; files of other formats are refused


def write_model(path: str | os.PathLike, kind: str, arrays: dict[str, np.ndarray], meta: dict[str, Any]) -> None:
    """Write arrays and JSON-serialisable metadata."""
    header = json.dumps({"altclust": kind, "format": FORMAT, **meta}, default=_plain)
    plain: dict[str, Any] = {name: a.astype(str) if a.dtype == object else a for name, a in arrays.items()}

    def save(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez_compressed(file, header=np.array(header), **plain)  # no object arrays: nothing is pickled

    write_atomically(path, save)


def _plain(value: Any) -> Any:
    if isinstance(value, np.floating):
        return float(value)  # item() of a long double would return a long double
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"cannot save a {type(value).__name__}")


def read_model(path: str | os.PathLike, kind: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read the arrays and the metadata of a model of this kind; the caller checks their contents."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        try:
            arrays = read_npz(file)
            meta = json.loads(str(arrays.pop("header")[()]))
            written, version = meta["altclust"], meta["format"]
        except Exception as error:  # a damaged file makes zipfile, zlib, numpy and json fail in many ways
            why = f": it {error}" if isinstance(error, BadFile) else "."
            raise InputError(f"{name!r} is not a model saved by altclust, or it is damaged{why}") from error
    if not isinstance(written, str) or not written.isidentifier() or len(written) > 40 or type(version) is not int:
        raise InputError(f"{name!r} is not a model saved by altclust, or it is damaged.")
    if written != kind:
        raise InputError(f"{name!r} holds a {written}, not a {kind}: load it with {written}.load.")
    if version > FORMAT:
        raise InputError(f"{name!r} was saved by a newer altclust (format {version}): upgrade to load it.")
    if version < FORMAT:
        raise InputError(f"{name!r} was saved by an older altclust (format {version}): fit it again and save it.")
    return arrays, meta
