from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC, InputError
from altclust.report import Shown, summarise
from altclust.report.drawing import FEWEST, MOST_DRAWN, axis_name, drawn_rows
from altclust.report.labelling import Labelling, collapse
from altclust.report.verdict import BADGES, headline


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
    assert summary["significance"]["missing"] == "significance was not tested"
    assert summary["headline"]["tone"] == "untested"


def test_significance_is_told(data):
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X[:60], data.given[:60])
    assert summarise(model, data.X[:60], data.given[:60])["significance"]["missing"] == "significance was not tested"
    model.assess_significance()
    sure = summarise(model, data.X[:60], data.given[:60])["significance"]
    assert sure["verdict"] == model.significance_.verdict
    assert sure["is_real"] == model.significance_.is_real


def test_too_few_rows_for_significance(data):
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X[:12])
    model.assess_significance()
    summary = summarise(model, data.X[:12])
    assert "too few rows" in summary["headline"]["sentence"]
    assert summary["significance"]["verdict"].startswith("Too few rows to test: 12")
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


WEIGHTS = [{"name": "income", "weight": 0.6}, {"name": "age", "weight": 0.3}, {"name": "x", "weight": 0.1}]
CLEAR = {"p_value": 0.001, "stability": 0.95, "is_real": True, "without_gaps": False, "missing": None, "witnesses": []}
CHANCE = CLEAR | {"p_value": 0.4, "stability": 0.6, "is_real": False}
UNTESTED = CLEAR | {"p_value": None, "stability": None, "is_real": None, "missing": "significance was not tested"}


def said(overlap=0.01, significance=CLEAR, given=(("segment", 0.01),), weights=WEIGHTS, converged=True, rule=None):
    return headline([120, 140, 140], overlap, given, weights, significance, converged, rule)


def test_sure_only_where_new_and_real():
    sentence = (
        "3 clusters of 120, 140 and 140 rows, almost independent of segment (NMI 0.01), based on income and age; "
        "significant and stable."
    )
    assert said() == {
        "tone": "clear",
        "badge": BADGES["clear"],
        "sentence": sentence,
        "verdict": f"New and significant: {sentence}",
    }


def test_chance_is_called_chance():
    for overlap in (0.01, 0.9, None):
        found = said(overlap, CHANCE)
        assert found["tone"] == "chance"
        assert found["verdict"].startswith("Not significant: 3 clusters of ")
        assert found["sentence"].endswith("; rows without clusters look as clear.")
    touching = said(0.01, CHANCE | {"without_gaps": True})
    assert touching["sentence"].endswith("; there is no gap between neighbouring clusters.")
    witness = {"sentence": "Agrees with sex, which was not used."}
    for p_value, witnesses in ((0.05, []), (0.4, []), (0.4, [witness])):
        unstable = said(0.01, CHANCE | {"p_value": p_value, "stability": 0.3, "witnesses": witnesses})
        assert unstable["verdict"].startswith("No reproducible clustering: 3 clusters of ")
        assert "; halves of the rows give other clusters (NMI 0.30)." in unstable["sentence"]


def test_what_resembles_the_given_is_not_new():
    found = said(0.6, given=[("segment", 0.1), ("region", 0.6)])
    assert found["tone"] == "known"
    assert found["verdict"].startswith("Similar to what was given: 3 clusters of ")
    assert "partly similar to region (NMI 0.60)" in found["sentence"]
    assert "independent" not in found["sentence"]


def test_other_tones():
    assert said(None, given=[])["tone"] == "first"
    assert "new" not in said(None, given=[])["badge"].lower()
    assert said(significance=UNTESTED)["tone"] == "untested"
    assert said(significance=CLEAR | {"stability": 0.6})["tone"] == "shaky"
    assert "borders differ" in said(significance=CLEAR | {"stability": 0.6})["sentence"]
    assert "but not independent" in said(0.2)["sentence"]
    assert said(converged=False)["sentence"].endswith("The solver did not converge.")


def test_carriers():
    even = [{"name": f"x{i}", "weight": 0.05} for i in range(20)]
    assert "based on many columns, most on x0, x1 and x2" in said(weights=even)["sentence"]
    assert "9 clusters of 1 to 9 rows" in headline(range(1, 10), 0.0, [], WEIGHTS, CLEAR, True)["sentence"]


def test_a_column_that_was_not_used_is_in_the_headline():
    agrees = [{"sentence": f"Agrees with {name}, which was not used: 9 % against 1 % x."} for name in "abc"]
    found = said(significance=CLEAR | {"witnesses": agrees})
    assert found["tone"] == "clear"
    assert "significant and stable. Agrees with a" in found["sentence"]
    assert "Agrees with b" in found["sentence"]
    assert "Agrees with c" not in found["sentence"]
    weak = said(significance=CHANCE | {"witnesses": agrees})
    assert weak["badge"] == "Confirmed by a column that was not used; no clear gap"
    assert "rows without clusters look as clear. Agrees with a" in weak["sentence"]


def test_the_rule_that_reproduces_the_clusters_is_in_the_headline():
    rule = {"few_valued": False, "phrase": "nearly a split of income at 30"}
    assert "(NMI 0.01), nearly a split of income at 30; significant and stable." in said(rule=rule)["sentence"]
    obvious = said(significance=CHANCE, rule={"few_valued": True, "phrase": "the column year"})
    assert obvious["badge"] == "Obvious groups"
    assert "the column year; groups of columns with few values are a fact" in obvious["sentence"]
    assert "ignificant" not in obvious["sentence"]


def test_witnesses_are_told(data):
    rng = np.random.default_rng(0)
    model = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X[:60], data.given[:60])
    values = pd.DataFrame(data.X[:60], columns=[f"column {j}" for j in range(4)])
    values["shape"], values["nonsense"] = np.array(["a", "b"])[model.labels_], rng.choice(["x", "y"], 60)
    model.assess_significance(witnesses=values[["shape", "nonsense"]])
    summary = summarise(model, data.X[:60], data.given[:60], Shown(values=values))
    (witness,) = summary["significance"]["witnesses"]
    assert witness["sentence"] == "Agrees with shape, which was not used: 100 % against 0 % a."
    assert model.significance_.witnesses[0].column == "shape"
    assert summary["headline"]["sentence"].endswith(witness["sentence"])
    assert summary["rule"] is None or "shape" not in summary["rule"]["columns"]
    json.dumps(summary, allow_nan=False)
