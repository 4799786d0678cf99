from __future__ import annotations

import html

import numpy as np
import pytest

pytest.importorskip("plotly", reason="plotly is not installed")

from altclust.apps.web import charts
from altclust.report.palette import ANY_PAGE, mark
from altclust.report.plotting import COLOURS

DRAWING = {
    "axes": ["learnt direction 1 (mostly a)", "learnt direction 2 (mostly <b>)"],
    "x": [0.0, 1.0, 2.0, 3.0],
    "y": [3.0, 2.0, 1.0, 0.0],
    "ids": ["10", "11", "12", "13"],
    "columns": ["<b>", "plain"],
    "values": [["1", "2", "3", "<i>"], ["a", "b", "c", "d"]],
}


def test_every_row_is_drawn_once_with_its_number():
    figure = charts.scatter(DRAWING, [0, 1, 0, -1], ["old", "new"])
    assert [trace.name for trace in figure.data] == ["old", "new", "unknown"]
    assert [list(trace.customdata) for trace in figure.data] == [[10, 12], [11], [13]]
    assert figure.data[0].marker.color == COLOURS[0]
    assert figure.data[0].marker.symbol != figure.data[1].marker.symbol
    assert all(trace.selectedpoints is None for trace in figure.data)


def test_given_clusters_do_not_look_like_new_ones():
    new, given = (charts.scatter(DRAWING, [0, 1, 0, 1], ["a", "b"], given=one).data for one in (False, True))
    assert not {trace.marker.color for trace in new} & {trace.marker.color for trace in given}
    assert all(trace.marker.symbol.endswith("-open") for trace in given)


def test_chosen_rows_stand_out_in_every_cluster():
    figure = charts.scatter(DRAWING, [0, 1, 0, 1], ["old", "new"], chosen=[12, 13])
    assert [list(trace.selectedpoints) for trace in figure.data] == [[1], [1]]
    none = charts.scatter(DRAWING, [0, 1, 0, 1], ["old", "new"], chosen=[10])
    assert [list(trace.selectedpoints) for trace in none.data] == [[0], []]


def test_strings_of_the_table_are_not_understood_as_html():
    figure = charts.scatter(DRAWING, [0, 0, 0, 0], ["<script>alert(1)</script>"])
    assert figure.data[0].name == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert figure.data[0].text[3].endswith("row 14<br>&lt;b&gt;: &lt;i&gt;<br>plain: d")
    assert figure.layout.yaxis.title.text == "learnt direction 2 (mostly &lt;b&gt;)"


def test_the_titles_of_axes_are_whole_and_do_not_meet_the_legend():
    title = "direction 1 (mostly <number of visits>, height of the customer in centimetres)"
    plain = charts.scatter(DRAWING, [0, 0, 1, 1], ["a", "b"]).layout
    layout = charts.scatter(DRAWING | {"axes": [title, "b"]}, [0, 0, 1, 1], ["a", "b"]).layout
    lines = html.unescape(layout.xaxis.title.text.replace("<br>", "\n")).split("\n")
    assert " ".join(lines) == title
    assert len(lines) == 2
    assert max(map(len, lines)) <= charts.WIDTH
    assert layout.legend.y < plain.legend.y


def test_one_direction_has_no_second_axis():
    figure = charts.scatter(DRAWING | {"axes": ["learnt direction 1"]}, [0, 0, 1, 1], ["a", "b"])
    assert figure.layout.yaxis.showticklabels is False


def test_many_clusters_differ_in_colour_or_shape_and_none_is_black():
    assert len({mark(code) for code in range(24)}) == 24
    assert "#000000" not in ANY_PAGE


def test_the_weightiest_feature_is_on_top():
    weights = [{"name": f"f{i}", "weight": w} for i, w in enumerate(np.linspace(0.3, 0.0, 12))]
    bars = charts.weights({"weights": weights})
    assert bars.layout.yaxis.ticktext[-1] == "f0"
    assert len(bars.data[0].x) == charts.MOST_BARS
