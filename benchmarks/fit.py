"""A whole KDAC fit (ISM, spectral start, fixed parameters) beside one SpectralClustering fit of the same rows.

Both run in turn in one process, so that a busy machine slows both; what counts is the ratio of medians.
"""

from __future__ import annotations
