from __future__ import annotations

import io
import json
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC
from altclust.apps.web import downloads
from altclust.apps.web.exploration import Choices, Exploration
from altclust.apps.web.jobs import Job
from altclust.core.metrics import match_labels, nmi
from altclust.search.significance import untested
from altclust.tables import read_table


@pytest.fixture(scope="module")
def study(customers_csv):
    study = Exploration(read_table(customers_csv), Choices(("segment",), n_clusters=2))
    study.views.append(study.find(Job(lambda job: None)))
    return study


def test_a_view_differs_from_what_is_given_and_the_next_from_both(study, customers):
    hidden = customers[1]
    first = study.views[0]
    assert nmi(first.labels, hidden) > 0.9
    assert list(study.known(1).columns) == ["segment", "view 1"]
    second = study.find(Job(lambda job: None))
    assert list(second.known.columns) == ["segment", "view 1"]
    assert nmi(second.labels, hidden) < 0.1
    assert nmi(second.labels, customers[0]["age"] > 50) > 0.9


def test_a_refit_keeps_the_numbers_of_the_clusters_and_the_way_back(study):
    view = study.views[0]
    swapped = replace(view, labels=1 - view.labels)
    moved = study.refit(swapped, 20.0, Job(lambda job: None))
    assert np.mean(moved.labels == swapped.labels) > 0.95
    assert moved.model.novelty_weight_ == 20.0
    assert moved.before is view.model
    assert moved.first is view.model
    back = study.refit(moved, 1.0, Job(lambda job: None))
    again = study.refit(view, 1.0, Job(lambda job: None))
    assert back.model.quality_ == pytest.approx(again.model.quality_, rel=1e-5)  # the same minimum, from two starts


def test_another_view_on_the_menu_is_shown_without_a_search_and_comes_back_as_it_was(customers_csv, monkeypatch):
    study = Exploration(read_table(customers_csv), Choices(("segment",), n_clusters=2))
    study.views.append(study.find(Job(lambda job: None)))
    first = study.views[0]
    menu = study.menu(first)
    assert len(menu) >= 2
    study.rename(0, 0, "often here")
    monkeypatch.setattr(KDAC, "fit", None)
    study.choose(0, 2)
    second = study.views[0]
    assert second.number == 2
    assert second.labels.tolist() == first.model.candidates_[1].labels.tolist()
    assert second.names == {}
    assert second.known is first.known
    assert [one["number"] for one in study.menu(second) if one["chosen"]] == [2]
    assert study.summary(second)["n_clusters"] == menu[1]["clusters"]
    assert first.model.labels_.tolist() == first.labels.tolist()  # the model of the search is unchanged
    study.choose(0, 1)
    assert study.views[0].names == {0: "often here"}
    assert study.views[0].labels.tolist() == first.labels.tolist()
    study.choose(0, 2)
    assert study.views[0].model is second.model


def test_the_menu_stays_when_the_slider_moves(customers_csv):
    study = Exploration(read_table(customers_csv), Choices(("segment",), n_clusters=2))
    study.views.append(study.find(Job(lambda job: None)))
    moved = study.refit(study.views[0], 5.0, Job(lambda job: None))
    assert moved.model.candidates_ == ()
    assert study.menu(moved) == study.menu(study.views[0]) != []


def test_a_view_without_a_search_has_no_menu(study):
    assert study.menu(_fixed(study)) == []


def test_labels_are_matched_by_the_rows_that_clusters_share():
    rng = np.random.default_rng(0)
    before = rng.integers(0, 5, 300)
    shuffled = rng.permutation(5)[before]
    assert np.array_equal(match_labels(shuffled, before), before)


def test_a_job_that_is_stopped_early_says_so(customers_csv):
    study = Exploration(read_table(customers_csv), Choices(("segment",)))
    job = Job(lambda job: None)
    job.stop()
    view = study.find(job)
    assert len(view.labels) == 160
    assert any("stopped early" in sentence for sentence in view.warnings)


def test_a_comparison_that_is_given_up_changes_nothing(study):
    job = Job(lambda job: None)
    job.stop()
    assert study.assess(study.views[0], job) is None
    assert study.views[0].model._view.significance is None


