from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kurtosis
from tests.conftest import some

from altclust import KDAC, InputError
from altclust.datasets import views
from altclust.search.significance import FEWEST_ROWS, AssessOptions, Confidence, _verdict, assess, chance, shuffle
from altclust.search.spec import SearchSpec, Spec


def within(X, codes):
    """The covariance that is left without the means of the clusters."""
    left = X - np.array([X[codes == c].mean(axis=0) for c in range(codes.max() + 1)])[codes]
    return left.T @ left / len(left)


def test_a_shuffle_keeps_what_is_given_and_the_covariance_within():
    data = views(1500, ("blobs", "moons"), (3, 2), random_state=0)
    mixed = data.X @ np.random.default_rng(1).standard_normal((6, 6))
    X = mixed - mixed.mean(axis=0)
    shuffled = shuffle(X, [data.given], np.random.default_rng(0))
    for code in range(3):
        members = data.given == code
        assert np.allclose(shuffled[members].mean(axis=0), X[members].mean(axis=0), atol=1e-8)
    wanted = within(X, data.given)
    scale = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    assert np.abs((within(shuffled, data.given) - wanted) / scale).max() < 0.15
    assert not np.allclose(shuffled, X, atol=0.1)


def test_a_shuffle_keeps_the_means_of_every_combination_of_what_is_given():
    data = views(600, ("blobs", "blobs", "blobs"), (2, 2, 2), random_state=0)
    shuffled = shuffle(data.X, [data.given, data.alternative], np.random.default_rng(0))
    for codes in (data.given, data.alternative, 2 * data.given + data.alternative):
        for code in np.unique(codes):
            difference = (shuffled - data.X)[codes == code].mean(axis=0)
            assert np.allclose(difference, 0, atol=1e-8)


def test_a_shuffle_destroys_a_column_of_two_blobs():
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 600))
    X = rng.standard_normal((600, 10))
    X[:, 0] += 6 * given
    X[:, 1] += 6 * hidden
    X -= X.mean(axis=0)
    shuffled = [shuffle(X, [given], rng)[:, 1] for _ in range(5)]
    assert kurtosis(X[:, 1]) < -1.5
    assert np.mean([kurtosis(column) for column in shuffled]) > -0.7
    assert kurtosis(shuffle(X, [given], rng)[:, 0]) < -1.2  # what is given stays


def test_chance_is_a_probability_of_reaching_the_score():
    reference = np.exp([-1.0, -0.5, 0.0, 0.5, 1.0, 0.2, -0.2, 0.0])
    assert chance(float(np.exp(np.log(reference).mean())), reference) == pytest.approx(0.5)
    scores = [0.1, 1.0, 3.0, 10.0, 1000.0]
    probabilities = [chance(score, reference) for score in scores]
    assert probabilities == sorted(probabilities, reverse=True)
    assert probabilities[0] > 0.9
    assert probabilities[-1] < 1e-3
    assert chance(-1e6, reference) > 0.9  # nothing new was found at all
    assert chance(2.0, np.full(8, 1.0)) > 1e-3  # shuffles that agree by accident prove little


@pytest.mark.parametrize(
    ("p_value", "stability", "words"),
    [
        (0.2, 0.8, "Not significant: shuffled data look this clear in 20 of 100 cases (p = 0.2; NMI 0.80 between"),
        (0.4, 1.0, "Not significant: shuffled data look this clear in 40 of 100 cases (p = 0.4"),
        (0.2, 1.0, "Weakly significant, but stable: another sample of rows gives the same clusters (p = 0.2"),
        (0.01, 0.1, "Not significant: the clusters are unstable, another sample of rows gives other ones (p = 0.01"),
        (0.01, 0.5, "Significant, but partly unstable: cluster borders differ between samples of rows (p = 0.01"),
        (0.001, 0.1, "Significant, but unstable: another sample of rows gives other clusters (p = 0.001"),
        (0.01, 0.9, "Significant and stable: another sample of rows gives the same clusters (p = 0.01"),
    ],
)
def test_verdicts(p_value, stability, words):
    sure = Confidence(p_value, stability, 1.0, np.ones(3), _verdict(p_value, stability))
    assert words in str(sure)
    assert sure.is_real == ("Not significant" not in words)


def test_a_second_view_is_told_from_chance():
    data = views(some(80, 160), ("blobs", "blobs"), (2, 2), noise_columns=some(0, 4), random_state=0)
    model = KDAC(2, n_components=1, random_state=0).fit(data.X, data.given)
    sure = model.confidence_
    assert sure is model.confidence_
    assert sure.p_value <= 0.05
    assert sure.is_real
    assert sure.stability > 0.6
    assert len(sure.reference) == AssessOptions().shuffles
    assert sure.score > sure.reference.max()


def test_noise_beside_what_is_given_is_chance(few_shuffles):
    data = views(some(60, 120), ("blobs",), (2,), noise_columns=some(3, 5), random_state=0)
    sure = KDAC(2, n_components=1, random_state=0).fit(data.X, data.given).confidence_
    assert sure.p_value > 0.05
    assert not sure.is_real
    assert "Not significant" in sure.verdict


def test_progress_counts_the_searches():
    data = views(60, random_state=0)
    spec = SearchSpec(data.X, [data.given], Spec(3, sigma=1.0))
    seen = []
    few = AssessOptions(shuffles=3, resamples=2)
    first = assess(spec, data.alternative, few, rng=np.random.default_rng(0), progress=seen.append)
    assert [(p.stage, p.done, p.total) for p in seen] == [("test", done, 6) for done in range(1, 7)]
    again = assess(spec, data.alternative, few, rng=np.random.default_rng(0))
    assert (again.p_value, again.stability) == (first.p_value, first.stability)


def test_too_few_rows_are_said_to_be_too_few():
    data = views(FEWEST_ROWS - 1, ("blobs", "blobs"), (2, 2), random_state=0)
    sure = KDAC(2, sigma=1.0, random_state=0).fit(data.X, data.given).confidence_
    assert np.isnan(sure.p_value)
    assert not sure.is_real
    assert sure.verdict == f"{FEWEST_ROWS - 1} rows are too few to test significance."


@pytest.mark.parametrize("asked", [True, False])
def test_saving_keeps_confidence_and_given_means(tmp_path, asked):
    data = views(150, ("blobs", "blobs"), (2, 2), random_state=0)
    model = KDAC(2, sigma=1.0, subtract_given=True, random_state=0).fit(data.X[:120], data.given[:120])
    sure = model.confidence_ if asked else None
    model.save(tmp_path / "model.npz")
    loaded = KDAC.load(tmp_path / "model.npz")
    assert np.array_equal(loaded.transform(data.X[120:]), model.transform(data.X[120:]))
    assert np.array_equal(loaded.predict(data.X[120:]), model.predict(data.X[120:]))
    assert loaded.subtract_given_ is True
    if sure is None:
        with pytest.raises(InputError, match="confidence_ was not computed before the model was saved"):
            loaded.confidence_  # noqa: B018
    else:
        assert (loaded.confidence_.p_value, str(loaded.confidence_)) == (sure.p_value, str(sure))
        assert np.array_equal(loaded.confidence_.reference, sure.reference)
