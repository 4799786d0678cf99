"""The methods of the race, each as one function of rows, given labels and numbers of hidden clusters.

`measure` runs in a process of its own, which `race` kills after a time limit.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.kernel_approximation import Nystroem
from sklearn.mixture import GaussianMixture

from altclust import KDAC
from altclust.base.errors import InputError
from altclust.comparison import METHODS as BASELINES
from altclust.core.metrics import nmi, overlap

STARTS = 20  # of NrKmeans
MANY = 100_000  # rows from which k-means has one start instead of ten
SHOWN = 3  # views in which a hidden one is looked for

Fit = Callable[[Any, np.ndarray, Sequence[int], int], list[np.ndarray]]


@dataclass(frozen=True)
class Method:
    """A method of the race.

    Attributes
    ----------
    fit : callable
        Called with rows, given labels, the number of clusters of every hidden view, and a seed; returns its views.
    told : str
        What it is told.
    several : bool
        Whether it takes part where two views are hidden.
    """

    fit: Fit
    told: str
    several: bool = True


def ours(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """Nothing set: one view, or where two are hidden the sequence of views."""
    model = KDAC(random_state=seed).fit(X, given)
    if len(counts) == 1:
        return [model.labels_]
    return [view.labels for view in model.views_]


def ours_told(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """With the number of clusters."""
    return [KDAC(counts[0], random_state=seed).fit(X, given).labels_]


def kmeans(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """k-means, for every number of clusters."""
    n_init = 1 if len(X) > MANY else 10
    return [KMeans(k, n_init=n_init, random_state=seed).fit_predict(X) for k in dict.fromkeys(counts)]


def spectral(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """Spectral clustering of the graph of nearest neighbours."""
    return [
        SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(X)
        for k in dict.fromkeys(counts)
    ]


def mixture(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """A mixture of normal distributions with any covariances."""
    return [GaussianMixture(k, random_state=seed).fit_predict(X) for k in dict.fromkeys(counts)]


def nystroem(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """Kernel k-means through 100 landmarks."""
    Z = Nystroem(gamma=1 / X.shape[1], random_state=seed).fit_transform(X)
    return [MiniBatchKMeans(k, n_init=10, random_state=seed).fit_predict(Z) for k in dict.fromkeys(counts)]


def density(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """HDBSCAN, nothing set; the rows that it leaves out are one more cluster."""
    from fast_hdbscan import HDBSCAN

    return [HDBSCAN().fit_predict(np.ascontiguousarray(X))]


def erased(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """Concept erasure (LEACE), then k-means.

    In whitened rows, the directions of the given means are projected out; then the whitening is undone, so that no
    linear function of the rows predicts the given clusters and the rows move as little as possible.
    """
    rows = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    kept = values > 1e-10 * values[-1]
    scale, vectors = np.sqrt(values[kept]), vectors[:, kept]
    members = np.column_stack([column == code for column in given.T for code in np.unique(column)]).astype(float)
    U, size, _ = np.linalg.svd((vectors / scale).T @ (rows.T @ (members - members.mean(axis=0))), full_matrices=False)
    U = U[:, size > 1e-8 * size[0]]
    return kmeans(rows - rows @ ((vectors / scale) @ U) @ ((vectors * scale) @ U).T, given, counts, seed)


def nrkmeans(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """ClustPy's NrKmeans with all numbers of clusters, that of the given clustering as well, and a noise space."""
    from clustpy.alternative import NrKmeans

    return _beside(NrKmeans([*_given_counts(given), *counts, 1], n_init=STARTS, random_state=seed).fit(X), given)


