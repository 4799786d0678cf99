from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, InputError
from altclust.report import Shown, summarise
from altclust.report.drawing import FEWEST, MOST_DRAWN, axis_name, drawn_rows
from altclust.report.labelling import Labelling, collapse
from altclust.report.summary import describe_clusters
from altclust.report.verdict import headline, main_features
from altclust.search.obvious import Obvious
from altclust.search.significance import Significance
from altclust.search.verdict import ADVICE, BADGES, judge_untested


@pytest.fixture(scope="module")
def summary(model, data):
    return summarise(model, data.X, data.given)


def test_it_is_plain_json(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_it_says_what_the_model_says(summary, model, data):
    assert summary["rows"] == 200
    assert summary["columns"] == 4
    assert [c["rows"] for c in summary["clusters"]] == np.bincount(model.labels_).tolist()
    assert summary["overlap"] == pytest.approx(model.overlap_, abs=1e-9)
    assert summary["quality"] == model.quality_
    assert summary["engine"] == model.engine_
    assert summary["guess_agreement"] is None  # nothing was subtracted
    assert summary["status"] == "converged"
    assert summary["history"]["value"] == model.history_["value"].tolist()
    assert sum(w["weight"] for w in summary["weights"]) == pytest.approx(1)
    assert {p["name"]: p["value"] for p in summary["parameters"]}["sigma"] == "1"
    assert summary["significance"]["verdict"] is None


def test_the_check_of_the_solver_is_told_if_it_was_asked_for(data):
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X, data.given)
    assert summarise(model, data.X, data.given)["certificate"] is None
    verdict = model.certificate_.verdict
    assert summarise(model, data.X, data.given)["certificate"]["verdict"] == verdict


def test_cross_table_counts_every_row(summary, model, data):
    (given,) = summary["given"]
    assert np.array(given["counts"]).tolist() == pd.crosstab(data.given, model.labels_).to_numpy().tolist()
    assert given["name"] == "given"


def test_drawn_points_are_the_projected_rows(summary, model, data):
    drawn = summary["drawing"]
    assert np.column_stack([drawn["x"], drawn["y"]]) == pytest.approx(model.transform(data.X), rel=1e-3)
    assert drawn["codes"] == [model.labels_.tolist(), data.given.tolist()]
    assert drawn["ids"][:2] == ["row 1", "row 2"]
    assert drawn["note"] == ""
    assert drawn["axes"][0].startswith("direction 1 (mostly column ")


def test_a_direction_is_named_by_columns_that_vary_with_it():
    rng = np.random.default_rng(0)
    size, noise = rng.standard_normal((2, 300))
    X = np.column_stack([noise, noise + 0.01 * rng.standard_normal(300), size])
    z = X @ [5, -5, 1]  # nearly equal columns with large coefficients of opposite signs
    assert axis_name(1, z, X, ["left", "right", "size"]) == "direction 1 (mostly size)"
    assert axis_name(2, noise, X, ["left", "right", "size"]) == "direction 2 (mostly left, right)"
    assert axis_name(1, np.zeros(3), np.zeros((3, 2)), ["a", "b"]) == "direction 1 (mixed, most a, b)"


def test_values_in_their_own_units(model, data):
    values = pd.DataFrame({"note": ["a", "b"] * 100, "column 0": data.X[:, 0] * 1000, "given": data.given})
    summary = summarise(model, data.X, data.given, Shown(values=values, ids=range(200)))
    assert summary["drawing"]["columns"] == ["column 0", "note"]  # the weightiest first, the given one not at all
    assert summary["drawing"]["ids"][199] == "199"
    named = {f["name"] for c in summary["clusters"] for f in c["features"]}
    assert "column 0" in named
    assert "given" not in named


def test_unknown_labels(model, data):
    given = pd.Series(np.array(["x", "y"], dtype=object)[data.given], name="group")
    given[:30] = None
    summary = summarise(model, data.X, given)
    (group,) = summary["given"]
    assert [entry["name"] for entry in group["legend"]] == ["x", "y", "unknown"]
    assert sum(group["counts"][2]) == 30
    assert summary["drawing"]["codes"][1][:30] == [-1] * 30


@pytest.mark.parametrize("shape", ["dict", "list", "frame", "minus one"])
def test_given_in_every_shape(shape, model, data):
    labels = {
        "dict": {"a": data.given, "b": data.given},
        "list": data.given.tolist(),
        "frame": pd.DataFrame({"a": data.given, "b": ["u", None] * 100}),
        "minus one": np.where(np.arange(200) < 5, -1, data.given),
    }[shape]
    summary = summarise(model, data.X, labels)
    json.dumps(summary, allow_nan=False)
    assert len(summary["given"]) == (2 if shape in ("dict", "frame") else 1)


def test_polars_and_dask(model, data):
    polars, dask = pytest.importorskip("polars"), pytest.importorskip("dask.array")
    names = [f"column {j}" for j in range(4)]
    plain = summarise(model, data.X, pd.Series(data.given, name="group"))
    given, labels = polars.Series("group", data.given), dask.from_array(model.labels_, chunks=50)
    assert summarise(model, polars.DataFrame(data.X, schema=names), given, Shown(labels=labels)) == plain
    assert summarise(model, dask.from_array(data.X, chunks=50), given) == plain


