"""The result of `altclust.find`: labels, table, columns, candidates, description, plot and report."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.progress import Callback
from ..report.columns import FIELDS, listed_columns
from ..report.summary import summarise
from ..tables import Recipe
from ..tables.frames import as_pandas, with_column
from ..tables.readable import readable
from ..tables.values import known_labels
from .annotated import annotate, annotated_frame, is_annotated
from .candidates import Candidate
from .display import CELL, HEAD, picture
from .kdac import KDAC
from .prepared import predict_table, unused_columns

ADDED, FIRST = "alternative", "first_view"  # the new column, and that of the first clustering if nothing was given


@dataclass(frozen=True)
class Found:
    """An alternative clustering of a table.

    Attributes
    ----------
    model : KDAC
        Fitted; its rows are `X`.
    source : DataFrame of pandas or polars, or Arrow table
        The table as it was passed.
    frame : DataFrame
        The same in pandas.
    recipe : Recipe
        How it becomes numbers.
    X : DataFrame, shape (n, d)
        The numbers, one column for each column that was used.
    given : DataFrame
        The labels that the clusters differ from.
    first : int array, shape (n,), or None
        The clustering that was found first, where none was given.
    ids : Series or None
        The rows' names.
    kept : tuple of str
        The column with which the clusters should agree, if there is one.
    """

    model: KDAC
    source: Any
    frame: pd.DataFrame
    recipe: Recipe
    X: pd.DataFrame
    given: pd.DataFrame
    first: np.ndarray | None = None
    ids: pd.Series | None = None
    kept: tuple[str, ...] = ()

    @property
    def labels(self) -> np.ndarray:
        """The new cluster of every row, shape (n,)."""
        return np.asarray(self.model.labels_)

    @property
    def table(self) -> Any:
        """The table with the new column ``alternative``, in the library that it came from.

        If nothing was given, the first clustering is there as well, as ``first_view``. An annotated matrix is returned
        itself, with the columns in its ``obs``.
        """
        add, table = annotate if is_annotated(self.source) else with_column, self.source
        if self.first is not None:
            table = add(table, FIRST, self.first)
        return add(table, ADDED, self.labels)

    @property
    def columns(self) -> pd.DataFrame:
        """Every column of the table: its type, how it was used, and why."""
        return pd.DataFrame(listed_columns(self.model, self.recipe.listing), columns=list(FIELDS))

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Up to five distinct views that the search found, best first."""
        return self.model.candidates_

    @property
    def verdict(self) -> str:
        """The verdict in a few words, and the result in a sentence."""
        return self.summary["headline"]["verdict"]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of the report as plain values."""
        given = [name for name in self.given.columns if name in self.frame.columns]
        return summarise(
            self.model,
            self.X,
            self.given,
            values=readable(self.frame.drop(columns=given), self.recipe),
            ids=self.ids,
            keep=known_labels(self.frame[self.kept[0]]) if self.kept else None,
            alternative=ADDED,
            decisions=self.recipe.sentences,
            listing=self.recipe.listing,
            significance=self.model._view.significance is not None,
        )

    def choose(self, number: int) -> Found:
        """The result with another of the `candidates`, counted from 1; nothing is searched again."""
        return replace(self, model=copy(self.model).choose(number))

    def tested(self, progress: Callback | None = None) -> Found:
        """The result with its test of significance."""
        known = [*self.given.columns, *self.kept, *([] if self.ids is None else [str(self.ids.name)])]
        model = copy(self.model)
        model.assess_significance(progress, witnesses=unused_columns(model, self.frame, self.recipe, known))
        return replace(self, model=model)

    def predict(self, table: Any) -> np.ndarray:
        """The new clusters of other rows, from a table with the same columns, shape (m,).

        What was given about the rows counts if it is there; otherwise it is guessed.
        """
        frame = annotated_frame(table)[0] if is_annotated(table) else as_pandas(table, fewest=1)
        if is_annotated(table) and any(name.startswith("direction ") for name in self.recipe.names):
            raise InputError('table needs obsm["X_pca"]: the leading directions of X are those of its own rows.')
        return predict_table(self.model, self.recipe, frame)

    def describe(self) -> pd.DataFrame:
        """What sets each cluster apart: one row for each cluster and column, the largest differences first.

        Returns
        -------
        DataFrame
            cluster, rows, column, level (for categories), inside and outside (the mean, of dates too, or the share of
            the level, among the cluster's rows and among all others) and effect (Cohen's d or h).
        """
        rows = [
            {
                "cluster": cluster["code"],
                "rows": cluster["rows"],
                "column": feature["name"],
                "level": feature["level"],
                **{one: (pd.Timestamp if feature["is_date"] else float)(feature[one]) for one in ("inside", "outside")},
                "effect": feature["effect"],
            }
            for cluster in self.summary["clusters"]
            for feature in cluster["features"]
        ]
        return pd.DataFrame(rows, columns=["cluster", "rows", "column", "level", "inside", "outside", "effect"])

    def plot(self, *, axes: Any = None) -> np.ndarray:
        """Draw what was given and what was found, side by side in the same learnt directions.

        Parameters
        ----------
        axes : sequence of two matplotlib Axes, optional

        Returns
        -------
        array of matplotlib Axes
        """
        from ..report.plotting import plot_views

        return plot_views(np.asarray(self.model.transform(self.X)), self.given.iloc[:, 0], self.labels, axes)

    def report(self, path: str | os.PathLike) -> None:
        """Write the report of the command line: one self-contained HTML file."""
        from ..report import write_report

        write_report(path, self.summary)

    def __str__(self) -> str:
        more = [self.summary[name] for name in ("agreement", "left_out")]
        clusters = [cluster["sentence"] for cluster in self.summary["clusters"]]
        counts = "" if self.first is None else ", ".join(map(str, np.bincount(self.first)))
        told = [f"Nothing was given: the table was clustered first ({FIRST}), into clusters of {counts} rows."]
        more = [one for one in more if one is not None]
        return "\n".join([*(told if counts else []), self.verdict, *clusters, *more])

    def __repr__(self) -> str:
        return f"<altclust.Found: {self.verdict}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th {HEAD}>{escape(cluster['name'])}</th><td {CELL}>{escape(cluster['sentence'])}</td></tr>"
            for cluster in self.summary["clusters"]
        )
        told = "".join(f"<p>{escape(one)}</p>" for one in (self.verdict, self.summary["agreement"]) if one is not None)
        return f"{told}<table>{rows}</table>{picture(self.plot, 2)}"
