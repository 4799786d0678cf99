from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def customers():
    """A table with a known segment, and the hidden clusters that are in it as well."""
    rng = np.random.default_rng(0)
    known, hidden, more = rng.integers(0, 2, (3, 160))
    noise = rng.standard_normal((160, 5))
    frame = pd.DataFrame(
        {
            "segment": np.array(["old", "new"])[known],
            "spend": np.round(50 * known + 8 * noise[:, 0], 2),
            "visits": np.round(6.0 * hidden + 0.5 * noise[:, 1], 3),
            "returns": np.round(5.0 * hidden + 0.5 * noise[:, 2], 3),
            "age": np.round(40 + 20 * more + noise[:, 3], 1),
            "height": np.round(170 + 9 * noise[:, 4], 1),
        }
    )
    return frame, hidden


@pytest.fixture(scope="session")
def customers_csv(customers, tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "customers.csv"
    customers[0].to_csv(path, index=False)
    return path
