"""The appendix's convergence plots: the paper's loop and safeguarded ISM on the first W problem of every set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...base.backend import Array
from ...core.initialization import spectral_start
from ...core.problem import KernelObjective
from ...core.solvers import ISM, Solution
from ...report.palette import COLOURS
from ..configs import SETS, load_task
from ..section import Section
from .canvas import number, panels, publish

DRAWN = 30
ITERATIONS = 150  # of which the first are drawn; enough to distinguish slow convergence from none
TOLERANCE = 1e-6  # below the solver's default, so that the plots show the last iterations
REST = 1e-4  # the default: residual that counts as stationary in the table
FLOOR = 1e-9  # smaller values are drawn here
SOLVERS = {
    "paper's loop": ISM(tol=TOLERANCE, max_iter=ITERATIONS, safeguard=False),
    "safeguarded": ISM(tol=TOLERANCE, max_iter=ITERATIONS),
}
STYLES = {
    "paper's loop": {"color": COLOURS[5], "marker": "s", "linestyle": "--"},
    "safeguarded": {"color": COLOURS[0], "marker": "o", "linestyle": "-"},
}
MEASURES = ("objective F", "gradient of the Lagrangian\n(first-order residual)", "change of W\n(r.m.s. sine)")


def make(out: Path, names: tuple[str, ...] = tuple(SETS)) -> Section:
    """Run both loops from the spectral start and draw F, the residual and the change of W per iteration."""
    figure, axes = panels(3, len(names), (2.3 * len(names), 7.4), sharex=True)
    figures: dict[str, Any] = {}
    for column, name in enumerate(names):
        problem, engine = load_task(name).problem()
        start = spectral_start(problem, engine)
        W = start.vectors[:, : problem.n_components]
        objective = KernelObjective(engine, engine.weigh(start.embedding, engine.degrees(W), problem.novelty_weight))
        figures[name] = {}
        for which, solver in SOLVERS.items():
            with threadpool_limits(1):
                solution = solver(objective, W)
            figures[name][which] = _summary(solution)
            _draw(axes[:, column], solution.history[: DRAWN + 1], which)
        axes[0, column].set_title(name, fontsize=12)
        axes[2, column].set_xlabel("iteration")
    for ax, measure in zip(axes[:, 0], MEASURES, strict=True):
        ax.set_ylabel(measure)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=2, fontsize=11)
    unsettled = [name for name, both in figures.items() if both["paper's loop"]["iterations_to_rest"] is None]
    rising = [name for name, both in figures.items() if both["paper's loop"]["rises"]]
    section = Section(
        name="convergence",
        title="Convergence per iteration",
        caption=(
            "The first W problem of every set, from the spectral start with U and D fixed: F (top), the norm of the "
            "gradient of the Lagrangian over that of ΦW (middle), and the distance that the subspace of W moves per "
            f"iteration (bottom), over the first {DRAWN} iterations or until the residual is 1e-6. Orange squares: "
            "the paper's loop, W ← eig_min(Φ(W)) without safeguard. Blue circles: the same with a safeguard and Newton "
            "steps. The paper says that all three converge. Its loop does not reach a residual of 1e-4 within "
            f"{ITERATIONS} iterations on {_list(unsettled)}, and raises F at least once on {_list(rising)}; the "
            "safeguarded one never raises it."
        ),
        columns=("set", "loop", "iterations to 1e-4", "last residual", "last change of W", "last F", "increases of F"),
        rows=[
            (
                name,
                which,
                f"over {ITERATIONS}" if f["iterations_to_rest"] is None else f["iterations_to_rest"],
                number(f["residual"][-1], 2),
                number(f["change"][-1], 2),
                number(f["value"][-1], 5),
                f["rises"],
            )
            for name, both in figures.items()
            for which, f in both.items()
        ],
        figures=figures,
    )
    return publish(out, section, figure)


def _summary(solution: Solution) -> dict[str, Any]:
    value, residual, change = solution.history.T
    at_rest = np.flatnonzero(residual <= REST)
    rises = np.diff(value) > 1e-9 * np.abs(value[:-1])
    return {
        "value": value,
        "residual": residual,
        "change": change,
        "iterations_to_rest": int(at_rest[0]) if len(at_rest) else None,
        "rises": int(rises.sum()),
        "status": str(solution.status),
    }


def _draw(axes: np.ndarray, history: Array, which: str) -> None:
    iterations = np.arange(len(history))
    style: dict[str, Any] = STYLES[which] | {"markersize": 4, "linewidth": 1.2, "label": which}
    axes[0].plot(iterations, history[:, 0], **style)
    axes[1].semilogy(iterations, np.maximum(history[:, 1], FLOOR), **style)
    axes[2].semilogy(iterations[1:], np.maximum(history[1:, 2], FLOOR), **style)
    for ax in axes[1:]:
        ax.set_ylim(FLOOR / 2, 3)


def _list(names: list[str]) -> str:
    return ", ".join(names) if names else "no set"
