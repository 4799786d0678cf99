"""The finished paths of a search in a folder, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from ..base.errors import InputError
from ..files.model_archive import read_model, write_model
from .trajectories import Path, Question, Trial

ARRAYS = ("W", "labels", "spectrum")  # of a trial


class KeptPaths:
    """The finished paths of one search in a folder, one file each."""

    def __init__(self, folder: FilePath, question: Question, seed: int) -> None:
        self.folder = folder
        settings = {f.name: getattr(question, f.name) for f in fields(question) if f.name not in ("X", "given")}
        digest = hashlib.sha256(repr((settings, seed)).encode())
        for array in (question.X, *question.given):
            digest.update(np.ascontiguousarray(array).tobytes())
        self.question = digest.hexdigest()
        self.shape = question.X.shape
        folder.mkdir(parents=True, exist_ok=True)

    def _file(self, path: Path) -> FilePath:
        return self.folder / f"{path.source.replace(' ', '-')}-{path.n_clusters}.npz"

    def read(self, path: Path) -> list[Trial] | None:
        """The trials of this path, or None where it was not finished."""
        file = self._file(path)
        if not file.exists():
            return None
        arrays, meta = read_model(file, "trials")
        if meta.get("question") != self.question:
            raise InputError(
                f"resume={str(self.folder)!r} keeps the search of another table, of other parameters or of another "
                "random_state: choose an empty folder."
            )
        try:
            return [
                _trial(plain | {name: arrays[f"{name}{i}"] for name in ARRAYS}, *self.shape)
                for i, plain in enumerate(meta["trials"])
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"resume: {str(file)!r} is damaged: remove it, and its path is searched again.") from error

    def write(self, path: Path, trials: list[Trial]) -> None:
        """Keep the trials of a finished path."""
        arrays = {f"{name}{i}": getattr(t, name) for i, t in enumerate(trials) for name in ARRAYS}
        plain = [{k: v for k, v in vars(t).items() if k not in ARRAYS} for t in trials]
        write_model(self._file(path), "trials", arrays, {"question": self.question, "trials": plain})


def _trial(parts: dict[str, Any], n: int, r: int) -> Trial:
    """A trial of n rows in r coordinates, if each of its parts is what it should be."""
    W, labels, spectrum = (parts[name] for name in ARRAYS)
    k = parts["n_clusters"]
    kinds = {"source": str, "stage": int, "n_clusters": int}
    numbers = [parts[field.name] for field in fields(Trial) if field.name not in {*ARRAYS, *kinds}]
    whole = (
        all(type(parts[name]) is kind for name, kind in kinds.items())
        and all(type(number) in (int, float) for number in numbers)
        and [a.dtype.kind for a in (W, labels, spectrum)] == ["f", "i", "f"]
        and W.ndim == 2
        and len(W) == r >= W.shape[1] >= 1
        and np.isfinite(W).all()
        and labels.shape == (n,)
        and 0 <= labels.min() <= labels.max() < k
        and spectrum.ndim == 1
    )
    if not whole:
        raise ValueError("a trial has other parts")
    return Trial(**parts)
