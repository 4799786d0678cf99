from __future__ import annotations

import numpy as np
import pytest
from tests.trust.strategies import Hostile

from altclust import ISM, KDAC, InputError, Settings
from altclust.files.model_archive import read_model, write_model


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 90))
    X = np.column_stack([5 * given, 4 * hidden, 0 * given]) + rng.standard_normal((90, 3))
    return X, KDAC(2, solver=ISM(max_iter=50), random_state=0, settings=Settings(init=np.eye(3)[:, :2])).fit(X, given)


def test_round_trip(fitted, tmp_path):
    X, model = fitted
    path = tmp_path / "view.npz"
    certificate = model.certificate_  # which is saved if it was asked for
    model.save(path)
    again = KDAC.load(path)
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(again.components_, model.components_)
    assert np.array_equal(again.predict(X + 0.1), model.predict(X + 0.1))
    assert np.array_equal(again.transform(X), model.transform(X))
    assert repr(again.certificate_) == repr(certificate)
    assert again.solver == model.solver
    assert np.array_equal(again.settings.init, model.settings.init)
    assert np.array_equal(again.settings_.init, model.settings_.init)
    for name in ("overlap_", "quality_", "cost_", "status_", "sigma_", "n_iter_", "engine_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)
    assert {n: v.tolist() for n, v in again.history_.items()} == {n: v.tolist() for n, v in model.history_.items()}


def test_feature_names_survive(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((30, 2)), columns=["höhe", "größe"])
    model = KDAC(2, random_state=0).fit(frame)
    model.save(tmp_path / "m.npz")
    again = KDAC.load(tmp_path / "m.npz")
    assert list(again.feature_names_in_) == ["höhe", "größe"]
    assert np.array_equal(again.predict(frame), model.predict(frame))


def test_a_certificate_that_nobody_asked_for_is_not_saved(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 2))
    model = KDAC(2, sigma=1.0, random_state=0).fit(X)
    model.save(tmp_path / "m.npz")
    with pytest.raises(InputError, match="certificate_ was not computed before the model was saved"):
        KDAC.load(tmp_path / "m.npz").certificate_  # noqa: B018


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 truncated"])
def test_damaged_files_get_a_sentence(content, tmp_path):
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a model saved by altclust"):
        KDAC.load(path)


def test_directions_in_the_header_are_refused(fitted, tmp_path):
    fitted[1].save(tmp_path / "model.npz")
    arrays, meta = read_model(tmp_path / "model.npz", "KDAC")
    meta["settings"]["init"] = {"a": 1}
    write_model(
        tmp_path / "model.npz", "KDAC", arrays, {k: v for k, v in meta.items() if k not in ("altclust", "format")}
    )
    with pytest.raises(InputError, match="is a damaged model"):
        KDAC.load(tmp_path / "model.npz")


def test_labels_that_cannot_be_written_are_refused(fitted, tmp_path):
    X, model = fitted
    labels = np.array([Hostile("repr"), Hostile("repr")], dtype=object)[model.labels_]
    other = KDAC(2, random_state=0, sigma=2.0).fit(X, labels)
    with pytest.raises(InputError, match="given has labels that cannot be written as text"):
        other.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_foreign_and_future_files_get_a_sentence(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    with pytest.raises(InputError, match="is not a model saved by altclust"):
        KDAC.load(tmp_path / "other.npz")
    np.savez(tmp_path / "object.npz", header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="is not a model saved by altclust"):
        KDAC.load(tmp_path / "object.npz")
    for number, when in ((1, "older"), (99, "newer")):
        write_model(tmp_path / "model.npz", "KDAC", {}, {"format": number})
        with pytest.raises(InputError, match=rf"model\.npz' was saved by an? {when} altclust \(format {number}\)"):
            KDAC.load(tmp_path / "model.npz")
    write_model(tmp_path / "views.npz", "ViewDiscovery", {}, {})
    with pytest.raises(InputError, match="holds a ViewDiscovery, not a KDAC"):
        KDAC.load(tmp_path / "views.npz")


def test_a_failed_save_leaves_nothing(fitted, tmp_path):
    _, model = fitted
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError, match="folder"):
        model.save(target)  # a folder cannot be replaced by a file
    assert list(tmp_path.iterdir()) == [target]
