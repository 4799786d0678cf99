"""A solver that minds the clock is the solver itself while there is time, and harmless when there is none."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.conftest import random_problem

from altclust.core.solvers import SOLVERS, Status
from altclust.paper.deadline import Timed


@pytest.mark.parametrize("name", ["ism", "sm", "dg"])
def test_with_time_enough_nothing_changes(name):
    _, _, objective, W = random_problem(3)
    solver = SOLVERS[name]()
    timed, plain = Timed(solver, time.monotonic() + 1e6)(objective, W), solver(objective, W)
    assert np.array_equal(timed.W, plain.W)
    assert timed.status == plain.status


@pytest.mark.parametrize("name", ["ism", "sm", "dg"])
def test_when_time_is_up_the_best_so_far_comes_back(name, monkeypatch):
    _, _, objective, W = random_problem(3)
    timed = Timed(SOLVERS[name](), 0.0)
    solution = timed(objective, W)
    assert timed.over()
    assert solution.status is Status.CANCELLED
    assert np.array_equal(solution.W, W)
    ticks = iter(range(10_000))
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    late = Timed(SOLVERS[name](), 2)(objective, W)
    assert late.status is Status.CANCELLED
    assert late.value == pytest.approx(objective.value(late.W))
    assert late.value <= objective.value(W)
    assert np.allclose(late.W.T @ late.W, np.eye(W.shape[1]))
