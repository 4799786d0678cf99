"""The sample that is fitted in place of a large table: rows in memory, and what is given adds to a row of the table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import binom

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given
from ..base.keep import Keep
from ..base.sampling import sample_rows
from ..core.coordinates import Coordinates
from ..core.guess import Guess
from ..core.problem import coordinates
from ..data.rows import Rows
from ..data.sums import column_means, given_effects
from ..search.selection import fewest
from ..search.settings import Settings
from ..search.spec import searched_rows

FEW_TOLD = 5  # a fifth of a sample may be rows about which something is given or to be kept, where these are few
SURE = 0.95  # probability with which the search sees a cluster that counts as visible


@dataclass(frozen=True)
class Sample:
    """A table where it is, and a random sample of its rows in memory; all of them if they are few.

    `places` (m,) are the rows of the sample, ascending, and `centred` (m, d) the sample minus its own mean. The
    `effects`, shape (c + 1, d) each, are what every code of the given columns adds to a row, from all rows. `given`,
    `keep` and `originals` are those of `altclust.KDAC.fit`, about the sample.
    """

    rows: Rows
    names: Sequence[str] | None
    places: np.ndarray
    mean: Array
    centred: Array
    given: Given
    effects: list[Array]
    keep: Keep | None
    originals: pd.DataFrame | None

    @classmethod
    def of(
        cls,
        rows: Rows,
        names: Sequence[str] | None,
        keep: Keep | None,
        originals: pd.DataFrame | None,
        size: int,
        rng: np.random.Generator,
    ) -> Sample:
        """Draw a sample, and compute what is given adds to a row from all rows in one pass."""
        places = sample_rows(rows.n, size, rng)
        raw, given = rows.take(places)
        if len(places) < rows.n:
            told = [] if keep is None else [keep.rows]
            rarely = np.flatnonzero(np.mean(given.codes >= 0, axis=0) < 0.5)
            told += [np.flatnonzero(np.asarray(rows.given.codes[:, g]) >= 0) for g in rarely]
            if told:
                few = [some[sample_rows(len(some), size // FEW_TOLD, rng)] for some in told]
                places = np.unique(np.concatenate([places, *few]))
                raw, given = rows.take(places)
        raw = np.asarray(raw, dtype=np.float64)
        mean = column_means(raw)
        effects = given_effects(rows, mean, names)
        keep = None if keep is None else keep.take(places)
        originals = None if originals is None else originals.iloc[places]
        return cls(rows, names, places, mean, raw - mean, given, effects, keep, originals)

    @property
    def whole(self) -> bool:
        """Whether the sample is the table."""
        return len(self.places) == self.rows.n

    def coordinates(self, settings: Settings, guess: Guess | None) -> tuple[Coordinates, Array]:
        """The coordinates of a fit, and the sample in them."""
        found, left = Coordinates(self.mean), self.centred
        if settings.subtract_given:
            measured = tuple(not one.are_labels for one in self.given.levels)
            found = replace(found, effects=tuple(self.effects), measured=measured, guess=guess)
            left = left - found.given_effect(left, self.given.codes)
            left = np.where(np.abs(left) > 1e-12 * np.abs(self.centred).max(), left, 0.0)
        inside, basis = coordinates(left, settings.whitening or 0.0, settings.subspace)
        return replace(found, basis=basis), inside

    def guess(self) -> Guess | None:
        """Guesses what is given about new rows; None if too little is known for that."""
        columns = zip(self.given.levels, self.effects, self.given.codes.T, strict=True)
        smooth = sum(
            (effect[codes] for one, effect, codes in columns if not one.are_labels), np.zeros_like(self.centred)
        )
        with suppress(InputError):
            return Guess.fit(self.centred, self.given, smooth)
        return None


def visible_share(k: int, n: int) -> float:
    """The share of the rows from which on a cluster of k is seen by a search in a sample of n, with 95 % probability.

    The search takes fewer rows than `altclust.search.selection.fewest` in its sample for outliers.
    """
    shares = np.arange(0.001, 0.5, 0.001)
    searched = searched_rows(n)
    least = np.ceil(fewest(k) * searched)
    return float(shares[np.argmax(binom.sf(least - 1, searched, shares) >= SURE)])
