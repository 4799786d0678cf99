"""The kernels of the family on the tasks of benchmarks/quality.py: one search with k told, and a fit with each kernel.

All fits start from the directions that the search chose with the Gaussian, at its σ. "one objective" is the default
fit, with the Gaussian; all others alternate between D, W and U.

    python benchmarks/kernels.py
"""

from __future__ import annotations

import sys
import warnings

import pandas as pd

from altclust import KDAC, tune
from altclust.core.kernels import KERNELS
from altclust.metrics import nmi
from tasks import FAMILIES, family

SEEDS = 3


def main(seeds: int = SEEDS) -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name in FAMILIES:
        for seed in range(seeds):
            data = family(name, seed)
            k = len(set(data.alternative))
            fixed = tune(data.X, data.given, n_clusters=k).settings
            models = {"one objective": KDAC(settings=fixed, random_state=seed)}
            models |= {
                kernel: KDAC(settings=fixed, kernel=kernel, solver="ism", random_state=seed) for kernel in KERNELS
            }
            for kernel, model in models.items():
                labels = model.fit(data.X, data.given).labels_
                rows.append((name, kernel, nmi(labels, data.alternative)))
            print(name, seed, [f"{row[2]:.2f}" for row in rows[-len(models) :]], file=sys.stderr, flush=True)
    table = pd.DataFrame(rows, columns=["family", "kernel", "NMI"]).pivot_table("NMI", "family", "kernel", sort=False)
    print(pd.concat([table, table.mean().rename("mean").to_frame().T]).round(2).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