def test_nothing_given(data):
    model = KDAC(2, sigma=1.0, n_components=1, random_state=0).fit(data.X)
    summary = summarise(model, data.X)
    assert summary["overlap"] is None
    assert summary["given"] == []
    assert summary["drawing"]["jittered"]
    assert "without a given clustering" in summary["headline"]["sentence"]


def test_loaded_model_says_what_was_not_computed(data, tmp_path):
    KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X, data.given).save(tmp_path / "view.npz")
    summary = summarise(KDAC.load(tmp_path / "view.npz"), data.X, data.given)
    assert summary["significance"]["p_value"] is None
    assert summary["headline"]["tone"] == "untested"


def test_significance_is_told(data):
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X[:60], data.given[:60])
    assert summarise(model, data.X[:60], data.given[:60])["headline"]["badge"] == "Significance not tested"
    model.assess_significance()
    sure = summarise(model, data.X[:60], data.given[:60])["significance"]
    assert sure["verdict"] == model.significance_.verdict
    assert sure["is_real"] == model.significance_.is_real


def test_too_few_rows_for_significance(data):
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X[:12])
    model.assess_significance()
    summary = summarise(model, data.X[:12])
    assert summary["headline"]["badge"] == "Too few rows to test"
    assert summary["significance"]["verdict"].startswith("Too few rows to test: The table has 12 rows")
    json.dumps(summary, allow_nan=False)


@pytest.mark.parametrize("argument", ["given", "labels", "values", "ids"])
def test_wrong_lengths_are_refused(argument, model, data):
    wrong = pd.DataFrame({"x": [1.0, 2.0]}) if argument == "values" else [0, 1]
    wrong = {"given": wrong} if argument == "given" else {"shown": Shown(**{argument: wrong})}
    with pytest.raises(InputError, match=f"{argument} has 2 rows but X has 200"):
        summarise(model, data.X, **wrong)


def test_a_path_is_refused(model):
    with pytest.raises(InputError, match="is a path: load the rows first"):
        summarise(model, "rows.npy")


def test_every_cluster_keeps_rows_in_the_drawing():
    codes = np.zeros(50_000, dtype=int)
    codes[:5], codes[5:100] = 1, 2
    rows = drawn_rows([Labelling("x", ["a", "b", "c"], codes)])
    assert len(rows) == len(set(rows.tolist())) == MOST_DRAWN
    assert np.sum(codes[rows] == 1) == 5
    assert np.sum(codes[rows] == 2) >= FEWEST


def test_many_levels_are_put_together():
    codes = np.repeat(np.arange(40), np.arange(1, 41))
    small = collapse(Labelling("x", [str(i) for i in range(40)], np.append(codes, -1)))
    assert small.levels == [*(str(i) for i in range(11, 40)), "11 others"]
    assert small.sizes.sum() == len(codes)
    assert small.sizes[-1] == np.sum(codes < 11)
    assert small.unknown == 1


def test_sentences_name_the_columns_with_most_weight_first_and_none_without_weight():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 100)
    shifts = {"clean": 0.4, "body": 1.0, "balance": 0.6, "sex": 2.0}  # of one cluster; sex was not used
    values = pd.DataFrame({name: shift * codes + rng.standard_normal(200) for name, shift in shifts.items()})
    found = Labelling("alternative", ["cluster 0", "cluster 1"], codes)

    def named(**weights: float) -> list[str]:
        listed = [{"name": name, "weight": weight} for name, weight in weights.items()]
        return [feature["name"] for feature in describe_clusters(found, values, listed)[0]["features"]]

    assert named(clean=0.73, body=0.27, balance=0.0) == ["sex", "clean", "body"]
    assert named(body=0.2, clean=0.15, balance=0.1, age=0.55 / 6) == ["sex", "body", "balance", "clean"]


WEIGHTS = [{"name": "income", "weight": 0.6}, {"name": "age", "weight": 0.3}, {"name": "x", "weight": 0.1}]
CLEAR = Significance(0.001, 0.001, 0.95, 0.95, 1.0, np.ones(3), 300, overlap=0.01)
CHANCE = replace(CLEAR, p_value=0.4, halves=0.6)
PHRASE = "3 clusters of 120, 140 and 140 rows, almost independent of segment (NMI 0.01), based on income and age."


def said(overlap=0.01, found=CLEAR, given=(("segment", 0.01),), weights=WEIGHTS, converged=True, rule=None, told=()):
    verdict = judge_untested(overlap, None)
    if found is not None:
        verdict = replace(found, overlap=np.nan if overlap is None else overlap).judgement
    carried = main_features(weights, True) if rule is None else rule.phrase
    return headline([120, 140, 140], overlap, given, "NMI", carried, verdict, converged, told)


