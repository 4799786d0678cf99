"""The cells of Table 1: one set, one method, one kind of start, and the runs that fill it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ..core.metrics import nmi
from ..core.solvers import ISM, SOLVERS
from ..datasets import load_webkb
from ..models.kdac import KDAC
from ..search.heuristics import median_distance
from .authors import CANCELLED, authors_loop, printed_cost
from .configs import SETS, Task, load_task
from .deadline import Timed

RUNS = 10
PLAIN_STEPS, PLAIN_ROUNDS = 20, 30  # limits of the loop without safeguard, which may not converge


VARIANTS = {
    "SG-q2": ("SG", "SG with q = 2 = d, where W is only a rotation"),
    "Faces-text": ("Faces", "Faces in the direction of the text: identity given, pose sought"),
    "WebKB-500": ("WebKB", "WebKB as counts of 500 words, σ = their median distance"),
}
"""Sets that are not in Table 1, each compared with the printed set that it explains: (printed set, text)."""

SET_NAMES = (*SETS, *VARIANTS)

METHODS = {
    "ISM": "ISM, safeguarded (our default)",
    "SM": "gradient on the Stiefel manifold",
    "DG": "dimension growth",
    "ISM-plain": f"ISM without safeguard, at most {PLAIN_STEPS} steps in each of at most {PLAIN_ROUNDS} rounds",
    "ISM-authors": "ISM as the authors' program runs it",
    "SM-authors": "SM as the authors' program runs it",
}
INITS = ("SI", "RI")


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    set: str
    method: str
    init: str
    runs: int

    @property
    def name(self) -> str:
        """The name of its file, without the extension."""
        return f"{self.set}_{self.method}_{self.init}"

    @property
    def printed_row(self) -> tuple[str, str, str]:
        """The row of the printed table that it is compared with."""
        return VARIANTS[self.set][0] if self.set in VARIANTS else self.set, self.method.split("-")[0], self.init


def cells(sets: Sequence[str], methods: Sequence[str], inits: Sequence[str], runs: int = RUNS) -> list[Cell]:
    """The chosen cells, in the order of the table; an empty choice means all.

    The printed rows, and more that explain them: plain ISM from the spectral start, the authors' ISM from both
    starts, the authors' SM from the spectral start, and the variant sets with ISM from the spectral start.
    """
    chosen = []
    for name, method, init in product(SET_NAMES, METHODS, INITS):
        wanted = name in (sets or SET_NAMES) and method in (methods or METHODS) and init in (inits or INITS)
        if wanted and _belongs(name, method, init):
            chosen.append(Cell(name, method, init, runs if init == "RI" else 1))
    return chosen


def _belongs(name: str, method: str, init: str) -> bool:
    if name in VARIANTS:
        return method in ("ISM", "ISM-authors") and init == "SI"
    return init == "SI" or method not in ("ISM-plain", "SM-authors")


@cache
def table_task(name: str) -> Task:
    """The task of a set or a variant."""
    if name not in VARIANTS:
        return load_task(name)
    task = replace(load_task(VARIANTS[name][0]), name=name)
    if name == "SG-q2":
        return replace(task, n_components=2)
    if name == "Faces-text":
        assert task.alternative is not None
        return replace(task, given=task.alternative, alternative=task.given)
    data = load_webkb(500)
    assert data.given is not None
    sigma = median_distance(data.X, np.random.default_rng(0))
    return replace(task, X=data.X, given=data.given, alternative=data.alternative, sigma=sigma)


def run_cell(cell: Cell, budget: float) -> dict[str, Any]:
    """Run a cell: a plain dict with its settings, its runs, and a note if the budget in seconds was exceeded.

    Run i of a random start has the seed i. Every run uses one thread, so that cells can run in parallel, and its time
    is processor time, so that it does not depend on other processes.
    """
    task = table_task(cell.set)
    deadline = time.monotonic() + budget
    runs: list[dict[str, Any]] = []
    note = ""
    with threadpool_limits(1):
        for seed in range(cell.runs):
            run = _authors if cell.method.endswith("authors") else _ours
            runs.append(run(cell, task, seed, deadline))
            if runs[-1]["cancelled"]:
                note = f"out of its budget of {budget:g} s in run {len(runs)} of {cell.runs}"
                break
    return {**settings(cell), "budget": budget, "note": note, "runs": runs}


def settings(cell: Cell) -> dict[str, Any]:
    """The settings in which a stored cell must agree with a requested one to be reused."""
    from .. import __version__

    task = table_task(cell.set)
    parameters = {"k": task.n_clusters, "q": task.n_components, "sigma": task.sigma, "lambda": task.novelty_weight}
    return {"cell": asdict(cell), "parameters": parameters, "version": __version__}


def _solver(method: str) -> Any:
    return ISM(safeguard=False, max_iter=PLAIN_STEPS) if method == "ISM-plain" else SOLVERS[method.lower()]()


def _ours(cell: Cell, task: Task, seed: int, deadline: float) -> dict[str, Any]:
    solver = Timed(_solver(cell.method), deadline)
    model = KDAC(
        solver=solver,
        settings=replace(task.settings, init="spectral" if cell.init == "SI" else "random", n_init=1),
        max_iter=PLAIN_ROUNDS if cell.method == "ISM-plain" else 100,
        callback=solver.over,
        random_state=seed,
    )
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # not converging is a column of the table
        model.fit(task.X, task.given)
    seconds = time.process_time() - began
    steps = model.history_["solver_iterations"].astype(int).tolist()
    residual = float(model.history_["residual"][-1])
    status = model.status_
    if cell.method == "ISM-plain" and steps[-1] == PLAIN_STEPS:
        # a cycle of even length ends each round at its start, which looks like convergence
        status = f"not stationary: the last W step used up its {PLAIN_STEPS} steps at a residual of {residual:.1g}"
    figures = {
        "cq": model.quality_,
        "true_cost": model.cost_,
        "time": seconds,
        "steps": steps,
        "residual": residual,
        "status": status,
        "cancelled": status.startswith(CANCELLED),
    }
    return _measured(task, seed, model.labels_, model.components_.T, figures)


def _authors(cell: Cell, task: Task, seed: int, deadline: float) -> dict[str, Any]:
    began = time.process_time()
    result = authors_loop(task, cell.method.split("-")[0], cell.init, seed, cancel=lambda: time.monotonic() > deadline)
    figures = {
        "cq": result.quality,
        "true_cost": result.cost,
        "time": time.process_time() - began,
        "steps": list(result.steps),
        "residual": None,
        "status": result.status,
        "cancelled": result.status == CANCELLED,
    }
    return _measured(task, seed, result.labels, result.W, figures)


def _measured(task: Task, seed: int, labels: np.ndarray, W: np.ndarray, figures: dict[str, Any]) -> dict[str, Any]:
    return {
        "seed": seed,
        "nmi": None if task.alternative is None else nmi(labels, task.alternative),
        "novelty": nmi(labels, task.given),
        "cost": printed_cost(task, W, labels, figures["cq"]),
        "sizes": np.bincount(labels).tolist(),
        "rounds": len(figures["steps"]),
        "iterations": sum(figures["steps"]),
        "longest": max(figures["steps"]),
        **figures,
    }
