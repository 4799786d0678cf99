"""One table, what is known, and the views that were found one after another; without Streamlit."""

from __future__ import annotations

import time
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from ...base.progress import Progress
from ...base.thresholds import RESEMBLES
from ...core.metrics import match_labels
from ...models.kdac import KDAC
from ...models.study import Study, read_study
from ...search.significance import Significance
from ...tables import Table, TableEncoder
from .escape import unique_names
from .jobs import Job

PATIENCE, FEW_ROUNDS = 0.6, 5  # seconds and rounds after which a refit is stopped
MANY_COLUMNS, MANY_CELLS = 100, 2_000_000  # above which a search may take minutes


@dataclass(frozen=True)
class Choices:
    """The choices of the user.

    Attributes
    ----------
    given : tuple of str
        Columns with known clusters.
    keep : str or None
        Column with labels with which the clusters should agree; not in a first view with nothing to differ from.
    n_clusters : int or "auto"
    encoder : TableEncoder
        How the table is read.
    """

    given: tuple[str, ...] = ()
    keep: str | None = None
    n_clusters: int | str = "auto"
    encoder: TableEncoder = field(default_factory=TableEncoder)


@dataclass(frozen=True, eq=False)
class ShownView:
    """One clustering that was found.

    Attributes
    ----------
    model : KDAC
    first : KDAC
        The model before any change of the novelty weight: every refit starts there, so that the same weight always
        gives the same view.
    labels : int array, shape (n,)
        The clusters, numbered as before the refit.
    known : DataFrame or None
        The clusterings that it differs from.
    before : KDAC or None
        The model before the last refit.
    names : dict of int to str
        The names that the user gave to clusters.
    stopped : bool
        Whether the search was stopped early.
    significance : Significance or None
        The result of the significance test, once it was run.
    """

    model: KDAC
    first: KDAC
    labels: np.ndarray
    known: pd.DataFrame | None
    before: KDAC | None = None
    names: dict[int, str] = field(default_factory=dict)
    stopped: bool = False
    significance: Significance | None = None

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

    def find(self, job: Job) -> ShownView:
        """The next view."""
        known = self.study.known([view.labels for view in self.views])
        model = KDAC(self.choices.n_clusters, callback=job.update, random_state=0)
        self.study.fit(model, known).take_number(len(self.views) + 1)
        model.callback = None  # it refers to the job, which would be kept in memory
        return ShownView(model, model, np.asarray(model.labels_), known, stopped=job.stopping)

    def refit(self, view: ShownView, novelty_weight: float, job: Job) -> ShownView:
        """The same view with another novelty weight; stopped with the best result so far once it takes long."""
        first, start = view.first, time.monotonic()

        def hurry(now: Progress) -> bool:
            late = now.done >= FEW_ROUNDS and time.monotonic() - start > PATIENCE
            return job.update(now) or late

        model = KDAC(
            settings=replace(
                first.settings_, novelty_weight=novelty_weight, pull=None, subspace=None, init=first.components_.T
            ),
            callback=hurry,
            random_state=0,
        )
        self.study.fit(model, view.known).callback = None
        found = match_labels(np.asarray(model.labels_), view.labels)
        return replace(view, model=model, labels=found, before=view.model, significance=None)

    def rename(self, place: int, code: int, name: str) -> None:
        """Name a cluster of a view; an empty name restores its number."""
        view = self.views[place]
        self.views[place] = replace(view, names=view.names | {code: " ".join(name.split())})
        self._summaries.clear()  # later views show the name as well

    def _named(self, known: pd.DataFrame | None) -> pd.DataFrame | None:
        """What a view differs from, with the current names of earlier views' clusters."""
        if known is None:
            return None
        given, shown = len(self.choices.given), known.copy()
        for j in range(given, known.shape[1]):
            view = self.views[j - given]
            shown.isetitem(j, np.array(view.cluster_names, dtype=object)[view.labels])
        return shown

    def summary(self, view: ShownView) -> dict[str, Any]:
        """The summary of a view; rows are numbered from 0."""
        if view not in self._summaries:
            self._summaries[view] = self.summarise(view, range(len(self.table.frame)))
        return self._summaries[view]

    def summarise(self, view: ShownView, ids: Iterable[Any] | None = None) -> dict[str, Any]:
        """The summary with other row names."""
        place = next(i for i, one in enumerate(self.views) if one.model is view.model)
        return self.study.summary(
            view.model,
            [one.labels for one in self.views[:place]],
            self._named(view.known),
            labels=view.labels,
            ids=ids,
            cluster_names=dict(enumerate(view.cluster_names)),
        )

    def assess(self, view: ShownView, job: Job) -> Significance | None:
        """The significance of a view; None if the test was stopped. The model, which the page uses, stays as it is."""
        return self.study.tested(copy(view.model), job.update)

    def take_test(self, tested: ShownView, significance: Significance) -> None:
        """Keep the result of a test, if its view is still there."""
        for place, view in enumerate(self.views):
            if view.model is tested.model:
                view.model._view = replace(view.model._view, significance=significance)
                self.views[place] = replace(view, significance=significance)
