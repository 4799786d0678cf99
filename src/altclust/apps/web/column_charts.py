"""Small charts of the columns that carry a view, in the units of the table, without Streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ...report.effects import as_numbers
from ...report.positions import Positions, framed, positions, told
from ...report.sentences import text
from .charts import look
from .escape import axis_title, for_plotly
from .exploration import Exploration

MOST_CHARTS = 4
LEAST_WEIGHT = 0.03  # of a column that is shown
MOST_LEVELS = 8  # of a column with few values; the most frequent are shown
HEIGHT = 260
WIDTH = 26  # characters of the titles of axes


class ColumnChart(NamedTuple):
    """A chart, its description for screen readers, and what it does not show as it is."""

    figure: go.Figure
    label: str
    note: str = ""


def column_charts(study: Exploration, summary: dict[str, Any]) -> list[ColumnChart]:
    """The columns with the largest weights: the first two numbers against each other, then each alone."""
    rows, codes = np.array(summary["drawing"]["ids"]).astype(int), np.array(summary["drawing"]["codes"][0])
    names = [entry["name"] for entry in summary["legend"] if entry["code"] >= 0]
    carrying = [one["name"] for one in summary["weights"] if one["weight"] >= LEAST_WEIGHT]
    there = {text(name): study.study.values.iloc[rows, j] for j, name in enumerate(study.study.values.columns)}
    few = {text(column.name): column.levels for column in study.study.recipe.columns if column.levels}
    columns = [there[name] for name in carrying if name in there][:MOST_CHARTS]
    measured = [cells for cells in columns if text(cells.name) not in few]
    charts = [pair(measured[0], measured[1], codes, names)] if len(measured) > 1 else []
    for cells in columns:
        levels = few.get(text(cells.name))
        charts.append(boxes(cells, codes, names) if levels is None else shares(cells, levels, codes, names))
    return charts[:MOST_CHARTS]


def pair(first: pd.Series, second: pd.Series, codes: np.ndarray, names: Sequence[str]) -> ColumnChart:
    """Two columns of numbers against each other, coloured by cluster; rows without both are left out."""
    numbers = np.column_stack([as_numbers(first), as_numbers(second)])
    there = np.isfinite(numbers).all(axis=1)
    places = positions(numbers[there])
    figure = go.Figure()
    for code in range(len(names)):
        members = codes[there] == code
        figure.add_scatter(
            x=_axis(first, places.x[members]),
            y=_axis(second, places.y[members]),
            mode="markers",
            marker=look(code) | {"size": 4},
            hoverinfo="skip",
        )
    x, y = text(first.name), text(second.name)
    label = f"Rows by {x} and {y}, with the new clusters as colours."
    return ColumnChart(_small(figure, x, y), label, _note(first.index[there], places))


def boxes(cells: pd.Series, codes: np.ndarray, names: Sequence[str]) -> ColumnChart:
    """One column of numbers, a box for each cluster."""
    numbers = as_numbers(cells)
    there = np.isfinite(numbers)
    values, far = framed(numbers[there])
    figure = go.Figure()
    for code, name in enumerate(names):
        inside = _axis(cells, values[codes[there] == code])
        figure.add_box(
            y=inside,
            name=for_plotly(name),
            marker={"color": look(code)["color"], "size": 3},
            line={"width": 1.5},
            hoverinfo="y",
        )
    label = f"Boxes: {text(cells.name)} in each new cluster."
    note = _note(cells.index[there], Positions(values, values, False, far))
    return ColumnChart(_small(figure, "", text(cells.name)), label, note)


def shares(cells: pd.Series, levels: Sequence[str], codes: np.ndarray, names: Sequence[str]) -> ColumnChart:
    """One column with few values: how often each cluster has each of them."""
    found = np.array([text(cell) for cell in cells], dtype=object)
    shown = [text(float(level) if pd.api.types.is_numeric_dtype(cells.dtype) else level) for level in levels]
    if len(shown) > MOST_LEVELS:
        most = sorted(shown, key=lambda level: -int(np.sum(found == level)))[:MOST_LEVELS]
        shown = [level for level in shown if level in most]
    figure = go.Figure()
    for code, name in enumerate(names):
        inside = found[codes == code]
        figure.add_bar(
            x=list(range(len(shown))),
            y=[float(np.mean(inside == level)) if len(inside) else 0.0 for level in shown],
            name=for_plotly(name),
            marker_color=look(code)["color"],
            hovertemplate="%{y:.0%}",
        )
    ticks = {"tickvals": list(range(len(shown))), "ticktext": [for_plotly(level) for level in shown]}
    figure = _small(figure, text(cells.name), "share of the cluster").update_layout(xaxis=ticks, yaxis_tickformat=".0%")
    return ColumnChart(figure, f"Bars: the share of each value of {text(cells.name)} in each new cluster.")


def _axis(cells: pd.Series, numbers: np.ndarray) -> Any:
    """Numbers as the chart shows them: those of dates as dates."""
    return pd.to_datetime(numbers) if pd.api.types.is_datetime64_any_dtype(cells.dtype) else numbers


def _note(index: pd.Index, places: Positions) -> str:
    return told([f"row {i + 1:,}" for i in index], places)


def _small(figure: go.Figure, x: str, y: str) -> go.Figure:
    return figure.update_layout(
        height=HEIGHT,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        showlegend=False,
        xaxis={"title": axis_title(x, WIDTH), "zeroline": False, "fixedrange": True},
        yaxis={"title": axis_title(y, WIDTH), "zeroline": False, "fixedrange": True},
    )
