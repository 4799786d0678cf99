"""The result of a fit, in one object that can label new rows, compute its certificate and test its significance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from ..base.backend import Array, like
from ..base.errors import InputError
from ..base.progress import Callback
from ..core.certificate import Certificate
from ..core.embedding import KernelMap, nearest, unit_rows
from ..core.metrics import overlap, overlap_p_value
from ..core.problem import remove_given
from ..data.rows import BLOCK_BYTES, STEP, ArrayRows, Rows
from ..data.sums import check_block
from ..search.obvious import Obvious
from ..search.selection import fewest
from ..search.significance import AssessOptions, Recipe, Significance, assess
from ..search.spec import SearchSpec
from ..search.tuning import Tuning
from ..search.witnesses import find_witnesses
from .candidates import Candidate
from .residuals import GivenMeans

PRIVATE = {"private": True}


@dataclass(frozen=True)
class FittedView:
    """The result of a fit.

    An estimator publishes and saves every field that is not private, under its name with an underscore. Saved numbers
    and text are checked by type, arrays by shape. See `altclust.KDAC` for their meaning.

    Attributes
    ----------
    kernel_map : KernelMap
        Labels new rows.
    given_means : GivenMeans or None
        The means to subtract from new rows first.
    search : SearchSpec or None
        The search, to repeat it on other rows; None in a loaded model.
    rows : array, shape (n, d), or None
        The centred rows of `search` in all columns, those that the search left aside too.
    recipe : Recipe
        How the view was found, to find it again in other rows.
    searched_labels : int array or None
        The labels of the rows of `search`.
    certify : callable or None
        Computes the certificate from the rows.
    certificate : Certificate or None
    significance : Significance or None
    candidates : tuple of Candidate
        The menu of the fit; empty if there was no search, or as long as nobody asks for it.
    fit_menu : callable or None
        Fits the candidates from the rows.
    find_rule : callable or None
        Finds the columns that reproduce labels which equal rows share.
    middles : array, shape (n, d), or None
        The rows whose clusters are the labels, if they are not those of the fit.
    """

    labels: Any
    components: Array = field(metadata={"shape": ("q", "d")})
    mean: Array = field(metadata={"shape": ("d",)})
    feature_weights: Array = field(metadata={"shape": ("d",)})
    overlap: float
    overlap_p_value: float
    known: str
    quality: float
    cost: float
    status: str
    n_iter: int
    sigma: float
    novelty_weight: float
    subtract_given: bool
    whitening: float
    degree_floor: float
    pull: float
    n_components: int
    n_clusters: int
    engine: str
    approximation_error: float
    history: dict[str, Array]
    tuning: Tuning | None
    kernel_map: KernelMap = field(metadata=PRIVATE)
    given_means: GivenMeans | None = field(metadata=PRIVATE)
    search: SearchSpec | None = field(default=None, metadata=PRIVATE)
    recipe: Recipe = field(default=Recipe("fixed", 0), metadata=PRIVATE)
    rows: Array | None = field(default=None, metadata=PRIVATE)
    searched_labels: np.ndarray | None = field(default=None, metadata=PRIVATE)
    certify: Callable[[], Certificate] | None = field(default=None, metadata=PRIVATE)
    certificate: Certificate | None = field(default=None, metadata=PRIVATE)
    significance: Significance | None = field(default=None, metadata=PRIVATE)
    candidates: tuple[Candidate, ...] = field(default=(), metadata=PRIVATE)
    fit_menu: Callable[[FittedView], tuple[Candidate, ...]] | None = field(default=None, metadata=PRIVATE)
    rule: Obvious | None = field(default=None, metadata=PRIVATE)
    find_rule: Callable[[np.ndarray], Obvious | None] | None = field(default=None, metadata=PRIVATE)
    middles: Array | None = field(default=None, metadata=PRIVATE)

    @property
    def published(self) -> dict[str, Any]:
        """The attributes of a fitted estimator."""
        return {f"{f.name}_": getattr(self, f.name) for f in fields(self) if "private" not in f.metadata}

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

    def with_menu(self) -> FittedView:
        """The same view with the candidates of its search."""
        if self.candidates or self.fit_menu is None:
            return self
        return replace(self, candidates=self.fit_menu(self))

    def labelled_at(self, middles: Array | None, given: list[np.ndarray]) -> FittedView:
        """The same view with the clusters of these rows as labels; the test keeps those of the fit.

        Values of columns with few values are drawn for the fit, within their levels. In the middle of them, rows that
        are equal, also in what is given, are in one cluster. Labels stay as they are if a cluster would become so small
        that the search would have taken it for outliers.

        Parameters
        ----------
        middles : array, shape (n, d), or None
            The rows of the fit, in the middle of their levels.
        given : list of arrays
            Codes and features of what was given.
        """
        if middles is None:
            return self
        placed, rows = replace(self, middles=middles), middles - self.mean
        left = remove_given(rows, given) if self.subtract_given else rows
        labels = np.asarray(self.predict_projected(ArrayRows(left @ self.components.T)))
        before, after = (np.bincount(one, minlength=self.n_clusters) / len(rows) for one in (self.labels, labels))
        if after.min() < min(before.min(), fewest(self.n_clusters)):
            return placed
        return replace(
            placed,
            labels=labels,
            overlap=overlap(labels, given),
            overlap_p_value=overlap_p_value(labels, given),
            rule=self.rule if self.find_rule is None else self.find_rule(labels),
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
            self.search, self.searched_labels, self.recipe, options, n_jobs=n_jobs, progress=progress, rng=rng
        )
        if found is not None:
            others = () if self.tuning is None else self.tuning.obvious
            found = found.with_obvious(self.rule, others)
        return replace(self, significance=found)

    def witnessed(self, others: pd.DataFrame, given: list[np.ndarray], rng: np.random.Generator) -> FittedView:
        """The same view with the columns that confirm it, among those that were not used."""
        if self.significance is None:
            return self
        found = find_witnesses(np.asarray(self.labels), others, given, rng=rng)
        return replace(self, significance=replace(self.significance, witnesses=found))

    def transform(self, rows: Rows) -> Any:
        """New rows in the learnt directions."""
        return rows.each(project_block, self.mean, self.given_means, self.components, columns=self.n_components)

    def predict(self, rows: Rows) -> Any:
        """The labels of new rows, in blocks that limit the size of the kernel to the landmarks."""
        found = self.mean, self.given_means, self.components, self.kernel_map
        return rows.each(predict_block, *found, step=self._step)

    def predict_projected(self, rows: Rows) -> Any:
        """The labels of rows that are in the learnt directions already."""
        return rows.each(label_block, self.kernel_map, step=self._step)

    @property
    def _step(self) -> int:
        return max(16, min(STEP, int(BLOCK_BYTES / (16 * len(self.kernel_map.landmarks)))))


def project_block(X: Any, codes: Any, mean: Array, given_means: GivenMeans | None, components: Array) -> Any:
    """New rows in the learnt directions."""
    check_block(X)
    rows = X - like(mean, X)
    return (rows if given_means is None else given_means.remove(rows)) @ like(components, X).T


def predict_block(X: Any, codes: Any, mean: Array, means: GivenMeans | None, components: Array, map: KernelMap) -> Any:
    """The labels of new rows."""
    return label_block(project_block(X, codes, mean, means, components), codes, map)


def label_block(Z: Any, codes: Any, map: KernelMap) -> Any:
    """The labels of projected rows."""
    return nearest(unit_rows(map.block(Z)), map.centres)
