"""The finished paths of a search in a folder, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from .search import Path, Question, Trial
from .storage import read_model, write_model
from .validate import InputError

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
        folder.mkdir(parents=True, exist_ok=True)

    def _file(self, path: Path) -> FilePath:
        return self.folder / f"{path.source.replace(' ', '-')}-{path.n_clusters}.npz"

    def read(self, path: Path) -> list[Trial] | None:
        """The trials of this path, or None where it was not finished."""
        file = self._file(path)
        if not file.exists():
            return None
        arrays, meta = read_model(file, "trials")
        if meta["question"] != self.question:
            raise InputError(
                f"resume={str(self.folder)!r} keeps the search of another table, of other parameters or of another "
                "random_state: choose an empty folder."
            )
        own: list[dict[str, Any]] = [t | {a: arrays[f"{a}{i}"] for a in ARRAYS} for i, t in enumerate(meta["trials"])]
        return [Trial(**t) for t in own]

    def write(self, path: Path, trials: list[Trial]) -> None:
        """Keep the trials of a finished path."""
        arrays = {f"{name}{i}": getattr(t, name) for i, t in enumerate(trials) for name in ARRAYS}
        plain = [{k: v for k, v in vars(t).items() if k not in ARRAYS} for t in trials]
        write_model(self._file(path), "trials", arrays, {"question": self.question, "trials": plain})
