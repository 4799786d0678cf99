"""Labels of a few rows are known: how much do they help, and do they ever override what is given?

Ten soft tasks, whose hidden clusters overlap or are weaker than others: generated tables, and pairs of real tables of
the zoo. k is told. The labels of 5 % of the rows are passed as `keep`; NMI is measured on all other rows. In the last
column (one seed), the labels to keep are those of the *given* clustering: both contradict each other, and the given
must win.

    ALTCLUST_DATA=… python benchmarks/keep.py            # three seeds
    ALTCLUST_DATA=… python benchmarks/keep.py 10 12      # seeds 10 and 11
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from altclust import KDAC
from altclust.metrics import nmi
from tasks import Task
from zoo import pair

SHARE = 0.05
ROWS = 300
GENERATED = {  # clusters, the distance of neighbours in standard deviations, columns of noise, another hidden view
    "2 blobs": (2, 2.5, 2, False),
    "3 blobs": (3, 3.0, 2, False),
    "3 blobs, 10 noise columns": (3, 3.0, 10, False),
    "3 blobs, a clearer view": (3, 3.0, 2, True),
}
PAIRS = (
    ("segment", "penbased"),
    ("penbased", "segment"),
    ("segment", "phoneme"),
    ("wdbc", "movement_libras"),
    ("texture", "wdbc"),
    ("wdbc", "texture"),
)


def blobs(codes: np.ndarray, k: int, apart: float, rng: np.random.Generator) -> np.ndarray:
    """Blobs on a circle in two columns."""
    angles = 2 * np.pi * np.arange(k) / k + rng.uniform(0, 2 * np.pi)
    centres = apart / (2 * np.sin(np.pi / k)) * np.column_stack([np.cos(angles), np.sin(angles)])
    return centres[codes] + rng.standard_normal((len(codes), 2))


def generated(name: str, seed: int, n: int = ROWS) -> Task:
    """Clear given blobs, hidden ones close together, and perhaps clear ones that nobody asks for."""
    k, apart, noise, other = GENERATED[name]
    rng = np.random.default_rng([80, seed, list(GENERATED).index(name)])
    given, truth, clear = rng.integers(0, 3, n), rng.integers(0, k, n), rng.integers(0, k, n)
    views = [blobs(given, 3, 6.0, rng), blobs(truth, k, apart, rng), *([blobs(clear, k, 5.0, rng)] if other else [])]
    X = np.column_stack([*views, rng.standard_normal((n, noise))])
    return Task(name, seed, StandardScaler().fit_transform(X), given[:, None], truth)


def measure(task: Task, contradict: bool) -> dict:
    """What is found without `keep`, with it, and, if wanted, with the given labels as `keep`."""
    rng = np.random.default_rng([81, task.seed])
    known = rng.permutation(len(task.X))[: round(SHARE * len(task.X))]
    some = np.full((2, len(task.X)), -1)
    some[0, known], some[1, known] = task.truth[known], task.given[known, 0]
    others = np.setdiff1d(np.arange(len(task.X)), known)
    plain, kept, *against = (
        KDAC(task.n_clusters, random_state=task.seed).fit(task.X, task.given, keep=keep)
        for keep in (None, *some[: 1 + contradict])
    )
    return {
        "task": task.family,
        "k": task.n_clusters,
        "NMI": nmi(plain.labels_[others], task.truth[others]),
        "NMI, 5 % kept": nmi(kept.labels_[others], task.truth[others]),
        "overlap": plain.overlap_,
        "overlap, 5 % kept": kept.overlap_,
        "overlap, given kept": against[0].overlap_ if against else np.nan,
        "truth and given": nmi(task.truth, task.given[:, 0]),
    }


def main(first: int = 0, last: int = 3) -> None:
    """Print one line for each task, means over its seeds, and the largest overlaps."""
    warnings.simplefilter("ignore")
    records = []
    for seed in range(first, last):
        for task in [*(generated(n, seed) for n in GENERATED), *(pair(*names, seed) for names in PAIRS)]:
            records.append(measure(task, seed == first))
            print(*(v if isinstance(v, str | int) else f"{v:.3f}" for v in records[-1].values()), file=sys.stderr)
    table = pd.DataFrame(records).drop(columns="k")
    print(table.groupby("task", sort=False).mean().round(2).to_string())
    print("mean", table.drop(columns="task").mean().round(3).to_dict())
    print("largest", table.drop(columns="task").max().round(3).to_dict())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
