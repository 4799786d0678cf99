from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.conftest import some

from altclust import KDAC, InputError, Settings
from altclust.base.given import Given
from altclust.base.thresholds import ALTERNATIVE
from altclust.datasets import views
from altclust.search import halves
from altclust.search.halves import Carried
from altclust.search.null_rows import Marginal, NullRows, one_peak
from altclust.search.obvious import Obvious
from altclust.search.serial import block_length, block_split
from altclust.search.significance import (
    Answer,
    AssessOptions,
    Significance,
    _combined,
    assess,
    fewest_rows,
)
from altclust.search.spec import SearchSpec
from altclust.search.verdict import ADVICE, BADGES, LEVEL, SAME_VIEW, STABLE, judge_untested


def peaks(values):
    """How often a histogram of eight bins falls and rises again by more than chance."""
    counts = np.histogram(values, 8)[0].astype(float)
    return sum(counts[i] < 0.6 * min(counts[:i].max(), counts[i + 1 :].max()) for i in range(1, 7))


def test_one_peak_keeps_mean_and_spread_and_fills_the_gap():
    rng = np.random.default_rng(0)
    values = np.sort(np.concatenate([rng.normal(-4, 1, 200), rng.normal(4, 1, 200)]))
    found = one_peak(values)
    assert np.all(np.diff(found) >= 0)
    assert found.mean() == pytest.approx(values.mean())
    assert found.std() == pytest.approx(values.std())
    assert peaks(values) > 0 == peaks(found)


@pytest.mark.parametrize("values", [[0.0, 1.0], [1.0, 2.0, 3.0], [-0.5, 0.1, 2.0, 2.5]])
def test_few_values_stay_as_they_are(values):
    rng = np.random.default_rng(0)
    column = rng.choice(values, 200)
    drawn = Marginal.fit(column, rng).draw(rng.standard_normal((3, 200)))
    assert np.array_equal(np.sort(drawn, axis=1), np.tile(np.sort(column), (3, 1)))


def test_whole_numbers_stay_whole():
    rng = np.random.default_rng(0)
    column = rng.poisson(30, 300).astype(float)
    drawn = Marginal.fit(column, rng).draw(rng.standard_normal((2, 300)))
    assert set(np.unique(drawn)) <= set(np.unique(column))
    assert drawn.mean() == pytest.approx(column.mean(), abs=1.0)


def test_a_value_that_stands_out_keeps_its_share_and_the_rest_has_one_peak():
    rng = np.random.default_rng(0)
    counts = np.where(rng.random(300) < 0.2, 0, rng.poisson(12, 300)).astype(float)
    drawn = Marginal.fit(counts, rng).draw(rng.standard_normal((50, 300)))
    assert np.mean(drawn == 0) == pytest.approx(np.mean(counts == 0), abs=0.02)
    assert np.mean((drawn > 0) & (drawn < 4)) < 0.02
    two = np.concatenate([np.zeros(60), rng.normal(10, 1, 120), rng.normal(20, 1, 120)])
    filled = Marginal.fit(two, rng).draw(rng.standard_normal((50, 300)))
    assert np.mean(two == 0) == pytest.approx(np.mean(filled == 0), abs=0.02)
    assert np.mean((filled > 13) & (filled < 17)) > 0.1 > np.mean((two > 13) & (two < 17))


def test_sine_and_cosine_of_one_angle_stay_on_their_circle():
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * rng.integers(6, 22, 200) / 24
    X = np.column_stack([np.sin(angle), rng.standard_normal(200), np.cos(angle)])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    drawn = NullRows(X, np.zeros(200, dtype=int), rng).draw(2, rng)
    ring = {tuple(pair) for pair in np.round(X[:, [0, 2]], 9)}
    assert {tuple(pair) for pair in np.round(drawn[:, :, [0, 2]].reshape(-1, 2), 9)} == ring


@pytest.mark.parametrize("kind", ["noise", "walk", "sorted by clusters", "sorted by a column", "grouped, then sorted"])
def test_only_series_depend_on_their_order(kind):
    rng = np.random.default_rng(0)
    labels, groups = rng.integers(0, 2, 200), np.zeros(200, dtype=int)
    X = rng.standard_normal((200, 3)) + 5 * labels[:, None] * [1, 0, 0]
    if kind == "walk":
        X = X.cumsum(axis=0) + 5 * labels[:, None] * [1, 0, 0]
    elif kind == "sorted by clusters":
        order = np.argsort(labels, kind="stable")
        X, labels = X[order], labels[order]
    elif kind == "sorted by a column":
        X[:, 1] += X[:, 0]
        order = np.argsort(X[:, 0])
        X, labels = X[order], labels[order]
    elif kind == "grouped, then sorted":
        groups = np.repeat([0, 1], 100)
        order = np.lexsort((X[:, 0], groups))
        X, labels = X[order], labels[order]
    found = block_length(X, groups, labels)
    assert (found > 0) == (kind == "walk")
    if found:
        half = block_split(200, found, rng)
        assert 0.25 <= half.mean() <= 0.75
        assert np.sum(np.diff(half.astype(int)) != 0) <= 200 // found


