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
from altclust.apps.web.jobs import Job
from altclust.apps.web.study import Choices, Study
from altclust.apps.web.uploads import open_table
from altclust.datasets import penguins
from altclust.models.prepared import unused_columns
from altclust.report.columns import listed_columns


@pytest.mark.slow
def test_the_function_the_command_line_and_the_page_agree_on_the_penguins(tmp_path, monkeypatch):
    path, out = tmp_path / "penguins.csv", tmp_path / "out"
    penguins(as_frame=True).to_csv(path, index=False)

    found = altclust.find(pd.read_csv(path), given="species", significance=False)

    words = ["altclust", "find", str(path), "--given", "species", "--no-significance", "--quiet", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    by_command = pd.read_csv(out / "table.csv")["alternative"]
    figures = json.loads((out / "figures.json").read_text())

    study = Study(open_table(path), Choices(given=("species",)))
    view = study.find(Job(study.find))

    assert np.array_equal(found.labels, by_command)
    assert np.array_equal(found.labels, view.labels)
    listed = found.columns.to_dict("records")
    assert listed_columns(view.model, study.prepared.recipe.listing) == listed
    assert [one[:2] for one in figures["recipe"]["listing"]] == [[one["column"], one["type"]] for one in listed]
    columns = [[one.columns for one in model.candidates_] for model in (found.model, view.model)]
    assert columns[0] == columns[1] == [tuple(one["columns"]) for one in figures["views"][0]["candidates"]]
    unused = [
        unused_columns(model, study.table.frame, study.prepared.recipe, ["species"])
        for model in (found.model, view.model)
    ]
    assert list(unused[0].columns) == list(unused[1].columns)
    assert "sex" in unused[0].columns  # left aside: its values are obvious groups
    assert study.summary(view)["headline"] == found.summary["headline"]
    assert study.summary(view)["left_out"] == found.summary["left_out"] == figures["views"][0]["left_out"]
