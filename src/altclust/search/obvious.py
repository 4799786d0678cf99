"""Whether one column, or two, reproduce a view: groups that anybody can see, or a rule that explains clusters.

A view that columns with few values reproduce is an obvious group: a fact about these columns. So is a split of dates,
which tells when rows were recorded. A split of another column with many values remains a discovery, and the rule says
what it is. So do clusters that a column of numbers reproduces
only nearly and that the other columns show as well: in nine ratings that go together, one of them often comes close.
And so do clusters that a split of a column with one frequent value among many reproduces exactly, if other columns
without a frequent value show them as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from ..base.backend import Array
from ..base.errors import shown_name
from ..base.given import Given
from ..base.sampling import sample_rows
from ..core.embedding import as_clusterings, joint_codes
from .coded_columns import ROWS_PER_CELL, CodedColumn, coded_columns, most_telling
from .heuristics import MOST_ROWS
from .null_rows import ATOM, FEW_VALUES
from .screening import LEADING

EXACT = 0.995  # agreement that needs no "nearly"
REPRODUCED = 0.95  # agreement from which columns reproduce a view
SHOWN = 0.8  # agreement from which other columns show it as well, and below which a rule on all columns is no hint
DEPTH = 2  # of a rule
ROWS_PER_EXACT_CELL = 3  # of a cross table of three columns or more: clusters that are pure in all cells are no chance


@dataclass(frozen=True)
class Obvious:
    """One column, or two, that reproduce a view; more only if they have few values and reproduce it exactly.

    Attributes
    ----------
    columns : tuple of str
    agreement : float
        Mean F1 score over the clusters: 1 if the columns reproduce every row's cluster.
    few_valued : bool
        Whether all of them are text or dates, have fewer than ten values, or one in more than a quarter of the rows:
        then the view is an obvious group, unless all are numbers, other columns show the view too, and either they have
        ten or more values or they reproduce it only nearly.
    rule : str
        Such as "the column year", "a cross table of a and b", "a split of petal_length at 2.4".
    """

    columns: tuple[str, ...]
    agreement: float
    few_valued: bool
    rule: str

    @property
    def sentence(self) -> str:
        """The rule as a sentence."""
        share = "" if self.agreement >= EXACT else f", with an agreement of {100 * self.agreement:.0f} %"
        return f"These clusters are {self.rule}{share}."

    @property
    def phrase(self) -> str:
        """The rule within a sentence: "nearly" where it is not exact."""
        return self.rule if self.agreement >= EXACT else f"nearly {self.rule}"

    def __str__(self) -> str:
        return self.sentence


def few_valued(
    X: Array,
    names: Sequence[str] | None = None,
    originals: pd.DataFrame | None = None,
    aside: Iterable[Obvious] = (),
) -> pd.DataFrame:
    """The columns with fewer than ten values, or one value in over a quarter of the rows, without those left aside.

    Those that `originals` has under the same name are taken from there, however many values they have.
    """
    places = np.flatnonzero((np.ptp(X, axis=0) > 0) & _has_few_values(X)).tolist()
    found = {column_name(names, j): X[:, j] for j in places}
    if originals is not None:
        found |= {str(name): cells.to_numpy() for name, cells in originals.items()}
    left = {column for one in aside for column in one.columns}
    return pd.DataFrame({name: cells for name, cells in found.items() if name not in left}, index=range(len(X)))


def _has_few_values(X: Array) -> np.ndarray:
    """Whether each column has fewer than ten values, or one value in over a quarter of the rows."""
    ordered = np.sort(X, axis=0)
    distinct = 1 + np.count_nonzero(np.diff(ordered, axis=0), axis=0)
    apart = int(ATOM * len(X))  # a value is repeated more often if it stands so many places later again
    repeated = np.any(ordered[apart:] == ordered[: len(X) - apart], axis=0)
    return (distinct < FEW_VALUES) | repeated


def left_aside(names: Sequence[str] | None, components: Array, rules: Iterable[Obvious]) -> list[str]:
    """The columns of obvious groups that the directions, shape (q, d), do not contain."""
    obvious = {name for rule in rules for name in rule.columns}
    unused = [column_name(names, int(j)) for j in np.flatnonzero(~np.any(components, axis=0))] if obvious else []
    return [name for name in unused if shown_name(name) in obvious]


def as_they_were(X: Array, names: Sequence[str] | None, originals: pd.DataFrame | None) -> pd.DataFrame:
    """The columns of X by their names; those that `originals` has are taken from there."""
    frame = pd.DataFrame(X, columns=[column_name(names, j) for j in range(X.shape[1])])
    if originals is None:
        return frame
    return frame.assign(**{str(name): cells.to_numpy() for name, cells in originals.items()})


def column_name(names: Sequence[str] | None, j: int) -> str:
    """The name of column j, or "column j"."""
    return f"column {j}" if names is None else str(names[j])


def reproduced_by(
    labels: np.ndarray,
    table: pd.DataFrame | Array,
    names: Sequence[str] | None = None,
    *,
    cuts: bool = True,
    several: bool = True,
    given: Given | None = None,
    beside: pd.DataFrame | None = None,
) -> Obvious | None:
    """The one column, or the two, that reproduce the labels with an agreement of at least 0.95, or several exactly.

    Few-valued columns and pairs of them are compared value by value, also within the given clusters, whose means a
    search subtracts; other columns by a decision tree of depth at most two. One column is preferred to two.

    Parameters
    ----------
    labels : int array, shape (n,)
        The cluster of every row; −1 is in no cluster and left out.
    table : DataFrame or array, shape (n, d)
        The columns. Two-valued features ``colour=red``, ``colour=blue`` … count as one column, ``colour``.
    names : sequence of str, optional
        The names of the columns; default: those of the frame, or "column 0" ….
    cuts : bool
        Whether to say where columns with many values are split.
    several : bool
        Whether to try cross tables of three columns or more.
    given : Given, optional
    beside : DataFrame, optional
        All columns that were clustered, as numbers: those that are not in the rule may show the view as well.

    Returns
    -------
    Obvious or None

    Examples
    --------
    >>> import numpy as np
    >>> from altclust.search.obvious import reproduced_by
    >>> rng = np.random.default_rng(0)
    >>> year, size = np.repeat([2007, 2008], 50), rng.normal(size=100)
    >>> print(reproduced_by(year - 2007, np.column_stack([size, year]), ["size", "year"]))
    These clusters are the column year.
    """
    frame = pd.DataFrame(table)
    if names is None:
        names = [str(name) if isinstance(table, pd.DataFrame) else f"column {name}" for name in frame.columns]
    names = [shown_name(name) for name in names]
    known = np.flatnonzero(np.asarray(labels) >= 0)
    rows = known[sample_rows(len(known), MOST_ROWS, np.random.default_rng(0))]
    codes = np.unique(np.asarray(labels)[rows], return_inverse=True)[1]
    if len(codes) == 0 or codes.max() == 0:
        return None
    places = most_telling(frame, rows, codes)
    columns = coded_columns(frame.iloc[rows, places], [names[j] for j in places])
    listed = sorted((c for c in columns if c.listed), key=lambda column: -_agreement(codes, _cells([column])))
    used = _promising(codes, columns)
    pairs = [sorted(pair, key=lambda column: column.place) for pair in combinations(listed[:LEADING], 2)]
    within = joint_codes(as_clusterings(given.take(rows)), len(rows)) if given else None
    rule = (
        _of_values(codes, [[column] for column in listed[:1]])
        or _split(codes, columns, [[j] for j in used], cuts)
        or _of_values(codes, pairs)
        or _split(codes, columns, [[used[0], j] for j in used[1:]], cuts)
        or (_of_several(codes, listed) if several else None)
        or (None if within is None else _of_values(codes, [[one] for one in listed] + pairs, within))
    )
    numbers = {name for name, kind in zip(names, frame.dtypes, strict=True) if types.is_numeric_dtype(kind)}
    if rule is None or beside is None or not rule.few_valued or not set(rule.columns) <= numbers:
        return rule
    others = beside.loc[:, [shown_name(name) not in rule.columns for name in beside.columns]]
    X = others.to_numpy(dtype=float)[rows]
    if rule.agreement >= EXACT:
        if any(column.listed for column in columns if column.name in rule.columns):
            return rule
        X = X[:, ~_has_few_values(X)]
    return replace(rule, few_valued=not _shown(codes, X))


def _shown(codes: np.ndarray, X: Array) -> bool:
    """Whether a linear discriminant predicts the clusters of left-out rows from these columns."""
    X, folds = X[:, np.ptp(X, axis=0) > 0], StratifiedKFold(shuffle=True, random_state=0)
    if X.shape[1] == 0 or np.bincount(codes).min() < folds.n_splits:
        return False
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    predicted = cross_val_predict(model, X, codes, cv=folds)
    return f1_score(codes, predicted, average="macro") >= SHOWN


def _cells(columns: Sequence[CodedColumn]) -> np.ndarray:
    """One number per combination of values."""
    return columns[0].codes if len(columns) == 1 else columns[0].codes * columns[1].levels + columns[1].codes


def _agreement(codes: np.ndarray, cells: np.ndarray, rows_per_cell: int = ROWS_PER_CELL) -> float:
    """The mean F1 score of the clusters if each cell is given its most frequent one; 0 if cells are too many."""
    k, size = int(codes.max()) + 1, int(cells.max()) + 1
    counts = np.bincount(cells * k + codes, minlength=size * k).reshape(size, k)
    if np.count_nonzero(counts.sum(axis=1)) > max(len(codes) // rows_per_cell, 2**DEPTH):
        return 0.0
    best = counts.argmax(axis=1)
    right = np.bincount(best, counts.max(axis=1), minlength=k)
    predicted = np.bincount(best, counts.sum(axis=1), minlength=k)
    return float(np.mean(2 * right / (predicted + counts.sum(axis=0))))


def _of_values(
    codes: np.ndarray, tried: Sequence[list[CodedColumn]], within: np.ndarray | None = None
) -> Obvious | None:
    """The best rule by the values of one column, or by pairs of values; within given clusters, if there are any."""
    cells = [_cells(columns) for columns in tried]
    if within is not None:
        cells = [within * (int(one.max()) + 1) + one for one in cells]
    agreements = [_agreement(codes, one) for one in cells]
    if max(agreements, default=0.0) < REPRODUCED:
        return None
    columns = tried[int(np.argmax(agreements))]
    names = tuple(column.name for column in columns)
    if len(columns) == 2:
        rule = f"a cross table of {names[0]} and {names[1]}"
    else:
        same = columns[0].levels == codes.max() + 1
        whole = names[0] if names[0].startswith("column ") else f"the column {names[0]}"
        rule = whole if same else f"groups of the values of {names[0]}"
    rule += "" if within is None else ", within the given clusters"
    return Obvious(names, max(agreements), all(column.few for column in columns), rule)


def _of_several(codes: np.ndarray, listed: Sequence[CodedColumn]) -> Obvious | None:
    """The rule by the values of three columns or more, if it is exact: each further one is that which helps most."""
    columns, cells = list(listed[:1]), listed[0].codes if listed else codes
    while columns:
        left = [one for one in listed[:LEADING] if all(one is not other for other in columns)]
        tried = [np.unique(cells * one.levels + one.codes, return_inverse=True)[1] for one in left]
        agreements = [_agreement(codes, one, ROWS_PER_EXACT_CELL) for one in tried]
        if max(agreements, default=0.0) <= _agreement(codes, cells, ROWS_PER_EXACT_CELL):
            break
        best = int(np.argmax(agreements))
        columns, cells = [*columns, left[best]], tried[best]
        if agreements[best] >= EXACT:
            names = [column.name for column in sorted(columns, key=lambda column: column.place)]
            rule = f"a cross table of {', '.join(names[:-1])} and {names[-1]}"
            return Obvious(tuple(names), agreements[best], True, rule)
    return None


def _promising(codes: np.ndarray, columns: Sequence[CodedColumn]) -> list[int]:
    """The columns that a decision tree on all of them uses, first split first; none if it fails."""
    if not columns:
        return []
    X = np.column_stack([column.codes for column in columns])  # ranks are exact in the tree's single precision
    tree = _tree(X, codes)
    used = tree.tree_.feature[tree.tree_.feature >= 0]
    return list(dict.fromkeys(used.tolist())) if _agreement(codes, tree.apply(X)) >= SHOWN else []


def _split(codes: np.ndarray, columns: Sequence[CodedColumn], tried: Sequence[list[int]], cuts: bool) -> Obvious | None:
    """The best rule by splits of one column, or of two."""
    tables = [np.column_stack([columns[j].codes for j in places]) for places in tried]
    trees = [_tree(X, codes) for X in tables]
    agreements = [_agreement(codes, tree.apply(X)) for tree, X in zip(trees, tables, strict=True)]
    if max(agreements, default=0.0) < REPRODUCED:
        return None
    best = int(np.argmax(agreements))
    chosen = [columns[j] for j in tried[best]]
    places = [_at(column, i, trees[best]) if cuts else "" for i, column in enumerate(chosen)]
    if len(chosen) == 1:
        rule = f"a split of {chosen[0].name}{places[0]}"
    else:
        first, second = (c.name + (f" (split{at})" if at else "") for c, at in zip(chosen, places, strict=True))
        rule = f"a cross table of {first} and {second}"
    return Obvious(tuple(c.name for c in chosen), agreements[best], all(c.few for c in chosen), rule)


def _tree(X: Array, codes: np.ndarray) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(X, codes)


def _at(column: CodedColumn, place: int, tree: DecisionTreeClassifier) -> str:
    """Where a tree splits a column with many values."""
    if column.kinds is None:
        return ""
    nodes = [node for node in np.flatnonzero(tree.tree_.feature == place) if not _alike(tree.tree_, node)]
    ranks = sorted({int(tree.tree_.threshold[node]) for node in nodes})
    shown = [_between(column.kinds[rank], column.kinds[rank + 1]) for rank in ranks]
    return f" at {' and '.join(shown)}" if shown else ""


def _alike(tree: Any, node: Any) -> bool:
    """Whether both sides of a split are leaves of the same cluster."""
    sides = [tree.children_left[node], tree.children_right[node]]
    most = [int(np.argmax(tree.value[side][0])) for side in sides]
    return all(tree.children_left[side] < 0 for side in sides) and most[0] == most[1]


def _between(low: Any, high: Any) -> str:
    """A value with low ≤ value < high, in as few digits as possible; the first day after a split of dates."""
    if isinstance(high, np.datetime64 | pd.Timestamp):
        return str(pd.Timestamp(high).date())
    middle = (float(low) + float(high)) / 2
    rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return f"{next((value for value in rounded if low <= value < high), middle):.12g}"
