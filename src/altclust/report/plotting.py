"""Plots of a fitted view as matplotlib axes, which can be combined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..base.errors import InputError, one_line
from ..base.extras import needed_by
from ..base.known import as_numbers
from ..base.sampling import sample_rows
from .labelling import given_labellings
from .palette import COLOURS, GIVEN, UNKNOWN, mark
from .positions import positions

with needed_by("A picture"):
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHAPES = ("o", "s", "^", "D", "v", "P", "X", "*")
LONGEST = 60  # characters of a name
MOST_DRAWN = 20_000  # points in one plot: more hide each other


def scatter(ax: Axes, points: np.ndarray, labels: Any, title: str, given: bool = False) -> Axes:
    """Draw points, shape (n, 2), with a colour and a shape per label; given labels have their own colours."""
    codes, names = _coded(labels)
    if np.any(codes < 0):
        x, y = points[codes < 0].T
        ax.scatter(x, y, s=10, alpha=0.5, linewidths=0, color=UNKNOWN, label="unknown")
    for code, name in enumerate(names):
        colour, shape = mark(code)
        x, y = points[codes == code].T
        look: dict[str, Any] = {"color": COLOURS[colour], "linewidths": 0}
        if given:
            look = {"facecolors": "none", "edgecolors": GIVEN[colour], "linewidths": 1}
        ax.scatter(x, y, s=14, alpha=0.8, marker=SHAPES[shape], label=_plain(name), **look)
    ax.set_title(_plain(title))
    if len(names) <= 10:
        ax.legend(title="cluster", fontsize="small", loc="best")
    return ax


def _coded(labels: Any) -> tuple[np.ndarray, list[str]]:
    """Codes, −1 where unknown, and the names of levels; a measurement is cut into bands."""
    (found,) = given_labellings(pd.Series(np.asarray(labels, dtype=object).ravel()), len(labels))
    return found.codes, found.levels


def _plain(text: Any) -> str:
    """Text without special meaning in matplotlib: "$" starts a formula, a leading "_" hides a legend entry."""
    line = one_line(text, LONGEST).replace("$", r"\$")
    return "\u200b" + line if line.startswith("_") else line


def plot_views(Z: np.ndarray, given: Any, alternative: Any, axes: Any = None) -> np.ndarray:
    """The given and the new clusters side by side, in the same learnt directions.

    Parameters
    ----------
    Z : array, shape (n, q)
        Projected rows, as from ``KDAC.transform``; the first two columns are drawn, of 20,000 rows at most.
    given : array, shape (n,), or None
        Labels, or a measurement, of which bands are drawn.
    alternative : array, shape (n,)
    axes : sequence of matplotlib Axes, optional
        To draw in: one, or two where something is given. A figure of their own if left out.

    Returns
    -------
    array of matplotlib Axes

    Examples
    --------
    >>> from altclust.datasets import moons
    >>> from altclust.plotting import plot_views
    >>> data = moons(100, random_state=0)
    >>> [ax.get_title() for ax in plot_views(data.X[:, 2:], data.given, data.alternative)]
    ['Given', 'Alternative']
    """
    panels = [("Alternative", alternative, False)]
    if given is not None:
        panels.insert(0, ("Given", given, True))
    if axes is None:
        size = (5 * len(panels), 4.4)
        _, axes = plt.subplots(1, len(panels), figsize=size, sharex=True, sharey=True, layout="constrained")
    axes = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    rows = sample_rows(len(Z), MOST_DRAWN, np.random.default_rng(0))
    flat, found = Z.shape[1] < 2, positions(np.asarray(Z)[rows])
    points = np.column_stack([found.x, found.y])
    count = int(found.far.sum())
    far = f"\n({count} far row{'s' * (count > 1)} at the edge)" if count else ""
    for ax, (title, labels, is_given) in zip(axes, panels, strict=True):
        drawn = f" ({len(rows):,} of {len(Z):,} rows)" if len(rows) < len(Z) else ""
        scatter(ax, points, np.asarray(labels, dtype=object)[rows], title + drawn, is_given)
        ax.set_xlabel(f"learnt direction 1{far}")
        if flat:
            ax.set_yticks([])
    axes[0].set_ylabel("random" if flat else "learnt direction 2")
    return axes


def plot_measurement(values: Any, alternative: Any, ax: Axes | None = None) -> Axes:
    """A measurement in each new cluster: all rows as points, and a box from the first to the third quartile.

    Parameters
    ----------
    values : array, shape (n,)
        Numbers; NaN is unknown.
    alternative : array, shape (n,)
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> from altclust.plotting import plot_measurement
    >>> ax = plot_measurement([3.5, 4.0, 2.5, 3.0], [0, 0, 1, 1])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0', '1']
    """
    column = pd.Series(values)
    numbers = as_numbers(column)
    if numbers is None:
        raise InputError("is not a column of numbers: pass a measurement.", argument="values")
    codes, names = _coded(alternative)
    if len(codes) != len(numbers):
        raise InputError(f"has {len(numbers)} numbers for {len(codes)} labels: pass as many.", argument="values")
    ax = ax or plt.subplots(figsize=(1.6 + 0.9 * len(names), 3.6), layout="constrained")[1]
    rows = sample_rows(len(numbers), MOST_DRAWN, np.random.default_rng(0))
    shift = np.random.default_rng([0, 1]).uniform(-0.28, 0.28, len(numbers))  # not the seed of anybody's numbers
    for code in range(len(names)):
        inside = rows[(codes[rows] == code) & ~np.isnan(numbers[rows])]
        ax.scatter(code + shift[inside], numbers[inside], s=8, alpha=0.5, linewidths=0, color=COLOURS[mark(code)[0]])
    known = [numbers[(codes == code) & ~np.isnan(numbers)] for code in range(len(names))]
    ax.boxplot(
        known, positions=range(len(names)), widths=0.7, whis=(5, 95), showfliers=False, medianprops={"color": "black"}
    )
    ax.set_xticks(range(len(names)), [_plain(name) for name in names])
    ax.set_xlabel("cluster")
    ax.set_ylabel(_plain(column.name or "given"))
    return ax


def plot_convergence(model: Any, ax: Axes | None = None) -> Axes:
    """The objective F and the change of the directions, round by round.

    Parameters
    ----------
    model : KDAC
        Fitted.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
        Of F; the changes have a second axis, on the right.
    """
    ax = ax or plt.subplots(figsize=(5, 3.4), layout="constrained")[1]
    rounds = np.arange(1, model.n_iter_ + 1)
    ax.plot(rounds, model.history_["value"], "o-", color=COLOURS[0], markersize=4)
    ax.set_xlabel("round")
    ax.set_ylabel("objective F", color=COLOURS[0])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    right = ax.twinx()
    right.semilogy(rounds, np.maximum(model.history_["change_W"], 1e-16), "s--", color=COLOURS[5], markersize=4)
    right.axhline(model.tol, color=COLOURS[5], linewidth=0.8, linestyle=":")
    right.set_ylabel("change of W", color=COLOURS[5])
    ax.set_title(_plain(model.status_))
    return ax


def plot_features(model: Any, ax: Axes | None = None, top: int = 15) -> Axes:
    """The largest of ``feature_weights_`` as bars.

    Parameters
    ----------
    model : KDAC
        Fitted.
    ax : matplotlib Axes, optional
    top : int
        Largest number of bars.
    """
    weights = np.asarray(model.feature_weights_)
    names = getattr(model, "feature_names_in_", [f"column {j}" for j in range(len(weights))])
    order = np.argsort(-weights, kind="stable")[:top]
    ax = ax or plt.subplots(figsize=(5, 0.6 + 0.32 * len(order)), layout="constrained")[1]
    ax.barh(np.arange(len(order)), 100 * weights[order], color=COLOURS[0])
    ax.set_yticks(np.arange(len(order)), [_plain(names[j]) for j in order])
    ax.invert_yaxis()
    ax.set_xlabel("weight, %")
    ax.set_title("Feature weights" if len(order) == len(weights) else f"The {len(order)} largest feature weights")
    return ax


def plot_crosstab(given: Any, alternative: Any, ax: Axes | None = None) -> Axes:
    """The number of rows in each pair of a given and a new cluster, coloured by the share of the given cluster.

    Parameters
    ----------
    given, alternative : array, shape (n,)
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> from altclust.plotting import plot_crosstab
    >>> ax = plot_crosstab(["a", "a", "b"], [0, 1, 0])
    >>> [text.get_text() for text in ax.texts]
    ['1', '1', '1', '0']
    """
    columns = (pd.Series(np.asarray(labels, dtype=object)) for labels in (given, alternative))
    known, found = (column.where(column.notna() & (column != -1), "unknown") for column in columns)
    counts = pd.crosstab(known.map(_plain), found.map(_plain))
    shares = counts.div(counts.sum(axis=1), axis=0).to_numpy()
    ax = ax or plt.subplots(figsize=(1.6 + 0.8 * counts.shape[1], 1.4 + 0.5 * len(counts)), layout="constrained")[1]
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (i, j), count in np.ndenumerate(counts.to_numpy()):
        ax.text(j, i, f"{count:,}", ha="center", va="center", color="white" if shares[i, j] > 0.6 else "black")
    ax.set_xticks(range(counts.shape[1]), counts.columns)
    ax.set_yticks(range(len(counts)), counts.index)
    ax.set_xlabel("alternative")
    ax.set_ylabel("given")
    return ax
