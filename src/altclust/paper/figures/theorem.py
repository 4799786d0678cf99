"""Theorem 1 at the paper's settings: by how much its inequality fails, and the sign of the Hessian."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ...models.kdac import KDAC
from ...report.palette import COLOURS
from ..configs import SETS, load_task
from ..section import Section
from .canvas import number, panels, publish

# Right over left side at the W of the authors' code, measured once with that code; not computed here
AUTHORS = {"Flower": 5.7, "LG": 35.0, "SG": 43.0, "MoonN": 208.0, "Faces": 344.0, "Moon": 828.0, "WebKB": 5e5}
COLUMNS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "residual": lambda f: number(f["residual"], 2),
    "rank of Φ": lambda f: f"{f['rank']} of {f['n_features']}",
    "eigengap": lambda f: number(f["eigengap"]),
    "q used": lambda f: f["n_components"],
    "q at the largest gap": lambda f: f["best_n_components"],
    "left side": lambda f: number(f["left"]),
    "right side": lambda f: number(f["right"]),
    "right / left": lambda f: number(f["ratio"]),
    "the same with the authors' W": lambda f: number(f["authors_ratio"]),
    "smallest curvature": lambda f: number(f["smallest_curvature"]),
    "verdict": lambda f: f["short"],
}


def make(out: Path, names: tuple[str, ...] = tuple(SETS)) -> Section:
    """Certify the fit of every set and draw how far the inequality is from holding."""
    figures: dict[str, Any] = {}
    for name in names:
        task = load_task(name)
        model = KDAC(settings=task.settings, solver="ism", random_state=0).fit(task.X, task.given)
        certificate = model.certificate_
        figures[name] = asdict(certificate) | {
            "n_components": task.n_components,
            "ratio": certificate.right / certificate.left if certificate.left > 0 else np.inf,
            "authors_ratio": AUTHORS[name],
            "theorem_holds": certificate.theorem_holds,
            "short": re.split("[:.]", certificate.verdict)[0],  # without its reasons
        }
    order = sorted(figures, key=lambda name: figures[name]["ratio"])
    figure, axes = panels(1, 1, (9.0, 4.6))
    _draw(axes[0, 0], [(name, figures[name]) for name in order])
    holds = sum(f["theorem_holds"] for f in figures.values())
    strict = sum(f["smallest_curvature"] > 0 for f in figures.values())
    section = Section(
        name="theorem",
        title="Theorem 1 at the paper's settings",
        caption=(
            "Theorem 1 calls a fixed point a local minimum where σ² times the eigengap of Φ (left side) is at least "
            "Σ |γᵢⱼ| Kᵢⱼ ‖xᵢ − xⱼ‖⁴ / σ² (right side). Bars show right over left for the W that our solver finds: "
            f"the inequality requires at most 1 and holds on {holds} of the {len(figures)} sets. A hatched bar is "
            "infinite: W does not consist of the smallest eigenvectors of Φ, so it is not a fixed point of the paper's "
            "loop, the gap is negative and the inequality cannot hold for any right side. Hollow circles show the "
            "ratio at the W where the authors' code stops, measured earlier; WebKB and SG differ: on WebKB that code "
            "ends in another minimum, for SG the cause is not known. The sign at each bar is that of the "
            f"smallest eigenvalue of the true Riemannian Hessian: it is positive on {strict} sets, so each of those W "
            "is a strict local minimum of its W problem although the theorem is inconclusive."
        ),
        columns=("set", *COLUMNS),
        rows=[(name, *(shown(f) for shown in COLUMNS.values())) for name, f in figures.items()],
        figures=figures,
    )
    return publish(out, section, figure)


def _draw(ax: Any, sets: list[tuple[str, dict[str, Any]]]) -> None:
    for place, (_, f) in enumerate(sets):
        positive = f["smallest_curvature"] > 0
        endless = not np.isfinite(f["ratio"])
        length = 1e7 if endless else f["ratio"]
        colour = COLOURS[0] if positive else COLOURS[5]
        style = {"color": "none", "edgecolor": colour, "hatch": "//"} if endless else {"color": colour}
        ax.barh(place, length - 1, left=1, height=0.6, **style)
        words = "gap below 0" if endless else number(f["ratio"])
        sign = "+" if positive else "−"
        beyond = 1.4 * max(length, f["authors_ratio"])
        ax.text(beyond, place, f"{words}   Hessian {sign}", va="center", fontsize=10)
    ax.scatter(
        [f["authors_ratio"] for _, f in sets],
        range(len(sets)),
        facecolors="white",
        edgecolors=COLOURS[7],
        s=36,
        zorder=3,
        label="where the authors' code stops",
    )
    ax.axvline(1, color=COLOURS[5], linewidth=2, label="the theorem applies left of this line")
    ax.set_xscale("log")
    ax.set_xlim(0.4, 2e10)
    ax.set_yticks(range(len(sets)), [name for name, _ in sets], fontsize=11)
    ax.set(xlabel="right side over left side of inequality (8)", title="How far the theorem is from applying")
    ax.legend(loc="lower right")
