"""The authors' loops give the authors' figures, to the printed digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import needs_files
from threadpoolctl import threadpool_limits

from altclust import KDAC
from altclust.core.metrics import nmi
from altclust.paper import load_task
from altclust.paper.authors import BY_ITS_RULE, authors_loop, printed_cost
from altclust.paper.expected import printed

pytestmark = needs_files


@pytest.fixture(autouse=True)
def _one_thread():
    with threadpool_limits(1):
        yield


def figures(task, result):
    return {
        "nmi": None if task.alternative is None else nmi(result.labels, task.alternative),
        "cq": result.quality,
        "novelty": nmi(result.labels, task.given),
        "cost": printed_cost(task, result.W, result.labels, result.quality),
    }


@pytest.mark.slow
def test_ism_on_webkb():
    task = load_task("WebKB")
    result = authors_loop(task, "ISM")
    ours = figures(task, result)
    assert round(ours["nmi"], 2) == 0.37
    assert round(ours["cq"], 3) == 0.286
    assert round(ours["cost"], 3) == -0.273
    assert ours["novelty"] < 0.01
    # It ends by its own rule after 170 evaluations, at a stationary point: a converged solver stays there.
    assert (result.status, len(result.steps), sum(result.steps)) == (BY_ITS_RULE, 21, 170)
    model = KDAC(solver="ism", random_state=0, settings=replace(task.settings, init=result.W)).fit(task.X, task.given)
    assert model.status_ == "converged"
    assert nmi(model.labels_, task.alternative) == pytest.approx(ours["nmi"], abs=0.01)
    assert model.cost_ == pytest.approx(ours["cost"], rel=1e-3)


def test_sm_on_webkb_stops_in_the_trivial_clustering_where_it_began():
    task = load_task("WebKB")
    result = authors_loop(task, "SM")
    ours = figures(task, result)
    row = printed()["WebKB", "SM", "SI"]
    assert {name: round(value, 3) for name, value in ours.items()} == {
        name: row[name].value for name in ("nmi", "cq", "novelty", "cost")
    }
    assert np.bincount(result.labels).max() > 1000
    assert sum(result.steps) < 30


@pytest.mark.parametrize("name", ["LG", "Moon", "MoonN", "Flower", "Faces"])
def test_ism_prints_the_papers_cost(name):
    task = load_task(name)
    result = authors_loop(task, "ISM")
    row = printed()[name, "ISM", "SI"]
    ours = figures(task, result)
    assert ours["cost"] == pytest.approx(row["cost"].value, rel=0.005 if name != "Flower" else 0.03)
    assert ours["cq"] == pytest.approx(row["cq"].value, abs=0.05)
    assert result.cost < ours["cost"] or name == "Flower"


def test_the_printed_small_gaussian_has_two_directions():
    """CQ 2 and cost −1.2 are those of q = 2 = d."""
    task = replace(load_task("SG"), n_components=2)
    result = authors_loop(task, "ISM")
    assert result.quality == pytest.approx(2, abs=1e-3)
    assert result.cost == pytest.approx(-1.2, abs=1e-3)


def test_random_starts_differ_and_can_be_cancelled():
    task = load_task("MoonN")
    first, second = (authors_loop(task, "ISM", "RI", seed) for seed in (0, 1))
    assert not np.allclose(first.W, second.W)
    assert np.allclose(first.W.T @ first.W, np.eye(6))
    assert len(authors_loop(task, "ISM", "RI", cancel=lambda: True).steps) == 1
