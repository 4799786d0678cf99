"""An alternative clustering of a data frame in one call: types, search, verdict and report, as on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.given_labels import given_frame
from ..base.progress import Callback
from ..tables import learn_recipe
from ..tables.frames import as_pandas
from ..tables.known import as_known, known_columns
from ..tables.values import known_labels
from ..tables.values import labels as as_labels
from .annotated import annotate, annotated_frame, is_annotated
from .found import ADDED, Found
from .kdac import KDAC


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


def _kept(frame: pd.DataFrame, keep: Any) -> tuple[Any, tuple[str, ...]]:
    """What the clusters should agree with, and the column that it comes from."""
    if not isinstance(keep, str):
        return keep, ()
    if keep not in frame.columns:
        problem = f"is not a column: the table has {', '.join(map(repr, frame.columns[:20]))}."
        raise InputError(problem, argument="keep", value=keep)
    return known_labels(frame[keep]), (keep,)
