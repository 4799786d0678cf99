"""Annotated matrices such as AnnData, by what they have and not by their type: X, obs and obsm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..base.errors import InputError
from .sparse_rows import Reduced

DIRECTIONS = 50  # leading ones of X, where no principal components are there


def is_annotated(table: Any) -> bool:
    """Whether this is a matrix of observations with a frame about them."""
    return isinstance(getattr(table, "obs", None), pd.DataFrame) and hasattr(table, "X") and hasattr(table, "obsm")


def annotated_frame(data: Any) -> tuple[pd.DataFrame, list[str]]:
    """What is measured and what is known about the observations in one frame, and the names of the measured columns.

    Measured are the principal components ``obsm["X_pca"]``; without them the 50 leading principal directions of X.
    """
    if "X_pca" in data.obsm:
        rows = np.asarray(data.obsm["X_pca"], dtype=float)
        names = [f"PC {j}" for j in range(1, rows.shape[1] + 1)]
    elif data.X is None:
        raise InputError('table has neither obsm["X_pca"] nor X: compute one of them first.')
    else:
        rows = Reduced.of(sparse.csr_array(data.X, dtype=float), np.random.default_rng(0), DIRECTIONS).rows
        names = [f"direction {j}" for j in range(1, rows.shape[1] + 1)]
    measured = pd.DataFrame(rows, columns=names)
    about = data.obs.set_axis([str(name) for name in data.obs.columns], axis=1).reset_index(drop=True)
    return pd.concat([measured, about.drop(columns=names, errors="ignore")], axis=1), names


def annotate(data: Any, name: str, labels: np.ndarray) -> Any:
    """Write labels to ``obs``, as categories; return the same object."""
    data.obs[name] = pd.Categorical(labels.astype(str))
    return data
