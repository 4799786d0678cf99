"""Tables with two hidden views, products of two views, and single views with many clusters: what a sequence finds.

The views are those of `KDAC.views_`.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from altclust import KDAC
from altclust.core.metrics import nmi
from tasks import SeveralTask

SHOWN = 3  # views in which a hidden one is looked for
ALIKE = 0.3  # NMI from which a view has something to do with a hidden one
SAME = 0.8  # NMI from which it is told


def ours(task: SeveralTask) -> tuple[list[np.ndarray], list[bool]]:
    """Our views, first found first, and whether they are significant."""
    views = KDAC(random_state=0).fit(task.X, task.given).views_
    return [view.labels for view in views], [view.is_real for view in views]


def measure(group: str, split: str, task: SeveralTask) -> dict:
    """All results of one task."""
    start = time.perf_counter()
    views, significant = ours(task)
    found = {
        "clusters": [len(np.unique(view)) for view in views],
        "nmi": {hidden: [nmi(view, codes) for view in views] for hidden, codes in task.truths.items()},
        "significant": significant,
        "seconds": time.perf_counter() - start,
    }
    return {"group": group, "split": split, "task": task.family, "seed": task.seed, "several": found}


def scores(found: dict) -> dict[str, float]:
    """The figures of one task."""
    table = np.array(list(found["nmi"].values()))  # hidden views x views
    real = table[:, np.array(found["significant"], dtype=bool)]
    best = table[:, :SHOWN].max(axis=1)
    return {
        "found": best.mean(),
        "first": table[:, 0].max(),
        "false views": float(np.sum(real.max(axis=0, initial=0.0) < ALIKE)) if real.size else 0.0,
        "significant": float(real.shape[1]),
        "told": float(np.all(best >= SAME)),
        "split": float(np.sum(real.max(axis=0) >= ALIKE) > len(table)) if real.size else 0.0,
        "seconds": found["seconds"],
    }


def frame(records: list[dict]) -> pd.DataFrame:
    """The mean figures of every group and split.

    found: the best NMI for each hidden view among the first three views; first: that of the first view with its best
    match; false views: significant ones with an NMI below 0.3 with all hidden views; told: the share of tables where
    every hidden view has a view with an NMI of at least 0.8; split: where more significant views than there are hidden
    ones have to do with them.
    """
    rows = [{"which": f"{r['group']}, {r['split']}", "tables": 1.0, **scores(r["several"])} for r in records]
    groups = pd.DataFrame(rows).groupby("which", sort=False)
    return groups.mean().assign(tables=groups.size().astype(float))
