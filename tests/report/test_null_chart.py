"""The null of a significance test, as a picture."""

import re

import numpy as np
import pytest

from altclust.report.null_chart import BOTTOM, LEFT, RIGHT, TOP, null_chart


@pytest.mark.parametrize("score", [-5.0, 0.0, 7.0])
def test_bars_for_the_null_and_a_line_for_the_view(score):
    reference = np.random.default_rng(0).normal(size=199)
    drawn = null_chart(reference.tolist(), score)
    x = float(re.search(r'class="seen" d="M(.*?) ', drawn)[1])
    bars = [float(found) for found in re.findall(r'class="null" x="(.*?)"', drawn)]
    assert LEFT <= x <= RIGHT
    assert all(LEFT <= bar <= RIGHT for bar in bars)
    assert (x > max(bars)) == (score > reference.max())
    assert max(float(h) for h in re.findall(r'height="([\d.]+)"/>', drawn)) == BOTTOM - TOP
    assert "<style>" not in drawn
    assert "<style>" in null_chart(reference, score, alone=True)


def test_without_a_test_there_is_no_picture():
    assert null_chart([], 0.0) == ""
    assert null_chart([1.0], float("nan")) == ""
    assert "nan" not in null_chart([1.0, 1.0], 1.0)
