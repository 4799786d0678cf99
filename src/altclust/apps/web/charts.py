"""Interactive charts from the plain lists of a summary, without Streamlit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...report.palette import ANY_PAGE, UNKNOWN, mark
from .escape import for_plotly

SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star")
MOST_BARS = 10
MOST_TOLD = 6  # columns in a hover text
HEIGHT = 430


def scatter(
    drawing: dict[str, Any], codes: Sequence[int], names: Sequence[str], chosen: Collection[int] = ()
) -> go.Figure:
    """The plotted rows in the first two learnt directions, one trace per cluster.

    Parameters
    ----------
    drawing : dict
        Of a summary; its ids are row numbers.
    codes : sequence of int
        The cluster of each plotted row; −1 is unknown.
    names : sequence of str
        The names of the clusters.
    chosen : collection of int
        Rows to highlight; none if empty.
    """
    x, y, rows = np.array(drawing["x"]), np.array(drawing["y"]), np.array(drawing["ids"]).astype(int)
    of = np.asarray(codes)
    told = np.array(hover_texts(drawing))
    size = 7 if len(x) <= 1000 else 5
    picked = np.isin(rows, list(chosen))
    figure = go.Figure()
    for code in [*range(len(names)), *([-1] if (of < 0).any() else [])]:
        members = of == code
        name = "unknown" if code < 0 else names[code]
        number, shape = mark(code)
        colour, symbol = (UNKNOWN, "circle-open") if code < 0 else (ANY_PAGE[number], SYMBOLS[shape])
        label = for_plotly(name)
        figure.add_scatter(
            x=x[members],
            y=y[members],
            customdata=rows[members],
            text=[f"<b>{label}</b><br>{line}" for line in told[members]],
            hoverinfo="text",
            name=label,
            mode="markers",
            marker={
                "color": colour,
                "symbol": symbol,
                "size": size,
                "line": {"width": 0.4, "color": "rgba(0,0,0,.35)"},
            },
            selectedpoints=np.flatnonzero(picked[members]).tolist() if len(chosen) else None,
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 0.12}},
        )
    axes = [for_plotly(axis) for axis in drawing["axes"]]
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 10, "r": 10, "t": 36, "b": 10},  # the toolbar must not cover points
        dragmode="select",
        legend={"orientation": "h", "y": -0.2, "itemsizing": "constant"},
        xaxis={"title": axes[0], "zeroline": False},
        yaxis={"title": axes[1] if len(axes) > 1 else "", "zeroline": False, "showticklabels": len(axes) > 1},
    )
    return figure


def hover_texts(drawing: dict[str, Any]) -> list[str]:
    """The hover text of each plotted row: its number and its values in the columns with the largest weights."""
    named = [for_plotly(column) for column in drawing["columns"][:MOST_TOLD]]
    columns = drawing["values"][:MOST_TOLD]
    return [
        "<br>".join(
            [f"row {int(row) + 1:,}"]
            + [f"{name}: {for_plotly(column[i])}" for name, column in zip(named, columns, strict=True)]
        )
        for i, row in enumerate(drawing["ids"])
    ]


def weights(summary: dict[str, Any]) -> go.Figure:
    """The largest feature weights as bars."""
    top = summary["weights"][:MOST_BARS][::-1]
    figure = go.Figure(
        go.Bar(
            x=[feature["weight"] for feature in top],
            y=list(range(len(top))),
            orientation="h",
            marker_color=ANY_PAGE[0],
            text=[f"{feature['weight']:.0%}" for feature in top],
            textposition="auto",
            hoverinfo="skip",
        )
    )
    figure.update_layout(
        height=80 + 28 * len(top),
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        xaxis={"title": "weight", "tickformat": ".0%", "fixedrange": True},
        yaxis={
            "tickvals": list(range(len(top))),  # two names may be equal once they are cut
            "ticktext": [for_plotly(feature["name"]) for feature in top],
            "fixedrange": True,
            "automargin": True,
        },
    )
    return figure