def test_a_random_walk_is_not_real_and_told_to_be_a_series(few_draws):
    X = np.random.default_rng(3).standard_normal((200, 4)).cumsum(axis=0)
    found = KDAC(2, sigma=1.0, random_state=0).fit(X / X.std(axis=0)).significance_
    assert found.block > 0
    assert "Consecutive rows are alike" in found.verdict
    assert not found.is_real


def test_null_rows_keep_given_clusters_and_correlations_but_no_other_clusters():
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 600))
    X = rng.standard_normal((600, 3))
    X[:, 0] += 6 * given
    X[:, 1] += 6 * hidden
    X[:, 2] += X[:, 1]
    drawn = NullRows(X, given, rng).draw(1, rng)[0]
    for c in (0, 1):
        assert np.allclose(drawn[given == c].mean(axis=0), X[given == c].mean(axis=0), atol=0.5)
    assert np.corrcoef(drawn[:, 1:].T)[0, 1] == pytest.approx(np.corrcoef(X[:, 1:].T)[0, 1], abs=0.1)
    assert peaks(X[:, 1]) > 0 == peaks(drawn[:, 1])


def test_small_given_clusters_are_pooled():
    rng = np.random.default_rng(0)
    given = np.repeat(np.arange(30), 5)
    X = rng.standard_normal((150, 2)) + 5 * given[:, None]
    drawn = NullRows(X, given, rng).draw(1, rng)[0]
    assert np.abs(drawn - X).max() < 10


@pytest.mark.parametrize(
    ("p_value", "stability", "again", "said"),
    [
        (
            0.005,
            0.95,
            0.6,
            "Significant: Data without groups show clusters this clear in fewer than 1 of 100 cases (p ≤ 0.005).",
        ),
        (
            0.03,
            0.91,
            0.9,
            "Significant: Data without groups show clusters this clear in 3 of 100 cases (p = 0.03). Samples of",
        ),
        (
            0.2,
            0.9,
            0.8,
            "Not significant: Data without groups show clusters this clear in 20 of 100 cases (p = 0.2). Samples",
        ),
        (
            0.01,
            0.844,
            0.8,
            "No reproducible clustering: Samples of the rows give other clusters (NMI 0.84).",
        ),
        (
            0.01,
            0.846,
            0.496,
            "Significant: Data without groups show clusters this clear in 1 of 100 cases (p = 0.01). Samples of the "
            "rows give the same clusters (NMI 0.85).",
        ),
        (
            0.01,
            0.84,
            0.8,
            "No reproducible clustering: Samples of the rows give other clusters (NMI 0.84).",
        ),
        (
            0.01,
            0.9,
            0.1,
            "Too few rows to test: Samples of the rows give the same clusters (NMI 0.90). Halves of the 300 rows",
        ),
    ],
)
def test_verdicts(p_value, stability, again, said):
    sure = Significance(p_value, 0.005, stability, again, 1.0, np.ones(3), 300)
    assert str(sure).startswith(said)
    assert sure.is_real == said.startswith("Significant")
    assert sure.judgement.advice in str(sure)


def test_the_verdict_and_is_real_agree_on_all_evidence():
    rule = Obvious(("year",), 1.0, True, "the column year")
    numbers = itertools.product(
        (0.001, 0.05, 0.2, np.nan), (0.1, 0.9), (0.1, 0.5), (np.nan, 0.0, 0.8), (False, True), (0, 40)
    )
    for p_value, stability, again, overlap, obvious, block in numbers:
        found = Significance(p_value, 0.001, stability, again, 1.0, np.ones(3), 90, block=block, overlap=overlap)
        found = found.with_obvious(rule if obvious else None, ())
        assert found.is_real == found.verdict.startswith(("Significant", "New and significant", "Similar to"))
        assert found.judgement.tone in BADGES.keys() & ADVICE.keys()
        tested = not obvious and not np.isnan(p_value)
        assert ("Consecutive rows are alike" in found.verdict) == (tested and block > 0)


