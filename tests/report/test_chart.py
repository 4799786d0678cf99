from __future__ import annotations

import re

import pytest

from altclust.report.chart import BOTTOM, LEFT, TOP, WIDTH, line_chart


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
        assert LEFT <= float(x) <= WIDTH
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
