"""Fits find what they found when reference.npz was written: a change of structure changes no result."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.fits import CASES, FILE, run

# Other processors and linear algebra libraries round otherwise; on one machine the difference is 0. Clusters may then
# have other numbers, and short fits stop at a point that is 1e-3 away.
AS_GOOD_AS_EQUAL = 1e-5
AS_GOOD_AS_EQUAL_IN_SHORT_FITS = 1e-2
LONG = {"views", "search", "search, two processes"}


@pytest.fixture(scope="module")
def reference() -> dict[str, np.ndarray]:
    with np.load(FILE) as stored:
        return dict(stored)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in CASES])
def test_a_fit_finds_what_it_found(name, reference):
    if name.startswith("torch"):
        pytest.importorskip("torch", reason="torch is not installed")
    found = run(name)
    assert {f"{name}/{part}" for part in found} == {key for key in reference if key.startswith(f"{name}/")}
    for part, array in found.items():
        then = reference[f"{name}/{part}"]
        if part == "labels":
            assert array.shape == then.shape
            for now, before in zip(np.atleast_2d(array.T), np.atleast_2d(then.T), strict=True):
                pairs = np.unique(np.column_stack([now, before]), axis=0)
                assert len(pairs) == len(np.unique(now)) == len(np.unique(before)), "the clusters differ"
        else:
            assert array.shape == then.shape
            difference = _difference(array, then)
            if part == "components" and len(then) < then.shape[1]:  # rounding turns axes of equal variance
                difference = min(difference, _difference(_projector(array), _projector(then)))
            print(f"{name}, {part}: largest difference {difference:.1e}")
            assert difference <= (AS_GOOD_AS_EQUAL_IN_SHORT_FITS if name == "tune" else AS_GOOD_AS_EQUAL)


def _difference(now: np.ndarray, then: np.ndarray) -> float:
    return float(np.max(np.abs(now - then)) / np.max(np.abs(then)))


def _projector(components: np.ndarray) -> np.ndarray:
    return np.linalg.pinv(components) @ components
