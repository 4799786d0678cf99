"""The progress of a search, a fit or a test: the argument of callbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Progress:
    """The progress of a search, a fit, a test or a comparison.

    Attributes
    ----------
    stage : {"search", "fit", "test", "compare"}
        Search for parameters, rounds of a fit, test against shuffled rows, or comparison of methods.
    done, total : int
        Trajectories of the search, rounds of the fit (at most `total`), searches of the test, or methods.
    objective : float
        The value of the best trial so far, or after this round: smaller is better. NaN if there is none.
    overlap : float
        NMI of that trial or round with the given clusterings; NaN if there are none.
    """

    stage: str
    done: int
    total: int
    objective: float = float("nan")
    overlap: float = float("nan")

    @property
    def share(self) -> float:
        """The fraction of the stage that is done, from 0 to 1."""
        return self.done / self.total if self.total else 1.0


Callback = Callable[[Progress], Any]  # a true return value stops the work and keeps the best result so far
