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
from ...models.prepared import PreparedTable, prepare_table
from ...report import summarise
from ...report.menu import candidates
from ...search.significance import Significance
from ...tables import Table, TableEncoder
from ...tables.readable import readable
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
class View:
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
    number : int
        Its place on the menu of its search, from 1.
    others : dict of int to View
        Other views on that menu that were shown before, as they were left.
    """

    model: KDAC
    first: KDAC
    labels: np.ndarray
    known: pd.DataFrame | None
    before: KDAC | None = None
    names: dict[int, str] = field(default_factory=dict)
    stopped: bool = False
    significance: Significance | None = None
    number: int = 1
    others: dict[int, View] = field(default_factory=dict)

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
class Study:
    """A table that is being explored: its rows as numbers, and the views that were found in it."""

    table: Table
    choices: Choices
    views: list[View] = field(default_factory=list)
    number: int = field(default_factory=count(1).__next__)  # unique in this process
    _summaries: WeakKeyDictionary[View, dict[str, Any]] = field(default_factory=WeakKeyDictionary)
    _menus: WeakKeyDictionary[KDAC, list[dict[str, Any]]] = field(default_factory=WeakKeyDictionary)

    @cached_property
    def prepared(self) -> PreparedTable:
        """The table as it is clustered."""
        chosen = self.choices
        return prepare_table(chosen.encoder, self.table.frame, chosen.given, keep=chosen.keep)

    @property
    def large(self) -> bool:
        """Whether a search may take minutes."""
        return self.table.frame.shape[1] > MANY_COLUMNS or self.table.frame.size > MANY_CELLS

    @property
    def decisions(self) -> list[str]:
        """How the table was read, one sentence each."""
        return [*self.table.notes, *self.prepared.recipe.sentences]

    @cached_property
    def values(self) -> pd.DataFrame:
        """The columns that describe rows, in their original units."""
        return readable(self.table.frame.drop(columns=list(self.choices.given)), self.prepared.recipe)

    def known(self, views: int) -> pd.DataFrame | None:
        """What the next view must differ from: the known columns, and the first so many views."""
        found = {f"view {i}": view.labels.astype(str) for i, view in enumerate(self.views[:views], 1)}
        given = self.prepared.given
        columns = [*([] if given is None else [given]), *([pd.DataFrame(found)] if found else [])]
        return pd.concat(columns, axis=1) if columns else None

    def find(self, job: Job) -> View:
        """The next view."""
        known = self.known(len(self.views))
        model = KDAC(self.choices.n_clusters, callback=job.update, random_state=0)
        self.prepared.fit(model, known)
        model.callback = None  # it refers to the job, which would be kept in memory
        return View(model, model, np.asarray(model.labels_), known, stopped=job.stopping)

    def refit(self, view: View, novelty_weight: float, job: Job) -> View:
        """The same view with another novelty weight; stopped with the best result so far once it takes long."""
        first, start = view.first, time.monotonic()

        def hurry(now: Progress) -> bool:
            late = now.done >= FEW_ROUNDS and time.monotonic() - start > PATIENCE
            return job.update(now) or late

        model = KDAC(
            first.n_clusters_,
            n_components=first.n_components_,
            sigma=first.sigma_,
            subtract_given=first.subtract_given_,
            whitening=first.whitening_,
            degree_floor=first.degree_floor_,
            novelty_weight=novelty_weight,
            scaling="balanced",
            init=first.components_.T,
            callback=hurry,
            random_state=0,
        )
        self.prepared.fit(model, view.known).callback = None
        found = match_labels(np.asarray(model.labels_), view.labels)
        return replace(view, model=model, labels=found, before=view.model, significance=None)

    def menu(self, view: View) -> list[dict[str, Any]]:
        """The views that the search for this one found, best first; empty if there are fewer than two."""
        if view.first not in self._menus:
            self._menus[view.first] = candidates(view.first, self.prepared.X)
        return self._menus[view.first]

    def choose(self, place: int, number: int) -> None:
        """Replace a view by another on its menu, without a new search; one that was shown before returns as it was."""
        view = self.views[place]
        if number == view.number:
            return
        shown = view.others | {view.number: replace(view, others={})}
        other = shown.pop(number, None)
        if other is None:
            model = copy(view.first).choose(number)
            other = View(model, model, np.asarray(model.labels_), view.known, stopped=view.stopped, number=number)
        self.views[place] = replace(other, others=shown)

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

    def summary(self, view: View) -> dict[str, Any]:
        """The summary of a view; rows are numbered from 0."""
        if view not in self._summaries:
            self._summaries[view] = self.summarise(view, range(len(self.table.frame)))
        return self._summaries[view]

    def summarise(self, view: View, ids: Iterable[Any] | None = None) -> dict[str, Any]:
        """The summary with other row names."""
        return summarise(
            view.model,
            self.prepared.X,
            self._named(view.known),
            labels=view.labels,
            values=self.values,
            ids=ids,
            keep=None if view.known is None else self.prepared.keep,
            name=self.table.name,
            cluster_names=dict(enumerate(view.cluster_names)),
            decisions=self.decisions,
            listing=self.prepared.recipe.listing,
            significance=view.significance is not None,
        )

    def assess(self, view: View, job: Job) -> Significance | None:
        """The significance of a view; None if the test was stopped. The model, which the page uses, stays as it is."""
        return copy(view.model).assess_significance(job.update, witnesses=self.prepared.others(view.model))

    def take_test(self, tested: View, significance: Significance) -> None:
        """Keep the result of a test, if its view is still there."""
        for place, view in enumerate(self.views):
            if view.model is tested.model:
                view.model._view = replace(view.model._view, significance=significance)
                self.views[place] = replace(view, significance=significance)
