"""Fits find what they found when reference.npz was written: a change of structure changes no result."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference.fits import CASES, FILE, run

# Other processors and linear algebra libraries round otherwise; on one machine the difference is 0.
AS_GOOD_AS_EQUAL = 1e-5
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
            assert np.array_equal(array, then), f"{np.sum(array != then)} of {then.size} labels differ"
        else:
            assert array.shape == then.shape
            difference = float(np.max(np.abs(array - then)) / np.max(np.abs(then)))
            print(f"{name}, {part}: largest difference {difference:.1e}")
            assert difference <= AS_GOOD_AS_EQUAL
