"""A line chart of one value per round, in SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

WIDTH, HEIGHT = 360, 180
LEFT, RIGHT, TOP, BOTTOM = 52, 346, 10, 154  # edges of the plot
MOST_DOTS = 60
LEAST_RANGE = 1e-3  # relative range below which a line is drawn as flat


def line_chart(
    values: Sequence[float | None], label: str, *, log: bool = False, bound: float | None = None, sampled: int = 0
) -> Markup:
    """A line over the rounds; empty where there are no values.

    Parameters
    ----------
    values : sequence of float or None
    label : str
        Text for screen readers.
    log : bool
        Whether the axis is logarithmic; values that are not positive are then left out.
    bound : float, optional
        Position of a dashed line.
    sampled : int
        Number of first rounds to shade.
    """
    heights = [(i, math.log10(v) if log else v) for i, v in enumerate(values) if v is not None and (v > 0 or not log)]
    if not heights:
        return Markup("")
    goal = None if not bound else math.log10(bound) if log else bound
    low, high = value_range([h for _, h in heights] + ([] if goal is None else [goal]))

    def across(i: float) -> float:
        return LEFT + (RIGHT - LEFT) * (i / (len(values) - 1) if len(values) > 1 else 0.5)

    def up(height: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (height - low) / (high - low)

    points = [(across(i), up(h)) for i, h in heights]
    parts = [
        f'<path class="grid" d="M{LEFT} {up(tick):.1f}H{WIDTH}"/>'
        f'<text class="tick" x="{LEFT - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{name}</text>'
        for tick, name in (_powers if log else round_numbers)(low, high)
    ]
    if sampled:
        edge = across(sampled - 0.5) if sampled < len(values) else WIDTH
        parts.append(f'<rect class="sampled" x="{LEFT}" y="{TOP}" width="{edge - LEFT:.1f}" height="{BOTTOM - TOP}"/>')
    if goal is not None:
        parts.append(f'<path class="bound" d="M{LEFT} {up(goal):.1f}H{WIDTH}"/>')
    parts.append(f'<path class="line" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>')
    if len(points) <= MOST_DOTS:
        parts += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in points]
    for i in sorted({0, len(values) - 1}):
        parts.append(f'<text class="tick" x="{across(i):.1f}" y="{HEIGHT - 8}" text-anchor="middle">{i + 1}</text>')
    start = Markup('<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, HEIGHT, label)
    return start + Markup("".join(parts) + "</svg>")


def value_range(heights: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest value, with a margin."""
    low, high = min(heights), max(heights)
    room = max(0.08 * (high - low), LEAST_RANGE * max(abs(low), abs(high))) or 1.0
    return low - room, high + room


def _powers(low: float, high: float) -> list[tuple[float, str]]:
    """Whole powers of ten between two logarithms, with their labels."""
    step = max(1, math.ceil((high - low) / 4))
    return [(float(e), _minus(f"{10.0**e:g}")) for e in range(math.ceil(low), math.floor(high) + 1, step)]


def round_numbers(low: float, high: float) -> list[tuple[float, str]]:
    """A few round numbers between two values, with their labels."""
    power = 10.0 ** math.floor(math.log10((high - low) / 2))
    step = power * next(f for f in (1, 2, 5, 10) if (high - low) / (f * power) <= 4)
    decimals = max(0, -math.floor(math.log10(step)))
    ticks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [(tick, _minus(f"{tick:.{decimals}f}")) for tick in ticks]


def _minus(number: str) -> str:
    return number.replace("-", "−")
