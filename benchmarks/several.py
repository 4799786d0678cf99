"""Tables with two hidden views, products of two views, and single views with many clusters: what a sequence finds.

Our views are those of `KDAC.views_`, followed by the rejected one. ClustPy's NrKmeans is told every number of clusters,
AutoNR nothing; neither is given a clustering, so that the view which is most like the given one is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import numpy as np
import pandas as pd

from altclust import KDAC
from altclust.core.metrics import nmi
from tasks import SeveralTask

SHOWN = 3  # views in which a hidden one is looked for
ALIKE = 0.3  # NMI from which a view has something to do with a hidden one
SAME = 0.8  # NMI from which it is told
STARTS = 20  # of NrKmeans


def ours(task: SeveralTask) -> tuple[list[np.ndarray], int]:
    """Our views, first found first, and how many of them are significant."""
    views = KDAC(random_state=0).fit(task.X, task.given).views_
    return [view.labels for view in [*views, views.rejected] if view is not None], len(views)


def nrkmeans(task: SeveralTask) -> tuple[list[np.ndarray], int]:
    """The views of NrKmeans, which is told the number of clusters of every view."""
    from clustpy.alternative import NrKmeans

    counts = [len(np.unique(codes)) for codes in (task.given, *task.truths.values())]
    return _beside(NrKmeans([*counts, 1], n_init=STARTS, random_state=0).fit(task.X).labels_, task)


def autonr(task: SeveralTask) -> tuple[list[np.ndarray], int]:
    """The views of AutoNR."""
    from clustpy.alternative import AutoNR

    return _beside(AutoNR(random_state=0).fit(task.X).labels_, task)


def _beside(labels: np.ndarray, task: SeveralTask) -> tuple[list[np.ndarray], int]:
    """The views, without the one that is most like the given clustering."""
    views = [column for column in labels.reshape(len(task.X), -1).T if len(np.unique(column)) > 1]
    if views:
        views.pop(int(np.argmax([nmi(view, task.given[:, 0]) for view in views])))
    return views, len(views)


METHODS: dict[str, Callable[[SeveralTask], tuple[list[np.ndarray], int]]] = {
    "ours": ours,
    "NrKmeans": nrkmeans,
    "AutoNR": autonr,
}


def installed() -> list[str]:
    """The methods that can be run."""
    if find_spec("clustpy") is None:
        print("NrKmeans and AutoNR are left out: pip install --group peers installs them.")
        return ["ours"]
    return list(METHODS)


def measure(group: str, split: str, task: SeveralTask, methods: Sequence[str]) -> dict:
    """All results of one task."""
    record = {"group": group, "split": split, "task": task.family, "seed": task.seed, "several": {}}
    for name in methods:
        start = time.perf_counter()
        views, significant = METHODS[name](task)
        record["several"][name] = {
            "clusters": [len(np.unique(view)) for view in views],
            "nmi": {hidden: [nmi(view, codes) for view in views] for hidden, codes in task.truths.items()},
            "significant": significant,
            "seconds": time.perf_counter() - start,
        }
    return record


def scores(found: dict) -> dict[str, float]:
    """The figures of one method on one task."""
    table = np.array(list(found["nmi"].values()))  # hidden views x views
    if not table.shape[1]:
        table = np.zeros((len(table), 1))
    real = table[:, : found["significant"]]
    best = table[:, :SHOWN].max(axis=1)
    return {
        "found": best.mean(),
        "first": table[:, 0].max(),
        "false views": float(np.sum(real.max(axis=0, initial=0.0) < ALIKE)) if real.size else 0.0,
        "significant": float(found["significant"]),
        "told": float(np.all(best >= SAME)),
        "split": float(np.sum(real.max(axis=0) >= ALIKE) > len(table)) if real.size else 0.0,
        "seconds": found["seconds"],
    }


def frame(records: list[dict]) -> pd.DataFrame:
    """The mean figures of every group, split and method.

    found: the best NMI for each hidden view among the first three views; first: that of the first view with its best
    match; false views: significant ones with an NMI below 0.3 with all hidden views; told: the share of tables where
    every hidden view has a view with an NMI of at least 0.8; split: where more significant views than there are hidden
    ones have to do with them.
    """
    rows = [
        {"which": f"{r['group']}, {r['split']}: {name}", "tables": 1.0, **scores(found)}
        for r in records
        for name, found in r["several"].items()
    ]
    groups = pd.DataFrame(rows).groupby("which", sort=False)
    return groups.mean().assign(tables=groups.size().astype(float))
