"""The columns of a table that had no part in a clustering."""

import pandas as pd

from altclust.tables.readable import other_columns


def test_numbers_categories_and_dates_but_no_names_or_row_numbers_and_nothing_that_was_used():
    n = 40
    frame = pd.DataFrame(
        {
            "used": ["1"] * n,
            "size": [str(i / 2) for i in range(n)],
            "row": [str(i) for i in range(n)],
            "sex": ["f", "m"] * (n // 2),
            "name": [f"person {i}" for i in range(n)],
            "day": [f"2020-01-{1 + i % 28:02d}" for i in range(n - 1)] + [""],
            "when": [f"2020-01-01T{i // 2:02d}:{i:02d}:00" for i in range(n)],
            "date": pd.date_range("2021-01-01", periods=n),
        }
    )
    found = other_columns(frame, ["used", "absent"])
    assert set(found.columns) == {"size", "sex", "day", "when", "date"}
    assert found["size"].dtype == float
    assert found["when"].dt.strftime("%Y-%m-%d").eq("2020-01-01").all()
    assert found["date"].equals(frame["date"].astype(found["date"].dtype))
    assert other_columns(frame[["used", "name"]], ["used"]) is None
