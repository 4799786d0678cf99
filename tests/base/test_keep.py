"""Views that agree with labels of some rows or with links, and still differ from what is given."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from typer.testing import CliRunner

import altclust
from altclust import KDAC, InputError, Links, Settings
from altclust.apps.cli.main import app
from altclust.apps.web.exploration import Choices, Exploration
from altclust.apps.web.jobs import Job
from altclust.base.given import Given
from altclust.base.keep import check_keep
from altclust.core.engines import DenseEngine, FamilyEngine
from altclust.core.kernels import Gaussian
from altclust.core.metrics import nmi
from altclust.core.reduced import ReducedObjective
from altclust.core.solvers.grassmann import orthonormal
from altclust.report import summarise
from altclust.report.agreement import agreement
from altclust.tables import read_table

FIXED = {"sigma": 1.5, "n_components": 1, "random_state": 0}


def two_views(n=160):
    """A given clustering, and two hidden ones; the second is weaker."""
    rng = np.random.default_rng(0)
    given, strong, weak = rng.integers(0, 2, (3, n))
    return np.column_stack([7 * given, 6 * strong, 4 * weak]) + rng.normal(size=(n, 3)), given, strong, weak


def every(labels, step):
    """The labels of some rows."""
    return np.where(np.arange(len(labels)) % step == 0, labels, -1)


@pytest.mark.parametrize("solver", ["auto", "ism"])
def test_the_reward_alone_chooses_between_views(solver):
    X, given, strong, weak = two_views()
    assert nmi(KDAC(2, solver=solver, **FIXED).fit(X, given).labels_, strong) > 0.8
    model = KDAC(2, solver=solver, settings=Settings(keep_weight=5), **FIXED).fit(X, given, keep=every(weak, 8))
    assert nmi(model.labels_, weak) > 0.7
    assert model.overlap_ < 0.05
    pairs = [(i, i + 1) for i in range(0, 60, 2)]
    links = Links([p for p in pairs if weak[p[0]] == weak[p[1]]], [p for p in pairs if weak[p[0]] != weak[p[1]]])
    assert (
        nmi(KDAC(2, solver=solver, settings=Settings(keep_weight=5), **FIXED).fit(X, given, keep=links).labels_, weak)
        > 0.7
    )


def test_a_few_labels_among_many_rows_count():
    """Starts are compared on few rows, which have a third of the labels: there each counts three times as much."""
    X, given, _, weak = two_views(1200)
    model = KDAC(2, settings=Settings(keep_weight=5), **FIXED).fit(X, given, keep=every(weak, 20))
    assert nmi(model.labels_, weak) > 0.7


@pytest.mark.parametrize("n_clusters", [2, "auto"])
def test_a_search_takes_the_view_that_agrees(n_clusters):
    X, given, strong, weak = two_views()
    assert nmi(KDAC(n_clusters, random_state=0).fit(X, given).labels_, strong) > 0.8
    model = KDAC(n_clusters, random_state=0).fit(X, given, keep=every(weak, 10))
    assert nmi(model.labels_, weak) > 0.7
    assert model.overlap_ < 0.05
    assert model.tuning_.table.loc[model.tuning_.table["chosen"], "kept"].iloc[0] > 0.7
    assert model.significance_.p_value < 0.05


def test_labels_of_what_is_given_are_not_kept():
    X, given, strong, _ = two_views()
    model = KDAC(2, random_state=0).fit(X, given, keep=every(given, 10))
    assert model.overlap_ < 0.05
    assert nmi(model.labels_, strong) > 0.8


def test_few_labels_among_many_rows_are_in_the_sample():
    X, given, _, weak = two_views(3400)
    some = np.full(len(X), -1)
    some[-20:] = weak[-20:]
    model = KDAC(2, sample_size=400, random_state=0).fit(X, given, keep=some)
    assert 400 < model.sample_size_ <= 420
    assert set(range(3380, 3400)) <= set(model.fitted_.places)
    assert nmi(model.labels_, weak) > 0.6
    assert model.overlap_ < 0.05


def test_sparse_rows_and_nothing_given():
    X, _, strong, weak = two_views()
    rows = sparse.csr_matrix(X[:, 1:])
    assert nmi(KDAC(2, random_state=0).fit(rows).labels_, strong) > 0.8
    assert nmi(KDAC(2, random_state=0).fit(rows, keep=every(weak, 10)).labels_, weak) > 0.7


def test_rows_with_weights():
    X, given, _, weak = two_views()
    weights = np.where(np.arange(len(X)) % 7 == 3, 0, 2)
    model = KDAC(2, random_state=0).fit(X, given, keep=every(weak, 10), sample_weight=weights)
    assert nmi(model.labels_, weak) > 0.7


def test_groups_and_agreement():
    links = check_keep(Links([(0, 1), (1, 2)], [(2, 4)]), 6, 1.0)
    assert links.codes.tolist() == [0, 0, 0, -1, 1, -1]
    assert links.signs.tolist() == [[1, -1], [-1, 0]]
    assert links.rows.tolist() == [0, 1, 2, 4]
    assert links.agreement(np.array([0, 0, 0, 1, 1, 1])) == 1
    assert links.agreement(np.array([0, 1, 0, 0, 0, 1])) < 0
    labels = check_keep(["a", "b", None, "a", None, "b"], 6, 1.0)
    assert labels.agreement(np.array([1, 0, 0, 1, 0, 0])) == 1
    assert labels.agreement(np.array([0, 0, 1, 1, 1, 1])) < 0
    assert labels.agreement(np.zeros(6, dtype=int)) == 0
    assert labels.take([0, 2, 3]).rows.tolist() == [0, 2]
    assert check_keep(Links(), 3, 1.0) is None
    rng = np.random.default_rng(0)
    known = check_keep(rng.integers(0, 3, 200), 200, 1.0)
    by_chance = [known.agreement(rng.integers(0, k, 200)) for k in (2, 3, 5) for _ in range(50)]
    assert abs(np.mean(by_chance)) < 0.01


def test_columns_are_those_of_the_kernel_without_what_is_given():
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 3, 90), rng.integers(0, 3, 90)
    keep = check_keep(every(hidden, 6), 90, 2.0)
    B, s = keep.columns(np.zeros((90, 0)))
    rows = keep.rows
    K = (B * s) @ B.T
    same = np.where(hidden[rows, None] == hidden[rows], 1.0, -1.0)
    H = np.eye(len(rows)) - 1 / len(rows)
    expected = H @ same @ H
    assert np.allclose(K[np.ix_(rows, rows)], 2 * expected / np.linalg.norm(expected, 2))
    assert np.allclose(np.delete(K, rows, axis=0), 0)
    Y = Given.from_codes(given).indicators()
    without, s = keep.columns(Y)
    assert np.allclose(Y.T @ without, 0)
    assert np.allclose(without.T @ without, np.eye(len(s)))
    assert s.max() == pytest.approx(2)
    assert all(part.size == 0 for part in check_keep(given, 90, 1.0).columns(Y))


@pytest.mark.parametrize("rough", [False, True])
def test_the_gradient_of_one_objective_matches_finite_differences(rough):
    rng = np.random.default_rng(0)
    X, given, _, weak = two_views(60)
    X = X - X.mean(axis=0)
    Y = Given.from_codes(given).indicators()
    keep = check_keep(every(weak, 3), 60, 1.0).columns(Y)
    objective = ReducedObjective(X, Y, Gaussian(1.5), 2, 1.0, keep=keep)
    W = orthonormal(rng.normal(size=(3, 2)))
    if rough:
        objective.landmarks = np.arange(40)
    Z, step = rng.normal(size=W.shape), 1e-6
    numeric = (objective.value(W + step * Z) - objective.value(W - step * Z)) / (2 * step)
    assert np.sum(objective.value_and_gradient(W)[1] * Z) == pytest.approx(numeric, rel=1e-5)
    plain = ReducedObjective(X, Y, Gaussian(1.5), 2, 1.0).value(W)
    assert abs(objective.value(W) - plain) > 1e-3


def test_engines_agree_on_the_weights():
    X, given, _, weak = two_views(60)
    X = X - X.mean(axis=0)
    Y = Given.from_codes(given).indicators()
    B, s = check_keep(every(weak, 3), 60, 1.0).columns(Y)
    W = orthonormal(np.random.default_rng(0).normal(size=(3, 2)))
    values = []
    for kind in (DenseEngine, FamilyEngine):
        engine = kind(X, Gaussian(1.5), Y)
        embedding = engine.embed(W, 2)
        plain = engine.value(W, engine.weigh(embedding, embedding.degrees, 1.0))
        engine.keep = B, s
        values.append(engine.value(W, engine.weigh(embedding, embedding.degrees, 1.0)) - plain)
    D = embedding.degrees
    K = Gaussian(1.5).gram(X @ W) / np.sqrt(np.outer(D, D))
    assert values == pytest.approx([np.sum(B * (K @ B), axis=0) @ s] * 2)


def test_a_column_of_a_table(tmp_path):
    X, given, _, weak = two_views()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(given=given)
    frame["kind"] = pd.Series(["low", "high"]).take(weak).to_numpy()
    frame.loc[np.arange(len(X)) % 10 > 0, "kind"] = None
    found = altclust.find(frame, "given", keep="kind", n_clusters=2, significance=False)
    assert "kind" not in found.study.recipe.names
    assert nmi(found.labels, weak) > 0.7
    with pytest.raises(InputError, match=r"keep='knid' is not a column: did you mean 'kind'\?"):
        altclust.find(frame, "given", keep="knid")
    with pytest.raises(InputError, match=r"keep='given' is also given: .* leave one out"):
        altclust.find(frame, "given", keep="given")
    file, out = tmp_path / "rows.csv", tmp_path / "out"
    frame.to_csv(file, index=False)
    arguments = ["find", str(file), "--given", "given", "--keep", "kind", "--clusters", "2", "--no-significance"]
    run = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert run.exit_code == 0, run.output
    assert nmi(pd.read_csv(out / "table.csv")["alternative"].to_numpy(), weak) > 0.7
    known = frame["kind"].notna()
    told = f"Agreement with kind: NMI {nmi(found.labels[known], weak[known]):.2f} in the 16 rows with a label."
    assert told in str(found)
    assert told in found._repr_html_()
    assert json.loads((out / "figures.json").read_text())["views"][0]["agreement"] == told
    assert told in " ".join(run.stdout.replace("│", " ").split())
    assert told in (out / "report.html").read_text()
    assert CliRunner().invoke(app, ["report", str(out), "--to", str(tmp_path / "again.html")]).exit_code == 0
    assert told in (tmp_path / "again.html").read_text()
    page = Exploration(read_table(file), Choices(("given",), "kind", 2))
    page.take(page.find(Job(page.find)))
    assert page.summary(page.views[0])["agreement"] == told
    wrong = CliRunner().invoke(app, [*arguments[:5], "knid", "--out", str(tmp_path / "other")])
    assert "--keep 'knid' is not a column" in str(wrong.exception)


def test_agreement_in_a_sentence():
    X, given, strong, weak = two_views()
    model = KDAC(2, **FIXED).fit(X, given)
    labels = np.asarray(model.labels_)
    assert agreement(model, labels) is None
    assert summarise(model, X, given)["agreement"] is None
    noise = pd.Series(np.random.default_rng(1).permutation(weak).astype(str), name="noise")
    little = f"Little agreement with noise: NMI {nmi(noise, labels):.2f}. The other columns may tell little about noise"
    assert agreement(model, labels, noise) == f"{little} beyond what is given."
    few = noise.where(np.arange(len(X)) < 12, None)  # of so few rows, NMI is above 0 by chance
    assert agreement(model, labels, few).startswith("Little agreement with noise: NMI 0.")
    assert agreement(model, labels, noise.where(np.arange(len(X)) < 1, None)) is None
    kept = KDAC(2, **FIXED).fit(X, given, keep=every(strong, 10))
    assert "  agreement: Agreement with the labels to keep: NMI 1.00 in the 16 rows with a label." in str(kept)
    pairs = [(i, i + 1) for i in range(0, 60, 2)]
    links = Links(
        [p for p in pairs if strong[p[0]] == strong[p[1]]], [p for p in pairs if strong[p[0]] != strong[p[1]]]
    )
    linked = KDAC(2, **FIXED).fit(X, given, keep=links)
    assert agreement(linked, linked.labels_).startswith("Agreement with the links: kappa 1.00 (1 is full")
    weights = np.where(np.arange(len(X)) % 2 == 0, 2, 0)  # as many copies as rows
    weighted = KDAC(2, **FIXED).fit(X, given, keep=every(strong, 10), sample_weight=weights)
    assert "Agreement with the labels to keep: NMI 1.00" in agreement(weighted, weighted.labels_)
    free = KDAC(2, **FIXED).fit(X, keep=every(given, 10))
    assert agreement(free, np.asarray(free.labels_), noise).endswith("may tell little about noise.")


@pytest.mark.parametrize(
    ("keep", "told"),
    [
        (Links([(0, 500)]), "two different row numbers"),
        (Links([(3, 3)]), "two different row numbers"),
        (Links([(0, 1), (1, 2)], [(0, 2)]), "other links join them"),
        ([1, 2], "keep has 2 labels for 160 rows"),
        (np.arange(320).reshape(160, 2) % 4, "keep has 2 columns"),
    ],
)
def test_mistakes_are_told(keep, told):
    X, given, *_ = two_views()
    with pytest.raises(InputError, match=told):
        KDAC(2, **FIXED).fit(X, given, keep=keep)


@pytest.mark.parametrize("pairs", [[(0, 1, 2)], [0, 1], [(0.5, 1.5)], [(0, 1), (2,)], ["ab"]])
def test_links_are_pairs(pairs):
    with pytest.raises(InputError, match="pairs of row numbers"):
        Links(must=pairs)
