"""Interactive charts from the plain lists of a summary, without Streamlit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...report.palette import ANY_PAGE, GIVEN, UNKNOWN, mark
from ...report.sentences import cell
from .escape import axis_title, for_plotly

SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "x", "star")
MOST_BARS = 10
MOST_TOLD = 6  # columns in a hover text
COLOURED = (0.02, 0.98)  # quantiles between which the colours of numbers change
HEIGHT = 380
WIDTH = 40  # characters of the titles of axes
LINE = 0.07  # height of a line of a title, as a share of the chart


def scatter(
    drawing: dict[str, Any],
    codes: Sequence[int],
    names: Sequence[str],
    chosen: Collection[int] = (),
    *,
    given: bool = False,
) -> go.Figure:
    """The plotted rows of a summary's drawing in the first two learnt directions, one trace per cluster.

    codes are their clusters, −1 is unknown; chosen rows are highlighted; given clusters, or those of a column, have
    other colours and hollow marks.
    """
    of, told = np.asarray(codes), hover_texts(drawing)
    figure = go.Figure()
    for code in [*range(len(names)), *([-1] if (of < 0).any() else [])]:
        label = for_plotly("unknown" if code < 0 else names[code])
        said = [f"<b>{label}</b><br>{line}" for line in told]
        figure.add_scatter(name=label, **_points(drawing, of == code, said, chosen, look(code, given)))
    return _framed(figure, drawing)


def gradient(drawing: dict[str, Any], numbers: np.ndarray, name: str, chosen: Collection[int] = ()) -> go.Figure:
    """The same rows in the colours of a column of numbers, shape (m,); missing ones are grey."""
    there, label = np.isfinite(numbers), for_plotly(name)
    told = [f"<b>{label}: {cell(v)}</b><br>{line}" for v, line in zip(numbers, hover_texts(drawing), strict=True)]
    figure = go.Figure()
    if there.any():
        low, high = np.quantile(numbers[there], COLOURED)
        colours = {"color": numbers[there], "colorscale": "Cividis", "cmin": low, "cmax": high, "symbol": "circle"}
        colours["colorbar"] = {"title": {"text": axis_title(name, WIDTH), "side": "right"}, "thickness": 12}
        figure.add_scatter(name=label, showlegend=False, **_points(drawing, there, told, chosen, colours))
    if not there.all():
        figure.add_scatter(name="missing", showlegend=True, **_points(drawing, ~there, told, chosen, look(-1)))
    return _framed(figure, drawing)


def look(code: int, given: bool = False) -> dict[str, Any]:
    """The colour and the symbol of a cluster's points; −1 is unknown."""
    number, shape = mark(code)
    if code < 0:
        return {"color": UNKNOWN, "symbol": "circle-open"}
    if given:
        return {"color": GIVEN[number], "symbol": f"{SYMBOLS[shape]}-open", "line": {"width": 1.5}}
    return {"color": ANY_PAGE[number], "symbol": SYMBOLS[shape]}


def _points(
    drawing: dict[str, Any], members: np.ndarray, told: Sequence[str], chosen: Collection[int], marker: dict[str, Any]
) -> dict[str, Any]:
    """Some of the plotted rows as a trace."""
    x, y, rows = np.array(drawing["x"]), np.array(drawing["y"]), np.array(drawing["ids"]).astype(int)
    outline = {"size": 7 if len(x) <= 1000 else 5, "line": {"width": 0.4, "color": "rgba(0,0,0,.35)"}}
    return {
        "x": x[members],
        "y": y[members],
        "customdata": rows[members],
        "text": np.array(told)[members],
        "hoverinfo": "text",
        "mode": "markers",
        "marker": outline | marker,
        "selectedpoints": np.flatnonzero(np.isin(rows[members], list(chosen))).tolist() if len(chosen) else None,
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 0.12}},
    }


def _framed(figure: go.Figure, drawing: dict[str, Any]) -> go.Figure:
    axes = [axis_title(axis, WIDTH) for axis in drawing["axes"]]
    return figure.update_layout(
        height=HEIGHT,
        margin={"l": 10, "r": 10, "t": 28, "b": 10},  # the toolbar must not cover points
        dragmode="select",
        legend={"orientation": "h", "y": -0.2 - LINE * axes[0].count("<br>"), "itemsizing": "constant"},
        xaxis={"title": axes[0], "zeroline": False},
        yaxis={"title": axes[1] if len(axes) > 1 else "", "zeroline": False, "showticklabels": len(axes) > 1},
    )


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
    bars = go.Bar(
        x=[feature["weight"] for feature in top],
        y=list(range(len(top))),
        orientation="h",
        marker_color=ANY_PAGE[0],
        texttemplate="%{x:.0%}",
        hoverinfo="skip",
    )
    return go.Figure(bars).update_layout(
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