def test_a_correction_for_views_is_told_and_counts_once():
    found = Significance(0.02, 0.005, 0.9, 0.9, 1.0, np.ones(3), 300)
    third = found.corrected_for(2).corrected_for(3)
    assert third.p_value == pytest.approx(0.06)
    assert not third.is_real
    assert "corrected for 3 views" in third.verdict


def test_single_precision_gives_the_same_clusters_and_score(monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 60)
    rows = np.array([[0, 0], [4, 0], [0, 4]])[labels] + rng.standard_normal((180, 2))
    trial = SimpleNamespace(sigma=0.5, labels=labels, n_clusters=3)
    other = rows + 0.3 * rng.standard_normal(rows.shape)
    single = Carried(trial, rows)
    monkeypatch.setattr(halves, "FAR", 0.0)
    double = Carried(trial, rows)
    assert (single.rows.dtype, double.rows.dtype) == (np.float32, np.float64)
    assert single.score(other)[0] == pytest.approx(double.score(other)[0], abs=1e-3)
    assert np.array_equal(single.score(other)[1], double.score(other)[1])


def test_the_verdict_names_the_test_that_decides():
    for gaps, decided in ((0.4, True), (0.01, False), (np.nan, False)):
        found = _combined([Answer(0.02, 0.9, 1.0, np.zeros(3), gaps)] * 2, 300, 199)
        assert found.without_gaps is decided  # a bool of numpy cannot be written as JSON
        assert found.p_value == pytest.approx(0.4 if decided else 0.02)
        assert ("Neighbouring clusters touch" in replace(found, stability=1.0).verdict) == decided


def test_a_second_view_is_significant():
    data = views(160, ("blobs", "blobs"), (2, 2), random_state=0)
    model = KDAC(2, n_components=1, random_state=0).fit(data.X, data.given)
    sure = model.significance_
    assert sure is model.significance_
    assert sure.smallest_p <= sure.p_value <= 0.05
    assert sure.is_real
    assert sure.stability > 0.6
    assert len(sure.reference) == AssessOptions().draws
    assert sure.score > np.median(sure.reference)


@pytest.mark.parametrize("kind", ["normal", "coins", "uniform"])
def test_noise_beside_what_is_given_is_not(kind, few_draws):
    rng = np.random.default_rng(1)
    n = some(120, 300)
    given = rng.integers(0, 2, n)
    draw = {"normal": rng.standard_normal, "coins": lambda s: rng.integers(0, 2, s) * 1.0, "uniform": rng.random}[kind]
    sure = KDAC(2, random_state=0).fit(draw((n, 4)), given).significance_
    assert not sure.is_real
    assert sure.verdict.startswith(
        "Obvious groups" if kind == "coins" else ("Not significant", "No reproducible", "Too few")
    )


def test_progress_counts_halves_and_samples():
    data = views(100, random_state=0)
    spec = SearchSpec(data.X, Given.from_codes(data.given), Settings(3, sigma=1.0))
    seen = []
    few = AssessOptions(splits=2, draws=9)
    fixed = "fixed"
    first = assess(spec, data.alternative, fixed, few, rng=np.random.default_rng(0), progress=seen.append)
    assert [(p.stage, p.done, p.total) for p in seen] == [("test", done, 8) for done in range(1, 9)]
    again = assess(spec, data.alternative, fixed, few, rng=np.random.default_rng(0))
    assert (again.p_value, again.stability) == (first.p_value, first.stability)
    assert assess(spec, data.alternative, fixed, few, rng=np.random.default_rng(0), progress=lambda p: True) is None


def test_more_columns_than_rows(few_draws):
    data = views(80, ("blobs", "blobs"), (2, 2), random_state=0)
    X = np.hstack([data.X, 0.1 * np.random.default_rng(0).standard_normal((80, 400))])
    sure = KDAC(2, n_components=1, sigma=2.0, random_state=0).fit(X, data.given).significance_
    assert 0 < sure.p_value <= 1


def test_too_few_rows_are_said_to_be_too_few():
    data = views(fewest_rows(2) - 1, ("blobs", "blobs"), (2, 2), random_state=0)
    sure = KDAC(2, sigma=1.0, random_state=0).fit(data.X, data.given).significance_
    assert np.isnan(sure.p_value)
    assert not sure.is_real
    assert sure.verdict.startswith(
        f"Too few rows to test: The table has {fewest_rows(2) - 1} rows; the test needs 25 for each cluster."
    )


