"""The views of a table, one after the other: each differs from what is given and from all views before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.backend import Array
from ..base.errors import InputError, shown_name
from ..base.known import Known, known_parts
from ..core.metrics import nmi
from ..core.solvers import Status
from ..search.significance import Significance
from ..search.verdict import BADGES
from .fit_view import settings_of

if TYPE_CHECKING:
    from .kdac import KDAC

MOST = 5
IN_A_ROW = 2  # views that are not significant, after which the sequence ends: behind one, others often are


@dataclass(frozen=True)
class View:
    """One view of a table.

    Attributes
    ----------
    number : int
        Its place in the sequence, from 1.
    overlaps : dict of str to float
        NMI with each earlier view.
    model : KDAC
        Fitted to it: it labels new rows, draws, reports and saves the view.
    """

    number: int
    model: KDAC = field(repr=False)
    overlaps: dict[str, float] = field(default_factory=dict)

    @property
    def labels(self) -> np.ndarray:
        """The cluster of every row, shape (n_samples,)."""
        return np.asarray(self.model.labels_)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.model.n_clusters_

    @property
    def components(self) -> Array:
        """Its directions, shape (n_components, n_features)."""
        return self.model.components_

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that tell its clusters apart, most telling first."""
        return self.model.fitted_.columns

    @property
    def overlap(self) -> float:
        """The overlap with what is given, without the views before it; NaN if nothing was given."""
        found = self.model.fitted_.overlaps
        return max(found[: len(found) - self.number + 1], default=float("nan"))

    @property
    def significance(self) -> Significance | None:
        """Its significance, corrected for the views before it; None if it was not tested."""
        return self.model.fitted_.significance

    @property
    def stability(self) -> float:
        """The mean NMI with the clusters that nine tenths of the rows give; NaN if it was not tested."""
        return float("nan") if self.significance is None else self.significance.stability

    @property
    def is_real(self) -> bool:
        """Whether it was tested and counts as significant."""
        return self.significance is not None and self.significance.is_real

    @property
    def in_table(self) -> bool:
        """Whether the table gets a column with its clusters: the first view, and others unless a test rejects them."""
        return self.is_real or self.significance is None or self.number == 1

    @property
    def badge(self) -> str:
        """Its verdict in a few words."""
        return BADGES["untested"] if self.significance is None else self.significance.judgement.badge

    @property
    def variants(self) -> tuple[int, ...]:
        """The other numbers of clusters with which the same view is nearly as clear."""
        return tuple(self.model.fitted_.variants)

    def variant(self, n_clusters: int) -> View:
        """The same view with one of the numbers of clusters in `variants`, without a new search."""
        model = copy(self.model)
        model.publish(self.model.fitted_.variant(n_clusters))
        return replace(self, model=model)

    @property
    def sentence(self) -> str:
        """What it is, in a sentence."""
        shares = np.bincount(self.labels, minlength=self.n_clusters) / len(self.labels)
        sizes = ", ".join(f"{100 * share:.0f} %" for share in shares[:6]) + (", …" if len(shares) > 6 else "")
        rule, columns = self.model.fitted_.rule, tuple(map(shown_name, self.columns))
        apart = f"told apart by {_list(columns)}" if columns else "that no single column tells apart"
        apart = apart if rule is None else f"which are {rule.phrase}"
        known = "" if np.isnan(self.overlap) else f"; overlap {self.overlap:.2f} with what is given"
        also = f" Also clear with {_list(tuple(map(str, self.variants)), 'or')} clusters." if self.variants else ""
        return f"{self.n_clusters} clusters ({sizes} of the rows), {apart}{known}.{also}"

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Views(Sequence[View]):
    """The views of a table, in the order in which they were found, each with its verdict.

    Attributes
    ----------
    found : tuple of View
    stopped : str
        Why there are no more views.
    """

    found: tuple[View, ...]
    stopped: str

    @classmethod
    def of(cls, states: Iterable[View], most: int = MOST) -> Views:
        """All of `find_views`, with the same limit on their number."""
        last: dict[int, View] = {view.number: view for view in states}
        tested = tuple(view for view in last.values() if view.significance is not None)
        return cls(tested, _why_ended(tuple(last.values()), most))

    def __getitem__(self, place: Any) -> Any:
        return self.found[place]

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        return "\n".join([*(f"View {view.number}: {view.badge}: {view.sentence}" for view in self), self.stopped])


def find_views(
    model: KDAC,
    fit: Callable[[list[View]], KDAC],
    test: Callable[[KDAC], Significance | None],
    most: int = MOST,
) -> Iterator[View]:
    """Find one view after the other, until two in a row are not significant.

    Every view is passed on twice: when it is found, and when it has been tested.

    Parameters
    ----------
    model : KDAC
        Fitted to the first view.
    fit : callable
        Fits the next view, from the views before it.
    test : callable
        Tests a view; None if that was cancelled, which ends the sequence.
    most : int
        Limit on the number of views.
    """
    before: list[View] = []
    while True:
        number = len(before) + 1
        take_number(model, number)
        overlaps = {f"view {one.number}": nmi(np.asarray(model.labels_), one.labels) for one in before}
        view = View(number, model, overlaps)
        yield view
        if model.status_ == Status.CANCELLED or test(model) is None:
            return
        yield view
        before.append(view)
        if number == most or nothing_more(before):
            return
        model = fit(before)


def _why_ended(views: Sequence[View], most: int) -> str:
    """Why a sequence ended with these views."""
    count = len(views)
    if views[-1].significance is None:
        return f"View {count} was not tested, so that no other was searched for."
    if nothing_more(views):
        which = f"views {count - 1} and {count} are not"
        return f"{'Nothing more that' if any(view.is_real for view in views) else 'No view'} is significant: {which}."
    if count == most:
        return f"The limit of {count} view{'s' * (count > 1)} was reached."
    return f"It was stopped after view {count}."


def nothing_more(views: Sequence[View]) -> bool:
    """Whether a sequence ends with these tested views, because two in a row are not significant."""
    return len(views) >= IN_A_ROW and not any(view.is_real for view in views[-IN_A_ROW:])


def next_view(model: KDAC, fitted_to: dict[str, Any] | None, given: Any, before: list[View]) -> KDAC:
    """A model of the next view: new to what is given, and to the views before it."""
    if fitted_to is None:
        raise InputError("other views need the rows, which a loaded model does not contain: fit again.")
    known = [*known_parts(given), *(Known.labels(view.labels, f"view {view.number}") for view in before)]
    return alike(model, len(before)).fit(y=known, **fitted_to)


def alike(model: KDAC, place: int) -> KDAC:
    """An estimator with the same parameters, for the view in this place of the sequence, from 0."""
    wanted = model.n_clusters
    if isinstance(wanted, list | tuple):
        wanted = wanted[place:] or "auto"
    following = type(model)(**model.get_params(deep=False) | {"n_clusters": wanted})
    if settings_of(following).n_clusters == 1:
        raise InputError("is no view: ask for at least 2 clusters.", argument="n_clusters", value=1)
    return following


def take_number(model: KDAC, number: int) -> None:
    """Count as this view of a sequence: `significance_` is corrected for the views before it."""
    if number != model.fitted_.number:
        model.fitted_ = replace(model.fitted_, number=number, significance=None)


def _list(names: tuple[str, ...], word: str = "and") -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
