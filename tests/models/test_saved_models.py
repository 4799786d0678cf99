"""Models that earlier altclusts saved still load, and do what they did.

Each file in tests/models/saved was written by the altclust of its time, from the same rows, and is never written again.
Where a change adds to what is saved, a model of the time before it joins them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from altclust import KDAC
from altclust.models.saving import SCALARS

MODELS = sorted((Path(__file__).parent / "saved").glob("*.npz"))


def rows():
    """The table that all of them were fitted to."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 40))
    return np.column_stack([5 * given, 4 * hidden, 0 * given]) + rng.standard_normal((40, 3)), given


def test_there_are_old_models():
    assert {path.stem for path in MODELS} >= {"first", "given_means", "landmarks"}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_an_old_model_loads_and_does_what_it_did(path, tmp_path):
    X, given = rows()
    model = KDAC.load(path)
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.transform(X).shape == (40, 1)
    assert np.allclose(model.components_ @ model.components_.T, 1)
    assert "minimum" in model.certificate_.verdict
    assert all(hasattr(model, f"{name}_") for name in SCALARS)
    model.report(tmp_path / "view.html", X, given, significance=False)
    model.save(tmp_path / "again.npz")
    assert np.array_equal(KDAC.load(tmp_path / "again.npz").predict(X), model.labels_)
    KDAC(**model.get_params()).fit(X, given)
