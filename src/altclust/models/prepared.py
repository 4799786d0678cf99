"""A table as it is clustered: how it is to be read, its rows as numbers, what is known, and what had no part in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..tables import Recipe, TableEncoder, learn_recipe
from ..tables.known import as_known, known_again, known_columns
from ..tables.other_columns import empty_cells, other_columns
from ..tables.unknown_column import remedy
from ..tables.values import known_labels
from ..tables.values import labels as as_labels
from .kdac import KDAC

ROLES = {"given": "given", "keep": "to agree with", "ids": "row names"}  # what columns are used as, by the argument


@dataclass(frozen=True)
class PreparedTable:
    """A table and how it becomes numbers.

    Attributes
    ----------
    frame : DataFrame
    recipe : Recipe
        How it becomes numbers.
    given : DataFrame or None
        Labels as text, None where unknown; measurements as numbers.
    ids : Series or None
        The rows' names.
    keep : Series, labels, Links or None
        What the clusters should agree with.
    kept : tuple of str
        The column that it comes from, if it is one.
    """

    frame: pd.DataFrame
    recipe: Recipe
    given: pd.DataFrame | None = None
    ids: pd.Series | None = None
    keep: Any = None
    kept: tuple[str, ...] = ()

    @cached_property
    def X(self) -> pd.DataFrame:
        """The rows as numbers, shape (n, d)."""
        return self.recipe.apply(self.frame)

    @cached_property
    def originals(self) -> pd.DataFrame | None:
        """The clustered columns with few values as they are in the table; None if there are none."""
        return self.recipe.originals(self.frame)

    def fit(self, model: KDAC, known: pd.DataFrame | None) -> KDAC:
        """Fit a model that differs from what is known; with nothing to differ from, nothing is kept either."""
        keep = None if known is None else self.keep
        return self.label(model.fit(self.X, as_known(known), keep=keep, originals=self.originals))

    def label(self, model: KDAC) -> KDAC:
        """Put equal rows into one cluster of a model that was fitted to `X`."""
        return model if self.originals is None else model._label_at(self.recipe.middles(self.frame))

    def predict(self, model: KDAC) -> np.ndarray:
        """The clusters of these rows in a model of other rows."""
        return predict_table(model, self.recipe, self.frame)

    def others(self, model: KDAC) -> pd.DataFrame | None:
        """The columns that had no part in a model and can confirm it; None if there are none."""
        given = [] if self.given is None else self.given.columns
        ids = [] if self.ids is None else [str(self.ids.name)]
        return unused_columns(model, self.frame, self.recipe, [*given, *self.kept, *ids])


def prepare_table(
    encoder: TableEncoder,
    frame: pd.DataFrame,
    given: Sequence[str] = (),
    *,
    more: pd.DataFrame | None = None,
    keep: Any = None,
    ids: str | None = None,
) -> PreparedTable:
    """Read a table.

    Parameters
    ----------
    encoder : TableEncoder
        How it is to be read: what `altclust.find`, the command line and the page let people choose.
    frame : DataFrame
    given : sequence of str
        Its columns with known clusters or measurements.
    more : DataFrame, optional
        Known clusters and measurements that are not in the table, with a row for each of its rows.
    keep : str, labels, or `altclust.Links`, optional
        What the clusters should agree with, or the column with it.
    ids : str, optional
        The column with row names.
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
    return PreparedTable(
        frame,
        given=known_columns(known, encoder.types) if known.shape[1] else None,
        recipe=learn_recipe(frame, known={name: ROLES[argument] for argument, name in named}, **encoder.get_params()),
        ids=None if ids is None else as_labels(frame[ids]),
        keep=known_labels(frame[keep]) if kept else keep,
        kept=kept,
    )


def predict_table(model: KDAC, recipe: Recipe, frame: pd.DataFrame) -> np.ndarray:
    """The clusters of the rows of another table, which may have the columns that were given to the fit."""
    return np.asarray(model.predict(recipe.middles(frame), known_again(frame, model._view.levels)))


def unused_columns(model: KDAC, frame: pd.DataFrame, recipe: Recipe, known: Iterable[str]) -> pd.DataFrame | None:
    """The columns of a table that had no part in a model, and which cells of the others are empty; None if neither.

    Parameters
    ----------
    model : KDAC
        Fitted to the numbers that the recipe made.
    frame : DataFrame
        The table.
    recipe : Recipe
    known : iterable of str
        The columns that were given, or that name rows.
    """
    aside = model._left_aside()
    others = other_columns(frame, [*(name for name in recipe.names if name not in aside), *recipe.hidden, *known])
    empty = empty_cells(frame, recipe)
    if not empty.shape[1]:
        return others
    return empty if others is None else pd.concat([others, empty], axis=1)
