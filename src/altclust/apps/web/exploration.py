"""One table, what is known, and the views that were found one after another; without Streamlit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from math import inf
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from ...base.progress import Callback, Progress
from ...base.thresholds import RESEMBLES
from ...core.metrics import match_labels
from ...models.kdac import KDAC
from ...models.study import Study, read_study, view_name
from ...models.views import MOST, View, nothing_more, take_number
from ...tables import Table, TableEncoder
from .escape import unique_names
from .jobs import Job

PATIENCE, FEW_ROUNDS = 0.6, 5  # seconds and rounds after which a refit is stopped
MANY_COLUMNS, MANY_CELLS = 100, 2_000_000  # above which a search may take minutes


@dataclass(frozen=True)
class Choices:
    """The choices of the user."""

    given: tuple[str, ...] = ()  # columns with known clusters
    keep: str | None = None  # with labels to agree with, but not in a first view with nothing to differ from
    n_clusters: int | str = "auto"
    encoder: TableEncoder = field(default_factory=TableEncoder)  # how the table is read


@dataclass(frozen=True, eq=False)
class ShownView:
    """One view that was found."""

    view: View  # as it is shown
    searched: View  # as it was found: every refit starts there, so that the same choices always give the same view
    labels: np.ndarray  # the clusters, numbered as before the refit
    known: pd.DataFrame | None  # the clusterings that it differs from
    before: KDAC | None = None  # the model before the last refit
    names: dict[int, str] = field(default_factory=dict)  # the names that the user gave to clusters
    stopped: bool = False  # whether the search was stopped early

    @property
    def model(self) -> KDAC:
        """The model of the view."""
        return self.view.model

    @property
    def place(self) -> int:
        """Its place among the views, from 0."""
        return self.view.number - 1

    @property
    def numbers(self) -> list[int]:
        """The numbers of clusters with which it can be shown without a new search."""
        return sorted({self.searched.n_clusters, *self.searched.variants})

    @property
    def cluster_names(self) -> list[str]:
        """One unique name per cluster."""
        return unique_names(self.names.get(code) or f"cluster {code}" for code in range(self.model.n_clusters_))

    @property
    def warnings(self) -> list[str]:
        """Warnings about the view."""
        said = []
        if self.model.overlap_ > RESEMBLES:
            said.append(
                "This view resembles the known clusters: move the slider towards novelty, or use other columns."
            )
        if self.stopped:
            said.append("The search was stopped early: this is the best result so far.")
        return said


@dataclass
class Exploration:
    """A table that is being explored: its rows as numbers, and the views that were found in it."""

    table: Table
    choices: Choices
    views: list[ShownView] = field(default_factory=list)
    found_before: View | None = None  # the first view, if an automatic search has found it with other choices of k
    number: int = field(default_factory=count(1).__next__)  # unique in this process
    _summaries: WeakKeyDictionary[ShownView, dict[str, Any]] = field(default_factory=WeakKeyDictionary)

    @cached_property
    def study(self) -> Study:
        """The table as it is clustered."""
        chosen = self.choices
        read = read_study(chosen.encoder, self.table.frame, chosen.given, keep=chosen.keep)
        return replace(read, name=self.table.name, notes=tuple(self.table.notes))

    @property
    def large(self) -> bool:
        """Whether a search may take minutes."""
        return self.table.frame.shape[1] > MANY_COLUMNS or self.table.frame.size > MANY_CELLS

    @property
    def in_table(self) -> list[ShownView]:
        """The views whose clusters become columns of the table."""
        return [view for view in self.views if view.view.in_table]

    @property
    def to_do(self) -> str:
        """What comes next: a "test" of the last view, a "search" for another one; empty at the end."""
        found = [one.view for one in self.views]
        if found[-1].significance is None:
            return "test"
        return "" if len(found) == MOST or nothing_more(found) else "search"

    def automatic(self, other: Exploration) -> View | None:
        """The first view of the automatic search, if it serves another exploration as well."""
        if other.table is not self.table or replace(other.choices, n_clusters=self.choices.n_clusters) != self.choices:
            return None
        if self.choices.n_clusters == "auto" and self.views and not self.views[0].stopped:
            return self.views[0].searched
        return self.found_before

    def find(self, job: Job) -> ShownView | None:
        """The next view; if it is stopped, the best first view so far."""
        known = self.study.known([view.labels for view in self.views])
        wanted, before = self.choices.n_clusters, self.found_before
        if not self.views and before is not None and wanted in ("auto", before.n_clusters, *before.variants):
            view = before if wanted in ("auto", before.n_clusters) else before.variant(int(wanted))
            return ShownView(view, before, view.labels, known)
        model = job.compute(fitted, self.study, KDAC(wanted, random_state=0), known, inf)
        view = View(len(self.views) + 1, model)
        take_number(model, view.number)
        if self.views and job.stopping:
            return None
        return ShownView(view, view, view.labels, known, stopped=job.stopping)

    def with_clusters(self, shown: ShownView, n_clusters: int) -> ShownView:
        """The same view with one of its numbers of clusters, without a new search."""
        view = _searched(shown, n_clusters)
        return replace(shown, view=view, labels=view.labels, before=None)

    def refit(self, shown: ShownView, novelty_weight: float, job: Job) -> ShownView:
        """The same view with another novelty weight; stopped with the best result so far once it takes long."""
        first = _searched(shown, shown.view.n_clusters).model
        model = KDAC(
            settings=replace(
                first.settings_, novelty_weight=novelty_weight, pull=None, subspace=None, init=first.components_.T
            ),
            random_state=0,
        )
        model = job.compute(fitted, self.study, model, shown.known, PATIENCE)
        take_number(model, shown.view.number)
        found = match_labels(np.asarray(model.labels_), shown.labels)
        return replace(shown, view=replace(shown.view, model=model), labels=found, before=shown.model)

    def test(self, job: Job) -> ShownView | None:
        """The last view with its significance; None if that was stopped. The model, which the page uses, stays."""
        shown = self.views[-1]
        model = job.compute(tested, self.study, shown.model)
        if model is None:
            return None
        view = replace(shown.view, model=model)
        return replace(shown, view=view, searched=view if shown.searched is shown.view else shown.searched)

    def take(self, view: ShownView) -> None:
        """Put a view in its place; those after it depend on it, and are dropped."""
        for there in self.views[view.place : view.place + 1]:  # its clusters may have been named meanwhile
            view = replace(view, names=there.names if there.view.n_clusters == view.view.n_clusters else {})
        self.views[view.place :] = [view]

    def rename(self, place: int, code: int, name: str) -> None:
        """Name a cluster of a view; an empty name restores its number."""
        view = self.views[place]
        self.views[place] = replace(view, names=view.names | {code: " ".join(name.split())})
        self._summaries.clear()  # later views show the name as well

    def _named(self, known: pd.DataFrame | None, name: Callable[[int], str]) -> pd.DataFrame | None:
        """What a view differs from, with the current names of earlier views and of their clusters."""
        if known is None:
            return None
        shown = known.iloc[:, : len(self.choices.given)]
        earlier = self.views[: known.shape[1] - shown.shape[1]]
        found = {name(one.view.number): np.array(one.cluster_names, dtype=object)[one.labels] for one in earlier}
        return pd.concat([shown, pd.DataFrame(found, index=known.index)], axis=1)

    def summary(self, view: ShownView) -> dict[str, Any]:
        """The summary of a view for the page; rows are numbered from 0."""
        if view not in self._summaries:
            rows = range(len(self.table.frame))
            self._summaries[view] = self.summarise(view, rows, lambda number: f"view {number}")
        return self._summaries[view]

    def summarise(
        self, view: ShownView, ids: Iterable[Any] | None = None, name: Callable[[int], str] = view_name
    ) -> dict[str, Any]:
        """The summary with other names of rows, and of views by their numbers."""
        return self.study.summary(
            view.model,
            [one.labels for one in self.views[: view.place]],
            self._named(view.known, name),
            labels=view.labels,
            ids=ids,
            alternative=name(view.view.number),
            cluster_names=dict(enumerate(view.cluster_names)),
        )


class Hurry:
    """A callback that passes progress on, and stops a fit after so many seconds and a few rounds.

    Fitted models refer to their callback; one that comes from another process passes nothing on.
    """

    def __init__(self, update: Callback, patience: float) -> None:
        self._update, self._until = update, time.monotonic() + patience

    def __call__(self, now: Progress) -> bool:
        """Whether to stop."""
        return bool(self._update(now)) or (now.done >= FEW_ROUNDS and time.monotonic() > self._until)

    def __reduce__(self) -> tuple[type[Hurry], tuple[Callback, float]]:
        return Hurry, (_go_on, inf)


def _go_on(now: Progress) -> bool:
    return False


def fitted(study: Study, model: KDAC, known: pd.DataFrame | None, patience: float, update: Callback) -> KDAC:
    """The model, fitted; stopped with the best result so far after so many seconds and a few rounds."""
    model.callback = Hurry(update, patience)
    model = study.fit(model, known)
    model.callback = None  # it refers to the job, which would be kept in memory
    return model


def tested(study: Study, model: KDAC, update: Callback) -> KDAC | None:
    """A copy of the model with its significance; None if that was stopped."""
    model = copy(model)
    return None if study.tested(model, update) is None else model


def _searched(shown: ShownView, n_clusters: int) -> View:
    """A view as the search found it, with one of its numbers of clusters."""
    view = shown.searched
    return view if n_clusters == view.n_clusters else view.variant(n_clusters)