def autonr(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """ClustPy's AutoNR, nothing set."""
    from clustpy.alternative import AutoNR

    return _beside(AutoNR(random_state=seed).fit(X), given)


def orthogonal(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """ClustPy's orthogonal clustering with all numbers of clusters."""
    from clustpy.alternative import OrthogonalClustering

    return _beside(OrthogonalClustering([*_given_counts(given), *counts], random_state=seed).fit(X), given)


def _given_counts(given: np.ndarray) -> list[int]:
    return [len(np.unique(column)) for column in given.T]


def _beside(model: Any, given: np.ndarray) -> list[np.ndarray]:
    """The views of a method that cannot be given anything, without the one that is most like the given clustering."""
    views = [column for column in model.labels_.reshape(len(given), -1).T if len(np.unique(column)) > 1]
    if views:
        views.pop(int(np.argmax([nmi(view, given[:, 0]) for view in views])))
    return views


def _baseline(name: str) -> Method:
    def fit(X: Any, given: np.ndarray, counts: Sequence[int], seed: int) -> list[np.ndarray]:
        return [BASELINES[name](k, random_state=seed).fit(X, given).labels_ for k in dict.fromkeys(counts)]

    return Method(fit, "given, k")


METHODS: dict[str, Method] = {
    "altclust": Method(ours, "given"),
    "altclust, k told": Method(ours_told, "given, k", several=False),
    "NrKmeans (ClustPy)": Method(nrkmeans, "every k"),
    "AutoNR (ClustPy)": Method(autonr, "nothing"),
    "Orthogonal (ClustPy)": Method(orthogonal, "every k"),
    "KMeans": Method(kmeans, "k"),
    "SpectralClustering": Method(spectral, "k"),
    "GaussianMixture": Method(mixture, "k"),
    "Nystroem + MiniBatchKMeans": Method(nystroem, "k"),
    "fast-hdbscan": Method(density, "nothing"),
    "group means subtracted + KMeans": _baseline("Residual"),
    "concept erasure + KMeans": Method(erased, "given, k"),
    "Orth-1": _baseline("Orth-1"),
    "Qi-Davidson": _baseline("Qi-Davidson"),
    "minCEntropy": _baseline("minCEntropy"),
    "mSC": _baseline("mSC"),
}


def prepare(name: str, memory: int) -> tuple[int, float]:
    """Make this process ready for a method; returns its id and its processor time so far."""
    _first_fit(name, memory)
    return os.getpid(), time.process_time()


@cache
def _first_fit(name: str, memory: int) -> None:
    """Limit the memory; import and compile what a method needs, by a fit of a small table that is not counted."""
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (2, 100))
    METHODS[name].fit(rng.standard_normal((100, 4)) + 6 * np.repeat(codes.T, 2, axis=1), codes[0][:, None], [2], 0)


def measure(
    name: str, X: np.ndarray | str, given: np.ndarray, truths: Sequence[np.ndarray], seed: int
) -> dict[str, Any]:
    """Run a method once: NMI with what is hidden, overlap, k, processor time, and the peak of this process in bytes.

    Parameters
    ----------
    name : str
        In `METHODS`.
    X : array of shape (n, d), or str
        The rows, or the path of a file with them, which other methods than ours see as a mapped array.
    given : int array, shape (n, 1)
    truths : sequence of int arrays, shape (n,)
    seed : int
    """
    rows = np.load(X, mmap_mode="r") if isinstance(X, str) and not name.startswith("altclust") else X
    counts = [len(np.unique(codes)) for codes in truths]
    Path("/proc/self/clear_refs").write_text("5")  # the peak is that of now
    start = time.process_time()
    try:
        views = METHODS[name].fit(rows, given, counts, seed)
    except MemoryError:
        return {"failure": "memory"}
    except InputError as error:
        return {"failure": "refused", "why": str(error)}
    except Exception as error:
        return {"failure": "error", "why": f"{type(error).__name__}: {error}"[:200]}
    seconds = time.process_time() - start
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
    if not views:
        return {"failure": "no view", "seconds": seconds, "memory": peak}
    each = np.array([[nmi(view, codes) for view in views[:SHOWN]] for codes in truths])
    found = [len(np.unique(view)) for view in views[:SHOWN]]
    return {
        "nmi": float(each.max(axis=1).mean()),
        "overlap": overlap(views[0], given),
        "k": found,
        "k right": float(np.mean([found[i] == k for i, k in zip(each.argmax(axis=1), counts, strict=True)])),
        "seconds": seconds,
        "memory": peak,
    }
