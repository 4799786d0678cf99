"""Columns that were not used: which of them agree with the clusters, beyond the given ones."""

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC
from altclust.base.given import Given
from altclust.datasets import penguins
from altclust.search.witnesses import find_witnesses

N = 300


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def labels(rng):
    return rng.integers(0, 2, N)


def names(found):
    return {witness.column for witness in found}


def test_categories_numbers_and_dates_that_agree_are_found_and_noise_is_not(rng, labels):
    mostly = np.where(rng.random(N) < 0.1, 1 - labels, labels)
    others = pd.DataFrame(
        {
            "sex": np.array(["female", "male"])[mostly],
            "flag": mostly == 1,
            "code": 10 * mostly,
            "size": 2.0 * labels + rng.normal(size=N),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(100 * labels + rng.integers(0, 90, N), "D"),
            "nonsense": rng.choice(list("abc"), N),
            "noise": rng.normal(size=N),
        }
    )
    found = find_witnesses(labels, others, rng=rng)
    assert names(found) == {"sex", "flag", "code", "size", "day"}
    assert all(0 <= witness.p_value <= 0.05 for witness in found)
    assert all(0.1 < witness.effect <= 1 for witness in found)
    said = {witness.column: witness.sentence for witness in found}
    share = round(100 * np.mean(mostly[labels == 0] == 0)), round(100 * np.mean(mostly[labels == 1] == 0))
    assert (
        said["sex"]
        == f"Also differs in sex, which these clusters do not use: {share[0]} % against {share[1]} % female."
    )
    assert "code is 0 for" in said["code"]
    assert "medians 2020-" in said["day"]


def test_a_column_that_only_follows_the_given_clusters_is_no_witness(rng):
    given = rng.integers(0, 3, N)
    labels = np.where(rng.random(N) < 0.7, given, rng.integers(0, 3, N))  # overlaps with what is given
    others = pd.DataFrame({"island": given, "weight": 5.0 * given + rng.normal(size=N)})
    assert names(find_witnesses(labels, others, rng=rng)) == {"island", "weight"}
    assert find_witnesses(labels, others, Given.from_codes(given), rng=rng) == ()


def test_the_level_holds_for_many_columns_of_noise(rng, labels):
    given = rng.integers(0, 4, N)
    false = 0
    for _ in range(20):
        others = pd.DataFrame(rng.normal(size=(N, 10)) + given[:, None])
        others["text"] = rng.choice(list("abcdef"), N)
        false += bool(find_witnesses(rng.permutation(labels), others, Given.from_codes(given), rng=rng))
    assert false <= 3


def test_identifiers_constants_and_missing_cells(rng, labels):
    others = pd.DataFrame(
        {
            "row": np.argsort(np.argsort(labels + rng.random(N))),
            "name": [f"{label} {i}" for i, label in enumerate(labels)],
            "same": "x",
            "empty": np.nan,
            "partly": np.where(rng.random(N) < 0.5, None, np.array(["no", "yes"])[labels]),
            "infinite": np.where(rng.random(N) < 0.1, np.inf, labels + rng.random(N)),
        }
    )
    assert names(find_witnesses(labels, others, rng=rng)) == {"partly", "infinite"}
    assert find_witnesses(np.zeros(N, dtype=int), others, rng=rng) == ()
    assert find_witnesses(labels, others[[]], rng=rng) == ()


def test_a_difference_that_nobody_would_notice_is_not_mentioned(rng):
    labels = np.repeat([0, 1], 50_000)
    others = pd.DataFrame({"a": rng.random(100_000) < 0.5 + 0.1 * labels})
    assert find_witnesses(labels, others, rng=rng) == ()


def test_more_than_two_clusters_are_told_as_a_range(rng):
    labels = rng.integers(0, 3, N)
    others = pd.DataFrame({"kind": np.array(["x", "y", "z"])[labels], "size": labels * 100_000.0 + rng.random(N)})
    said = {witness.column: witness.sentence for witness in find_witnesses(labels, others, rng=rng)}
    assert said["kind"].endswith("from 0 % to 100 % x.")
    assert (
        said["size"].endswith("medians from 0.5 to 200,000.")
        or "to 200,001" in said["size"]
        or "to 200,000" in said["size"]
    )


def test_the_sex_of_the_penguins_confirms_a_view_by_sex(rng):
    table = penguins(as_frame=True).dropna()
    labels = (table.groupby("species").body_mass_g.rank(pct=True) > 0.5).astype(int).to_numpy()
    others = table[["island", "sex", "year"]].assign(nonsense=rng.choice(list("abc"), len(table)))
    found = find_witnesses(labels, others, Given.from_codes(pd.factorize(table.species)[0]), rng=rng)
    assert names(found) == {"sex"}


def test_a_column_that_was_not_used_never_makes_a_view_real():
    """The halves of one cloud agree with any class of its size: that is no evidence of groups."""
    rng = np.random.default_rng(2)  # in some clouds, a few rows are cut off instead of halves
    size = rng.standard_normal(200)
    X = size[:, None] + 0.3 * rng.standard_normal((200, 4))
    model = KDAC(2, random_state=0).fit(X)
    found = model.assess_significance(witnesses=pd.DataFrame({"class": np.where(size > 0, "large", "small")}))
    assert names(found.witnesses) == {"class"}
    assert not found.is_real
    assert found.verdict.startswith(("Not significant", "No reproducible"))
