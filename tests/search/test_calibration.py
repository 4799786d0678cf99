"""Tables with nothing in them are rarely called significant, and tables with a hidden clustering are."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def calibration(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("calibration")


@pytest.mark.slow
def test_few_tables_with_nothing_in_them_are_called_significant(calibration):
    """At level 0.05, more than 4 of 30 would happen once in two hundred runs if 5 % were true."""
    found = [calibration.test(kind, "nothing", 100 + seed) for kind in calibration.NOTHING for seed in range(3)]
    called = [f"{one['kind']} (p = {one['p']:.3g})" for one in found if one["real"]]
    assert len(called) <= 4, called
    p_values = np.array([one["p"] for one in found if not np.isnan(one["p"])])
    assert np.mean(p_values < 0.5) < 0.75  # p-values are not small in general either


@pytest.mark.slow
def test_hidden_clusterings_that_were_found_are_called_significant(calibration):
    found = [calibration.test(kind, "generated", 100) for kind in calibration.tasks.FAMILIES]
    found = [one for one in found if one["nmi"] >= calibration.FOUND]
    missed = [f"{one['kind']} (p = {one['p']:.3g})" for one in found if not one["real"]]
    assert len(found) >= 5
    assert len(missed) <= 0.2 * len(found), missed