def test_sure_only_where_new_and_real():
    why = (
        "Data without groups show clusters this clear in fewer than 1 of 100 cases (p ≤ 0.001). "
        "Samples of the rows give the same clusters (NMI 0.95)."
    )
    assert said() == {
        "tone": "clear",
        "badge": BADGES["clear"],
        "found": PHRASE,
        "why": why,
        "advice": ADVICE["clear"],
        "sentence": f"{PHRASE} {why}",
        "verdict": f"New and significant: {PHRASE} {why}",
    }


def test_chance_is_called_chance():
    for overlap in (0.01, 0.9, None):
        found = said(overlap, CHANCE)
        assert found["tone"] == "chance"
        assert found["verdict"].startswith("Not significant: 3 clusters of ")
        assert "Data without groups show clusters this clear in 40 of 100 cases (p = 0.4)." in found["sentence"]
    assert "Neighbouring clusters touch" in said(0.01, replace(CHANCE, without_gaps=True))["sentence"]
    for p_value in (0.05, 0.4):
        unstable = said(0.01, replace(CHANCE, p_value=p_value, stability=0.3))
        assert unstable["verdict"].startswith("No reproducible clustering: 3 clusters of ")
        assert "Samples of the rows give other clusters (NMI 0.30)." in unstable["sentence"]


def test_what_resembles_the_given_is_not_new():
    found = said(0.6, given=[("segment", 0.1), ("region", 0.6)])
    assert found["tone"] == "known"
    assert found["verdict"].startswith("Similar to what was given: 3 clusters of ")
    assert "partly similar to region (NMI 0.60)" in found["sentence"]
    assert "independent" not in found["sentence"]
    assert said(0.6, None)["tone"] == "known"


def test_other_tones():
    assert said(None, given=[])["tone"] == "first"
    assert "new" not in said(None, given=[])["badge"].lower()
    assert said(found=None)["tone"] == "untested"
    assert said(found=replace(CLEAR, stability=0.6))["tone"] == "unstable"
    assert "Halves of the 300 rows tested are too few" in said(found=replace(CLEAR, halves=0.4))["sentence"]
    assert said(found=replace(CLEAR, halves=0.4))["tone"] == "small"
    assert "but not independent" in said(0.2)["sentence"]
    assert said(converged=False)["sentence"].endswith("The solver did not converge.")


def test_carriers():
    even = [{"name": f"x{i}", "weight": 0.05} for i in range(20)]
    assert "based on many columns, most on x0, x1 and x2" in said(weights=even)["sentence"]
    assert "9 clusters of 1 to 9 rows" in headline(range(1, 10), 0.0, [], "NMI", "", CLEAR.judgement, True)["found"]


def test_a_column_that_was_not_used_is_in_the_headline_and_changes_no_verdict():
    told = [f"Also differs in {name}, which these clusters do not use: 9 % against 1 % x." for name in "abc"]
    for found, tone in ((CLEAR, "clear"), (CHANCE, "chance")):
        line = said(found=found, told=told)
        assert line["tone"] == tone
        assert f"{told[0]} {told[1]}" in line["sentence"]
        assert told[2] not in line["sentence"]


def test_the_rule_that_reproduces_the_clusters_is_in_the_headline():
    rule = Obvious(("income",), 0.97, False, "a split of income at 30")
    assert "(NMI 0.01), nearly a split of income at 30. Data" in said(rule=rule)["sentence"]
    obvious = Obvious(("year",), 1.0, True, "the column year")
    found = said(found=CLEAR.with_obvious(obvious, []), rule=obvious)
    assert found["badge"] == "Obvious groups"
    assert found["sentence"].endswith("(NMI 0.01), the column year.")
    assert "fact about these columns" in found["advice"]


def test_witnesses_are_told(data):
    rng = np.random.default_rng(0)
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X[:60], data.given[:60])
    values = pd.DataFrame(data.X[:60], columns=[f"column {j}" for j in range(4)])
    values["shape"], values["nonsense"] = np.array(["a", "b"])[model.labels_], rng.choice(["x", "y"], 60)
    model.assess_significance(witnesses=values[["shape", "nonsense"]])
    summary = summarise(model, data.X[:60], data.given[:60], Shown(values=values))
    (witness,) = summary["significance"]["witnesses"]
    assert witness["sentence"] == "Also differs in shape, which these clusters do not use: 100 % against 0 % a."
    assert model.significance_.witnesses[0].column == "shape"
    assert summary["headline"]["sentence"].endswith(witness["sentence"])
    assert summary["rule"] is None or "shape" not in summary["rule"]["columns"]
    json.dumps(summary, allow_nan=False)


def test_a_column_without_a_name_is_told_as_such():
    rng = np.random.default_rng(0)
    apart = np.repeat([0.0, 9.0], 40) + rng.standard_normal(80)
    frame = pd.DataFrame({"": apart, "b": rng.standard_normal(80)})
    model = KDAC(2, sigma=1.0, n_components=1, random_state=0).fit(frame)
    summary = summarise(model, frame)
    assert summary["headline"]["found"].endswith("a split of (no name) at 4.")
    assert "higher (no name), " in " ".join(cluster["sentence"] for cluster in summary["clusters"])
    assert summary["weights"][0]["name"] == "(no name)"
    assert summary["drawing"]["columns"][0] == "(no name)"
