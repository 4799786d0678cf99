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
from altclust.tables import read_table


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


@pytest.mark.slow
def test_with_nothing_given_the_second_view_of_the_page_is_the_first_of_the_others(mixed, monkeypatch):
    found = altclust.find(pd.read_csv(mixed), keep="some", significance=False)
    table, _ = by_command(monkeypatch, mixed, "--keep", "some")
    page = Exploration(read_table(mixed), Choices(keep="some"))
    for _ in range(2):
        page.take(page.find(Job(page.find)))
    first, second = page.views
    assert np.array_equal(found.first, first.labels)
    assert np.array_equal(found.first, table["first_view"])
    assert np.array_equal(found.labels, second.labels)
    assert np.array_equal(found.labels, table["alternative"])


def test_all_three_read_a_table_as_they_are_told(mixed, monkeypatch):
    reading = {"types": {"code": "identifier"}, "log": ["sum"], "drop": ["height"], "decimal": "."}
    found = altclust.find(pd.read_csv(mixed), given="group", keep="some", n_clusters=2, significance=False, **reading)
    options = "--given group --keep some --clusters 2 --as code=identifier --log sum --drop height --decimal ."
    table, figures = by_command(monkeypatch, mixed, *options.split())
    page = Exploration(read_table(mixed), Choices(("group",), "some", 2, altclust.TableEncoder(**reading)))
    view, recipe = page.find(Job(page.find)), page.study.recipe
    assert np.array_equal(found.labels, table["alternative"])
    assert np.array_equal(found.labels, view.labels)
    assert found.study.recipe == recipe
    assert list(map(list, recipe.listing)) == figures["recipe"]["listing"]
    used = {one.column: one.use for one in recipe.listing}
    assert used == {
        "group": "given", "spend": "numbers", "sum": "logarithms", "height": "left out", "code": "left out",
        "some": "to agree with",
    }  # fmt: skip
    plain = altclust.find(pd.read_csv(mixed), given="group", n_clusters=2, significance=False)
    assert not np.array_equal(plain.labels, found.labels)  # what is told has an effect
