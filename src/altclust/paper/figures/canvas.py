"""Shared by all figures: a canvas without global state, scatter plots of labels, and atomic writing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ...files.atomic import write_atomically
from ...report.plotting import scatter
from ..section import Section

DPI = 150


def panels(rows: int, columns: int, size: tuple[float, float], **keywords: Any) -> tuple[Figure, np.ndarray]:
    """A figure of `size` inches with a grid of axes, shape (rows, columns), on its own Agg canvas."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **keywords)


def view(ax: Axes, points: np.ndarray, labels: np.ndarray, title: str, axes: tuple[str, str], legend: str = "") -> None:
    """Points by label, with named axes; the legend is shown only if it has a title."""
    scatter(ax, points, labels, title)
    ax.set(xlabel=axes[0], ylabel=axes[1])
    box = ax.get_legend()
    if box is not None and not legend:
        box.remove()
    elif box is not None:
        box.set_title(legend)


def publish(out: Path, section: Section, figure: Figure) -> Section:
    """Write ``<name>.png`` and ``<name>.json`` into `out`; return the section with both."""
    out.mkdir(parents=True, exist_ok=True)
    figures = plain(section.figures)
    picture = out / f"{section.name}.png"
    text = json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(picture, lambda path: figure.savefig(path, dpi=DPI, format="png"))
    write_atomically(out / f"{section.name}.json", lambda path: path.write_text(text, encoding="utf-8"))
    return replace(section, pictures=(picture,), figures=figures)


def plain(value: Any) -> Any:
    """Convert numpy numbers and arrays to JSON types; values that are not finite become None."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(entry) for entry in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def number(value: float | None, digits: int = 3) -> str:
    """A table cell: a few significant digits, or a dash for a missing value."""
    if value is None or not np.isfinite(value):
        return "–"
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e5):
        return f"{value:.{digits - 1}e}"
    return f"{value:.{digits}g}" if abs(value) < 1000 else f"{value:,.0f}"
