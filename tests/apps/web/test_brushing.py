from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")
pytest.importorskip("plotly", reason="plotly is not installed")

from types import SimpleNamespace

from altclust.apps.web.brushing import listing, split
from altclust.apps.web.results_view import crosstab

LEGEND = [{"code": 0, "name": "a"}, {"code": 1, "name": "a"}]
KNOWN = {
    "name": "segment",
    "legend": [{"code": 0, "name": "old"}, {"code": -1, "name": "unknown"}],
    "counts": [[2, 0], [1, 1]],
}


def test_chosen_rows_are_counted_in_every_clustering():
    drawing = {"ids": ["3", "5", "7", "9"], "codes": [[0, 1, 0, 1], [0, 0, -1, -1]]}
    counts = split({"drawing": drawing, "legend": LEGEND, "given": [KNOWN]}, np.array([3, 5, 7]))
    assert counts["rows"].tolist() == [2, 1, 2, 1]
    assert counts["of"].tolist() == ["new clusters", "new clusters", "segment", "segment"]
    assert counts["cluster"].tolist() == ["a", "a", "old", "unknown"]


def test_chosen_rows_are_listed_as_they_are_with_their_new_cluster():
    frame = pd.DataFrame({"new cluster": [1.5, 2.5, 3.5], "mixed": [1, "x", None]})
    view = SimpleNamespace(cluster_names=["left", "right"], labels=np.array([0, 1, 0]))
    listed = listing(frame, view, np.array([1, 2]))
    assert listed.index.tolist() == [2, 3]
    assert listed.columns.tolist() == ["new cluster (2)", "new cluster", "mixed"]
    assert listed.iloc[0].tolist() == ["right", "2.5", "x"]


def test_a_crosstab_has_no_column_twice():
    table = crosstab(KNOWN, LEGEND)
    assert table.columns.tolist() == ["a", "a (2)"]
    assert table.loc["unknown"].tolist() == [1, 1]
