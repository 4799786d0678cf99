"""The result of a fit, in one object that can label new rows, compute its certificate and test its significance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from ..base.backend import Array
from ..base.errors import InputError
from ..base.given import Given, Levels, overlaps
from ..base.known import known_frame
from ..base.progress import Callback
from ..core.certificate import Certificate
from ..core.coordinates import Coordinates
from ..core.embedding import KernelMap, nearest, unit_rows
from ..data.rows import BLOCK_BYTES, STEP, Rows
from ..data.sums import check_block
from ..search.obvious import Obvious, reproduced_by
from ..search.proposals import FIXED
from ..search.selection import fewest
from ..search.settings import Settings
from ..search.significance import AssessOptions, Significance, assess
from ..search.spec import SearchSpec
from ..search.tuning import Tuning
from ..search.witnesses import EMPTY_CELLS, find_witnesses

PRIVATE = {"private": True}
OWN = ("n_clusters", "n_components", "sigma", "novelty_weight", "subtract_given")  # settings that are published


@dataclass(frozen=True, repr=False)
class FittedView:
    """The result of a fit.

    An estimator publishes and saves every field that is not private, under its name with an underscore. Saved numbers
    and text are checked by type, arrays by shape. See `altclust.KDAC` for their meaning.

    Of the private ones, `coordinates` map raw rows to their projections, and `kernel_map` those to labels. `overlaps`
    are those with each column of what is given, of which `overlap` is the largest. `search` and
    `source`, where its start came from, find it again in other rows: `rows` are those of the search in all columns,
    those that it left aside too, `searched_labels` their labels, and `places` their places in the table. `columns` tell
    its clusters apart, most telling first; `rule` says which reproduce them, and find_rule which reproduce labels that
    equal rows share. The p-value is corrected for the views before `number`. `variants` are other numbers of clusters
    with which it is nearly as clear. `middles` are the rows whose clusters are the labels, if they are not those of the
    fit. A loaded model has no rows, and none of the functions that need them.
    """

    labels: Any
    feature_weights: Array
    overlap: float
    overlap_p_value: float
    known: str
    quality: float
    cost: float
    status: str
    n_iter: int
    settings: Settings
    sample_size: int
    engine: str
    approximation_error: float
    history: dict[str, Array]
    tuning: Tuning | None
    coordinates: Coordinates = field(metadata=PRIVATE)
    kernel_map: KernelMap = field(metadata=PRIVATE)
    guess_agreement: float = float("nan")
    levels: tuple[Levels, ...] = field(default=(), metadata=PRIVATE)
    overlaps: tuple[float, ...] = field(default=(), metadata=PRIVATE)
    search: SearchSpec | None = field(default=None, metadata=PRIVATE)
    source: str = field(default=FIXED, metadata=PRIVATE)
    rows: Array | None = field(default=None, metadata=PRIVATE)
    searched_labels: np.ndarray | None = field(default=None, metadata=PRIVATE)
    places: np.ndarray | None = field(default=None, metadata=PRIVATE)
    certify: Callable[[], Certificate] | None = field(default=None, metadata=PRIVATE)
    certificate: Certificate | None = field(default=None, metadata=PRIVATE)
    significance: Significance | None = field(default=None, metadata=PRIVATE)
    columns: tuple[str, ...] = field(default=(), metadata=PRIVATE)
    number: int = field(default=1, metadata=PRIVATE)
    variants: tuple[int, ...] = field(default=(), metadata=PRIVATE)
    fit_variant: Callable[[int], FittedView] | None = field(default=None, metadata=PRIVATE)
    rule: Obvious | None = field(default=None, metadata=PRIVATE)
    find_rule: Callable[[np.ndarray], Obvious | None] | None = field(default=None, metadata=PRIVATE)
    middles: Rows | None = field(default=None, metadata=PRIVATE)

    @property
    def n_clusters(self) -> int:
        """K."""
        return self.settings.k

    @property
    def n_components(self) -> int:
        """Q."""
        return self.kernel_map.landmarks.shape[1]

    def __repr__(self) -> str:
        return f"<FittedView: {self.n_clusters} clusters in {self.n_components} direction(s)>"

    @property
    def components(self) -> Array:
        """The directions in the columns of the table, shape (q, d)."""
        return self.coordinates.to_table(np.eye(self.n_components)).T

    @property
    def mean(self) -> Array:
        """The mean of the rows that were fitted, shape (d,)."""
        return self.coordinates.mean

    @property
    def published(self) -> dict[str, Any]:
        """The attributes of a fitted estimator."""
        names = ["components", "mean", *(f.name for f in fields(self) if "private" not in f.metadata)]
        found = {name: getattr(self, name) for name in names} | {name: getattr(self.settings, name) for name in OWN}
        return {f"{name}_": value for name, value in found.items()}

    @property
    def empty_clusters(self) -> int:
        """The number of clusters without rows; 0 if the labels are not in memory."""
        if not isinstance(self.labels, np.ndarray):
            return 0
        return int(np.sum(np.bincount(self.labels, minlength=self.n_clusters) == 0))

    @property
    def obvious_group(self) -> Obvious | None:
        """The rule of this view, if columns with few values reproduce it."""
        if self.rule is not None and self.rule.few_valued:
            return self.rule
        return self.significance.obvious[0] if self.significance is not None and self.significance.is_obvious else None

    def certified(self) -> FittedView:
        """The same view with its certificate."""
        if self.certificate is not None:
            return self
        if self.certify is None:
            raise InputError("certificate_ was not computed before the model was saved, and needs the rows: fit again.")
        return replace(self, certificate=self.certify())

    def variant(self, n_clusters: int) -> FittedView:
        """The same view with another number of clusters."""
        if self.fit_variant is None or n_clusters not in self.variants:
            others = f"one of {', '.join(map(str, self.variants))}" if self.variants else "none other"
            problem = f"is not a number of clusters with which this view is nearly as clear: there is {others}."
            raise InputError(problem, argument="n_clusters", value=n_clusters)
        return replace(self.fit_variant(n_clusters).labelled_at(self.middles), number=self.number)

    def labelled_at(self, middles: Rows | None) -> FittedView:
        """The same view with the clusters of these rows as labels; the test keeps those of the fit.

        Values of columns with few values are drawn for the fit, within their levels. In the middle of them, rows that
        are equal, also in what is given, are in one cluster. Labels stay as they are if a cluster would become so small
        that the search would have taken it for outliers.
        """
        if middles is None:
            return self
        placed, labels = replace(self, middles=middles), np.asarray(self.predict(middles))
        before, after = (np.bincount(one, minlength=self.n_clusters) / middles.n for one in (self.labels, labels))
        if after.min() < min(before.min(), fewest(self.n_clusters)):
            return placed
        assert self.places is not None
        assert self.search is not None
        seen = labels[self.places]
        overlaps = overlaps_of(middles, labels, self.n_clusters)
        return replace(
            placed,
            labels=labels,
            overlap=max(overlaps, default=float("nan")),
            overlaps=overlaps,
            overlap_p_value=self.search.given.overlap_p_value(seen),
            rule=self.rule if self.find_rule is None else self.find_rule(seen),
        )

    def tested(
        self, options: AssessOptions, n_jobs: int | None, progress: Callback | None, rng: np.random.Generator
    ) -> FittedView:
        """The same view with its significance; without it if the progress callback stops the test."""
        if self.significance is not None:
            return self
        if self.search is None or self.searched_labels is None:
            raise InputError(
                "significance_ was not computed before the model was saved, and needs the rows: fit again."
            )
        found = assess(
            self.search, self.searched_labels, self.source, options, n_jobs=n_jobs, progress=progress, rng=rng
        )
        if found is not None:
            others = () if self.tuning is None else self.tuning.obvious
            found = replace(found, overlap=self.overlap).corrected_for(self.number).with_obvious(self.rule, others)
        return replace(self, significance=found)

    def witnessed(self, others: pd.DataFrame, given: Given, rng: np.random.Generator) -> FittedView:
        """The same view with the columns that differ between its clusters, among those that were not used.

        A view that tells only which cells are empty is an obvious group.
        """
        if self.significance is None:
            return self
        found = find_witnesses(np.asarray(self.labels), others, given, rng=rng)
        tested = replace(self.significance, witnesses=found)
        empty = [name for name in others.columns if str(name).startswith(EMPTY_CELLS)]
        rule = reproduced_by(np.asarray(self.labels), others[empty]) if empty and not tested.is_obvious else None
        if rule is not None:
            rule = replace(rule, rule=f"rows with and without {' and '.join(rule.columns)}")
            tested = tested.with_obvious(rule, tested.obvious)
        return replace(self, significance=tested)

    def coded(self, rows: Rows, given: Any) -> Rows:
        """New rows with the codes of what is given about them, if it is."""
        if given is None:
            return rows
        if not self.levels:
            raise InputError("was not passed to fit: leave it out.", argument="given")
        for one in self.levels:
            if not one.tell_new_rows:
                one.codes(())  # refuses kernels and distances
        columns = _columns(given, [one.name for one in self.levels])
        if len(columns) != len(self.levels):
            known = ", ".join(one.name for one in self.levels)
            problem = f"has {len(columns)} column(s) where fit had {len(self.levels)} ({known}): pass the same."
            raise InputError(problem, argument="given")
        wrong = next((one for one in columns if len(one) != rows.n), None)
        if wrong is not None:
            problem = f"has {len(wrong)} labels for {rows.n} rows: pass one label for each row of X."
            raise InputError(problem, argument="given")
        return rows.coded(columns, self.levels)

    def codes_of(self, given: pd.DataFrame | None) -> pd.DataFrame | None:
        """What is given about rows that are shown, if it can be subtracted from them."""
        fits = given is not None and given.shape[1] == len(self.levels) and self.coordinates.effects
        return given if fits and all(one.tell_new_rows for one in self.levels) else None

    def transform(self, rows: Rows) -> Any:
        """New rows in the learnt directions; what is given about them is guessed if the rows have no codes."""
        return rows.each(project_block, self.coordinates, columns=self.n_components)

    def predict(self, rows: Rows) -> Any:
        """The labels of new rows, in blocks that limit the size of the kernel to the landmarks."""
        step = max(16, min(STEP, int(BLOCK_BYTES / (16 * len(self.kernel_map.landmarks)))))
        return rows.each(predict_block, self.coordinates, self.kernel_map, step=step)


def _columns(given: Any, names: list[str]) -> list[Any]:
    """The columns of what is given, by their names if these are the same; Dask arrays stay where they are."""
    if hasattr(given, "dask"):
        given = given.to_dask_array(lengths=True) if hasattr(given, "to_dask_array") else given
        return [given] if given.ndim == 1 else [given[:, g] for g in range(given.shape[1])]
    frame = known_frame(given)
    if frame is None:
        raise InputError("has no labels of these rows: pass those that fit had.", argument="given")
    found = {str(name): j for j, name in enumerate(frame.columns)}
    order = [found[name] for name in names] if sorted(found) == sorted(names) else range(frame.shape[1])
    return [frame.iloc[:, j].to_numpy() for j in order]


def overlaps_of(rows: Rows, labels: Any, k: int) -> tuple[float, ...]:
    """The overlap of k labels with each column of what is given."""
    return overlaps(rows.given.levels, rows.crossed(labels, k) if rows.given else [])


def project_block(X: Any, codes: Any, coordinates: Coordinates) -> Any:
    """New rows in the learnt directions."""
    if not sparse.issparse(X):  # which are checked as a whole
        check_block(X)
    return coordinates(X, codes)


def predict_block(X: Any, codes: Any, coordinates: Coordinates, extension: KernelMap) -> Any:
    """The labels of new rows."""
    return nearest(unit_rows(extension.block(project_block(X, codes, coordinates))), extension.centres)


def label_block(X: Any, codes: Any, coordinates: Coordinates, extension: KernelMap) -> Any:
    """The labels of rows that are known to be finite."""
    return nearest(unit_rows(extension.block(coordinates(X, codes))), extension.centres)
