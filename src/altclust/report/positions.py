"""Where rows are plotted: equal rows beside each other, and far rows at the edge, so that all others can be seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

CENTRAL = (0.005, 0.995)  # quantiles between which a plot is scaled
FAR = 1.0  # widths of the central rows beyond them, from which a row is drawn at the edge
EDGE = 0.05  # widths between the other rows and that edge
TIED = 0.5  # share of the rows that have a place of their own, below which rows are spread
FINE = 200  # places along an axis that can be told apart
SPREAD = 0.025  # of the width of the plot
MOST_NAMED = 5  # rows at the edge


class Positions(NamedTuple):
    """Both coordinates of every row; `spread` tells whether equal rows were set apart, `far` which are at the edge."""

    x: np.ndarray
    y: np.ndarray
    spread: bool
    far: np.ndarray


def positions(Z: np.ndarray) -> Positions:
    """The places of the projected rows Z, shape (m, q), in a plot; with one direction, the second place is random."""
    rng = np.random.default_rng(0)
    x, far = framed(np.asarray(Z[:, 0], dtype=float))
    if Z.shape[1] == 1:
        return Positions(x, rng.uniform(-1, 1, len(Z)), False, far)
    y, also_far = framed(np.asarray(Z[:, 1], dtype=float))
    tied = _places(x, y) < TIED * min(len(x), FINE**2 / 10)
    if tied:
        x, y = (v + rng.uniform(-SPREAD, SPREAD, len(v)) * (np.ptp(v) or 1.0) for v in (x, y))
    return Positions(x, y, tied, far | also_far)


def told(names: list[str], positions: Positions) -> str:
    """What a plot does not show as it is, in a sentence or two; "" if nothing."""
    said = ["Equal rows are drawn beside each other."] if positions.spread else []
    far = np.flatnonzero(positions.far).tolist()
    if far:
        more = f" and {len(far) - MOST_NAMED} more" if len(far) > MOST_NAMED else ""
        listed = ", ".join(names[i] for i in far[:MOST_NAMED])
        said.append(f"Drawn at the edge, because they are far from all others: {listed}{more}.")
    return " ".join(said)


def framed(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values with those far outside moved to the edge, and which these are."""
    low, high = np.quantile(v, CENTRAL)
    width = high - low
    far = (v < low - FAR * width) | (v > high + FAR * width)
    if width <= 0 or not far.any():
        return v, np.zeros(len(v), dtype=bool)
    room = EDGE * width
    return np.clip(v, v[~far].min() - room, v[~far].max() + room), far


def _places(x: np.ndarray, y: np.ndarray) -> int:
    """The number of different places that can be told apart."""
    fine = [np.rint(FINE * (v - v.min()) / (np.ptp(v) or 1.0)).astype(int) for v in (x, y)]
    return len(np.unique(fine[0] * (FINE + 1) + fine[1]))
