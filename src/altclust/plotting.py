"""Pictures of a fitted view, as matplotlib axes that can be composed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which stays distinct for colour-blind readers, with a shape for each colour
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")


def scatter(ax: Axes, points: np.ndarray, labels: Any, title: str) -> Axes:
    """Draw two-dimensional points with a colour and a shape per label.

    Parameters
    ----------
    ax : matplotlib Axes
    points : array, shape (n, 2)
    labels : array, shape (n,)
    title : str
    """
    codes, names = pd.factorize(np.asarray(labels), sort=True)
    if np.any(codes < 0):
        x, y = points[codes < 0].T
        ax.scatter(x, y, s=10, alpha=0.5, linewidths=0, color="0.7", label="unknown")
    for code, name in enumerate(names):
        colour, shape = COLOURS[code % len(COLOURS)], SHAPES[code % len(SHAPES)]
        x, y = points[codes == code].T
        ax.scatter(x, y, s=14, alpha=0.8, linewidths=0, color=colour, marker=shape, label=str(name))
    ax.set_title(title)
    if len(names) <= 10:
        ax.legend(title="cluster", fontsize="small", loc="best")
    return ax


def plot_views(Z: np.ndarray, given: Any, alternative: Any) -> Figure:
    """What was given and what was found, side by side in the same learnt directions.

    Parameters
    ----------
    Z : array, shape (n, q)
        Projected rows, as from ``KDAC.transform``; the first two columns are drawn.
    given : array, shape (n,), or None
    alternative : array, shape (n,)
    """
    points = Z[:, :2] if Z.shape[1] > 1 else np.column_stack([Z[:, 0], np.zeros(len(Z))])
    panels = [("Alternative", alternative)] if given is None else [("Given", given), ("Alternative", alternative)]
    figure, axes = plt.subplots(1, len(panels), figsize=(5 * len(panels), 4.4), sharex=True, sharey=True, squeeze=False)
    for ax, (title, labels) in zip(axes[0], panels, strict=True):
        scatter(ax, points, labels, title)
        ax.set_xlabel("learnt direction 1")
    axes[0, 0].set_ylabel("learnt direction 2" if Z.shape[1] > 1 else "")
    figure.tight_layout()
    return figure
