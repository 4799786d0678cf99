"""KDAC as a scikit-learn estimator: validates, solves and sets attributes; the mathematics is in `altclust.core`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..base.backend import Array
from ..base.errors import FitWarning, InputError, NotConvergedWarning
from ..base.given import Given
from ..base.keep import check_keep
from ..base.known import given_frame, read_given
from ..base.progress import Callback
from ..base.sklearn_compat import Interval, StrOptions
from ..base.thresholds import RESEMBLES
from ..base.validation import (
    AUTO,
    COUNT,
    WEIGHT,
    WIDTH,
    check_originals,
    check_parameters,
    column_names,
    enough_memory,
    generator,
)
from ..core.certificate import Certificate
from ..core.kernel_family import Kernel
from ..core.kernels import KERNELS
from ..core.solvers import SOLVERS, Solver, Status
from ..data.opening import checked_rows
from ..data.rows import ArrayRows, Rows
from ..search.obvious import left_aside
from ..search.settings import Settings
from ..search.significance import AssessOptions, Significance
from .display import card, printed, rows_to_show
from .fit_view import fit_view, settings_of
from .fitted_view import FittedView
from .row_copies import Repeated
from .saving import load_kdac, save_kdac
from .views import MOST, View, Views, find_views, next_view

REMEDIES = {
    Status.STALLED: "choose a larger sigma",
    Status.MAX_ITER: "raise max_iter or tol, or choose a larger sigma",
    Status.AT_REST: 'try solver="ism" or "newton", or a larger sigma',
    Status.CANCELLED: "the model holds the best result so far",
}


class KDAC(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Kernel Dimension Alternative Clustering: the best clustering that differs from a given one.

    Finds orthonormal directions W and an embedding U that maximise HSIC(XW, U) − λ HSIC(XW, Y), equation (2) of
    Wu et al. 2018, and rounds U to labels. X is centred but not scaled: put a ``StandardScaler`` before it
    if columns have different units.

    Parameters
    ----------
    n_clusters : int, "auto", or a list of them
        The number of clusters k of every view; of a list, one for each view of `views_`. "auto": chosen by the search;
        if `sigma` is fixed, that of the first given clustering, or the largest eigengap of the kernel of X.
    n_components : int or "auto"
        The number of directions q. "auto": chosen by the search; if `sigma` is fixed, the largest eigengap of the
        spectral start's Φ, at most k.
    kernel : {"gaussian", "self_tuning", "rational_quadratic", "multiquadratic", "squared", "linear", "polynomial"} \
        or a kernel such as ``kernels.RationalQuadratic(alpha=2)``
        The kernel of the fit, see docs/family.md. The search for parameters uses the Gaussian. For other kernels D, W
        and U alternate.
    sigma : float or "auto"
        Width σ of the kernel. "auto": `altclust.tune` searches for it and for all other parameters that are
        "auto", on at most 1,000 rows, see docs/choosing.md. With another `init` than "spectral" it is the median
        distance between rows.
    novelty_weight : float or "auto"
        λ, the penalty for similarity to the given clusterings. "auto": 1.
    solver : {"auto", "ism", "lbfgs", "sm", "dg", "newton"} or a solver such as ``ISM(safeguard=False)``
        "auto" and "lbfgs" minimise one objective in which U and D are functions of W, with the Gaussian kernel; the
        others alternate between D, W and U, as "auto" does with other kernels, see docs/solvers.md.
        The accuracy of W steps increases with the rounds, up to ``tol / 10``, but not beyond the solver's own ``tol``.
    sample_size : int
        Rows that are fitted. Of a larger table a random sample of so many rows is fitted, wherever the rows are, and
        all rows are labelled in one pass, see docs/scaling.md. A larger sample takes longer and sees smaller clusters.
    max_iter : int
        Limit on the steps of a descent, or on the rounds of D, W and U.
    tol : float
        Converged if the subspaces of W and U move by at most this: the root mean square sine of their angles.
    n_jobs : int, optional
        Number of parallel processes of the search.
    callback : callable, optional
        Called with an `altclust.Progress` during the search for parameters and after each round of the fit. A true
        return value stops the current search or rounds and keeps the best result so far.
    random_state : int, Generator or None
        Draws the sample of a large table, random starts and the halves of the significance test. The search for
        parameters does not depend on it: what it draws follows from the values of the rows.
    settings : Settings, optional
        All else that defines the fit, see `altclust.Settings`: whether given means are subtracted, whitening, the start
        of the directions and others. It may set `n_clusters`, `n_components`, `kernel`, `sigma` and `novelty_weight`,
        too, as those that `altclust.tune` finds do; one that is set in both places must be the same.

    Attributes
    ----------
    labels_ : int array, shape (n_samples,)
        A Dask array if X is one.
    components_ : array, shape (n_components, n_features)
        The directions W of the new clustering, as rows; largest variance first. Orthonormal without whitening.
    feature_weights_ : array, shape (n_features,)
        What each feature tells about the clusters, in sum 1: the share of its variance between them, or, if no feature
        alone tells clusters apart, its share in the directions: diag(WWᵀ) times the variance.
    overlap_ : float
        NMI of `labels_` with the given clustering (the largest of several): 0 is independent. For a measurement, the
        share of the variance of the labels' indicators that a smooth function of it explains, see
        `altclust.metrics.overlap`. NaN if nothing was given.
    overlap_p_value_ : float
        p-value of independence between `labels_` and what was given (Pillai's trace, corrected for their number).
    known_ : str
        What was given, and how it was understood: clusters, a measurement, a kernel or distances.
    quality_ : float
        HSIC(XW, U), at most k.
    cost_ : float
        −HSIC(XW, U) + λ HSIC(XW, Y).
    certificate_ : Certificate
        Optimality of the directions; computed on first access.
    history_ : dict of arrays
        F, first-order residual, changes of W and U, and solver iterations, per round.
    status_ : str
        "converged", or why not.
    n_iter_ : int
    settings_ : Settings
        The values that were used, those that were open too.
    n_clusters_, n_components_, sigma_, novelty_weight_, subtract_given_ :
        The same, of `settings_`.
    tuning_ : Tuning or None
        All trials of the search and why these values were chosen; None if there was no search.
    views_ : Views
        Up to five views, found one after the other on first access, until two in a row are not significant. Each is
        new to what is given and to the views before it, and has its verdict.
    significance_ : Significance
        Significance and stability of the view; computed on first access.
    sample_size_ : int
        Rows that were fitted.
    engine_ : str
        What was fitted: how many rows, and through which kernel; of a sample, how small a cluster it can show.
    approximation_error_ : float
        Relative trace error of the kernel: 0 if it is exact.
    guess_agreement_ : float
        Share of the rows of the fit that `predict` labels alike without `given`, where the given clusters of rows are
        guessed; NaN if nothing was subtracted.
    mean_ : array, shape (n_features,)
        Of the rows that were fitted.
    fitted_ : FittedView
        All of the above in one object, which cannot be changed.
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np
    >>> from altclust import KDAC
    >>> rng = np.random.default_rng(0)
    >>> given, hidden = rng.integers(0, 2, (2, 200))
    >>> X = np.column_stack([6 * given, 4 * hidden]) + rng.normal(size=(200, 2))
    >>> model = KDAC(n_clusters=2, random_state=0).fit(X, given)
    >>> bool(max(np.mean(model.labels_ == hidden), np.mean(model.labels_ != hidden)) > 0.95)
    True
    """

    _tests = AssessOptions()
    _parameter_constraints: dict = {  # noqa: RUF012  (scikit-learn's convention)
        "n_clusters": [COUNT, AUTO, list, tuple],
        "n_components": [COUNT, AUTO],
        "kernel": [StrOptions(set(KERNELS)), Kernel],
        "sigma": [WIDTH, AUTO],
        "novelty_weight": [WEIGHT, AUTO],
        "solver": [StrOptions({"auto", *SOLVERS}), callable],
        "sample_size": [Interval(Integral, 100, None, closed="left")],
        "max_iter": [COUNT],
        "tol": [WEIGHT],
        "n_jobs": [COUNT, Interval(Integral, None, -1, closed="right"), None],
        "callback": [callable, None],
        "random_state": ["random_state", np.random.Generator],
        "settings": [Settings, None],
    }

    def __init__(
        self,
        n_clusters: int | str | Sequence[int | str] = "auto",
        *,
        n_components: int | str = "auto",
        kernel: str | Kernel = "gaussian",
        sigma: float | str = "auto",
        novelty_weight: float | str = "auto",
        solver: str | Solver = "auto",
        sample_size: int = 3000,
        max_iter: int = 100,
        tol: float = 1e-2,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        random_state: int | np.random.Generator | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.novelty_weight = novelty_weight
        self.solver = solver
        self.sample_size = sample_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.callback = callback
        self.random_state = random_state
        self.settings = settings

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        keep: Any = None,
        originals: pd.DataFrame | None = None,
        sample_weight: Any = None,
    ) -> KDAC:
        """Find the alternative to y.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n_samples, n_features)
            A sparse matrix is clustered in its 100 leading principal directions; it is never made dense.
        y : None, labels or numbers of shape (n_samples,), several columns of them, or `altclust.Known`
            What to be different from. Clusterings: strings or numbers; NaN, None and −1 are unknown: these rows are not
            constrained. Measurements: a column of more than 30 different whole numbers, or 12 others; NaN is unknown.
            A list of `altclust.Known` states what is what, and may contain kernels and distances. Default: find a
            first view.
        keep : None, labels of shape (n_samples,), or `altclust.Links`
            What the new clusters should agree with: labels of some rows (NaN, None and −1 are unknown), or pairs of
            rows that belong together or apart, see docs/keep.md.
        originals : DataFrame with n_samples rows, optional
            Dates, categories and other columns with few values as they were before they became the columns of X with
            the same names: clusters that one or two of them reproduce are obvious groups. `altclust.find` passes them.
        sample_weight : array-like, shape (n_samples,), optional
            A row of weight 2 is two rows: rows are repeated. Rows of weight 0 do not count and get their labels from
            `predict`. Weights that are not whole numbers, or that sum to more than 10,000 and four copies for each row,
            are scaled and rounded to numbers of copies. `significance_` counts equal rows once. X must be in memory.

        Returns
        -------
        KDAC
            Itself, fitted.
        """
        check_parameters(self)
        rng = generator(self.random_state)
        passed: dict[str, Any] = {"X": X, "keep": keep, "originals": originals, "sample_weight": sample_weight}
        self._fitted_to: dict[str, Any] | None = passed
        if sample_weight is None:
            view = fit_view(self, X, y, keep, originals, rng)
        else:
            repeated = Repeated.of(self, X, sample_weight)
            cells = check_originals(originals, repeated.n, column_names(self))
            again = None if cells is None else cells.iloc[repeated.places]
            kept = check_keep(keep, repeated.n, settings_of(self).keep_weight)
            kept = None if kept is None else kept.take(repeated.places)
            view = repeated.back(fit_view(self, repeated.X, repeated.known(y), kept, again, rng), y)
            y = repeated.counted(y)
        self.publish(view)
        self._given = y
        if view.overlap > RESEMBLES:
            problem = (
                f"gives a view that resembles what was given (overlap {view.overlap:.2f}): raise it, or change sigma."
            )
            weight = view.settings.novelty_weight
            warnings.warn(FitWarning(problem, argument="novelty_weight", value=weight), stacklevel=2)
        if view.empty_clusters:
            empty = view.empty_clusters
            problem = f"leaves {empty} cluster(s) empty, because many rows are equal: ask for fewer clusters."
            warnings.warn(FitWarning(problem, argument="n_clusters", value=view.n_clusters), stacklevel=2)
        if view.status != Status.CONVERGED:
            moved = max(view.history["change_W"][-1], np.nan_to_num(view.history["change_U"][-1]))
            problem = (
                f"KDAC {view.status} after {view.n_iter} round{'s' * (view.n_iter != 1)} (W or U last moved by "
                f"{moved:.1e}, tol={self.tol:g}): {REMEDIES[Status(view.status)]}."
            )
            warnings.warn(NotConvergedWarning(problem), stacklevel=2)
        return self

    def label_at(self, middles: pd.DataFrame) -> KDAC:
        """Take the clusters of these rows as labels, see `FittedView.labelled_at`."""
        self.publish(self.fitted_.labelled_at(ArrayRows(middles.to_numpy()).encode(self._given)))
        return self

    def publish(self, view: FittedView) -> None:
        """Become the model of this view."""
        self.fitted_ = view
        self._views: Views | None = None
        for name, value in view.published.items():
            setattr(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        """Without rows that were not fitted: they may be a file or a cluster, which only other views need."""
        state = super().__getstate__()
        view = state.get("fitted_")
        if view is None or view.places is None or len(view.places) == len(view.labels):
            return state
        kept = replace(view, certify=None, fit_variant=None, find_rule=None)
        return state | {"fitted_": kept, "_given": None, "_fitted_to": None, "_views": None}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_")

    @property
    def _n_features_out(self) -> int:
        return self.fitted_.n_components

    @property
    def views_(self) -> Views:
        """Up to five views, found one after the other on first access, until two in a row are not significant."""
        check_is_fitted(self)
        if self._views is None:
            self._views = Views.of(self.each_view())
        return self._views

    def each_view(self, most: int = MOST) -> Iterator[View]:
        """Find the views one after the other; each is passed on when it is found, and again when it has been tested."""
        check_is_fitted(self)
        following = partial(next_view, self, self._fitted_to, self._given)
        return find_views(self, following, lambda model: model.assess_significance(self.callback), most)

    @property
    def certificate_(self) -> Certificate:
        """Optimality of the directions; computed on first access."""
        check_is_fitted(self)
        self.fitted_ = self.fitted_.certified()
        assert self.fitted_.certificate is not None
        return self.fitted_.certificate

    @property
    def significance_(self) -> Significance:
        """Significance and stability of the view; computed on first access, on parts of the rows."""
        found = self.assess_significance()
        assert found is not None
        return found

    def assess_significance(self, progress: Callback | None = None, *, witnesses: Any = None) -> Significance | None:
        """Compute `significance_` and report progress.

        Parameters
        ----------
        progress : callable, optional
            Called with an `altclust.Progress` after every half and every sample. A true return value stops the test; it
            returns None.
        witnesses : frame with one row for each row of X, optional
            Columns that were not clustered, such as text, dates and other numbers: those that differ between the
            clusters within the given ones become `significance_.witnesses`.
        """
        check_is_fitted(self)
        rng = generator(self.random_state)
        self.fitted_ = self.fitted_.tested(self._tests, self.n_jobs, progress, rng)
        if witnesses is not None:
            self.fitted_ = self.fitted_.witnessed(*self._others(witnesses), rng)
        return self.fitted_.significance

    def left_aside(self) -> list[str]:
        """Columns that reproduce obvious groups, without which the search went on."""
        view = self.fitted_
        source = view.tuning or view.significance
        return left_aside(column_names(self), view.components, () if source is None else source.obvious)

    def _others(self, witnesses: Any) -> tuple[pd.DataFrame, Given]:
        """The columns that were not used, and what was given."""
        others, n = given_frame(witnesses), len(self.labels_)
        if len(others) != n:
            raise InputError(f"has {len(others)} rows for {n} labels: pass the rows of the fit.", argument="witnesses")
        if self._given is None and not np.isnan(self.overlap_):
            raise InputError("witnesses need the given clusters, which a loaded model does not contain: fit again.")
        return others, read_given(self._given, n)

    def transform(self, X: Any, given: Any = None) -> Array:
        """The rows of X in the learnt directions, shape (n_samples, n_components).

        Parameters
        ----------
        X : array, frame or sparse matrix, or anything else that `fit` accepts
        given : optional
            What is given about these rows, in the columns of y in `fit`. It matters only if `subtract_given_`; if it is
            left out, it is guessed from the rows, see `guess_agreement_`.
        """
        check_is_fitted(self)
        return self.fitted_.transform(self._new_rows(X, given))

    def predict(self, X: Any, given: Any = None) -> np.ndarray:
        """The alternative cluster of each row of X, by the kernel extension of U, shape (n_samples,).

        Rows are read in blocks: except for the labels, the memory does not depend on the number of rows.

        Parameters
        ----------
        X, given
            As for `transform`.
        """
        check_is_fitted(self)
        with enough_memory("predict"):
            return self.fitted_.predict(self._new_rows(X, given))

    def _new_rows(self, X: Any, given: Any) -> Rows:
        return self.fitted_.coded(checked_rows(self, X, reset=False), given)

    def fit_transform(self, X: Any, y: Any = None, **kwargs: Any) -> Array:
        """Fit, and return the rows of X in the learnt directions; y are the given clusterings."""
        self.fit(X, y, **kwargs)
        return self.transform(X, y if self.subtract_given_ else None)

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> np.ndarray:
        """Fit and return `labels_`; y are the given clusterings."""
        return self.fit(X, y, **kwargs).labels_

    def plot(self, X: Any = None, given: Any = None, *, axes: Any = None) -> np.ndarray:
        """Draw what was given and what was found, side by side in the same learnt directions.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features), optional
            Rows to draw. Default: those of the fit, or a sample of them if they were streamed.
        given : labels or several columns of labels, optional
            Given clusterings of X; the first column is drawn.
        axes : sequence of matplotlib Axes, optional
            Axes to draw on: one, or two if something is given.

        Returns
        -------
        array of matplotlib Axes
        """
        from ..report.plotting import plot_views

        check_is_fitted(self)
        rows, known, labels = rows_to_show(self, self._given, X, given)
        Z = np.asarray(self.transform(rows, self.fitted_.codes_of(known)))
        return plot_views(Z, None if known is None else known.iloc[:, 0], labels, axes)

    def report(
        self, path: str | os.PathLike, X: Any = None, given: Any = None, *, significance: bool = True, **more: Any
    ) -> None:
        """Write a report of the view: one self-contained HTML file.

        Parameters
        ----------
        path : str or path
            The file, which is written completely or not at all.
        X, given : optional
            The rows to report on, as for `plot`. Cells of a frame are shown as they are.
        significance : bool
            Whether to compute `significance_` first, which takes about as long as the search.
        more : dict
            Fields of `altclust.report.Shown`, such as ``name`` and ``cluster_names``.
        """
        from ..report import Shown, summarise, write_report

        check_is_fitted(self)
        rows, known, labels = rows_to_show(self, self._given, X, given)
        if significance and self.fitted_.search is not None:
            self.assess_significance()
        write_report(path, summarise(self, rows, known, Shown(labels=labels, **more)))

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to one .npz of plain arrays and JSON; nothing in it can run code.

        The callback is not saved, nor are the training rows: only their projections, which `predict` needs.
        """
        check_is_fitted(self)
        save_kdac(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> KDAC:
        """Read a model written by `save`."""
        model, view = load_kdac(cls, path)
        model.publish(view)
        model._given = model._fitted_to = None
        return model

    def __str__(self) -> str:
        return printed(self, getattr(self, "fitted_", None))

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + card(self, getattr(self, "fitted_", None))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += card(self, getattr(self, "fitted_", None))
        return bundle

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """scikit-learn lists all attributes in notebooks; those computed on first access are not computed for that."""
        view, plain = self.fitted_, type(self)
        computed = {"certificate_": view.certificate, "significance_": view.significance, "views_": self._views}
        there: dict[str, Any] = computed | {"__doc__": plain.__doc__}
        listed: Any = object.__new__(type(plain.__name__, (plain,), there))
        listed.__dict__ = self.__dict__
        return super(KDAC, listed)._get_fitted_attr_html(doc_link)
