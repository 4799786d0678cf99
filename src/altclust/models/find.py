"""An alternative clustering of a data frame in one call: types, search, verdict and report, as on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.known import given_frame
from ..base.progress import Callback
from ..tables import TableEncoder
from ..tables.frames import as_pandas
from .annotated import annotate, annotated_frame, is_annotated
from .find_result import Found
from .kdac import KDAC
from .study import ADDED, FIRST, RESULTS, read_study
from .views import alike


def find(
    table: Any,
    given: Any = None,
    *,
    keep: Any = None,
    n_clusters: int | str = "auto",
    columns: str | Sequence[str] | None = (),
    drop: str | Sequence[str] | None = (),
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
    columns, drop : str or sequence of str
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
        As in `altclust.KDAC`: the search does not depend on it.

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
    names, labels = _given(frame, given)
    taken = next((name for name in frame.columns if re.fullmatch(RESULTS, str(name))), None)
    if taken is not None:
        raise InputError(f"table has a column {taken!r} already, which the result would replace: rename it.")
    encoder = TableEncoder(
        columns=columns,
        drop=drop,
        types=types,
        encode=encode,
        impute=impute,
        log=log,
        decimal=decimal,
        standardise=standardise,
    )
    study = read_study(encoder, frame, names, more=labels, keep=keep, ids=ids)
    model = KDAC(n_clusters, n_jobs=n_jobs, callback=callback, random_state=random_state)
    if study.given is None:
        study = study.with_first(alike(model, 0))
    states = study.each_view(model)
    view = next(states)
    if significance:
        view = next(states, view)
    found = Found(study, view, table)
    if is_annotated(table):
        annotate(table, ADDED, found.labels)
        if study.first is not None:
            annotate(table, FIRST, study.first)
    return found


def _given(frame: pd.DataFrame, given: Any) -> tuple[list[str], pd.DataFrame | None]:
    """The names of the columns that are given, or the labels that are not in the table."""
    if given is None:
        return [], None
    if isinstance(given, str):
        given = [given]
    texts = isinstance(given, list | tuple) and given and all(isinstance(one, str) for one in given)
    if texts and (len(given) != len(frame) or all(name in frame.columns for name in given)):
        return list(given), None
    labels = given_frame(given)
    if len(labels) != len(frame):
        raise InputError(f"has {len(labels)} labels, and the table {len(frame)} rows.", argument="given")
    named = [str(name) if isinstance(name, str) else f"given {i}" for i, name in enumerate(labels.columns, 1)]
    return [], labels.set_axis(named, axis=1)
