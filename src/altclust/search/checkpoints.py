"""Files with the finished trajectories of a search, so that an interrupted search can be resumed."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InputError
from ..files.model_archive import read_model, write_model
from .selection import ARRAYS
from .spec import SearchSpec
from .trajectories import Trajectory
from .trials import Trial


class Checkpoints:
    """A folder with the finished trajectories of one search, one file each."""

    def __init__(self, folder: Path, spec: SearchSpec, seed: int) -> None:
        self.folder = folder
        digest = hashlib.sha256(repr((spec.fixed, seed)).encode())
        for array in (spec.X, *spec.given):
            digest.update(np.ascontiguousarray(array).tobytes())
        self.spec = digest.hexdigest()
        self.shape = spec.X.shape
        folder.mkdir(parents=True, exist_ok=True)

    def _file(self, trajectory: Trajectory) -> Path:
        return self.folder / f"{trajectory.source.replace(' ', '-')}-{trajectory.n_clusters}.npz"

    def read(self, trajectory: Trajectory) -> list[Trial] | None:
        """The trials of this trajectory, or None if it was not finished."""
        file = self._file(trajectory)
        if not file.exists():
            return None
        arrays, meta = read_model(file, "trials")
        if meta.get("spec") != self.spec:
            raise InputError(
                "contains the search of another table, of other parameters or of another seed: choose an empty folder.",
                argument="resume",
                value=str(self.folder),
            )
        try:
            return [
                _trial(plain | {name: arrays[f"{name}{i}"] for name in ARRAYS}, *self.shape)
                for i, plain in enumerate(meta["trials"])
            ]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = f"contains the damaged file {file.name}: remove it, and this part is searched again."
            raise InputError(problem, argument="resume", value=str(self.folder)) from error

    def write(self, trajectory: Trajectory, trials: list[Trial]) -> None:
        """Write the trials of a finished trajectory."""
        arrays = {f"{name}{i}": getattr(t, name) for i, t in enumerate(trials) for name in ARRAYS}
        plain = [{k: v for k, v in vars(t).items() if k not in ARRAYS} for t in trials]
        write_model(self._file(trajectory), "trials", arrays, {"spec": self.spec, "trials": plain})


def _trial(parts: dict[str, Any], n: int, r: int) -> Trial:
    """A trial of n rows in r coordinates, after a check of the types and shapes of its parts."""
    W, labels, spectrum = (parts[name] for name in ARRAYS)
    k = parts["n_clusters"]
    kinds = {"source": str, "stage": int, "n_clusters": int, "subtract_given": bool}
    numbers = [parts[field.name] for field in fields(Trial) if field.name not in {*ARRAYS, *kinds}]
    valid = (
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
    if not valid:
        raise ValueError("a trial has parts of another type or shape")
    return Trial(**parts)
