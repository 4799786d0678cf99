"""Matrices with annotations, as single cells have them.

AnnData itself is used where it is installed; otherwise a class with the same parts, which is all that is asked of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from altclust import InputError, find
from altclust.core.metrics import nmi

try:
    from anndata import AnnData
except ImportError:

    @dataclass
    class AnnData:  # type: ignore[no-redef]
        X: Any
        obs: pd.DataFrame
        obsm: dict = field(default_factory=dict)


N = 120


def cells(genes=30, pca=False):
    rng = np.random.default_rng(0)
    kind, state = rng.integers(0, 3, N), rng.integers(0, 2, N)
    rates = np.full((N, genes), 0.5)
    rates[np.arange(N)[:, None], 5 * kind[:, None] + np.arange(5)] = 6.0
    rates[np.ix_(state == 1, range(15, 25))] = 5.0
    X = np.log1p(rng.poisson(rates).astype(float))
    obs = pd.DataFrame(
        {"cell_type": np.array(["B", "T", "NK"])[kind], "donor": rng.choice(["x", "y"], N), "state": state.astype(str)},
        index=[f"cell{i}" for i in range(N)],
    )
    data = AnnData(sparse.csr_matrix(X), obs)
    if pca:
        left, strengths, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        data.obsm["X_pca"] = (left * strengths)[:, :6]
    return data, state


@pytest.mark.parametrize(
    ("genes", "pca", "first"), [(30, True, "PC 1"), (30, False, "direction 1"), (300, False, "direction 1")]
)
def test_the_clusters_are_written_beside_the_cells(genes, pca, first):
    data, state = cells(genes, pca)
    before = data.obs.copy()
    result = find(data, given="cell_type", n_clusters=2, significance=False)
    assert result.X.columns[0] == first
    assert nmi(result.labels, state) > 0.7
    assert set(result.columns["type"][: result.X.shape[1]]) == {"number"}
    assert data.obs["alternative"].tolist() == result.labels.astype(str).tolist()
    assert result.table is data
    pd.testing.assert_frame_equal(data.obs[before.columns], before)
    used = result.columns.set_index("column")["use"]
    assert used["cell_type"] == "given"
    assert used["donor"] == used["state"] == "left out"
    again, _ = cells(genes, pca)
    if first.startswith("direction"):
        with pytest.raises(InputError, match='table needs obsm\\["X_pca"\\]'):
            result.predict(again)
    else:
        assert np.array_equal(result.predict(again), result.labels)


def test_the_labels_are_written_and_a_second_run_is_refused():
    data, _ = cells(pca=True)
    result = find(data, given="cell_type", significance=False)
    assert result.table.obs["alternative"].tolist() == result.labels.astype(str).tolist()
    with pytest.raises(InputError, match="has a column 'alternative' already"):
        find(data, given="cell_type")


def test_nothing_to_cluster():
    data, _ = cells()
    data.obsm, empty = {}, type("Empty", (), {"X": None, "obsm": {}, "obs": data.obs})()
    with pytest.raises(InputError, match=r'neither obsm\["X_pca"\] nor X'):
        find(empty, given="cell_type")
