"""KernelProjection against other linear (and one kernel) projections, on five labelled tables of the zoo.

600 rows of each table, standardised; q = 2 and q = k − 1 directions; five folds. Accuracy of a 5-nearest-neighbour
classifier in the projected rows, seconds of one fit, and how many columns a direction uses: 1 / Σ w⁴ for a unit vector
w, which is 1 for a single column and d for all in equal parts.

    ALTCLUST_DATA=… python benchmarks/projection.py
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from altclust import KernelProjection
from zoo import folder

TABLES = ("segment", "penbased", "texture", "wdbc", "movement_libras")
ROWS = 600


class _PLS(PLSRegression):
    """PLS on the indicators of the classes."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> _PLS:
        """Fit."""
        return super().fit(X, np.eye(y.max() + 1)[y])

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Projected rows."""
        return super().transform(X)


METHODS: dict[str, Callable[[int], Any]] = {
    "KernelProjection": lambda q: KernelProjection(q, random_state=0),
    "the same, rational quadratic": lambda q: KernelProjection(q, kernel="rational_quadratic", random_state=0),
    "the same, linear": lambda q: KernelProjection(q, kernel="linear", random_state=0),
    "LDA": lambda q: LinearDiscriminantAnalysis(n_components=q),
    "NCA": lambda q: NeighborhoodComponentsAnalysis(q, random_state=0, max_iter=100),
    "PLS": lambda q: _PLS(q),
    "PCA": lambda q: PCA(q, random_state=0),
    "KernelPCA": lambda q: KernelPCA(q, kernel="rbf", random_state=0),
}


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows in random order, and their classes."""
    frame = pd.read_csv(folder() / "single" / f"{name}.csv", skipinitialspace=True)
    rows = np.random.default_rng(0).permutation(len(frame))[:ROWS]
    X = frame.iloc[rows, :-1].to_numpy(float)
    return X[:, X.std(axis=0) > 0], np.unique(frame.iloc[rows, -1], return_inverse=True)[1]


def columns_used(model: Any) -> float:
    """The mean of 1 / Σ w⁴ over the directions; NaN without directions."""
    W = getattr(model, "components_", None)
    W = getattr(model, "scalings_", None) if W is None else W.T
    W = getattr(model, "x_rotations_", W) if W is None or hasattr(model, "x_rotations_") else W
    if W is None or isinstance(model, KernelPCA):
        return float("nan")
    W = W / np.linalg.norm(W, axis=0)
    return float(np.mean(1 / np.sum(W**4, axis=0)))


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name in TABLES:
        X, y = table(name)
        k, d = int(y.max()) + 1, X.shape[1]
        for q in sorted({min(2, k - 1), min(k - 1, d)}):
            for method, make in METHODS.items():
                scores, seconds, used = [], [], []
                for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
                    scaler = StandardScaler().fit(X[train])
                    A, B = scaler.transform(X[train]), scaler.transform(X[test])
                    begin = time.perf_counter()
                    model = make(q).fit(A, y[train])
                    seconds.append(time.perf_counter() - begin)
                    near = KNeighborsClassifier(5).fit(np.asarray(model.transform(A))[:, :q], y[train])
                    scores.append(near.score(np.asarray(model.transform(B))[:, :q], y[test]))
                    used.append(columns_used(model))
                kind = "q = 2" if q == min(2, k - 1) else "q = k − 1"
                rows.append(
                    (f"{name} (d {d}, k {k})", kind, method, np.mean(scores), np.median(seconds), np.mean(used))
                )
                print(*rows[-1], file=sys.stderr, flush=True)
    found = pd.DataFrame(rows, columns=["table", "directions", "method", "accuracy", "seconds", "columns"])
    for value, digits in (("accuracy", 2), ("seconds", 2), ("columns", 1)):
        shown = found.pivot_table(value, "method", ["directions", "table"], sort=False, dropna=False)
        print(f"\n{value}\n{shown.round(digits).to_string()}")


if __name__ == "__main__":
    main()
