from __future__ import annotations

import io
import json
import pickle
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC
from altclust.apps.web import downloads
from altclust.apps.web.exploration import Choices, Exploration, Hurry, ShownView
from altclust.apps.web.jobs import Job, Pool
from altclust.apps.web.uploads import example_table, guess_given
from altclust.base.progress import Progress
from altclust.core.metrics import match_labels, nmi
from altclust.models.views import View
from altclust.search.significance import Significance
from altclust.tables import read_table


def found(study, views=1):
    """The study with so many views, which are not tested."""
    for _ in range(views):
        study.take(study.find(Job(study.find)))
    return study


@pytest.fixture(scope="module")
def study(customers_csv):
    return found(Exploration(read_table(customers_csv), Choices(("segment",), n_clusters=2)))


@pytest.fixture
def again(study):
    """The same, which a test may change."""
    return Exploration(study.table, study.choices, list(study.views))


def verdict_on(shown, p_value):
    """A view as if it had been tested."""
    result = Significance(p_value, 0.001, 1.0, 1.0, 1.0, np.zeros(9), 160)
    model = copy(shown.model)
    model.fitted_ = replace(model.fitted_, significance=result)
    return replace(shown, view=replace(shown.view, model=model))


def test_a_view_differs_from_what_is_given_and_the_next_from_both(again, customers):
    hidden = customers[1]
    first = again.views[0]
    assert nmi(first.labels, hidden) > 0.9
    second = again.find(Job(again.find))
    assert second.view.number == 2
    assert list(second.known.columns) == ["segment", "alternative"]
    assert nmi(second.labels, hidden) < 0.1
    assert nmi(second.labels, customers[0]["age"] > 50) > 0.9


def test_a_refit_keeps_the_numbers_of_the_clusters_and_the_way_back(study):
    view = study.views[0]
    swapped = replace(view, labels=1 - view.labels)
    moved = study.refit(swapped, 20.0, Job(study.find))
    assert np.mean(moved.labels == swapped.labels) > 0.95
    assert moved.model.novelty_weight_ == 20.0
    assert moved.before is view.model
    assert moved.searched is view.searched
    back = study.refit(moved, 1.0, Job(study.find))
    again = study.refit(view, 1.0, Job(study.find))
    assert back.model.quality_ == pytest.approx(again.model.quality_, rel=1e-5)  # the same minimum, from two starts


@pytest.fixture(scope="module")
def automatic():
    """A table in which the first view is nearly as clear with another number of clusters."""
    table = example_table("Generated: three clusterings")
    return found(Exploration(table, Choices(tuple(guess_given(table.frame)))))


def test_the_number_of_clusters_that_the_automatic_search_found_gives_its_answer(automatic, monkeypatch):
    first = automatic.views[0]
    other = Exploration(automatic.table, replace(automatic.choices, n_clusters=first.view.n_clusters))
    other.found_before = automatic.automatic(other)
    monkeypatch.setattr(KDAC, "fit", None)  # without a search
    shown = other.find(Job(other.find))
    assert shown.labels.tolist() == first.labels.tolist()
    assert shown.model is first.model


def test_the_automatic_search_serves_only_the_same_choices(automatic):
    assert automatic.automatic(Exploration(automatic.table, replace(automatic.choices, n_clusters=7))) is not None
    assert automatic.automatic(Exploration(automatic.table, Choices(automatic.choices.given, "x1"))) is None
    assert automatic.automatic(Exploration(replace(automatic.table), automatic.choices)) is None
    third = Exploration(automatic.table, replace(automatic.choices, n_clusters=3))
    third.found_before = automatic.automatic(third)
    assert third.automatic(automatic) is automatic.views[0].searched  # also from an exploration that used it
    stopped = Exploration(automatic.table, automatic.choices, [replace(automatic.views[0], stopped=True)])
    assert stopped.automatic(third) is None


def test_another_number_of_clusters_of_a_view_needs_no_search_and_comes_back_as_it_was(automatic, monkeypatch):
    study = Exploration(automatic.table, automatic.choices, list(automatic.views))
    first = study.views[0]
    assert len(first.numbers) > 1
    other = next(k for k in first.numbers if k != first.view.n_clusters)
    study.rename(0, 0, "often here")
    monkeypatch.setattr(KDAC, "fit", None)
    study.take(study.with_clusters(first, other))
    shown = study.views[0]
    assert shown.view.n_clusters == other == len(np.unique(shown.labels))
    assert shown.names == {}  # they named other clusters
    assert shown.numbers == first.numbers
    assert study.summary(shown)["n_clusters"] == other
    study.take(study.with_clusters(shown, first.view.n_clusters))
    assert study.views[0].labels.tolist() == first.labels.tolist()
    monkeypatch.undo()
    assert study.refit(shown, 5.0, Job(study.find)).view.n_clusters == other


def test_what_comes_next_and_what_the_table_gets(again):
    first = again.views[0]

    def place(number, p_value=None):
        view = replace(first, view=replace(first.view, number=number))
        again.take(view if p_value is None else verdict_on(view, p_value))
        return again.to_do, [one.view.number for one in again.in_table]

    assert place(1) == ("test", [1])
    assert place(1, 0.5) == ("search", [1])  # the first view is always there
    assert place(1, 0.001) == ("search", [1])
    assert place(2)[0] == "test"
    assert place(2, 0.5) == ("search", [1])
    assert place(3, 0.5) == ("", [1])
    assert place(3, 0.001) == ("search", [1, 3])
    assert place(4, 0.001) == ("search", [1, 3, 4])
    assert place(5, 0.001) == ("", [1, 3, 4, 5])


