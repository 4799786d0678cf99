"""Labels of rows in other array libraries: array_api_strict, which refuses all that the standard does not have, on a
device that numpy cannot reach, and torch.
"""

from __future__ import annotations

import numpy as np
import pytest
from array_api_compat import array_namespace, device

from altclust import KDAC, Settings
from altclust.base.backend import to_numpy
from altclust.core.kernels import Gaussian
from altclust.datasets import views
from altclust.models.fitted_view import label_block

LIBRARIES = ("array_api_strict", "torch")


def move(A, library, dtype):
    """A numpy array in another library, for array_api_strict on a device of its own."""
    xp = pytest.importorskip(library)
    place = {"device": xp.Device("device1")} if library == "array_api_strict" else {}
    return xp.asarray(np.ascontiguousarray(A), dtype=getattr(xp, dtype), **place)


@pytest.fixture(scope="module", params=[False, True], ids=["as they are", "given means subtracted"])
def fitted(request):
    data = views(240, ("blobs", "blobs"), (3, 3), random_state=0)
    model = KDAC(3, n_components=2, sigma=1.0, random_state=0, settings=Settings(subtract_given=request.param))
    return model.fit(data.X, data.given), data


@pytest.mark.parametrize("coded", [False, True], ids=["guessed", "given"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_labels_and_places_are_those_of_numpy(library, coded, fitted):
    model, data = fitted
    codes = np.unique(data.given, return_inverse=True)[1][:, None] if coded else np.zeros((240, 0), dtype=int)
    order = [list(model.fitted_.levels[0].labels).index(label) for label in np.unique(data.given)]
    codes = np.array(order)[codes] if coded else codes
    X, there = move(data.X, library, "float64"), move(codes, library, "int64")
    view = model.fitted_
    Z = view.coordinates(X, there)
    assert array_namespace(Z) is array_namespace(X)
    assert device(Z) == device(X)
    assert np.allclose(to_numpy(Z), view.coordinates(data.X, codes), atol=1e-10)
    labels = label_block(X, there, view.coordinates, view.kernel_map)
    assert np.array_equal(to_numpy(labels), label_block(data.X, codes, view.coordinates, view.kernel_map))


@pytest.mark.parametrize("library", LIBRARIES)
def test_single_precision_stays_single_and_is_close(library, fitted):
    model, data = fitted
    X, none = move(data.X, library, "float32"), move(np.zeros((240, 0)), library, "int64")
    Z = model.fitted_.coordinates(X, none)
    assert Z.dtype == X.dtype
    assert np.allclose(to_numpy(Z), model.transform(data.X), atol=1e-4)
    fitted = model.fitted_
    labels = to_numpy(label_block(X, none, fitted.coordinates, fitted.kernel_map))
    assert np.mean(labels == model.labels_) > 0.98


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_kernel_has_no_subnormal_values(dtype):
    Z = np.linspace(0, 1000, 40, dtype=dtype)[:, None]
    K = Gaussian(1.0).gram(Z)
    assert K.dtype == dtype
    assert np.min(K) >= np.finfo(dtype).smallest_normal
    assert np.array_equal(np.diag(K), np.ones(40, dtype=dtype))
