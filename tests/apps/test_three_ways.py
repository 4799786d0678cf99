"""The function, the command line and the page give the same answer."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")

import altclust
from altclust.apps.cli.main import main
from altclust.apps.web.exploration import Choices, Exploration
from altclust.apps.web.jobs import Job
from altclust.apps.web.uploads import open_table
from altclust.datasets import penguins
from altclust.models.study import unused_columns
from altclust.report.columns import listed_columns


@pytest.fixture
def birds(tmp_path):
    path = tmp_path / "penguins.csv"
    penguins(as_frame=True).to_csv(path, index=False)
    return path


@pytest.fixture
def mixed(tmp_path):
    """A table with a known group, a code that looks like a number, skewed sums, and a few labels to agree with."""
    rng = np.random.default_rng(0)
    known, clear, hidden = rng.integers(0, 2, (3, 160))
    noise = rng.standard_normal((160, 3))
    path = tmp_path / "mixed.csv"
    pd.DataFrame(
        {
            "group": np.array(["old", "new"])[known],
            "spend": np.round(40 * known + 8 * noise[:, 0], 2),
            "sum": np.round(np.exp(2.5 * clear + 0.3 * noise[:, 1]), 3),
            "height": np.round(170 + 20 * hidden + 4 * noise[:, 2], 1),
            "code": rng.integers(100, 400, 160),
            "some": np.where(np.arange(160) % 8 == 0, np.array(["a", "b"])[hidden], ""),
        }
    ).to_csv(path, index=False)
    return path


def by_command(monkeypatch, path, *options):
    """The table and the figures that the command line writes."""
    out = path.with_name("out")
    words = ["altclust", "find", str(path), "--no-significance", "--quiet", "--out", str(out), *options]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    return pd.read_csv(out / "table.csv"), json.loads((out / "figures.json").read_text())


def on_the_page(path, choices, views):
    """The study with so many views."""
    study = Exploration(open_table(path), choices)
    for _ in range(views):
        study.views.append(study.find(Job(study.find)))
    return study


@pytest.mark.slow
def test_the_function_the_command_line_and_the_page_agree_on_the_penguins(birds, monkeypatch):
    found = altclust.find(pd.read_csv(birds), given="species", significance=False)
    table, figures = by_command(monkeypatch, birds, "--given", "species")
    study = on_the_page(birds, Choices(given=("species",)), 1)
    view, recipe = study.views[0], study.prepared.recipe

    assert np.array_equal(found.labels, table["alternative"])
    assert np.array_equal(found.labels, view.labels)
    listed = found.columns.to_dict("records")
    assert listed_columns(view.model, recipe.listing) == listed
    assert [one[:2] for one in figures["recipe"]["listing"]] == [[one["column"], one["type"]] for one in listed]
    columns = [[one.columns for one in model.candidates_] for model in (found.model, view.model)]
    assert columns[0] == columns[1] == [tuple(one["columns"]) for one in figures["views"][0]["candidates"]]
    unused = [unused_columns(model, study.table.frame, recipe, ["species"]) for model in (found.model, view.model)]
    assert list(unused[0].columns) == list(unused[1].columns) == list(study.prepared.others(view.model).columns)
    assert "sex" in unused[0].columns  # left aside: its values are obvious groups
    assert study.summary(view)["headline"] == found.summary["headline"]
    assert figures["views"][0]["verdict"] == found.verdict
    assert study.summary(view)["left_out"] == found.summary["left_out"] == figures["views"][0]["left_out"]


@pytest.mark.slow
@pytest.mark.parametrize("keep", [None, "some"])
def test_with_nothing_given_the_second_view_of_the_page_is_the_result(mixed, monkeypatch, keep):
    found = altclust.find(pd.read_csv(mixed), keep=keep, significance=False)
    table, figures = by_command(monkeypatch, mixed, *([] if keep is None else ["--keep", keep]))
    first, second = on_the_page(mixed, Choices(keep=keep), 2).views
    assert np.array_equal(found.first, first.labels)
    assert np.array_equal(found.labels, second.labels)
    assert np.array_equal(found.first, table["first_view"])
    assert np.array_equal(found.first, found.table["first_view"])
    assert str(found).startswith("Nothing was given: the table was clustered first (first_view), into clusters of ")
    assert np.array_equal(found.labels, table["alternative"])
    assert second.model.overlap_ == found.model.overlap_ == figures["views"][0]["overlap"]


def test_all_three_read_a_table_as_they_are_told(mixed, monkeypatch):
    reading = {"types": {"code": "identifier"}, "log": ["sum"], "drop": ["height"], "decimal": "."}
    found = altclust.find(pd.read_csv(mixed), given="group", keep="some", n_clusters=2, significance=False, **reading)
    options = "--given group --keep some --clusters 2 --as code=identifier --log sum --drop height --decimal ."
    table, figures = by_command(monkeypatch, mixed, *options.split())
    study = on_the_page(mixed, Choices(("group",), "some", 2, altclust.TableEncoder(**reading)), 1)
    view, recipe = study.views[0], study.prepared.recipe
    assert np.array_equal(found.labels, table["alternative"])
    assert np.array_equal(found.labels, view.labels)
    assert found.recipe == recipe
    assert list(map(list, recipe.listing)) == figures["recipe"]["listing"]
    used = {one.column: one.use for one in recipe.listing}
    assert used == {
        "group": "given", "spend": "numbers", "sum": "logarithms", "height": "left out", "code": "left out",
        "some": "to agree with",
    }  # fmt: skip
    plain = altclust.find(pd.read_csv(mixed), given="group", n_clusters=2, significance=False)
    assert not np.array_equal(plain.labels, found.labels)  # what is told has an effect
