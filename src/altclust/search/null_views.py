"""Rows without clusters in the directions of a view: drawn in the columns of the table, or in the axes of the view."""

from __future__ import annotations

import numpy as np

from ..base.backend import Array
from .discriminants import discriminant_directions
from .null_rows import NullRows
from .spec import SearchSpec
from .trials import Trial


def null_in_columns(
    spec: SearchSpec, trial: Trial, cells: np.ndarray, tested: np.ndarray, draws: int, rng: np.random.Generator
) -> Array:
    """The tested rows without clusters in the columns of the table, in the directions of the trial."""
    rest = spec.given.measurements.subtracted_from(spec.X)  # what measurements explain is no part of the null
    rows = NullRows(rest[tested], cells[tested], rng).draw(draws, rng) @ trial.W + (spec.X - rest)[tested] @ trial.W
    if not trial.subtract_given:
        return rows
    Y = spec.given.take(tested).indicators()
    return rows - (Y @ np.linalg.pinv(Y)) @ rows


def null_in_directions(
    spec: SearchSpec,
    trial: Trial,
    shown: Array,
    found: np.ndarray,
    tested: np.ndarray,
    draws: int,
    rng: np.random.Generator,
) -> Array:
    """The tested rows without clusters in the discriminant axes of the view, given means aside."""
    means = np.zeros_like(shown)
    if spec.given and not trial.subtract_given:
        centred = shown - shown.mean(axis=0)
        means = shown - spec.given.subtracted_from(centred)
    axes = _all_axes(shown[found], trial)
    null = NullRows((shown - means)[tested] @ axes, np.zeros(int(tested.sum()), dtype=int), rng)
    return null.draw(draws, rng) @ np.linalg.inv(axes) + means[tested]


def _all_axes(Z: Array, trial: Trial) -> Array:
    """Discriminant directions of the clusters, completed to a basis."""
    q = Z.shape[1]
    axes = discriminant_directions(Z - Z.mean(axis=0), trial.labels, trial.n_clusters)[:, :q]
    rest = np.linalg.svd(axes, full_matrices=True)[0][:, axes.shape[1] :]
    return np.column_stack([axes, rest])
