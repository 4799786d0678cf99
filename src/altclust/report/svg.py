"""A scatter plot of rows in SVG: numbers in, markup out; the style sheet sets the colours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from markupsafe import Markup

from .palette import mark

WIDTH, HEIGHT, MARGIN = 1000, 760, 36  # of a scatter plot, in its own units
SHAPES = (
    "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z",  # circle
    "M-.9-.9H.9V.9H-.9Z",  # square
    "M0-1.2 1.1.8H-1.1Z",  # triangle
    "M0-1.25 1.25 0 0 1.25-1.25 0Z",  # diamond
    "M0 1.2 1.1-.8H-1.1Z",  # triangle that points down
    "M-.4-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z",  # plus
    "M-.6-1.2 0-.6.6-1.2 1.2-.6.6 0 1.2.6.6 1.2 0 .6-.6 1.2-1.2.6-.6 0-1.2-.6Z",  # cross
    "M0-1.3.4-.4 1.3-.4.6.2.8 1.1 0 .6-.8 1.1-.6.2-1.3-.4-.4-.4Z",  # star
)
UNKNOWN = "u"  # id of the marker of unknown rows


def class_and_shape(code: int, given: bool = False) -> tuple[str, str]:
    """Colour class and shape of a new or given cluster; colours repeat with other shapes, −1 is unknown."""
    if code < 0:
        return "unknown", "M-.7 0A.7.7 0 1 1 .7 0A.7.7 0 1 1-.7 0Z"
    colour, shape = mark(code)
    return f"given g{colour}" if given else f"c{colour}", SHAPES[shape]


def swatch(code: int, given: bool = False) -> Markup:
    """The mark of a new or given cluster for a legend."""
    colour, shape = class_and_shape(code, given)
    path = f'<path class="{colour}" d="{shape}"/>'
    return Markup(f'<svg class="swatch" viewBox="-1.6 -1.6 3.2 3.2" aria-hidden="true">{path}</svg>')


def markers(most: int) -> Markup:
    """The markers of new and given clusters, which all scatter plots of a page share: a point is only its place."""
    parts = []
    for code, given in product([-1, *range(most)], (False, True)):
        colour, shape = class_and_shape(code, given)
        parts.append(
            f'<marker id="{_marker(code, given)}" viewBox="-1.5 -1.5 3 3" markerWidth="3" markerHeight="3">'
            f'<path class="{colour}" d="{shape}"/></marker>'
        )
    return Markup(f'<svg class="marks" width="0" height="0" aria-hidden="true"><defs>{"".join(parts)}</defs></svg>')


def _marker(code: int, given: bool = False) -> str:
    """The id of the marker of a cluster."""
    return f"{'g' if given else 'm'}{code if code >= 0 else UNKNOWN}"


def places(x: Sequence[float], y: Sequence[float]) -> tuple[list[int], list[int]]:
    """Points in the units of the scatter plot."""
    across, up = _scaled(x), _scaled(y)
    left, top = MARGIN + across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)
    return np.rint(left).astype(int).tolist(), np.rint(top).astype(int).tolist()


def _scaled(v: Sequence[float]) -> np.ndarray:
    """Scaled to 0 to 1; 0.5 where all values are equal."""
    values = np.asarray(v, dtype=float)
    low, wide = values.min(), np.ptp(values)
    return (values - low) / wide if wide > 0 else np.full(len(values), 0.5)


def scatter(
    x: Sequence[int], y: Sequence[int], codes: Sequence[Sequence[int]], which: int, label: str, given: bool = False
) -> Markup:
    """The points from `places`, in the colours of one of several clusterings of them; given ones have hollow marks.

    Rows with the same clusters in every clustering are one path, so that the script can fade those not selected. The
    label is for screen readers.
    """
    cells, member = np.unique(np.array(codes).T, axis=0, return_inverse=True)
    member = member.ravel()
    points = np.column_stack([x, y])
    parts = []
    for i, cell in enumerate(cells.tolist()):
        # marker-mid draws no marker at the ends of a path, so each path starts and ends at 0 0.
        inside = " ".join(f"{a} {b}" for a, b in points[member == i].tolist())
        name = _marker(cell[which], given)
        known = " ".join(map(str, cell))
        parts.append(f'<path data-cell="{known}" marker-mid="url(#{name})" d="M0 0L{inside} 0 0"/>')
    grid = "".join(
        f'<path class="grid" d="M{MARGIN / 2:g} {HEIGHT * i / 4:g}H{WIDTH - MARGIN / 2:g}M{WIDTH * i / 4:g} '
        f'{MARGIN / 2:g}V{HEIGHT - MARGIN / 2:g}"/>'
        for i in (1, 2, 3)
    )
    size = 10 if len(x) <= 500 else 8 if len(x) <= 1500 else 6
    start = Markup('<svg class="scatter" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, HEIGHT, label)
    ring = '<circle class="ring" r="20" visibility="hidden"/>'
    return start + Markup(f'{grid}<g class="points" stroke-width="{size}">{"".join(parts)}</g>{ring}</svg>')
