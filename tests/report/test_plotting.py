from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from altclust import KDAC
from altclust.base.errors import InputError
from altclust.datasets import moons
from altclust.report.plotting import plot_convergence, plot_crosstab, plot_features, plot_measurement, plot_views


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    data = moons(120, random_state=0)
    X = pd.DataFrame(data.X / data.X.std(axis=0), columns=["a", "$b$", "_c", "<d>"])
    return X, pd.Series(np.array(["old", "new"])[data.given], name="segment")


@pytest.fixture(scope="module")
def model(rows):
    return KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(*rows)


def legend(ax):
    return {text.get_text() for text in ax.get_legend().get_texts()}


def test_a_model_draws_given_against_alternative(model):
    axes = model.plot()
    assert [ax.get_title() for ax in axes] == ["Given", "Alternative"]
    assert legend(axes[0]) == {"old", "new"}
    assert legend(axes[1]) == {"0", "1"}
    assert sum(len(c.get_offsets()) for c in axes[1].collections) == 120
    axes[0].figure.canvas.draw()


def test_given_clusters_do_not_look_like_new_ones(model):
    given, new = model.plot()
    assert all(len(marks.get_facecolor()) == 0 for marks in given.collections)  # hollow
    colours = [
        {tuple(marks.get_edgecolor()[0][:3]) for marks in given.collections},
        {tuple(marks.get_facecolor()[0][:3]) for marks in new.collections},
    ]
    assert len(colours[0] | colours[1]) == 4


def test_other_rows_and_axes_of_ones_own(model, rows):
    ax = plt.figure().subplots()
    assert model.plot(rows[0].head(7), axes=[ax])[0] is ax
    assert sum(len(c.get_offsets()) for c in ax.collections) == 7
    both = model.plot(rows[0][55:65], rows[1][55:65])
    assert legend(both[0]) == {"old", "new"}


def test_unknown_labels_are_grey_and_mixed_ones_are_drawn():
    Z = np.random.default_rng(0).normal(size=(5, 1))
    axes = plot_views(Z, ["a", 1, None, -1, np.nan], [0, 1, 0, 1, 0])
    assert legend(axes[0]) == {"a", "1", "unknown"}
    assert axes[0].get_ylabel() == "random"


def test_many_rows_are_sampled_and_that_is_said():
    Z = np.zeros((30_000, 2))
    axes = plot_views(Z, None, np.arange(30_000) % 2)
    assert axes[0].get_title() == "Alternative (20,000 of 30,000 rows)"
    assert sum(len(c.get_offsets()) for c in axes[0].collections) == 20_000


def test_convergence_features_and_crosstab_compose(model, rows):
    figure, (left, middle, right) = plt.subplots(1, 3)
    assert plot_convergence(model, left) is left
    assert len(left.lines[0].get_xdata()) == model.n_iter_
    assert plot_features(model, middle, top=3) is middle
    assert len(middle.patches) == 3
    assert middle.patches[0].get_width() == pytest.approx(100 * model.feature_weights_.max())
    assert plot_crosstab(rows[1], model.labels_, right) is right
    counts = pd.crosstab(rows[1], model.labels_).to_numpy().ravel()
    assert [text.get_text() for text in right.texts] == [str(count) for count in counts]
    figure.canvas.draw()  # names with $ and _ are no formulas


def test_a_loaded_model_needs_rows(model, rows, tmp_path):
    model.save(tmp_path / "view.npz")
    loaded = KDAC.load(tmp_path / "view.npz")
    with pytest.raises(InputError, match="X is missing"):
        loaded.plot()
    assert len(loaded.plot(*rows)) == 2


def test_a_model_of_many_rows_draws_its_sample():
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, 4000))
    X = np.column_stack([5 * known, 5 * hidden]) + rng.normal(size=(4000, 2))
    model = KDAC(2, sigma=2.0, n_components=1, sample_size=400, random_state=0).fit(X, np.array(["u", "v"])[known])
    axes = model.plot()
    assert legend(axes[0]) == {"u", "v"}
    left = np.concatenate([np.full(len(c.get_offsets()), c.get_label()) for c in axes[0].collections])
    assert np.isin(left, ["u", "v"]).all()
    assert len(left) == model.sample_size_ == 400


def test_the_report_of_a_model(model, rows, tmp_path):
    model.report(tmp_path / "view.html", significance=False)
    page = (tmp_path / "view.html").read_text()
    assert "segment" in page
    assert "<d>" not in page
    model.report(tmp_path / "some.html", rows[0].head(50), rows[1].head(50), significance=False, name="a few")
    assert "a few" in (tmp_path / "some.html").read_text()


def test_a_notebook_shows_what_was_found_without_computing_more(rows):
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0)
    assert "main features" not in model._repr_mimebundle_()["text/html"]
    model.fit(*rows)
    page = model._repr_mimebundle_()["text/html"]
    assert "main features" in model._repr_html_()
    assert "main features" in page
    assert "&lt;d&gt;" in page
    assert "<d>" not in page
    assert model.fitted_.significance is model.fitted_.certificate is None


def test_the_plot_of_a_measurement():
    ages, codes = np.array([10.0, 20, 30, 40, 50, 60, 70, np.nan]), np.array([0, 0, 0, 1, 1, 1, -1, 1])
    ax = plot_measurement(pd.Series(ages, name="age"), ["a", "a", "a", "b", "b", "b", None, "b"])
    assert ax.get_ylabel() == "age"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    assert [len(points.get_offsets()) for points in ax.collections] == [3, 3]
    assert plot_measurement(ages, codes, ax) is ax
    plt.close("all")
    with pytest.raises(InputError, match="not a column of numbers"):
        plot_measurement(["x", "y"], [0, 1])
    with pytest.raises(InputError, match="2 numbers for 3 labels"):
        plot_measurement([1.0, 2.0], [0, 1, 1])
