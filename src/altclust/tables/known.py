"""Columns with known clusters: their labels, unless they are measurements."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd

from ..base.errors import InputError
from .column_types import FEW, column_type
from .values import known_labels

MOST_NUMBERED = 30  # different whole numbers that may be labels, whatever they are


def known_clusters(known: pd.DataFrame, types: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The labels of known clusterings as text, None where unknown.

    Parameters
    ----------
    known : DataFrame
        One column for each clustering.
    types : dict of str to str, optional
        Types of columns, by name or pattern: one that is a category may have any number of different values.

    Raises
    ------
    InputError
        If a column has so many different numbers that it is a measurement.

    Examples
    --------
    >>> import pandas as pd
    >>> from altclust.tables.known import known_clusters
    >>> known_clusters(pd.DataFrame({"segment": [1, 2, 1, -1]}))["segment"].tolist()
    ['1', '2', '1', None]
    """
    for name, cells in known.items():
        chosen = [kind for pattern, kind in (types or {}).items() if fnmatchcase(str(name), pattern)]
        if not chosen or chosen[-1] not in ("category", "ordered", "yes/no"):
            _check_is_clustering(str(name), cells)
    return known.apply(known_labels)


def _check_is_clustering(name: str, cells: pd.Series) -> None:
    typed = column_type(cells)
    if typed.numerals is None or typed.levels:
        return
    values = np.unique(typed.numerals.values[~np.isnan(typed.numerals.values)])
    whole = bool(np.all(values == np.round(values)))
    numbered = whole and len(values) > 0 and values[-1] - values[0] == len(values) - 1 and values[0] in (-1, 0, 1)
    if len(values) > (MOST_NUMBERED if whole else FEW) and not (numbered and 3 * len(values) <= len(cells)):
        problem = (
            f"has {len(values)} different numbers, as measurements have: choose a column of labels, or give it the "
            'type "category" if every number is a cluster.'
        )
        raise InputError(problem, argument="given", value=name)
