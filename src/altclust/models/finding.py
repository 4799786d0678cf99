"""An alternative clustering of a data frame in one call: types, search, verdict and report, as on the command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.progress import Callback
from ..base.validation import given_frame
from ..report import summarise, write_report
from ..report.columns import FIELDS, listed_columns
from ..tables import Recipe, learn_recipe
from ..tables.frames import as_pandas, with_column
from ..tables.known import as_known, known_columns
from ..tables.other_columns import other_columns
from ..tables.readable import readable
from ..tables.values import known_labels
from ..tables.values import labels as as_labels
from .annotated import annotate, annotated_frame, is_annotated
from .candidates import Candidate
from .display import CELL, HEAD, picture
from .kdac import KDAC

ADDED = "alternative"  # the new column


def find(
    table: Any,
    given: Any = None,
    *,
    keep: Any = None,
    n_clusters: int | str = "auto",
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    ids: str | None = None,
    types: Mapping[str, str] | None = None,
    encode: bool = True,
    impute: bool = True,
    log: str | Sequence[str] = (),
    decimal: str | None = None,
    standardise: bool = True,
    significance: bool = True,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Found:
    """Find the best clustering of a table that differs from what you know.

    Parameters
    ----------
    table : DataFrame of pandas or polars, Arrow table, or AnnData
        With columns of any type: every column gets a type, and every decision is told. Of an AnnData object
        ``obsm["X_pca"]`` is clustered, or X; columns of ``obs`` can be given, all others are compared with the result,
        and the clusters are written to ``obs["alternative"]``.
    given : str, sequence of str, or labels, optional
        Names of columns with known clusters or measurements, or the values themselves. Default: the table is clustered
        first, and an alternative to that clustering is found.
    keep : str, labels, or `altclust.Links`, optional
        Name of a column with labels of some rows, with which the clusters should agree, the labels themselves, or pairs
        of rows that belong together or apart.
    n_clusters : int or "auto"
        Default: searched for.
    columns, drop : sequence of str
        Columns to use, and columns not to use, by name or pattern such as ``gene_*``. Default: use all.
    ids : str, optional
        The column with row names.
    types : dict of str to str, optional
        Types of columns, by name or pattern, such as ``{"zip": "category"}``: number, ordered, category, yes/no, date,
        money, percent, identifier or text.
    encode : bool
        Whether to use columns with few values.
    impute : bool
        Whether to replace missing numbers by the median; otherwise they are an error.
    log : "auto", or sequence of str
        Columns to take logarithms of; "auto" takes all skewed positive numbers.
    decimal : "." or ",", optional
        The decimal mark of numbers in text. Default: found for each column.
    standardise : bool
        Whether to scale every column to unit variance.
    significance : bool
        Whether to test significance, which takes about as long as the search.
    n_jobs : int, optional
        Parallel processes; −1 is one per core.
    callback : callable, optional
        Called with an `altclust.Progress`; a true return value stops and keeps the best result so far.
    random_state : int or Generator, optional

    Returns
    -------
    Found

    Examples
    --------
    >>> import altclust
    >>> import pandas as pd
    >>> from altclust.datasets import moons
    >>> data = moons(120, random_state=0)
    >>> frame = pd.DataFrame(data.X, columns=list(data.feature_names)).assign(group=data.given)
    >>> result = altclust.find(frame, given="group", n_clusters=2, significance=False)
    >>> result.table.columns[-1], len(result.labels)
    ('alternative', 120)
    """
    if is_annotated(table):
        frame, measured = annotated_frame(table)
        frame, columns, standardise = as_pandas(frame), columns or measured, False  # the sizes of components tell
        types = dict.fromkeys(measured, "number") | dict(types or {})
    else:
        frame = as_pandas(table)
    if ADDED in frame.columns:
        raise InputError(f"table has a column {ADDED!r} already, which the result would replace: rename it.")
    known, names = _known(frame, given, types)
    if ids is not None and ids not in frame.columns:
        raise InputError("is not a column of the table.", argument="ids", value=ids)
    kept, kept_name = _kept(frame, keep)
    recipe = learn_recipe(
        frame,
        known={*names, *kept_name, *([] if ids is None else [ids])},
        columns=columns,
        drop=drop,
        types=types,
        encode=encode,
        impute=impute,
        log=log,
        decimal=decimal,
        standardise=standardise,
    )
    X, originals = recipe.apply(frame), recipe.originals(frame)
    options: dict[str, Any] = {"n_jobs": n_jobs, "callback": callback, "random_state": random_state}
    first = None
    if known is None:
        first = np.asarray(KDAC(n_clusters, **options).fit(X, originals=originals).labels_)
        known = pd.DataFrame({"first_view": first.astype(str)})
    model = KDAC(n_clusters, **options).fit(X, as_known(known), keep=kept, originals=originals)
    found = Found(
        model, table, frame, recipe, X, known, first, None if ids is None else as_labels(frame[ids]), kept_name
    )
    if is_annotated(table):
        annotate(table, ADDED, found.labels)
    return found.tested(callback) if significance else found


def _known(frame: pd.DataFrame, given: Any, types: Mapping[str, str] | None) -> tuple[pd.DataFrame | None, list[str]]:
    """The labels that are given, and the columns that they come from."""
    if given is None:
        return None, []
    if isinstance(given, str):
        given = [given]
    if isinstance(given, list | tuple) and given and all(isinstance(name, str) for name in given):
        absent = [name for name in given if name not in frame.columns]
        if not absent:
            return known_columns(frame[list(given)], types), list(given)
        if len(given) != len(frame):
            problem = f"is not a column: the table has {', '.join(map(repr, frame.columns[:20]))}."
            raise InputError(problem, argument="given", value=absent[0])
    labels = given_frame(given)
    if len(labels) != len(frame):
        raise InputError(f"has {len(labels)} labels, and the table {len(frame)} rows.", argument="given")
    named = [str(name) if isinstance(name, str) else f"given {i}" for i, name in enumerate(labels.columns, 1)]
    return known_columns(labels.set_axis(named, axis=1).set_axis(frame.index), types), []


def unused_columns(model: KDAC, frame: pd.DataFrame, recipe: Recipe, known: Iterable[str]) -> pd.DataFrame | None:
    """The columns of a table that had no part in a model and can confirm it; None if there are none.

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
    return other_columns(frame, [*(name for name in recipe.names if name not in aside), *known])


