"""Downloads: the table, the plots, the figures and the report of a study, as bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...models.study import view_name
from ...report import render
from ...report.plotting import scatter
from .escape import unique_names
from .exploration import Exploration, ShownView

ONLY_NUMBERS = (".npy", ".npz")  # formats without text


def table(study: Exploration) -> bytes:
    """The table in its own format, with one new column for the first view and for each that is significant."""
    wanted = [view_name(view.view.number) for view in study.in_table]
    names = unique_names([*study.table.frame.columns, *wanted])[-len(wanted) :]
    as_text = study.table.suffix not in ONLY_NUMBERS
    columns = [_cells(view, as_text) for view in study.in_table]
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"table{study.table.suffix}"
        study.table.add(path, pd.DataFrame(dict(zip(names, columns, strict=True))))
        return path.read_bytes()


def _cells(view: ShownView, as_text: bool) -> np.ndarray:
    """The names of the clusters if the user named any, their numbers otherwise."""
    if as_text and any(view.names.values()):
        return np.array(view.cluster_names, dtype=object)[view.labels]
    return view.labels


def picture(study: Exploration) -> bytes:
    """A PNG with one row for each view of the table: the given clusters on the left, the new ones on the right."""
    count = len(study.in_table)
    # Not pyplot, whose state all threads share.
    figure = Figure(figsize=(10, 4.4 * count), layout="constrained")
    for view, axes in zip(study.in_table, figure.subplots(count, 2, squeeze=False), strict=True):
        summary = study.summary(view)
        drawing, given = summary["drawing"], summary["given"]
        points = np.column_stack([drawing["x"], drawing["y"]])
        if given:
            title = f"Given: {given[0]['name']}"
            scatter(axes[0], points, _shown(drawing["codes"][1], given[0]["legend"]), title, given=True)
        else:
            axes[0].set_axis_off()
        title = "Alternative" if count == 1 else f"Alternative, view {view.view.number}"
        scatter(axes[1], points, _shown(drawing["codes"][0], summary["legend"]), title)
        for ax in axes:
            ax.set_xlabel("learnt direction 1")
            ax.set_ylabel("" if drawing["jittered"] else "learnt direction 2")
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=150)
    return target.getvalue()


def _shown(codes: Sequence[int], legend: Sequence[dict[str, Any]]) -> np.ndarray:
    """The names of the clusters, None for unknown rows."""
    names = {entry["code"]: entry["name"] for entry in legend if entry["code"] >= 0}
    return np.array([names.get(code) for code in codes], dtype=object)


def figures(study: Exploration) -> bytes:
    """Every figure of every view as JSON."""
    content = {"table": study.table.name, "views": [study.summarise(view) for view in study.views]}
    return json.dumps(content, indent=1, allow_nan=False).encode()


def report(study: Exploration) -> bytes:
    """One HTML page about all views."""
    return render(*(study.summarise(view) for view in study.views)).encode()
