"""Some thirty fits through public names, from every source, solver and start to each baseline.

`python -m tests.reference.fits` computes them all and writes reference.npz: do so where a change of results is meant,
and say so in CHANGELOG.md.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from altclust import ISM, KDAC, Settings, baselines, tune
from altclust.datasets import moons, views

FILE = Path(__file__).with_name("reference.npz")
FIXED = {"n_clusters": 3, "n_components": 2, "sigma": 2.0, "solver": "ism", "random_state": 0}

Found = dict[str, np.ndarray]


def table(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Two views of three and two blobs, beside two columns of noise."""
    data = views(n, ("blobs", "blobs"), (2, 3), noise_columns=2, random_state=5)
    return data.X, data.given


def kdac(
    n: int = 200,
    convert: Callable[[np.ndarray], Any] = np.asarray,
    settings: Settings | None = None,
    **parameters: Any,
) -> Found:
    X, given = table(n)
    model = KDAC(**FIXED | parameters, settings=settings).fit(convert(X), given)
    return {"labels": np.asarray(model.labels_), "components": model.components_, "sigma": np.array(model.sigma_)}


def searched(**parameters: Any) -> Found:
    return kdac(sigma="auto", n_components="auto", solver="auto", **parameters)


def thin() -> Found:
    data = moons(150, random_state=0)
    model = KDAC(n_clusters=2, random_state=0).fit(data.X, data.given)
    return {"labels": model.labels_, "components": model.components_}


def from_file() -> Found:
    with tempfile.TemporaryDirectory() as folder:
        X, given = table(4000)
        np.save(f"{folder}/rows.npy", X)
        model = KDAC(**FIXED, sample_size=500).fit(f"{folder}/rows.npy", given)
        return {"labels": model.labels_, "components": model.components_}


def dask_blocks(X: np.ndarray) -> Any:
    import dask.array as da

    return da.from_array(X, chunks=(1000, -1))


def tensor(X: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(X)


def tuned() -> Found:
    X, given = table(120)
    found = tune(X, given, n_clusters=3)
    return {"sigma": np.array(found.settings.sigma), "components": found.settings.init.T}


def discovered() -> Found:
    X, _ = table(150)
    views = KDAC(random_state=0).fit(X).views_
    return {"labels": np.column_stack([view.labels for view in views])}


def predicted() -> Found:
    X, given = table(300)
    model = KDAC(settings=Settings(subtract_given=True), **FIXED).fit(X[:200], given[:200])
    return {"labels": model.predict(X[200:]), "components": model.transform(X[200:230])}


def unknown() -> Found:
    X, given = table()
    some = given.astype(float)
    some[::3] = np.nan
    model = KDAC(**FIXED).fit(X, np.column_stack([some, given]))
    return {"labels": model.labels_, "components": model.components_}


def baseline(name: str, **parameters: Any) -> Found:
    X, given = table(120)
    if name == "ConditionalBottleneck":
        X = np.round(np.exp(X / 4) * 5)
    return {"labels": getattr(baselines, name)(3, random_state=0, **parameters).fit(X, given).labels_}


def wide() -> Found:
    X, given = table(80)
    X = np.hstack([X, 0.3 * np.random.default_rng(0).standard_normal((80, 150))])
    model = KDAC(**FIXED | {"sigma": 6.0}).fit(X, given)
    return {"labels": model.labels_, "components": model.components_}


CASES: dict[str, Callable[[], Found]] = {
    "one objective": partial(kdac, solver="auto"),
    "dense": kdac,
    "streamed": partial(kdac, 4000, sample_size=500),
    "file": from_file,
    "dask": partial(kdac, 4000, convert=dask_blocks, sample_size=500),
    "torch": partial(kdac, convert=tensor),
    "torch streamed": partial(kdac, 4000, convert=tensor, sample_size=500),
    "sm": partial(kdac, solver="sm"),
    "dg": partial(kdac, solver="dg"),
    "newton": partial(kdac, solver="newton"),
    "paper's loop": partial(kdac, solver=ISM(safeguard=False), sigma=6.0, max_iter=8),
    "paper's scaling": partial(kdac, settings=Settings(scaling="paper"), novelty_weight=0.02),
    "random starts": partial(kdac, settings=Settings(init="random", n_init=3)),
    "directions": partial(kdac, settings=Settings(init=np.eye(6, 2))),
    "cluster_qr": partial(kdac, settings=Settings(rounding="cluster_qr")),
    "rules": partial(kdac, n_clusters="auto", n_components="auto"),
    "median distance": partial(kdac, sigma="auto", settings=Settings(init="random", n_init=2)),
    "without given means": predicted,
    "several given, some unknown": unknown,
    "many columns": wide,
    "search": partial(searched, n_clusters="auto"),
    "search, k told": searched,
    "search, thin": thin,
    "search, two processes": partial(searched, n_jobs=2),
    "tune": tuned,
    "views": discovered,
    **{
        f"baseline {name}": partial(baseline, name)
        for name in (
            "ADFT",
            "AlternativeTransform",
            "COALA",
            "ConditionalBottleneck",
            "MinCEntropy",
            "MultipleSpectralViews",
            "NACI",
            "OrthogonalClustering",
            "OrthogonalProjection",
            "Residual",
        )
    },
}


def run(name: str) -> Found:
    """What a case finds; its warnings are somebody else's to test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name]()


def arrays() -> Iterator[tuple[str, np.ndarray]]:
    for name in CASES:
        print(name, flush=True)
        for part, array in run(name).items():
            yield f"{name}/{part}", array.astype(np.int8) if part == "labels" else array


if __name__ == "__main__":
    np.savez_compressed(FILE, **dict(arrays()))
