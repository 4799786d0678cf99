"""The menu of a fit: up to five distinct views, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..base.backend import Array
from ..core.feature_weights import TELLING

if TYPE_CHECKING:
    from .fitted_view import FittedView

MOST_COLUMNS = 3


@dataclass(frozen=True)
class Candidate:
    """One view on the menu of a fit.

    Attributes
    ----------
    labels : int array, shape (n_samples,)
    components : array, shape (n_components, n_features)
        Its directions.
    n_clusters : int
    sigma : float
    overlap : float
        NMI with the given clustering; NaN if nothing was given.
    stability : float
        How well the search finds it again: NMI with the clusters that the same kind of start finds in one half of the
        rows, on this half. It compares the views on the menu. The stability in `KDAC.significance_` is another figure,
        of the fitted view only: the clusters that are found in each of six halves are carried to the other half, where
        they are compared with the fit.
    columns : tuple of str
        The columns that tell its clusters apart, most telling first.
    sentence : str
    """

    labels: np.ndarray
    components: Array
    n_clusters: int
    sigma: float
    overlap: float
    stability: float
    columns: tuple[str, ...]
    sentence: str
    view: FittedView = field(repr=False)

    def __repr__(self) -> str:
        return f"<Candidate: {self.sentence}>"

    def __str__(self) -> str:
        return self.sentence


def candidate(view: FittedView, stability: float, column_shares: Array, names: Sequence[str] | None) -> Candidate:
    """A fitted view as a candidate, from the share of each column's variance between its clusters, shape (d,)."""
    columns = telling_columns(column_shares, names)
    counts = np.bincount(np.asarray(view.labels), minlength=view.n_clusters)
    shares = np.sort(counts)[::-1] / counts.sum()
    sizes = ", ".join(f"{100 * share:.0f} %" for share in shares[:6]) + (", …" if len(shares) > 6 else "")
    rule = view.rule
    apart = f"told apart by {_list(columns)}" if columns else "that no single column tells apart"
    if rule is not None:
        columns, apart = rule.columns, f"which are {rule.phrase}"
    known = "" if np.isnan(view.overlap) else f"; overlap {view.overlap:.2f} with what is given"
    sentence = f"{view.n_clusters} clusters ({sizes} of the rows), {apart}{known}."
    return of_view(view, stability, columns, sentence)


def of_view(view: FittedView, stability: float, columns: tuple[str, ...], sentence: str) -> Candidate:
    """A fitted view as a candidate, with what is said about it."""
    return Candidate(
        labels=view.labels,
        components=view.components,
        n_clusters=view.n_clusters,
        sigma=view.sigma,
        overlap=view.overlap,
        stability=stability,
        columns=columns,
        sentence=sentence,
        view=view,
    )


def telling_columns(shares: Array, names: Sequence[str] | None) -> tuple[str, ...]:
    """The columns with the largest shares of their variance between clusters."""
    order = np.argsort(-shares, kind="stable")[:MOST_COLUMNS]
    return tuple(f"column {j}" if names is None else str(names[j]) for j in order if shares[j] >= TELLING)


def _list(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
