"""Random samples of rows."""

from __future__ import annotations

import numpy as np


def sample_rows(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Sorted indices of `most` of n rows, drawn without replacement; all n indices if n <= most."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
