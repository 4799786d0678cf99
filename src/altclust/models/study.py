"""A study of a table: how it is read, what is given, its views one after the other, their tests and summaries.

`altclust.find`, the command line and the page are thin edges of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.progress import Callback
from ..report.summary import Shown, summarise
from ..search.significance import Significance
from ..tables import Recipe, TableEncoder, learn_recipe
from ..tables.known import as_known, known_again, known_columns
from ..tables.readable import empty_cells, other_columns, readable
from ..tables.unknown_column import remedy
from ..tables.values import known_labels
from ..tables.values import labels as as_labels
from .kdac import KDAC
from .views import MOST, View, alike, find_views

ADDED, FIRST = "alternative", "first_view"  # the new column, and that of the first clustering if nothing was given
RESULTS = rf"{ADDED}(_\d+)?|{FIRST}"
ROLES = {"given": "given", "keep": "to agree with", "ids": "row names"}  # what columns are used as, by the argument


@dataclass(frozen=True)
class Study:
    """A table, how it becomes numbers, and what is given about its rows: labels as text, measurements as numbers.

    `keep` is what the clusters should agree with, `kept` the column that it comes from, if it is one. The `notes` are
    what was noticed when the table was read, one sentence each. `first` (n,) is the clustering that was found first, if
    nothing was given; then it is what is given.
    """

    frame: pd.DataFrame
    recipe: Recipe
    given: pd.DataFrame | None = None
    ids: pd.Series | None = None
    keep: Any = None
    kept: tuple[str, ...] = ()
    name: str = "table"
    notes: tuple[str, ...] = ()
    first: np.ndarray | None = None

    @cached_property
    def X(self) -> pd.DataFrame:
        """The rows as numbers, shape (n, d)."""
        return self.recipe.apply(self.frame)

    @cached_property
    def originals(self) -> pd.DataFrame | None:
        """The clustered columns with few values, and dates, as they are in the table; None if there are none."""
        return self.recipe.originals(self.frame)

    @cached_property
    def values(self) -> pd.DataFrame:
        """The columns that describe rows, in their original units: neither given ones nor those of earlier results."""
        given = [] if self.given is None else list(self.given.columns)
        added = [name for name in self.frame.columns if re.fullmatch(RESULTS, str(name))]
        return readable(self.frame.drop(columns=[*given, *added], errors="ignore"), self.recipe)

    def with_first(self, model: KDAC) -> Study:
        """The study with a first clustering of the table as what is given."""
        first = np.asarray(self.fit(model, None).labels_)
        return replace(self, given=pd.DataFrame({FIRST: first.astype(str)}), first=first)

    def known(self, labels: Sequence[np.ndarray] = ()) -> pd.DataFrame | None:
        """What is given, and the labels of earlier views, by the names of their columns."""
        found = {view_name(i): one.astype(str) for i, one in enumerate(labels, 1)}
        columns = [*([] if self.given is None else [self.given]), *([pd.DataFrame(found)] if found else [])]
        return pd.concat(columns, axis=1) if columns else None

    def fit(self, model: KDAC, known: pd.DataFrame | None) -> KDAC:
        """Fit a model that differs from what is known; with nothing to differ from, nothing is kept either.

        Equal rows are put into one cluster.
        """
        keep = None if known is None else self.keep
        model.fit(self.X, as_known(known), keep=keep, originals=self.originals)
        levelled = any(column.levels for column in self.recipe.columns)
        return model.label_at(self.recipe.middles(self.frame)) if levelled else model

    def each_view(
        self,
        model: KDAC,
        *,
        first: View | None = None,
        most: int = MOST,
        test: Callable[[KDAC], Significance | None] | None = None,
    ) -> Iterator[View]:
        """Find the views one after the other, with the parameters of a model; the first may be known.

        Each is passed on when it is found, and again when it has been tested; `test` returns None if that was
        cancelled.
        """

        def fit(before: list[View]) -> KDAC:
            return self.fit(alike(model, len(before)), self.known([view.labels for view in before]))

        yield from find_views(fit([]) if first is None else first.model, fit, test or self.tested, most)

    def tested(self, model: KDAC, progress: Callback | None = None) -> Significance | None:
        """The significance of a view, with the columns that had no part in it as witnesses; None if it was stopped."""
        return model.assess_significance(progress or model.callback, witnesses=self.others(model))

    def predict(self, model: KDAC, frame: pd.DataFrame | None = None) -> np.ndarray:
        """The clusters of these rows, or of another table, which may have the columns that were given to the fit."""
        frame = self.frame if frame is None else frame
        return np.asarray(model.predict(self.recipe.middles(frame), known_again(frame, model.fitted_.levels)))

    def summary(
        self, model: KDAC, before: Sequence[np.ndarray] = (), known: pd.DataFrame | None = None, **more: Any
    ) -> dict[str, Any]:
        """The content of the report on a fitted view, as plain values.

        Before are the labels of the views before it; known is what it differs from, by default what is given and these.
        More are fields of `altclust.report.Shown`.
        """
        shown = {
            "values": self.values,
            "ids": self.ids,
            "keep": self.keep if isinstance(self.keep, pd.Series) else None,
            "name": self.name,
            "alternative": view_name(len(before) + 1),
            "decisions": [*self.notes, *self.recipe.sentences],
            "listing": self.recipe.listing,
        }
        return summarise(model, self.X, self.known(before) if known is None else known, Shown(**shown | more))

    def positions(self, model: KDAC, before: Sequence[np.ndarray] = ()) -> np.ndarray:
        """The rows in the learnt directions of a view, without what is given and the views before it have in them."""
        return np.asarray(model.transform(self.X, model.fitted_.codes_of(self.known(before))))

    def others(self, model: KDAC) -> pd.DataFrame | None:
        """The columns that had no part in a model and can confirm it, and which cells are empty; None if neither."""
        given = [] if self.given is None else self.given.columns
        ids = [] if self.ids is None else [str(self.ids.name)]
        aside = model.left_aside()
        used = [name for name in self.recipe.names if name not in aside]
        others = other_columns(self.frame, [*used, *self.recipe.hidden, *given, *self.kept, *ids])
        empty = empty_cells(self.frame, self.recipe)
        if not empty.shape[1]:
            return others
        return empty if others is None else pd.concat([others, empty], axis=1)


def view_name(number: int) -> str:
    """The name of the column with the clusters of a view, by its number from 1."""
    return ADDED if number == 1 else f"{ADDED}_{number}"


def read_study(
    encoder: TableEncoder,
    frame: pd.DataFrame,
    given: Sequence[str] = (),
    *,
    more: pd.DataFrame | None = None,
    keep: Any = None,
    ids: str | None = None,
) -> Study:
    """Decide how a table is read: what `altclust.find`, the command line and the page let people choose.

    Given are columns with known clusters or measurements, more those that are not in the table, with a row for each of
    its rows. Keep is what the clusters should agree with, or the column with it.
    """
    given, kept = list(dict.fromkeys(given)), (keep,) if isinstance(keep, str) else ()
    named = [("given", name) for name in given] + [("keep", name) for name in kept]
    named += [] if ids is None else [("ids", ids)]
    for argument, name in named:
        if name not in frame.columns:
            raise InputError(f"is not a column: {remedy(name, frame.columns)}", argument=argument, value=name)
    if kept and keep in given:
        problem = "is also given: clusters cannot agree with a column and be independent of it; leave one out."
        raise InputError(problem, argument="keep", value=keep)
    known = frame[given]
    if more is not None:
        known = pd.concat([known, more.set_axis(frame.index)], axis=1)
    return Study(
        frame,
        given=known_columns(known, encoder.types) if known.shape[1] else None,
        recipe=learn_recipe(frame, encoder, {name: ROLES[argument] for argument, name in named}),
        ids=None if ids is None else as_labels(frame[ids]),
        keep=known_labels(frame[keep]) if kept else keep,
        kept=kept,
    )