def test_a_view_that_changes_drops_those_after_it_and_keeps_its_names(again):
    first = again.views[0]
    again.take(replace(first, view=replace(first.view, number=2)))
    again.rename(0, 1, "rare")
    again.take(replace(first, labels=1 - first.labels))
    assert len(again.views) == 1
    assert again.views[0].names == {1: "rare"}


def test_a_view_that_is_not_significant_is_in_the_report_and_not_in_the_table(again):
    first = again.views[0]
    again.take(verdict_on(first, 0.001))
    again.take(verdict_on(replace(first, view=replace(first.view, number=2)), 0.5))
    assert "alternative_2" not in pd.read_csv(io.BytesIO(downloads.table(again)))
    assert "Not significant" in downloads.report(again).decode()
    figures = json.loads(downloads.figures(again))
    assert [one["alternative"] for one in figures["views"]] == ["alternative", "alternative_2"]


def test_labels_are_matched_by_the_rows_that_clusters_share():
    rng = np.random.default_rng(0)
    before = rng.integers(0, 5, 300)
    shuffled = rng.permutation(5)[before]
    assert np.array_equal(match_labels(shuffled, before), before)


def test_a_job_that_is_stopped_early_says_so(customers_csv):
    study = Exploration(read_table(customers_csv), Choices(("segment",)))
    job = Job(study.find)
    job.stop()
    view = study.find(job)
    assert len(view.labels) == 160
    assert any("stopped early" in sentence for sentence in view.warnings)


def test_a_test_that_is_stopped_changes_nothing(study):
    job = Job(study.test)
    job.stop()
    assert study.test(job) is None
    assert study.views[0].view.significance is None


def test_a_next_view_that_is_stopped_is_not_taken(study):
    job = Job(study.find)
    job.stop()
    assert study.find(job) is None


def test_a_test_leaves_the_model_of_the_page_as_it_is(again):
    before = again.views[0]
    after = again.test(Job(again.test))
    assert before.view.significance is None
    assert after.view.is_real
    assert after.searched is after.view  # so that the way back to it needs no new test


def test_minus_one_among_whole_numbers_is_unknown():
    frame = "label,x,y\n" + "".join(f"{i % 3 - 1},{i % 7},{i * i % 11}\n" for i in range(60))
    study = Exploration(read_table(io.BytesIO(frame.encode()), "t.csv"), Choices(("label",)))
    assert study.study.given["label"].isna().sum() == 20
    assert set(study.study.given["label"].dropna()) == {"0", "1"}


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
    known = study.study.known([first.labels])
    second = replace(first, view=replace(first.view, number=2), known=known)
    both = Exploration(study.table, study.choices, [first, second])
    assert both.summary(both.views[1])["given"][1]["legend"][0]["name"] == "cluster 0"
    both.rename(0, 0, " often\nhere ")
    given = both.summary(both.views[1])["given"]
    assert [one["name"] for one in given] == ["segment", "view 1"]
    assert {entry["name"] for entry in given[1]["legend"]} == {"often here", "cluster 1"}
    assert [one["name"] for one in both.summarise(second)["given"]] == ["segment", "alternative"]  # as in the table


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
    view = study.refit(_fixed(study), 1.0, Job(study.find))
    study.take(view)
    drawing = study.summary(view)["drawing"]
    assert drawing["drawn"] == len(drawing["x"]) < 5001
    assert "of 6,000 rows is shown" in drawing["note"]


def _fixed(study):
    """A view without a search."""
    model = KDAC(2, sigma=1.0, n_components=1, random_state=0).fit(study.study.X, study.study.given)
    view = View(1, model)
    return ShownView(view, view, view.labels, study.study.given)


def test_a_process_of_its_own_finds_refits_and_tests_the_same(study):
    pool = Pool(1, processes=True)

    def computed(task):
        job = pool.submit(Job(task))
        assert job.wait(120)
        assert not job.error
        return job.result

    other = Exploration(study.table, study.choices)
    other.take(computed(other.find))
    view, first = other.views[0], study.views[0]
    assert np.array_equal(view.labels, first.labels)
    assert view.model.callback is None
    moved = computed(lambda job: other.refit(view, 20.0, job))
    assert moved.model.novelty_weight_ == 20.0
    assert computed(other.test).view.significance.p_value == study.test(Job(study.test)).view.significance.p_value
    stopped = Job(other.find)
    stopped.update = lambda now: (stopped.stop(), Job.update(stopped, now))[1]
    pool.submit(stopped)
    assert stopped.wait(120)
    assert stopped.stopping
    assert stopped.result is None  # a second view that was stopped is not taken


def test_the_callback_of_a_model_from_another_process_stops_nothing():
    late, now = Hurry(lambda now: False, 0.0), Progress("fit", 50, 100)
    assert late(now)
    assert not pickle.loads(pickle.dumps(late))(now)