def test_the_result_of_a_test_is_kept_while_its_view_is_there(study):
    study = replace(study, views=[replace(study.views[0], model=copy(study.views[0].model))])
    view = study.views[0]
    found = untested(10, 2)
    study.take_test(replace(view, model=copy(view.model)), found)
    assert study.views[0] is view
    study.take_test(view, found)
    assert study.views[0].significance is found
    assert view.model.significance_ is found


def test_minus_one_among_whole_numbers_is_unknown():
    frame = "label,x,y\n" + "".join(f"{i % 3 - 1},{i % 7},{i * i % 11}\n" for i in range(60))
    study = Exploration(read_table(io.BytesIO(frame.encode()), "t.csv"), Choices(("label",)))
    assert study.prepared.given["label"].isna().sum() == 20
    assert set(study.prepared.given["label"].dropna()) == {"0", "1"}


def test_names_appear_in_everything_that_is_taken_home(study):
    view = study.views[0]
    named = Exploration(study.table, study.choices, [replace(view, names={0: "$\\frac$ <b>loyal</b>"})])
    table = pd.read_csv(io.BytesIO(downloads.table(named)), dtype=str)
    assert set(table["alternative"]) == {"$\\frac$ <b>loyal</b>", "cluster 1"}
    assert table.drop(columns="alternative").equals(study.table.frame.astype(str))
    assert downloads.picture(named).startswith(b"\x89PNG")
    page = downloads.report(named).decode()
    assert "<b>loyal" not in page
    assert "loyal" in page
    figures = json.loads(downloads.figures(named))
    assert figures["views"][0]["clusters"][0]["name"] == "$\\frac$ <b>loyal</b>"


def test_later_views_call_the_clusters_of_earlier_ones_by_their_names(study):
    first = study.views[0]
    both = Exploration(study.table, study.choices, [first, replace(first, known=study.known(1))])
    assert both.summary(both.views[1])["given"][1]["legend"][0]["name"] == "cluster 0"
    both.rename(0, 0, " often\nhere ")
    given = both.summary(both.views[1])["given"]
    assert [one["name"] for one in given] == ["segment", "view 1"]
    assert {entry["name"] for entry in given[1]["legend"]} == {"often here", "cluster 1"}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".xlsx", ".npz"])
def test_the_table_goes_home_in_the_format_it_came_in(study, customers, tmp_path, suffix):
    frame = customers[0]
    path = tmp_path / f"t{suffix}"
    write = {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        ".parquet": lambda: frame.to_parquet(path),
        ".feather": lambda: frame.to_feather(path),
        ".xlsx": lambda: frame.to_excel(path, index=False),
        ".npz": lambda: np.savez(path, rows=frame.drop(columns="segment").to_numpy(), alternative=np.arange(160)),
    }
    write[suffix]()
    view = replace(study.views[0], names={0: "loyal"})
    taken = Exploration(read_table(path), study.choices, [view])
    back = read_table(io.BytesIO(downloads.table(taken)), f"t{suffix}").frame
    new = back.columns[-1]
    assert new == ("alternative (2)" if suffix == ".npz" else "alternative")
    expected = {0, 1} if suffix == ".npz" else {"loyal", "cluster 1"}
    assert set(back[new]) == expected


def test_a_large_table_is_drawn_in_part_and_says_so():
    rng = np.random.default_rng(0)
    text = "given,x,y\n" + "".join(
        f"{i % 2},{6 * (i % 2) + a:.3f},{b:.3f}\n" for i, (a, b) in enumerate(rng.normal(size=(6000, 2)))
    )
    study = Exploration(read_table(io.BytesIO(text.encode()), "large.csv"), Choices(("given",)))
    view = study.refit(_fixed(study), 1.0, Job(lambda job: None))
    drawing = study.summary(view)["drawing"]
    assert drawing["drawn"] == len(drawing["x"]) < 5001
    assert "of 6,000 rows is shown" in drawing["note"]


def _fixed(study):
    """A view without a search."""
    model = KDAC(2, sigma=1.0, n_components=1, random_state=0).fit(study.prepared.X, study.prepared.given)
    return View(model, model, np.asarray(model.labels_), study.prepared.given)
