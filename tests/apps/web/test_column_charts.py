"""What the charts show of the table itself: colours by any column, and the columns that carry the view."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")
pytest.importorskip("plotly", reason="plotly is not installed")

from altclust.apps.web import charts
from altclust.apps.web.brushing import NEW, choices, colouring
from altclust.apps.web.column_charts import boxes, column_charts, pair, shares
from altclust.apps.web.exploration import Choices, Exploration
from altclust.apps.web.jobs import Job
from altclust.apps.web.preview import preview
from altclust.tables import Table

DRAWING = {
    "axes": ["direction 1", "direction 2"],
    "x": [0.0, 1.0, 2.0, 3.0],
    "y": [3.0, 2.0, 1.0, 0.0],
    "ids": ["10", "11", "12", "13"],
    "columns": ["plain"],
    "values": [["a", "b", "c", "d"]],
}


@pytest.fixture(scope="module")
def study(customers):
    nearly = customers[1] ^ (np.arange(160) % 7 == 0)  # a column that is the hidden clusters would be an obvious group
    frame = customers[0].assign(colour=np.array(["<b>red</b>", "blue"])[nearly])
    frame.loc[3, "age"] = np.nan
    found = Exploration(Table("customers.csv", frame, (), lambda path, new: None), Choices(("segment",), n_clusters=2))
    found.views.append(found.find(Job(found.find)))
    return found


@pytest.fixture(scope="module")
def summary(study):
    return study.summary(study.views[0])


def test_rows_can_be_coloured_by_clusters_by_what_is_known_and_by_every_column(study, summary):
    names = choices(study, summary)
    assert names == [NEW, "segment", "spend", "visits", "returns", "age", "height", "colour"]
    new, known, age, colour = (colouring(study, summary, names.index(n)) for n in (NEW, "segment", "age", "colour"))
    assert new.codes == summary["drawing"]["codes"][0]
    assert known.levels == ["new", "old"]
    assert np.array_equal(age.numbers, study.table.frame["age"], equal_nan=True)
    assert colour.numbers is None
    frame = study.table.frame
    assert np.array_equal(np.array(colour.levels)[colour.codes], frame["colour"])


def test_numbers_are_colours_and_missing_ones_are_grey():
    figure = charts.gradient(DRAWING, np.array([1.0, 2.0, np.nan, 1e9]), "<i>price</i>", chosen=[12, 13])
    there, missing = figure.data
    assert list(there.customdata) == [10, 11, 13]
    assert list(missing.customdata) == [12]
    assert list(there.selectedpoints) == [2]
    assert list(missing.selectedpoints) == [0]
    assert there.text[0].startswith("<b>&lt;i&gt;price&lt;/i&gt;: 1</b><br>row 11")
    assert there.marker.colorbar.title.text == "&lt;i&gt;price&lt;/i&gt;"


def test_a_column_of_numbers_without_a_single_one_is_grey():
    assert [trace.name for trace in charts.gradient(DRAWING, np.full(4, np.nan), "x").data] == ["missing"]


def test_the_columns_that_carry_the_view_are_shown_in_their_own_units(study, summary):
    drawn = column_charts(study, summary)
    top = [one["name"] for one in summary["weights"][:2]]
    assert set(top) <= {"visits", "returns", "colour"}
    assert 2 <= len(drawn) <= 4
    kinds = [type(one.figure.data[0]).__name__ for one in drawn]
    assert kinds[0] == "Scatter"
    assert "Box" in kinds
    values = {axis: one.figure.layout[axis].title.text for one in drawn[:1] for axis in ("xaxis", "yaxis")}
    assert set(values.values()) == {"visits", "returns"}
    assert max(drawn[0].figure.data[0].x.max(), drawn[0].figure.data[1].x.max()) > 4  # not standardised


def test_a_far_row_is_named_and_does_not_squash_the_others():
    cells = pd.Series([*np.linspace(0, 1, 200), 1e6], name="price")
    codes = np.arange(201) % 2
    alone, together = boxes(cells, codes, ["a", "b"]), pair(cells, cells[::-1].set_axis(cells.index), codes, ["a", "b"])
    for one in (alone, together):
        assert "row 201" in one.note
    assert max(trace.y.max() for trace in alone.figure.data) < 2
    assert max(trace.x.max() for trace in together.figure.data) < 2


def test_a_column_with_few_values_is_shown_by_its_shares():
    cells = pd.Series(["<b>x</b>", "y", "y", "y"], name="kind")
    drawn = shares(cells, ("<b>x</b>", "y"), np.array([0, 0, 1, 1]), ["a", "b"]).figure
    assert [list(trace.y) for trace in drawn.data] == [[0.5, 0.5], [0.0, 1.0]]
    assert list(drawn.layout.xaxis.ticktext) == ["&lt;b&gt;x&lt;/b&gt;", "y"]
    years = shares(pd.Series([2007.0, 2008.0, 2008.0], name="year"), ("2007", "2008"), np.zeros(3, dtype=int), ["a"])
    assert list(years.figure.data[0].y) == pytest.approx([1 / 3, 2 / 3])


def test_the_preview_has_a_row_for_every_column_with_its_first_cells(study):
    listed = preview(study.table.frame, study.study.recipe.listing).set_index("column")
    assert listed.loc["colour", "row 1"] == study.table.frame["colour"].iloc[0]
    assert listed.loc["age", "row 4"] == "–"
    assert (listed["used as"] == "given").sum() == 1
