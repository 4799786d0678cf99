from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import altclust
from altclust import KDAC, InputError, Settings, find
from altclust.core.metrics import nmi
from altclust.data.rows import ArrayRows
from altclust.datasets import penguins, views

N = 120


def customers():
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, N))
    return pd.DataFrame(
        {
            "segment": np.array(["old", "new"])[known],
            "spend": 50 * known + 10 * rng.standard_normal(N),
            "visits": 3.0 * hidden + 0.4 * rng.standard_normal(N),
            "price": [f"${1000 + 900 * h + 90 * abs(e):,.2f}" for h, e in zip(hidden, rng.normal(size=N), strict=True)],
            "city": rng.choice(["Graz", "Linz", "Wien"], N),
            "note": [f"text {i}" for i in range(N)],
        }
    ), hidden


@pytest.fixture(scope="module")
def found():
    frame, hidden = customers()
    return find(frame, given="segment", n_clusters=2, significance=False), frame, hidden


def test_one_call_finds_the_hidden_clusters(found):
    result, frame, hidden = found
    assert nmi(result.labels, hidden) > 0.8
    assert result.table["alternative"].tolist() == result.labels.tolist()
    pd.testing.assert_frame_equal(result.table.drop(columns="alternative"), frame)
    assert result.columns["type"].tolist() == ["category", "number", "number", "money", "category", "text"]
    assert result.columns["use"].tolist() == ["given", "numbers", "numbers", "numbers", "normal scores", "left out"]
    assert result.predict(frame).tolist() == result.labels.tolist()


def test_the_result_is_told_in_words_and_as_a_frame(found):
    result, _, _ = found
    told = result.describe()
    assert set(told.columns) == {"cluster", "rows", "column", "level", "inside", "outside", "effect"}
    assert set(told.groupby("cluster")["column"].first()) <= {"visits", "price"}
    assert result.verdict in str(result)
    assert "visits" in str(result)
    assert repr(result) == f"<altclust.Found: {result.verdict}>"
    page = result._repr_html_()
    assert "data:image/png" in page
    assert "cluster 1" in page


def test_the_report_and_the_plot(found, tmp_path):
    result, _, _ = found
    result.report(tmp_path / "view.html")
    text = (tmp_path / "view.html").read_text(encoding="utf-8")
    assert "4 columns clustered" in text
    assert len(result.plot()) == 2


def test_the_views_of_a_table_are_found_in_sequence():
    data = views(240, ("blobs", "blobs", "blobs"), (3, 2, 3), random_state=3)
    frame = pd.DataFrame(data.X, columns=[f"x{j}" for j in range(data.X.shape[1])]).assign(known=data.given)
    result = find(frame, given="known")
    assert [one.view.is_real for one in result.views] == [True, True, False, False]
    assert result.views[0].labels.tolist() == result.labels.tolist()
    hidden = list(data.labels.values())[1:]
    assert min(max(nmi(view.labels, truth) for view in result.views[:2]) for truth in hidden) > 0.9
    assert list(result.table.columns) == [*frame.columns, "alternative", "alternative_2"]
    assert result.table["alternative_2"].tolist() == result.views[1].labels.tolist()
    assert result.stopped == "Nothing more that is significant: views 3 and 4 are not."
    assert not result.views[1].describe().empty
    assert [one["name"] for one in result.views[1].summary["given"]] == ["known", "alternative"]
    assert find(frame, given="known", significance=False).table.columns[-1] == "alternative"


