"""Two columns of two values each: no cluster is made of opposite corners of their cross table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from altclust import find

PASSENGERS = {  # of the Titanic: 1st, 2nd and 3rd class
    ("female", "no"): (5, 12, 110),
    ("female", "yes"): (139, 94, 106),
    ("male", "no"): (118, 146, 418),
    ("male", "yes"): (61, 25, 75),
}


def titanic():
    cells = [
        (sex, survived, f"{place}.")
        for (sex, survived), counts in PASSENGERS.items()
        for place, count in enumerate(counts, 1)
        for _ in range(count // 2)
    ]
    frame = pd.DataFrame(cells, columns=["sex", "survived", "passengerClass"])
    rng = np.random.default_rng(0)
    means = frame["passengerClass"].map({"1.": 39.0, "2.": 29.0, "3.": 25.0})
    frame["age"] = (means + 13 * rng.standard_normal(len(frame))).clip(0.5).round(1)
    return frame


def opposite_corners(labels, frame):
    """The clusters that hold most of two opposite corners, and little of the two others."""
    counts = pd.crosstab(labels, [frame["sex"], frame["survived"]]).to_numpy()
    shares = counts / counts.sum(axis=0)
    found = []
    for cluster, (a, b, c, d) in enumerate(shares):
        for pair, others in (((a, d), (b, c)), ((b, c), (a, d))):
            if min(pair) > 0.5 and max(others) < 0.25:
                found.append(cluster)
    return found


def test_no_cluster_is_two_opposite_corners():
    frame = titanic()
    crossed = (frame["sex"] == "female") ^ (frame["survived"] == "yes")
    assert opposite_corners(crossed.astype(int), frame) == [0, 1]
    result = find(frame, given="passengerClass", significance=False)
    assert opposite_corners(result.labels, frame) == [], result.view.sentence