def _kept(frame: pd.DataFrame, keep: Any) -> tuple[Any, tuple[str, ...]]:
    """What the clusters should agree with, and the column that it comes from."""
    if not isinstance(keep, str):
        return keep, ()
    if keep not in frame.columns:
        problem = f"is not a column: the table has {', '.join(map(repr, frame.columns[:20]))}."
        raise InputError(problem, argument="keep", value=keep)
    return known_labels(frame[keep]), (keep,)


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

        An annotated matrix is returned itself, with the column in its ``obs``.
        """
        if is_annotated(self.source):
            return annotate(self.source, ADDED, self.labels)
        return with_column(self.source, ADDED, self.labels)

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
        """The result in one sentence."""
        return self.summary["headline"]["sentence"]

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
        """The new clusters of other rows, from a table with the same columns, shape (m,)."""
        frame = annotated_frame(table)[0] if is_annotated(table) else as_pandas(table)
        if is_annotated(table) and any(name.startswith("direction ") for name in self.recipe.names):
            raise InputError('table needs obsm["X_pca"]: the leading directions of X are those of its own rows.')
        return np.asarray(self.model.predict(self.recipe.apply(frame)))

    def describe(self) -> pd.DataFrame:
        """What sets each cluster apart: one row for each cluster and column, the largest differences first.

        Returns
        -------
        DataFrame
            cluster, rows, column, level (for categories), inside and outside (the mean, or the share of the level,
            among the cluster's rows and among all others) and effect (Cohen's d or h).
        """
        rows = [
            {
                "cluster": cluster["code"],
                "rows": cluster["rows"],
                "column": feature["name"],
                "level": feature["level"],
                "inside": feature["inside"],
                "outside": feature["outside"],
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
        write_report(path, self.summary)

    def __str__(self) -> str:
        aside = self.summary["left_out"]
        clusters = [cluster["sentence"] for cluster in self.summary["clusters"]]
        return "\n".join([self.verdict, *clusters, *([] if aside is None else [aside])])

    def __repr__(self) -> str:
        return f"<altclust.Found: {self.verdict}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th {HEAD}>{escape(cluster['name'])}</th><td {CELL}>{escape(cluster['sentence'])}</td></tr>"
            for cluster in self.summary["clusters"]
        )
        return f"<p>{escape(self.verdict)}</p><table>{rows}</table>{picture(self.plot, 2)}"
