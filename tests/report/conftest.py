"""A small view, and names that do their worst."""

from __future__ import annotations

import pandas as pd
import pytest

from altclust import KDAC
from altclust.datasets import moons
from altclust.report import Shown

HOSTILE = (
    "<script>window.__pwned = 1</script>",
    "</script><script>window.__pwned = 2</script>",
    "<img src=x onerror='window.__pwned = 3'>",
    "\"quotes' &amp;",
    "{{ 7*7 }}",
    "=1+1",
    "line\nbreak",
    "emoji 🎉",
)


@pytest.fixture(scope="session")
def data():
    return moons(200, random_state=0)


@pytest.fixture(scope="session")
def model(data):
    return KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X, data.given)


@pytest.fixture(scope="session")
def hostile(data):
    """Arguments of `summarise` in which every string is hostile."""
    n = len(data.X)
    X = pd.DataFrame(data.X, columns=HOSTILE[:4])
    values = X.assign(**{name: [HOSTILE[i % 5] for i in range(n)] for name in HOSTILE[4:]})
    given = pd.DataFrame({HOSTILE[0] + str(j): [HOSTILE[(j + g) % 8] for g in data.given] for j in range(2)})
    return {
        "model": KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(X, given),
        "X": X,
        "given": given,
        "shown": Shown(
            values=values,
            ids=[HOSTILE[i % 8] for i in range(n)],
            name=HOSTILE[0],
            alternative=HOSTILE[2],
            cluster_names={0: HOSTILE[1], 1: HOSTILE[3]},
            decisions=HOSTILE,
            command=HOSTILE[1],
        ),
    }
