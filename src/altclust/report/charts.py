"""The small charts of the report in SVG: a value per round, a measurement in each cluster, the null of a test.

By hand: matplotlib's SVG has fixed colours, where these follow the page's style sheet in light and dark; it is five
times as large, and the code would not be shorter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from ..base.backend import Array
from ..base.years import times_of
from .palette import ANY_PAGE
from .svg import class_and_shape

LINES = (360, 180)  # size of a line chart
LEFT, RIGHT, TOP, BOTTOM = 52, 346, 10, 154  # edges of its plot
MOST_DOTS = 60
LEAST_RANGE = 1e-3  # relative range below which a line is drawn as flat
BOX_WIDTH, BOX_LINE, BOX_AXIS = 460, 26, 24  # of a chart of boxes, of one box, and of the axis
BOX_EDGES = (30, 448)
NULLS, BINS = (240, 96), 24  # size of a chart of the null, and its bars
NULL_EDGES = 8, 232, 20, 74
NULL_LABEL = "Histogram of the statistic in rows without clusters; a line marks this view"

Ticks = list[tuple[float, str]]


def line_chart(
    values: Sequence[float | None], label: str, *, log: bool = False, bound: float | None = None, sampled: int = 0
) -> Markup:
    """A line over the rounds, with a dashed line at the bound, and the first sampled rounds shaded.

    The label is for screen readers. On a logarithmic axis, values that are not positive are left out.
    """
    heights = [(i, math.log10(v) if log else v) for i, v in enumerate(values) if v is not None and (v > 0 or not log)]
    if not heights:
        return Markup("")
    goal = None if not bound else math.log10(bound) if log else bound
    low, high = _range([h for _, h in heights] + ([] if goal is None else [goal]))
    width, height = LINES
    up = _scale(low, high, BOTTOM, TOP)

    def across(i: float) -> float:
        return LEFT + (RIGHT - LEFT) * (i / (len(values) - 1) if len(values) > 1 else 0.5)

    points = [(across(i), up(h)) for i, h in heights]
    parts = [
        f'<path class="grid" d="M{LEFT} {up(tick):.1f}H{width}"/>{_tick(LEFT - 6, up(tick) + 4, name, "end")}'
        for tick, name in (_powers if log else _round_numbers)(low, high)
    ]
    if sampled:
        edge = across(sampled - 0.5) if sampled < len(values) else width
        parts.append(f'<rect class="sampled" x="{LEFT}" y="{TOP}" width="{edge - LEFT:.1f}" height="{BOTTOM - TOP}"/>')
    if goal is not None:
        parts.append(f'<path class="bound" d="M{LEFT} {up(goal):.1f}H{width}"/>')
    parts.append(f'<path class="line" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>')
    if len(points) <= MOST_DOTS:
        parts += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in points]
    parts += [_tick(across(i), height - 8, str(i + 1)) for i in sorted({0, len(values) - 1})]
    return _svg("chart", LINES, label, parts)


def box_chart(found: Sequence[dict[str, Any]], label: str, dates: bool = False) -> Markup:
    """One line for each of `altclust.report.effects.boxes`: its mark, its middle half as a box, and a line of 90 %."""
    if not found:
        return Markup("")
    low, high = _range([box[end] for box in found for end in ("low", "high")], 0.0 if dates else LEAST_RANGE)
    height, across = BOX_LINE * len(found) + BOX_AXIS, _scale(low, high, *BOX_EDGES)
    parts = [
        f'<path class="grid" d="M{across(tick):.1f} 2V{height - BOX_AXIS}"/>{_tick(across(tick), height - 8, name)}'
        for tick, name in (_years if dates else _round_numbers)(low, high)
    ]
    for i, box in enumerate(found):
        y = BOX_LINE * (i + 0.5)
        colour, shape = class_and_shape(box["code"])
        first, median, third = (across(box[name]) for name in ("first", "median", "third"))
        wide = max(third - first, 1)
        parts.append(
            f'<path class="{colour}" transform="translate(12 {y:g}) scale(5)" d="{shape}"/>'
            f'<path class="whisker" d="M{across(box["low"]):.1f} {y:g}H{across(box["high"]):.1f}"/>'
            f'<rect class="box {colour}" x="{first:.1f}" y="{y - 8:g}" width="{wide:.1f}" height="16"/>'
            f'<path class="median" d="M{median:.1f} {y - 8:g}v16"/>'
        )
    return _svg("chart", (BOX_WIDTH, height), label, parts)


def null_chart(reference: Sequence[float] | Array, score: float, *, alone: bool = False) -> Markup:
    """Bars for the statistic of rows without clusters, and a line for that of the view; empty without a test.

    An image that stands alone has its own colours, instead of those of the report.
    """
    values = np.asarray(reference, dtype=float)
    values = values[np.isfinite(values)]
    if not len(values) or not np.isfinite(score):
        return Markup("")
    left, right, top, bottom = NULL_EDGES
    low, high = min(values.min(), score), max(values.max(), score)
    room = 0.04 * (high - low) or 1.0
    counts, edges = np.histogram(values, BINS, range=(low - room, high + room))
    across = _scale(low - room, high + room, left, right)
    x, middle = across(score), across(float(np.median(values)))
    parts = [
        f'<rect class="null" x="{across(edge):.1f}" y="{bottom - height:.1f}" '
        f'width="{(right - left) / BINS - 1:.1f}" height="{height:.1f}"/>'
        for edge, height in zip(edges, (bottom - top) * counts / counts.max(), strict=False)
        if height
    ]
    parts += [
        f'<path class="grid" d="M{left} {bottom}H{right}"/><path class="seen" d="M{x:.1f} {top - 4}V{bottom}"/>',
        _tick(x, top - 8, "this view", "end" if x > (left + right) / 2 else "start"),
        _tick(min(max(middle, left + 62), right - 62), NULLS[1] - 6, "rows without clusters"),
    ]
    if alone:
        parts.append(
            f"<style>.null{{fill:{ANY_PAGE[-1]};opacity:.6}}.seen{{stroke:{ANY_PAGE[0]};stroke-width:2.5}}"
            f".grid{{stroke:{ANY_PAGE[-1]}}}.tick{{font:11px sans-serif;fill:{ANY_PAGE[-1]}}}</style>"
        )
    return _svg("nulls", NULLS, NULL_LABEL, parts, ' xmlns="http://www.w3.org/2000/svg"' if alone else "")


def _svg(kind: str, size: tuple[int, int], label: str, parts: Sequence[str], more: str = "") -> Markup:
    start = Markup('<svg class="{}" viewBox="0 0 {} {}" role="img" aria-label="{}"{}>')
    return start.format(kind, *size, label, Markup(more)) + Markup("".join(parts) + "</svg>")


def _tick(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """From values to places."""
    return lambda value: float(start + (end - start) * (value - low) / (high - low))


def _range(heights: Sequence[float], least: float = LEAST_RANGE) -> tuple[float, float]:
    """The lowest and the highest value, with a margin; the least one is relative."""
    low, high = min(heights), max(heights)
    room = max(0.08 * (high - low), least * max(abs(low), abs(high))) or 1.0
    return low - room, high + room


def _powers(low: float, high: float) -> Ticks:
    """Whole powers of ten between two logarithms, with their labels."""
    step = max(1, math.ceil((high - low) / 4))
    return [(float(e), _minus(f"{10.0**e:g}")) for e in range(math.ceil(low), math.floor(high) + 1, step)]


def _round_numbers(low: float, high: float) -> Ticks:
    """A few round numbers between two values, with their labels."""
    power = 10.0 ** math.floor(math.log10((high - low) / 2))
    step = power * next(f for f in (1, 2, 5, 10) if (high - low) / (f * power) <= 4)
    decimals = max(0, -math.floor(math.log10(step)))
    ticks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [(tick, _minus(f"{tick:.{decimals}f}")) for tick in ticks]


def _years(low: float, high: float) -> Ticks:
    """The same for dates: whole years, or days."""
    ticks = _round_numbers(low, high)
    days = times_of(np.array([tick for tick, _ in ticks])).strftime("%Y-%m-%d")
    return ticks if "." not in ticks[0][1] else [(tick, day) for (tick, _), day in zip(ticks, days, strict=True)]


def _minus(number: str) -> str:
    return number.replace("-", "−")
