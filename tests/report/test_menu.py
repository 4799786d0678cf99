from __future__ import annotations

import json
import re
from copy import copy

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC
from altclust.datasets import views
from altclust.report import render, summarise
from altclust.report.html import candidate_picture
from altclust.report.menu import MOST_DRAWN, candidates, chosen_number, reasons

HEADING = "Other views in this table"


@pytest.fixture(scope="module")
def several():
    return views(120, ("blobs", "blobs", "blobs"), (2, 3, 2), random_state=0)


@pytest.fixture(scope="module")
def fitted(several):
    model = KDAC(random_state=0).fit(several.X, several.given)
    assert len(model.candidates_) >= 2
    return model


def test_every_view_on_the_menu_is_told_and_drawn_in_its_own_directions(fitted, several):
    summary = summarise(fitted, several.X, several.given, significance=False)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    menu = summary["candidates"]
    assert [one["number"] for one in menu] == list(range(1, len(fitted.candidates_) + 1))
    assert [one["chosen"] for one in menu] == [True] + [False] * (len(menu) - 1)
    for i, (one, candidate) in enumerate(zip(menu, fitted.candidates_, strict=True), 1):
        assert one["sentence"] == candidate.sentence
        assert one["clusters"] == candidate.n_clusters
        assert one["overlap"] == candidate.overlap
        assert one["columns"] == list(candidate.columns)
        assert one["drawing"]["codes"] == candidate.labels.tolist()
        Z = copy(fitted).choose(i).transform(several.X)
        assert one["drawing"]["jittered"] == (Z.shape[1] == 1)
        assert one["drawing"]["x"] == pytest.approx(Z[:, 0], rel=1e-3)


def test_another_choice_is_marked_and_explained(fitted, several):
    first, second = summarise(fitted, several.X, several.given, significance=False), copy(fitted).choose(2)
    assert chosen_number(fitted) == 1  # choosing in a copy leaves the model alone
    assert first["reasons"] == fitted.tuning_.reasons
    summary = summarise(second, several.X, several.given, significance=False)
    assert [one["number"] for one in summary["candidates"] if one["chosen"]] == [2]
    assert summary["n_clusters"] == fitted.candidates_[1].n_clusters
    assert summary["reasons"].startswith(f"View 2 of the {len(fitted.candidates_)} that the search found was chosen")
    assert fitted.candidates_[1].sentence in summary["reasons"]


def test_the_page_shows_them_as_a_gallery(fitted, several):
    page = render(summarise(fitted, several.X, several.given, significance=False))
    assert HEADING in page
    assert page.count('<svg class="thumbnail"') == len(fitted.candidates_)
    chosen = re.search(r'<li class="chosen" aria-current="true">.*?</li>', page, re.DOTALL)[0]
    assert "View 1" in chosen
    assert "this report" in chosen
    assert page.count("this report") == 1
    assert "--view 2" in page


def test_no_menu_without_a_search(fitted, several):
    fixed = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(several.X, several.given)
    summary = summarise(fixed, several.X, several.given, significance=False)
    assert summary["candidates"] == []
    assert HEADING not in render(summary)
    assert reasons(fixed) is None
    assert summarise(fitted, several.X, several.given, predicted=True)["candidates"] == []


def test_a_loaded_model_has_the_menu_that_was_fitted(fitted, several, tmp_path):
    found = summarise(fitted, several.X, several.given, significance=False)["candidates"]
    fitted.save(tmp_path / "view.npz")
    again = summarise(KDAC.load(tmp_path / "view.npz"), several.X, several.given, significance=False)["candidates"]
    assert [one["sentence"] for one in again] == [one["sentence"] for one in found]
    assert [one["drawing"]["codes"] for one in again] == [one["drawing"]["codes"] for one in found]
    unasked = KDAC(random_state=0).fit(several.X, several.given)
    unasked.save(tmp_path / "view.npz")
    assert KDAC.load(tmp_path / "view.npz").candidates_ == ()


def test_other_rows_get_predicted_clusters(fitted, several):
    few = pd.DataFrame(several.X[:50])
    menu = candidates(fitted, few, fitted.predict(several.X[:50]))
    for i, one in enumerate(menu, 1):
        assert one["drawing"]["codes"] == copy(fitted).choose(i).predict(several.X[:50]).tolist()


def test_many_rows_are_sampled_and_small_clusters_kept(fitted, several):
    many = np.tile(several.X, (10, 1))
    menu = candidates(fitted, pd.DataFrame(many), fitted.predict(many))
    for one in menu:
        assert len(one["drawing"]["x"]) == MOST_DRAWN
        assert len(set(one["drawing"]["codes"])) == one["clusters"]


def test_hostile_columns_are_only_text(several):
    names = [f"<script>x{j}</script>" for j in range(several.X.shape[1])]
    frame = pd.DataFrame(several.X, columns=names)
    model = KDAC(random_state=0).fit(frame, several.given)
    page = render(summarise(model, frame, several.given, significance=False))
    assert HEADING in page
    assert "<script>x" not in page


def test_a_picture_of_its_own_brings_its_markers_and_colours(fitted, several):
    one = candidates(fitted, pd.DataFrame(several.X))[0]
    inside, alone = candidate_picture(one), candidate_picture(one, alone=True)
    assert "xmlns" not in inside
    assert alone.startswith("<svg")
    assert alone.count("<marker") == one["clusters"]
    assert 'xmlns="http://www.w3.org/2000/svg"' in alone
    assert ".c0{fill:#" in alone