def test_many_clusters_are_tested_with_more_rows_than_few_are():
    data = views(120, ("blobs", "blobs"), (4, 2), random_state=0)
    model = KDAC(4, n_components=2, sigma=1.0, random_state=0).fit(data.X)
    few = AssessOptions(rows=60, splits=1, draws=19)
    spec = SearchSpec(data.X - data.X.mean(axis=0), Given.nothing(120), Settings(n_clusters=4, sigma=1.0))
    assert not np.isnan(assess(spec, model.labels_, "fixed", few, rng=np.random.default_rng(0)).p_value)


@pytest.mark.parametrize("asked", [True, False])
def test_saving_keeps_significance_and_given_means(tmp_path, asked):
    data = views(150, ("blobs", "blobs"), (2, 2), random_state=0)
    model = KDAC(2, sigma=1.0, random_state=0, settings=Settings(subtract_given=True)).fit(
        data.X[:120], data.given[:120]
    )
    sure = model.significance_ if asked else None
    model.save(tmp_path / "model.npz")
    loaded = KDAC.load(tmp_path / "model.npz")
    assert np.array_equal(loaded.transform(data.X[120:]), model.transform(data.X[120:]))
    assert np.array_equal(loaded.predict(data.X[120:]), model.predict(data.X[120:]))
    assert loaded.subtract_given_ is True
    if sure is None:
        with pytest.raises(InputError, match="significance_ was not computed before the model was saved"):
            loaded.significance_  # noqa: B018
    else:
        assert (loaded.significance_.p_value, str(loaded.significance_)) == (sure.p_value, str(sure))
        assert np.array_equal(loaded.significance_.reference, sure.reference)


def test_a_corrected_p_value_is_not_told_as_a_number_of_cases():
    alone = Significance(0.2, 0.005, 0.9, 0.9, 1.0, np.zeros(3), 300)
    assert "in 20 of 100 cases (p = 0.2)." in alone.verdict
    assert "in 20 of 100 cases (p = 0.4, corrected for 2 views)." in alone.corrected_for(2).verdict


def evidence(p_value, stability, rows=300, again=0.9, **more):
    return Significance(p_value, 0.005, stability, again, 1.0, np.ones(3), rows, **more)


def test_limits_of_the_verdict_belong_to_the_better_side():
    tones = {
        "clear": evidence(LEVEL, STABLE, overlap=ALTERNATIVE),
        "first": evidence(LEVEL, STABLE),
        "known": evidence(LEVEL, STABLE, overlap=ALTERNATIVE + 1e-6),
        "unstable": evidence(LEVEL, STABLE - 0.01),
        "chance": evidence(LEVEL + 1e-6, STABLE),
    }
    assert {tone: found.judgement.tone for tone, found in tones.items()} == {tone: tone for tone in tones}
    tones_of_halves = [evidence(LEVEL, STABLE, again=again).judgement.tone for again in (SAME_VIEW, SAME_VIEW - 0.01)]
    assert tones_of_halves == ["first", "small"]
    assert evidence(LEVEL, STABLE, again=SAME_VIEW - 0.01, block=40).judgement.tone == "unstable"  # halves are blocks


def test_few_rows_are_named_where_nothing_was_found():
    for stability, p_value in ((0.9, 0.3), (0.1, 0.01)):
        few, enough = (evidence(p_value, stability, rows).verdict for rows in (99, 100))
        assert few.endswith("With 99 rows, real clusters are often missed.")
        assert "often missed" not in enough
    assert "often missed" not in evidence(0.01, 0.9, 99).verdict


@pytest.mark.parametrize(("block", "blocks"), [(40, 7), (100, 3), (299, 2)])
def test_a_series_is_told_with_the_number_of_its_blocks(block, blocks):
    assert f"made of {blocks} blocks of consecutive rows" in evidence(0.01, 0.9, block=block).verdict


def test_without_a_test_only_overlap_and_obvious_groups_are_judged():
    rules = (Obvious(("year",), 1.0, few, "the column year") for few in (True, False))
    obvious, wide = (judge_untested(0.9, rule) for rule in rules)
    assert (obvious.tone, obvious.why) == ("obvious", "These clusters are the column year.")
    assert wide.tone == "known"
    assert [judge_untested(overlap, None).tone for overlap in (None, ALTERNATIVE)] == ["untested", "untested"]
    assert str(judge_untested(None, None)) == "Significance not tested: Whether the clusters exist was not tested."
