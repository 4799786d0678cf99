from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, find
from altclust.report import render, summarise
from altclust.report.charts import BOTTOM, BOX_EDGES, LEFT, LINES, NULL_EDGES, TOP, box_chart, line_chart, null_chart
from altclust.report.effects import boxes

AGES = np.array([10.0, 20, 30, 40, 50, 60, 70, np.nan])
CODES = np.array([0, 0, 0, 1, 1, 1, -1, 1])


def test_heights_follow_the_values():
    drawn = line_chart([1.0, 3.0, 2.0], "costs")
    x, y = zip(*(map(float, point) for point in re.findall(r'cx="(.*?)" cy="(.*?)"', drawn)), strict=True)
    assert list(x) == sorted(x)
    assert y[1] < y[2] < y[0]
    assert (y[0] + y[1]) / 2 == pytest.approx(y[2], abs=0.1)


@pytest.mark.parametrize("values", [[5.0], [0.0, 0.0], [1e9, 1e9 + 1], [-1e-9, 1e-9], [1e300, -1e300], [None, 2.0]])
@pytest.mark.parametrize("log", [False, True])
def test_any_values_stay_inside(values, log):
    drawn = line_chart(values, "costs", log=log, bound=0.01 if log else None, sampled=1)
    if log and not any(v and v > 0 for v in values):
        assert drawn == ""
        return
    for x, y in re.findall(r'cx="(.*?)" cy="(.*?)"', drawn):
        assert LEFT <= float(x) <= LINES[0]
        assert TOP <= float(y) <= BOTTOM
    assert "nan" not in drawn


def test_ticks_are_told_apart():
    names = re.findall(r'text-anchor="end">(.*?)<', line_chart([-2.2990, -2.2972, -2.2971], "costs"))
    assert len(names) == len(set(names)) >= 2


def test_logarithms_have_powers_of_ten_and_a_goal():
    drawn = line_chart([1.0, 0.1, 0.001], "moves", log=True, bound=0.01)
    assert re.findall(r'text-anchor="end">(.*?)<', drawn) == ["0.001", "0.01", "0.1", "1"]
    assert 'class="bound"' in drawn


def test_labels_are_escaped():
    assert 'aria-label="&lt;b&gt;"' in line_chart([1.0], "<b>")


def test_quantiles_of_the_known_values_of_each_cluster():
    found = boxes(AGES, CODES, 3)
    assert [(box["code"], box["rows"], box["median"]) for box in found] == [(0, 3, 20.0), (1, 3, 50.0)]
    assert found[0]["first"] == 15
    assert found[0]["low"] == pytest.approx(11)


def test_boxes_are_drawn_in_order_and_inside_the_plot():
    drawn = box_chart(boxes(AGES, CODES, 2), 'age <of "all">')
    edges = [float(x) for x in re.findall(r'<rect class="box c\d" x="(.*?)"', drawn)]
    assert len(edges) == 2
    assert BOX_EDGES[0] < edges[0] < edges[1] < BOX_EDGES[1]
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


@pytest.mark.parametrize(("days", "axis"), [(3000, "2020"), (60, "2016-01-")])
def test_a_given_date_has_dates_on_its_axis(days, axis):
    rng = np.random.default_rng(0)
    when, hidden = rng.integers(0, days, 120), rng.integers(0, 2, 120)
    frame = pd.DataFrame(rng.normal(size=(120, 3)) + np.column_stack([6 * hidden, when / days, when / days]))
    frame["when"] = pd.Timestamp("2016-01-01") + pd.to_timedelta(np.append(when[1:], 0), unit="D")
    summary = find(frame, given="when", n_clusters=2, significance=False).summary
    ticks = re.findall(r'text-anchor="middle">(.*?)<', render(summary).partition('<figure class="boxes">')[2])
    assert any(tick.startswith(axis) for tick in ticks[:6])
    assert summary["given"][0]["legend"][0]["name"].startswith("2016-01-01 to ")


@pytest.mark.parametrize("score", [-5.0, 0.0, 7.0])
def test_bars_for_the_null_and_a_line_for_the_view(score):
    reference = np.random.default_rng(0).normal(size=199)
    drawn = null_chart(reference.tolist(), score)
    left, right, top, bottom = NULL_EDGES
    x = float(re.search(r'class="seen" d="M(.*?) ', drawn)[1])
    bars = [float(found) for found in re.findall(r'class="null" x="(.*?)"', drawn)]
    assert left <= x <= right
    assert all(left <= bar <= right for bar in bars)
    assert (x > max(bars)) == (score > reference.max())
    assert max(float(h) for h in re.findall(r'height="([\d.]+)"/>', drawn)) == bottom - top
    assert "<style>" not in drawn
    assert "<style>" in null_chart(reference, score, alone=True)


def test_without_a_test_there_is_no_picture():
    assert null_chart([], 0.0) == ""
    assert null_chart([1.0], float("nan")) == ""
    assert "nan" not in null_chart([1.0, 1.0], 1.0)
