"""What "converged" means for an alternation: W, U and D of its last round agree with each other."""

from __future__ import annotations

import numpy as np
import pytest
from tests.conftest import random_problem, some

from altclust.core.alternation import LOOSER, alternate
from altclust.core.solvers import ISM, Status


@pytest.mark.parametrize("tol", [1e-2, 1e-4])
def test_a_converged_alternation_is_at_rest(tol):
    converged = 0
    for seed in range(some(15, 60)):
        problem, engine, _, W = random_problem(seed)
        end = alternate(problem, engine, ISM(), W, max_iter=60, tol=tol)
        if end.status is not Status.CONVERGED:
            continue
        converged += 1
        assert end.history["change_W"][-1] <= tol, seed
        assert end.history["change_U"][-1] <= LOOSER * tol, seed
        assert end.history["residual"][-1] <= 1e-2, seed
        used = np.log(np.sum(engine.given**2, axis=1) / np.sum(end.gamma.F[:, -engine.given.shape[1] :] ** 2, axis=1))
        lag = np.sqrt(np.mean((np.log(end.embedding.degrees) - used) ** 2))  # of the D in the last W problem
        assert lag <= LOOSER * tol * (1 + 1e-9), seed
    assert converged >= some(5, 20)  # pin
