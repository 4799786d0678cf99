"""The settings of a fit: set in one place or the other, checked, closed by a search, and used again."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone

from altclust import KDAC, InputError, Settings, tune
from altclust.datasets import views
from altclust.kernels import RationalQuadratic
from altclust.models.fit_view import settings_of


@pytest.fixture(scope="module")
def data():
    return views(120, ("blobs", "blobs"), (2, 2), random_state=0)


def test_a_value_may_be_set_in_either_place():
    here, there = settings_of(KDAC(3, sigma=2)), settings_of(KDAC(settings=Settings(3, sigma=2)))
    assert vars(here) == vars(there)
    assert (here.n_clusters, here.sigma, here.n_components, here.kernel) == (3, 2, None, "gaussian")
    both = settings_of(KDAC(3, settings=Settings(3, whitening=1)))
    assert (both.n_clusters, both.whitening) == (3, 1.0)


@pytest.mark.parametrize(
    ("own", "other", "message"),
    [
        ({"n_clusters": 3}, Settings(4), r"^n_clusters=3 differs from settings\.n_clusters=4: set one of them\.$"),
        ({"sigma": 1.0}, Settings(sigma=2.0), r"sigma=1\.0 differs from settings\.sigma=2\.0"),
        ({"kernel": "linear"}, Settings(kernel=RationalQuadratic()), "kernel='linear' differs from settings.kernel="),
        (
            {},
            Settings(n_clusters="auto"),
            "n_clusters='auto' is not allowed: pass a whole number of at least 1 or None",
        ),
        ({}, Settings(pull=-1), "pull=-1 is not allowed"),
        ({"settings": {"pull": 1}}, None, "settings={'pull': 1} is not allowed: pass a Settings or None"),
    ],
)
def test_what_contradicts_or_is_not_allowed_is_refused(own, other, message, data):
    with pytest.raises(InputError, match=message):
        KDAC(**{"settings": other} | own).fit(data.X, data.given)


def test_numbers_become_those_of_python():
    found = settings_of(KDAC(np.uint8(3), novelty_weight=np.float16(2), settings=Settings(n_init=np.int8(100))))
    assert [type(value) for value in (found.n_clusters, found.novelty_weight, found.n_init)] == [int, float, int]


def test_a_search_closes_them_and_a_fit_takes_them_again(data):
    tuning = tune(data.X, data.given, n_clusters=2)
    closed = (tuning.settings.sigma, tuning.settings.subtract_given, tuning.settings.pull, tuning.settings.n_components)
    assert None not in closed
    searched, again = (KDAC(2, random_state=0), KDAC(settings=tuning.settings, random_state=0))
    searched, again = searched.fit(data.X, data.given), clone(again).fit(data.X, data.given)
    assert np.array_equal(searched.labels_, again.labels_)
    assert again.tuning_ is None
    for name in ("sigma", "subtract_given", "whitening", "pull"):
        assert getattr(searched.settings_, name) == getattr(again.settings_, name) == getattr(tuning.settings, name)


def test_saved_settings_come_back(data, tmp_path):
    asked = Settings(subspace=np.eye(6, 3), init=np.eye(6, 2), kernel=RationalQuadratic(alpha=2.0), sigma=1.0)
    model = KDAC(2, settings=asked, random_state=0).fit(data.X, data.given)
    model.save(tmp_path / "model.npz")
    again = KDAC.load(tmp_path / "model.npz")
    for one, other in ((again.settings, asked), (again.settings_, model.settings_)):
        assert all(np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in fields(Settings))


def test_every_setting_is_documented_and_has_its_limits():
    names = [f.name for f in fields(Settings)]
    assert list(Settings.allowed) == names
    assert all(name in inspect.getdoc(Settings) for name in names)
    assert len(inspect.signature(KDAC).parameters) == 13
    defaults = Settings()
    defaults.check()
