"""Several views, each different from the given clusterings and from all earlier views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..base.known import Known, known_parts, read_given
from ..base.sklearn_compat import Interval, StrOptions
from ..base.validation import check_parameters, check_rows
from ..core.solvers import Status
from .kdac import KDAC


class ViewDiscovery(BaseEstimator):
    """Find views one after the other (Niu et al. 2014) until the next one is not significant.

    Parameters
    ----------
    n_views : int or "auto"
        "auto" stops at the first view that is not significant by its `significance_`.
    estimator : KDAC, optional
        Finds each view. Default: ``KDAC()``, which chooses all parameters.
    max_views : int
        Limit on the number of views for "auto".
    significance : float
        The p-value above which "auto" rejects a view. The p-value of view i is multiplied by i, in its `significance_`
        too: Bonferroni's correction along the sequence.
    n_jobs : int, optional
        Number of parallel processes of the search, unless `estimator` has its own.
    callback : callable, optional
        Called with the number of views so far and the model of the last. A true return value stops, and so does one
        of the estimator's own callback, which is called during the search and the test of a view.
    on_found : callable, optional
        Called with the number of a view and its model as soon as it is found, before it is tested.
    random_state : int or None
        Unless `estimator` has its own.

    Attributes
    ----------
    views_ : list of KDAC
        One fitted model per view.
    labels_ : int array, shape (n_samples, n_views)
    p_values_ : array, shape (n_views,)
        Probability of a view as clear in rows without clusters, corrected for the number of views up to it; NaN if
        `n_views` is a number, because nothing is tested.
    n_views_ : int
    rejected_ : KDAC or None
        The rejected view at which "auto" stopped; its ``significance_`` says why.
    stopped_ : str
        A sentence that says why there are no more views.

    Examples
    --------
    >>> from altclust import ViewDiscovery
    >>> from altclust.datasets import views
    >>> data = views(200, ("blobs", "blobs"), (2, 3), random_state=0)
    >>> ViewDiscovery(n_views=2, random_state=0).fit(data.X).labels_.shape
    (200, 2)
    """

    _parameter_constraints: dict = {  # noqa: RUF012  (scikit-learn's convention)
        "n_views": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "estimator": [KDAC, None],
        "max_views": [Interval(Integral, 1, None, closed="left")],
        "significance": [Interval(Real, 0, 1, closed="both")],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "callback": [callable, None],
        "on_found": [callable, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_views: int | str = "auto",
        *,
        estimator: KDAC | None = None,
        max_views: int = 8,
        significance: float = 0.05,
        n_jobs: int | None = None,
        callback: Callable[[int, KDAC], Any] | None = None,
        on_found: Callable[[int, KDAC], Any] | None = None,
        random_state: int | None = None,
    ) -> None:
        self.n_views = n_views
        self.estimator = estimator
        self.max_views = max_views
        self.significance = significance
        self.n_jobs = n_jobs
        self.callback = callback
        self.on_found = on_found
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, originals: pd.DataFrame | None = None) -> ViewDiscovery:
        """Find views of X that differ from y.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
        y : None, labels or measurements, several columns of them, or `altclust.Known`
            What is given, as in `KDAC.fit`.
        originals : DataFrame, optional
            Columns with few values as they were, see `KDAC.fit`.

        Returns
        -------
        ViewDiscovery
            Itself, fitted.
        """
        check_parameters(self)
        tested = self.n_views == "auto"
        most = self.max_views if isinstance(self.n_views, str) else self.n_views
        table = check_rows(BaseEstimator(), X, reset=True)
        read_given(y, len(table))  # refuses what cannot be used
        known = known_parts(y)
        self.views_: list[KDAC] = []
        self.rejected_: KDAC | None = None
        self.stopped_ = f"{most} view(s) were asked for." if not tested else f"max_views={most} was reached."
        p_values = []
        while len(self.views_) < most:
            model = clone(self.estimator or KDAC())
            own = {"n_jobs": self.n_jobs, "random_state": self.random_state}
            model.set_params(**{name: value for name, value in own.items() if getattr(model, name) is None})
            model.fit(X, known or None, originals=originals)
            if self.on_found is not None:
                self.on_found(len(self.views_) + 1, model)
            if model.status_ == Status.CANCELLED or (tested and model.assess_significance(model.callback) is None):
                self.views_.append(model)
                p_values.append(np.nan)
                self.stopped_ = f"It was cancelled: view {len(self.views_)} was not tested and may be unfinished."
                break
            if tested:
                correct_for_views(model, len(self.views_) + 1)
                found = model.significance_
                if not (found.is_real and found.p_value <= self.significance):
                    self.rejected_ = model
                    above = f" p is above significance={self.significance:g}." if found.is_real else ""
                    self.stopped_ = f"View {len(self.views_) + 1}: {found.verdict}{above}"
                    break
            p_values.append(model.significance_.p_value if tested else np.nan)
            self.views_.append(model)
            known.append(Known.labels(model.labels_, f"view {len(self.views_)}"))
            if self.callback is not None and self.callback(len(self.views_), model):
                self.stopped_ = "It was cancelled."
                break
        self.p_values_ = np.array(p_values)
        self.n_views_ = len(self.views_)
        columns = [view.labels_ for view in self.views_]
        self.labels_ = np.column_stack(columns) if columns else np.zeros((len(table), 0), int)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of each row of X in every view, shape (n_samples, n_views)."""
        check_is_fitted(self, "views_")
        if not self.views_:
            return np.zeros((len(X), 0), int)
        return np.column_stack([view.predict(X) for view in self.views_])


def correct_for_views(model: KDAC, count: int) -> None:
    """Correct the significance of a view for being number `count` of a sequence (Bonferroni).

    Its p-value and the smallest possible one are multiplied by the number, and the verdict follows them.
    """
    found = model.significance_
    if count == 1 or np.isnan(found.p_value):
        return
    model._view = replace(model._view, significance=found.corrected_for(count))
