"""A measurement in each cluster, as boxes beside each other in SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from .chart import round_numbers, value_range
from .svg import class_and_shape

WIDTH, LINE, BOTTOM = 460, 26, 24  # of the picture, of one box, and of the axis
LEFT, RIGHT = 30, 448  # edges of the plot


def box_chart(found: Sequence[dict[str, Any]], label: str) -> Markup:
    """One line for each cluster: its mark, a box of the middle half of its rows, and a line of 90 %.

    Parameters
    ----------
    found : sequence of dict
        From `altclust.report.effects.boxes`.
    label : str
        Text for screen readers.
    """
    if not found:
        return Markup("")
    low, high = value_range([box[end] for box in found for end in ("low", "high")])
    height = LINE * len(found) + BOTTOM

    def across(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (value - low) / (high - low)

    parts = [
        f'<path class="grid" d="M{across(tick):.1f} 2V{height - BOTTOM}"/>'
        f'<text class="tick" x="{across(tick):.1f}" y="{height - 8}" text-anchor="middle">{name}</text>'
        for tick, name in round_numbers(low, high)
    ]
    for i, box in enumerate(found):
        y = LINE * (i + 0.5)
        colour, shape = class_and_shape(box["code"])
        first, median, third = (across(box[name]) for name in ("first", "median", "third"))
        wide = max(third - first, 1)
        parts.append(
            f'<path class="{colour}" transform="translate(12 {y:g}) scale(5)" d="{shape}"/>'
            f'<path class="whisker" d="M{across(box["low"]):.1f} {y:g}H{across(box["high"]):.1f}"/>'
            f'<rect class="box {colour}" x="{first:.1f}" y="{y - 8:g}" width="{wide:.1f}" height="16"/>'
            f'<path class="median" d="M{median:.1f} {y - 8:g}v16"/>'
        )
    start = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, height, label)
    return start + Markup("".join(parts) + "</svg>")
