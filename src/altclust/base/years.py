"""Dates as years with decimals: the form in which they are clustered."""

from __future__ import annotations

import numpy as np
import pandas as pd

YEAR = 365.2425 * 86_400.0  # seconds


def times_of(years: np.ndarray) -> pd.DatetimeIndex:
    """The times of years with decimals, to the second."""
    return pd.to_datetime(np.round((years - 1970) * YEAR), unit="s", errors="coerce")
