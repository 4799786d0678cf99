"""Tables with numbers and categories: pairs of real tables with half of their columns cut into a few levels.

The classes of one table are given, those of the other are hidden. A random half of the columns is cut at random
quantiles into two to five levels, some as numbers in order, some as words without one. How much of what is found in the
uncut table does an encoding keep?

    python benchmarks/mixed.py
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from altclust import KDAC
from altclust.metrics import nmi
from altclust.tables import TableEncoder, learn_recipe
from tasks import Task
from zoo import pair

PAIRS = {  # hidden: given
    "penbased": ("segment", "wdbc", "phoneme"),
    "segment": ("penbased", "texture", "ring"),
    "texture": ("segment", "twonorm", "banana"),
    "wdbc": ("penbased", "texture", "phoneme"),
    "twonorm": ("segment", "wdbc", "banana"),
}
MOST_LEVELS = 5


def cut(X: np.ndarray, seed: int) -> pd.DataFrame:
    """The table with half of its columns cut into levels: codes in order, or words in random order."""
    rng = np.random.default_rng([7, seed])
    chosen = set(rng.permutation(X.shape[1])[: (X.shape[1] + 1) // 2].tolist())
    columns = {}
    for j, x in enumerate(X.T):
        if j not in chosen:
            columns[f"x{j}"] = x
            continue
        quantiles = np.sort(rng.uniform(0.1, 0.9, int(rng.integers(2, MOST_LEVELS + 1)) - 1))
        codes = np.searchsorted(np.unique(np.quantile(x, quantiles)), x, side="right")
        if rng.random() < 0.5:
            columns[f"c{j}"] = np.array([f"v{i}" for i in rng.permutation(MOST_LEVELS + 1)])[codes]
        else:
            columns[f"o{j}"] = codes + 1
    return pd.DataFrame(columns)


def tasks() -> list[tuple[Task, pd.DataFrame]]:
    """Fifteen pairs, each with its cut table."""
    whole = [pair(given, hidden, seed) for hidden, all_given in PAIRS.items() for seed, given in enumerate(all_given)]
    return [(task, cut(task.X, task.seed)) for task in whole]


def indicators(frame: pd.DataFrame) -> np.ndarray:
    """Words as one feature per level, all else as standardised numbers; every column has unit variance."""
    blocks = []
    for name in frame:
        block = pd.get_dummies(frame[name]) if name.startswith("c") else frame[[name]]
        values = block.to_numpy(float) - block.to_numpy(float).mean(axis=0)
        blocks.append(values / (np.sqrt(values.var(axis=0).sum()) or 1.0))
    return np.hstack(blocks)


ENCODINGS: dict[str, Callable[[Task, pd.DataFrame], np.ndarray | pd.DataFrame]] = {
    "uncut": lambda task, _: task.X,
    "normal scores (learn_recipe)": lambda _, frame: learn_recipe(frame, TableEncoder()).apply(frame).to_numpy(),
    "one feature per level": lambda _, frame: indicators(frame),
    "normal scores, obvious aside": lambda _, frame: learn_recipe(frame, TableEncoder()).apply(frame),
    "the same, labelled at middles": lambda _, frame: learn_recipe(frame, TableEncoder()).apply(frame),
    "numbers only": lambda _, frame: StandardScaler().fit_transform(frame.filter(regex="^x")),
}


def main(names: list[str]) -> None:
    """Print the mean NMI with the hidden classes, and the largest with any single cut column."""
    warnings.simplefilter("ignore")
    every = tasks()
    for name in names or list(ENCODINGS):
        found, single = [], []
        for task, frame in every:
            X = ENCODINGS[name](task, frame)
            originals = learn_recipe(frame, TableEncoder()).originals(frame) if isinstance(X, pd.DataFrame) else None
            model = KDAC(task.n_clusters, random_state=0).fit(X, task.given, originals=originals)
            if "middles" in name:
                model.label_at(learn_recipe(frame, TableEncoder()).middles(frame))
            found.append(nmi(model.labels_, task.truth))
            few = [pd.factorize(frame[c])[0] for c in frame if not c.startswith("x") and frame[c].nunique() > 1]
            single.append(max(nmi(model.labels_, codes) for codes in few))
        each = " ".join(f"{value:.2f}" for value in found)
        print(f"{name:30} {np.mean(found):.3f}  single column {np.mean(single):.2f}  {each}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
