"""The null of a significance test beside the value of the view, as a small histogram in SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from ..base.backend import Array
from .palette import ANY_PAGE

WIDTH, HEIGHT = 240, 96
LEFT, RIGHT, TOP, BOTTOM = 8, 232, 20, 74  # edges of the plot
BINS = 24
LABEL = "Histogram of the statistic in rows without clusters; a line marks this view"


def null_chart(reference: Sequence[float] | Array, score: float, *, alone: bool = False) -> Markup:
    """Bars for rows without clusters, and a line for the view; empty if there was no test.

    Parameters
    ----------
    reference : sequence or array of float
        The statistic of rows without clusters.
    score : float
        That of the view; larger is clearer.
    alone : bool
        Whether it is an image of its own, with its own colours, instead of a part of the report.
    """
    values = np.asarray(reference, dtype=float)
    values = values[np.isfinite(values)]
    if not len(values) or not np.isfinite(score):
        return Markup("")
    low, high = min(values.min(), score), max(values.max(), score)
    room = 0.04 * (high - low) or 1.0
    counts, edges = np.histogram(values, BINS, range=(low - room, high + room))

    def across(value: float) -> float:
        return float(LEFT + (RIGHT - LEFT) * (value - low + room) / (high - low + 2 * room))

    heights = (BOTTOM - TOP) * counts / counts.max()
    bars = "".join(
        f'<rect class="null" x="{across(edge):.1f}" y="{BOTTOM - height:.1f}" '
        f'width="{(RIGHT - LEFT) / BINS - 1:.1f}" height="{height:.1f}"/>'
        for edge, height in zip(edges, heights, strict=False)
        if height
    )
    x, middle = across(score), across(float(np.median(values)))
    end = "end" if x > (LEFT + RIGHT) / 2 else "start"
    parts = (
        f'{bars}<path class="grid" d="M{LEFT} {BOTTOM}H{RIGHT}"/>'
        f'<path class="seen" d="M{x:.1f} {TOP - 4}V{BOTTOM}"/>'
        f'<text class="tick" x="{x:.1f}" y="{TOP - 8}" text-anchor="{end}">this view</text>'
        f'<text class="tick" x="{min(max(middle, LEFT + 62), RIGHT - 62):.1f}" y="{HEIGHT - 6}" '
        'text-anchor="middle">rows without clusters</text>'
    )
    own = ""
    if alone:
        own = (
            f"<style>.null{{fill:{ANY_PAGE[-1]};opacity:.6}}.seen{{stroke:{ANY_PAGE[0]};stroke-width:2.5}}"
            f".grid{{stroke:{ANY_PAGE[-1]}}}.tick{{font:11px sans-serif;fill:{ANY_PAGE[-1]}}}</style>"
        )
    start = Markup('<svg class="nulls" viewBox="0 0 {} {}" role="img" aria-label="{}"{}>').format(
        WIDTH, HEIGHT, LABEL, Markup(' xmlns="http://www.w3.org/2000/svg"') if alone else ""
    )
    return start + Markup(f"{own}{parts}</svg>")