@pytest.mark.parametrize("library", [pl.DataFrame, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_frames_of_other_libraries_come_back_with_the_new_column(found, library):
    result, frame, _ = found
    table = library(frame)
    other = find(table, given="segment", n_clusters=2, significance=False)
    assert other.labels.tolist() == result.labels.tolist()
    assert type(other.table) is type(table)
    assert list(getattr(other.table, "column_names", other.table.columns))[-1] == "alternative"
    assert (
        other.table["alternative"].to_pylist() if library is not pl.DataFrame else other.table["alternative"].to_list()
    )


def test_labels_can_be_given_beside_the_table(found):
    result, frame, _ = found
    rest = frame.drop(columns="segment")
    for given in (frame["segment"], frame["segment"].to_list(), frame[["segment"]]):
        other = find(rest, given=given, n_clusters=2, significance=False)
        assert other.labels.tolist() == result.labels.tolist()


def test_the_command_line_finds_the_same(found, tmp_path, monkeypatch):
    from altclust.apps.cli.main import main

    result, frame, _ = found
    frame.to_csv(tmp_path / "customers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    words = ["find", "customers.csv", "--given", "segment", "--clusters", "2", "--no-significance", "--quiet"]
    monkeypatch.setattr("sys.argv", ["altclust", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    written = json.loads((tmp_path / "altclust-out" / "figures.json").read_text())
    column = pd.read_csv(tmp_path / "altclust-out" / "table.csv")["alternative"]
    assert nmi(column, result.labels) == pytest.approx(1.0)  # old libraries number them in another order
    assert [tuple(row) for row in written["recipe"]["listing"]] == list(result.study.recipe.listing)


def test_a_column_with_few_values_is_not_found_as_a_view():
    birds = penguins(as_frame=True)
    result = find(birds, given="species", significance=False)
    assert {"island", "year", "sex"} <= set(result.X.columns)
    for name in ("island", "year"):
        assert nmi(result.labels, birds[name].astype(str)) < 0.1


def test_without_given_the_table_is_clustered_first():
    frame, _ = customers()
    result = find(frame[["spend", "visits"]], n_clusters=2, significance=False)
    assert result.first is not None
    assert nmi(result.first, result.labels) < 0.3


def test_the_verdict_has_the_test_of_significance():
    frame, _ = customers()
    result = find(frame, given="segment", n_clusters=2)
    assert result.summary["significance"]["p_value"] is not None
    assert "ignificant" in result.verdict


def test_mistakes_get_a_sentence():
    frame, _ = customers()
    frame["number"] = np.arange(1000, 1000 + len(frame))
    for arguments, message in (
        ({"given": "colour"}, "given='colour' is not a column: the nearest of 7 columns are"),
        ({"given": ["a"] * 7}, "given='a' is not a column"),
        ({"given": np.zeros(7)}, "given has 7 labels, and the table 120 rows"),
        ({"given": "number"}, "given='number' is an identifier"),
        ({"ids": "nobody"}, "ids='nobody' is not a column: the nearest of 7 columns are"),
    ):
        with pytest.raises(InputError, match=message):
            find(frame, **arguments)
    with pytest.raises(InputError, match="table has a column 'alternative' already"):
        find(frame.assign(alternative=1))
    with pytest.raises(InputError, match="table is a list: pass a data frame"):
        find([1, 2])
    with pytest.raises(InputError, match="table has two columns named 'spend'"):
        find(pd.concat([frame, frame[["spend"]]], axis=1))
    assert altclust.find is find


@pytest.fixture(scope="module")
def answers():
    """A table of answers with many equal rows; the hidden groups give other answers."""
    rng = np.random.default_rng(0)
    known, *hidden = rng.integers(0, 2, (3, 200))
    asked = {f"q{j}": np.where(rng.random(200) < 0.8, hidden[j % 2], rng.integers(0, 2, 200)) for j in range(6)}
    frame = pd.DataFrame(asked).apply(lambda column: np.array(["a", "b", "c"])[column])
    return frame.assign(segment=np.array(["old", "new"])[known])


def test_equal_rows_are_in_one_cluster(answers):
    result = find(answers, given="segment", n_clusters=2, significance=False)
    assert answers.duplicated().sum() > 40
    assert (
        result.model.fitted_.searched_labels.tolist() != result.labels.tolist()
    )  # those of the values that were drawn
    for labels in [result.labels, *(result.view.variant(k).labels for k in result.view.variants)]:
        assert (answers.assign(new=labels).groupby(list(answers.columns))["new"].nunique() == 1).all()
    assert np.mean(result.predict(answers) == result.labels) > 0.9
    assert result.predict(answers)[::-1].tolist() == result.predict(answers[::-1]).tolist()
    assert len(result.summary["rule"]["columns"]) == 2  # all columns together always reproduce them
    assert tuple(result.summary["rule"]["columns"]) == result.model.fitted_.rule.columns  # the same labels are judged
    assert result.model.overlap_ == pytest.approx(nmi(result.labels, answers["segment"]))
    shown = sum(len(marks.get_offsets()) for marks in result.model.plot()[1].collections)
    assert shown == 200


def test_labels_stay_if_a_cluster_would_lose_all_rows(answers):
    result = find(answers, given="segment", n_clusters=2, significance=False)
    view = result.model.fitted_
    one_place = ArrayRows(np.tile(view.mean, (200, 1))).coded([answers["segment"].iloc[[0] * 200]], view.levels)
    assert view.labelled_at(one_place).labels.tolist() == view.labels.tolist()
    assert view.labelled_at(None) is view


def test_one_row_is_labelled_and_none_is_refused():
    frame, _ = customers()
    found = find(frame, given="segment", n_clusters=2, significance=False)
    assert found.predict(frame.iloc[[3]]).shape == (1,)
    with pytest.raises(InputError, match="table has no rows: pass those to label"):
        found.predict(frame.iloc[:0])
    with pytest.raises(InputError, match="table has 1 row: a clustering needs at least 2"):
        find(frame.iloc[:1], given="segment")


def test_other_columns_may_show_what_a_column_that_was_left_aside_shows():
    """Without that column the same clusters are found, and they are no obvious group then."""
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, 200), rng.integers(0, 3, 200)
    nearly = np.where(rng.random(200) < 0.97, hidden, rng.integers(0, 3, 200))
    frame = pd.DataFrame(
        {
            "team": np.array(["a", "b"])[known],
            "speed": np.array([50, 75, 100])[hidden] + 3 * rng.standard_normal(200),
            "noise": np.array([30, 80, 40])[hidden] + 3 * rng.standard_normal(200),
            "height": 170 + 9 * rng.standard_normal(200),
            "comment": np.array(["fast", "loud", "slow"])[nearly],
        }
    )
    result = find(frame, given="team", significance=False)
    assert [rule.columns for rule in result.model.tuning_.obvious] == [("comment",)]
    assert nmi(result.labels, hidden) > 0.95
    assert result.model.fitted_.obvious_group is None


def test_pictures_show_rows_without_the_means_of_their_given_clusters():
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, 120), rng.integers(0, 2, 120)
    sums = np.column_stack([5 * hidden + given, 5 * hidden - given]) + rng.standard_normal((120, 2))
    frame = pd.DataFrame(sums, columns=["a", "b"]).assign(group=np.array(["x", "y"])[given])
    study = find(frame, given="group", significance=False).study
    settings = Settings(sigma=1.0, n_components=1, subtract_given=True)
    model = study.fit(KDAC(2, random_state=0, settings=settings), study.known())
    shown = study.positions(model)
    assert np.allclose(shown, model.transform(study.X, frame[["group"]]))
    assert not np.allclose(shown, model.transform(study.X))  # where the given cluster is guessed
