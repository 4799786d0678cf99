"""The result of `altclust.find`: labels, table, columns, views, description, plot and report."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..report.summary import FIELDS, listed_columns
from ..tables.frames import as_pandas, with_column
from .annotated import annotate, annotated_frame, is_annotated
from .display import html_table, picture
from .kdac import KDAC
from .study import FIRST, Study, view_name
from .views import View, Views


@dataclass(frozen=True)
class Found:
    """One view of a table, and the way to the others.

    Attributes
    ----------
    study : Study
        The table, how it was read, and what is given.
    view : View
        Its place in the sequence, and the fitted model.
    source : DataFrame of pandas or polars, Arrow table, or AnnData
        The table as it was passed.
    before : tuple of Found
        The views before it.
    """

    study: Study
    view: View
    source: Any = field(repr=False)
    before: tuple[Found, ...] = ()

    @property
    def model(self) -> KDAC:
        """The fitted model; its rows are `X`."""
        return self.view.model

    @property
    def labels(self) -> np.ndarray:
        """The new cluster of every row, shape (n,)."""
        return self.view.labels

    @property
    def frame(self) -> pd.DataFrame:
        """The table in pandas."""
        return self.study.frame

    @property
    def X(self) -> pd.DataFrame:
        """The numbers that were clustered, one column for each column that was used, shape (n, d)."""
        return self.study.X

    @property
    def first(self) -> np.ndarray | None:
        """The clustering that was found first, where none was given."""
        return self.study.first

    @property
    def views(self) -> tuple[Found, ...]:
        """The views of the table, found one after the other on first access, see `altclust.KDAC.views_`."""
        return self._sequence[0]

    @property
    def stopped(self) -> str:
        """Why there are no more `views`."""
        return self._sequence[1]

    @cached_property
    def _sequence(self) -> tuple[tuple[Found, ...], str]:
        if self.before:
            raise InputError("views are those of the result of find: ask it, and not one of its views.")
        found: list[Found] = []
        views = Views.of(self.study.each_view(self.model, first=self.view))
        for view in views:
            found.append(Found(self.study, view, self.source, tuple(found)))
        return tuple(found), views.stopped

    @property
    def _others(self) -> tuple[Found, ...]:
        """The views after the first one, if this is it and it was tested."""
        return self.views[1:] if self.view.significance is not None and not self.before else ()

    @property
    def table(self) -> Any:
        """The table with the columns ``alternative``, ``alternative_2`` and so on, in the library that it came from.

        There is one for this view, and one for each other of the `views` that is significant, if that was tested. If
        nothing was given, the first clustering is there as well, as ``first_view``. An annotated matrix is returned
        itself, with the columns in its ``obs``.
        """
        add, table = annotate if is_annotated(self.source) else with_column, self.source
        if self.first is not None:
            table = add(table, FIRST, self.first)
        for one in (self, *self._others):
            if one is self or one.view.in_table:
                table = add(table, view_name(one.view.number), one.labels)
        return table

    @property
    def columns(self) -> pd.DataFrame:
        """Every column of the table: its type, how it was used, and why."""
        return pd.DataFrame(listed_columns(self.model, self.study.recipe.listing), columns=list(FIELDS))

    @property
    def verdict(self) -> str:
        """The verdict in a few words, and the result in a sentence."""
        return self.summary["headline"]["verdict"]

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of the report as plain values."""
        return self.study.summary(self.model, [one.labels for one in self.before])

    def predict(self, table: Any) -> np.ndarray:
        """The new clusters of other rows, from a table with the same columns, shape (m,).

        What was given about the rows counts if it is there; otherwise it is guessed.
        """
        frame = annotated_frame(table)[0] if is_annotated(table) else as_pandas(table, fewest=1)
        if is_annotated(table) and any(name.startswith("direction ") for name in self.study.recipe.names):
            raise InputError('table needs obsm["X_pca"]: the leading directions of X are those of its own rows.')
        return self.study.predict(self.model, frame)

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

        given = self.study.given
        known = None if given is None else given.iloc[:, 0]
        return plot_views(
            self.study.positions(self.model, [one.labels for one in self.before]), known, self.labels, axes
        )

    def report(self, path: str | os.PathLike) -> None:
        """Write the report of the command line: one self-contained HTML file about all views."""
        from ..report import write_report

        write_report(path, self.summary, *(one.summary for one in self._others))

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
        told = "".join(f"<p>{escape(one)}</p>" for one in (self.verdict, self.summary["agreement"]) if one is not None)
        clusters = {cluster["name"]: cluster["sentence"] for cluster in self.summary["clusters"]}
        return f"{told}{html_table(clusters)}{picture(self.plot, 2)}"
