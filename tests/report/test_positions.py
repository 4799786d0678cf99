"""Rows that lie on each other are set apart, and a few far rows do not squash a plot."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, Settings
from altclust.report import Shown, render, summarise
from altclust.report.plotting import plot_views
from altclust.report.positions import positions

rng = np.random.default_rng(0)
cloud = rng.normal(size=(2000, 2))


def stones():
    """Diamonds with three wrong measurements."""
    rows = cloud.copy()
    rows[[5, 70, 900], [0, 1, 1]] = 80.0, -60.0, 900.0
    return rows


def test_ordinary_rows_stay_where_they_are():
    found = positions(cloud)
    assert np.array_equal(np.column_stack([found.x, found.y]), cloud)
    assert not found.spread
    assert not found.far.any()


def test_three_wrong_stones_are_named_and_do_not_squash_the_others():
    found = positions(stones())
    assert np.flatnonzero(found.far).tolist() == [5, 70, 900]
    assert max(np.ptp(found.x), np.ptp(found.y)) < 1.2 * np.ptp(cloud)
    right = np.delete(np.column_stack([found.x, found.y]), [5, 70, 900], axis=0)
    assert np.array_equal(right, np.delete(cloud, [5, 70, 900], axis=0))
    assert found.x.argmax() == 5
    assert found.y.argmin() == 70
    assert found.y.argmax() == 900


def test_heavy_tails_are_not_cut():
    """Only rows that would squash the plot are moved: at most one in a hundred."""
    assert positions(rng.standard_t(2, size=(2000, 2))).far.mean() < 0.02


def test_rows_in_four_places_are_seen_as_many():
    corners = rng.integers(0, 2, (1316, 2)).astype(float)
    found = positions(corners)
    assert found.spread
    assert len({*zip(found.x, found.y, strict=True)}) == 1316
    moved = np.abs(np.column_stack([found.x, found.y]) - corners).max()
    assert 0.01 < moved < 0.1  # the four places can still be told apart
    assert not positions(np.zeros((5, 1))).spread  # one direction has a random second place anyway
    assert np.isfinite(positions(np.zeros((5, 2))).x).all()


@pytest.fixture(scope="module")
def model():
    X = np.column_stack([stones(), rng.normal(size=2000)])[:1000]
    start = np.eye(3)[:, :2]
    return KDAC(2, sigma=1.0, random_state=0, settings=Settings(init=start, pull=1e3)).fit(X), X


@pytest.mark.filterwarnings("ignore")
def test_the_report_and_the_picture_say_so(model):
    fitted, X = model
    plain = summarise(fitted, X)
    assert "far from all others: row 6, row 71, row 901." in plain["drawing"]["note"]
    assert "far from all others: row 6, row 71, row 901." in render(plain)
    by_number = summarise(fitted, X, shown=Shown(ids=range(1000)))["drawing"]
    assert by_number["note"] == plain["drawing"]["note"]
    named = summarise(fitted, X, shown=Shown(ids=[f"stone {i}" for i in range(1000)]))
    assert "stone 5, stone 70, stone 900." in named["drawing"]["note"]
    axes = plot_views(fitted.transform(X), None, fitted.labels_)
    assert "3 far rows at the edge" in axes[0].get_xlabel()
    plt.close("all")


def test_equal_rows_are_told():
    table = pd.DataFrame(rng.integers(0, 2, (200, 3)).astype(float), columns=list("abc"))
    fitted = KDAC(2, sigma=0.5, n_components=2, random_state=0).fit(table)
    assert "Equal rows are drawn beside each other." in summarise(fitted, table)["drawing"]["note"]
