"""Labels of rows that are read in blocks, and their overlap with what is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.backend import Array, host, like
from ..base.known import with_features
from ..core.embedding import KernelMap, nearest, unit_rows
from ..core.engines.recipes import Coordinates
from ..core.metrics import dependence_of_sums, overlap, table_nmi
from ..data.rows import Levels, Rows
from ..data.sums import one_hot


def label_block(X: Any, codes: Any, coordinates: Coordinates, W: Array, map: KernelMap) -> Any:
    """The labels of a block of raw rows."""
    return nearest(unit_rows(map.block(coordinates(X, codes) @ like(W, X))), map.centres)


def contingency_block(X: Any, codes: Any, clusters: list[int], *found: Any) -> tuple[Any, ...]:
    """The contingency table of labels and codes for each given clustering; unknown codes are not counted."""
    _, _, map = found
    labels = one_hot(label_block(X, codes, *found), len(map.centres), X)
    return tuple(labels.T @ one_hot(codes[:, g], size, X) for g, size in enumerate(clusters))


def given_features(codes: np.ndarray, levels: list[Levels]) -> list[np.ndarray]:
    """Codes of clusterings, and features of measurements."""
    return [with_features(c, one.table) for c, one in zip(codes.T, levels, strict=True)]


def streamed_overlap(rows: Rows, labels: Any, levels: list[Levels], *found: Any) -> float:
    """The largest overlap with what is given; from contingency tables if the labels are not in memory."""
    if isinstance(labels, np.ndarray):
        return overlap(labels, given_features(host(rows.codes), levels))
    tables = rows.total(contingency_block, [one.size for one in levels], *found) if levels else ()
    return max(map(_table_overlap, tables, levels), default=float("nan"))


def _table_overlap(counts: Array, levels: Levels) -> float:
    A = levels.table
    if A is None:
        return table_nmi(counts)
    return dependence_of_sums(counts.sum(axis=1), counts @ A, (A.T * counts.sum(axis=0)) @ A)[0]
