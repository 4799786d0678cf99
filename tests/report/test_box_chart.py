"""A measurement in each cluster, as a picture."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, InputError
from altclust.report import render, summarise
from altclust.report.box_chart import LEFT, RIGHT, box_chart
from altclust.report.effects import boxes
from altclust.report.plotting import plot_measurement

AGES = np.array([10.0, 20, 30, 40, 50, 60, 70, np.nan])
CODES = np.array([0, 0, 0, 1, 1, 1, -1, 1])


def test_quantiles_of_the_known_values_of_each_cluster():
    found = boxes(AGES, CODES, 3)
    assert [(box["code"], box["rows"], box["median"]) for box in found] == [(0, 3, 20.0), (1, 3, 50.0)]
    assert found[0]["first"] == 15
    assert found[0]["low"] == pytest.approx(11)


def test_boxes_are_drawn_in_order_and_inside_the_plot():
    drawn = box_chart(boxes(AGES, CODES, 2), 'age <of "all">')
    edges = [float(x) for x in re.findall(r'<rect class="box c\d" x="(.*?)"', drawn)]
    assert len(edges) == 2
    assert LEFT < edges[0] < edges[1] < RIGHT
    assert "&lt;of &#34;all&#34;&gt;" in drawn
    assert box_chart([], "nothing") == ""
    assert "nan" not in box_chart(boxes(np.full(4, 7.0), np.zeros(4, dtype=int), 1), "all equal")


def test_the_report_shows_measurements_and_only_them():
    rng = np.random.default_rng(0)
    age, group, hidden = rng.normal(size=120), rng.integers(0, 2, 120), rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 3)) + np.column_stack([5 * hidden, 3 * age, 5 * group])
    given = pd.DataFrame({"age": age, "group": group})
    model = KDAC(2, sigma=2.0, random_state=0).fit(X, given)
    summary = summarise(model, X, given)
    assert [len(one["boxes"]) for one in summary["given"]] == [2, 0]
    assert sum(box["rows"] for box in summary["given"][0]["boxes"]) == 120
    page = render(summary)
    assert page.count('<figure class="boxes">') == 1
    assert 'aria-label="age in each new cluster"' in page
    assert re.search(r"age by alternative \(dependence 0\.\d\d\)", page)
    assert re.search(r"group by alternative \(NMI 0\.\d\d\)", page)


def test_the_plot_of_a_measurement():
    ax = plot_measurement(pd.Series(AGES, name="age"), ["a", "a", "a", "b", "b", "b", None, "b"])
    assert ax.get_ylabel() == "age"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    assert [len(points.get_offsets()) for points in ax.collections] == [3, 3]
    assert plot_measurement(AGES, CODES, ax) is ax
    plt.close("all")
    with pytest.raises(InputError, match="not a column of numbers"):
        plot_measurement(["x", "y"], [0, 1])
    with pytest.raises(InputError, match="2 numbers for 3 labels"):
        plot_measurement([1.0, 2.0], [0, 1, 1])
