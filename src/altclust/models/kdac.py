"""KDAC as a scikit-learn estimator: validate, solve, set attributes; no mathematics."""

from __future__ import annotations

import os
import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from array_api_compat import is_torch_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..base.backend import Array, fits_single, host
from ..base.errors import InputError
from ..base.sklearn_compat import Interval, StrOptions
from ..base.validation import centre, check_given, check_parameters, check_solver, enough_memory, generator, scan_rows
from ..core.alternation import Callback
from ..core.embedding import ROUNDINGS
from ..core.engines import KINDS, choose
from ..core.problem import SCALINGS
from ..core.solvers import SOLVERS, Solver, Status
from ..data.opening import checked_rows
from ..data.rows import STEP
from ..search.trajectories import Question
from .fitting import Fit, Procedure, fit_in_memory
from .proved import Proved
from .saving import load_kdac, save_kdac
from .shown import Shown
from .streaming import BLOCK_BYTES, fit_streamed, predict_block, project_block

REMEDIES = {
    Status.MAX_ITER: "raise max_iter or tol, or choose a larger sigma",
    Status.AT_REST: 'solver="ism" or "newton", a larger sigma or engine="tiles" may go on from there',
    Status.CANCELLED: "the model holds what was found until then",
}


class KDAC(Shown, Proved, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Kernel Dimension Alternative Clustering: the best clustering that differs from a given one.

    Finds orthonormal directions W and an embedding U that maximise HSIC(XW, U) − λ HSIC(XW, Y), equation (2) of
    Wu et al. 2018, and rounds U to labels. X is centred but not scaled: put a ``StandardScaler`` before it
    where columns have different units.

    Parameters
    ----------
    n_clusters : int or "auto"
        k. "auto" is left to the search; where `sigma` is fixed, as many as the first given clustering has, and
        with nothing given, where the eigenvalues of the kernel of X fall furthest.
    n_components : int or "auto"
        q, the number of directions. "auto" is left to the search; where `sigma` is fixed, it is where the eigenvalues
        of the spectral start's Φ jump furthest, at most k.
    sigma : float or "auto"
        Width σ of the Gaussian kernel. "auto" searches for it, and for all else that is "auto", with
        `altclust.tune` on at most 400 rows: see docs/choosing.md. With another `init` than "spectral" it is the median
        distance between rows.
    novelty_weight : float or "auto"
        λ, the price of resembling what is given. "auto": 1.
    subtract_given : bool or "auto"
        Whether to subtract from every row the mean of its given cluster first, which finds views that share all
        their directions with what is given. New rows have their given cluster guessed. "auto" is left to the
        search, and False where `sigma` is fixed.
    scaling : {"balanced", "paper"}
        In which scaling of Y λ counts: unit columns, so that λ means the same for every n, or the paper's
        one-hot columns.
    solver : {"ism", "sm", "dg", "newton"} or a solver such as ``ISM(safeguard=False)``
        Its own ``tol`` is the least: a W step is solved as far as the round deserves, at last to ``tol / 10``.
    init : {"spectral", "random"} or array of shape (n_features, n_components)
    n_init : int
        Random starts; the one with the lowest cost is kept.
    engine : {"auto", "dense", "tiles", "lowrank"}
        How the kernel is computed. "dense": n x n values in memory; "tiles": the same sums in bounded memory;
        "lowrank": through landmarks, linear in the rows, which may be in memory, in a file or on a cluster: see
        docs/scaling.md.
        "auto": dense up to 3,000 rows and lowrank beyond, or tiles where too many landmarks would be needed.
    memory_limit : float, optional
        Bytes, from a million on, that the kernel may take: all n x n values, or the blocks at work. The sample that
        searches and the arrays of n rows (labels, codes) come on top.
    rounding : {"kmeans", "cluster_qr"}
    max_iter : int
        Rounds of D, W and U, on every sample and on all rows.
    tol : float
        Root mean square sine of the angles by which the subspaces of W and U may still move.
    n_jobs : int, optional
        Processes that search side by side.
    callback : callable, optional
        Called after each round with (round, F, change, overlap), the last NaN where rows are streamed; during the
        search with (0, cost, share of it that is left, overlap) of the clearest view so far. A true answer ends the
        rounds or the search that are under way with what there is.
    random_state : int, Generator or None

    Attributes
    ----------
    labels_ : int array, shape (n_samples,)
        A Dask array where X is one.
    components_ : array, shape (n_components, n_features)
        The directions in which the new clustering lives, as rows; widest spread first.
    feature_weights_ : array, shape (n_features,)
        The share of each feature in those directions: diag(WWᵀ) times the feature's variance, summing to 1.
    overlap_ : float
        NMI of `labels_` with the given clustering (the largest of several): 0 is new. NaN if nothing was given.
    quality_ : float
        HSIC(XW, U), at most k.
    cost_ : float
        −HSIC(XW, U) + λ HSIC(XW, Y).
    certificate_ : Certificate
        What can be proved about the directions; computed when first asked for.
    history_ : dict of arrays
        F, first-order residual, changes of W and U, and solver iterations, per round; where samples searched, also the
        number of rows that the round saw. A residual that all rows have not been asked for is NaN.
    status_ : str
        "converged", or why not.
    n_iter_ : int
    sigma_, novelty_weight_, n_components_, n_clusters_, subtract_given_ :
        The values that were used.
    tuning_ : Tuning or None
        Everything that the search tried and why it chose these values; None where there was no search.
    confidence_ : Confidence
        How stable the view is, and whether it is stronger than chance; computed when first asked for.
    engine_ : str
        The engine and why.
    approximation_error_ : float
        Share of the kernel's trace that the engine left out: 0 where it is exact.
    mean_ : array, shape (n_features,)
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

    _parameter_constraints: dict = {  # noqa: RUF012  (scikit-learn's convention)
        "n_clusters": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "novelty_weight": [Interval(Real, 0, 1e9, closed="both"), StrOptions({"auto"})],
        "subtract_given": ["boolean", StrOptions({"auto"})],
        "scaling": [StrOptions(set(SCALINGS))],
        "solver": [StrOptions(set(SOLVERS)), callable],
        "init": [StrOptions({"spectral", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, 10_000, closed="both")],
        "engine": [StrOptions({"auto", *KINDS})],
        "memory_limit": [Interval(Real, 1e6, 1e18, closed="both"), None],
        "rounding": [StrOptions(set(ROUNDINGS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1e9, closed="both")],
        "n_jobs": [Interval(Integral, 1, None, closed="left"), Interval(Integral, None, -1, closed="right"), None],
        "callback": [callable, None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        n_components: int | str = "auto",
        sigma: float | str = "auto",
        novelty_weight: float | str = "auto",
        subtract_given: bool | str = "auto",
        scaling: str = "balanced",
        solver: str | Solver = "ism",
        init: str | Array = "spectral",
        n_init: int = 10,
        engine: str = "auto",
        memory_limit: float | None = None,
        rounding: str = "kmeans",
        max_iter: int = 100,
        tol: float = 1e-2,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.sigma = sigma
        self.novelty_weight = novelty_weight
        self.subtract_given = subtract_given
        self.scaling = scaling
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.engine = engine
        self.memory_limit = memory_limit
        self.rounding = rounding
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.callback = callback
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KDAC:
        """Find the alternative to y.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
        y : None, labels of shape (n_samples,), or several columns of labels
            What is known: strings or numbers; NaN, None and −1 are unknown and put no penalty on their rows.
            Without it the first view is found.

        Returns
        -------
        KDAC
            Itself, fitted.
        """
        check_parameters(self)
        solver = SOLVERS[self.solver]() if isinstance(self.solver, str) else check_solver(self.solver)
        how = Procedure(solver, self.n_init, self.rounding, self.max_iter, self.tol, self.callback, self.memory_limit)
        fit = self._fit(X, y, how, generator(self.random_state))
        self._publish(fit)
        self._given = y
        if self.overlap_ > 0.5:
            alike = f"The view that was found resembles what was given (NMI {self.overlap_:.2f})"
            warnings.warn(f"{alike}: raise novelty_weight, or change sigma or n_components.", UserWarning, stacklevel=2)
        if fit.status is not Status.CONVERGED:
            moves = fit.history["change_W"][-1], fit.history["change_U"][-1]
            warnings.warn(
                f"KDAC {fit.status} after {self.n_iter_} rounds (W and U last moved by {moves[0]:.1e} and "
                f"{moves[1]:.1e}, tol={self.tol:g}): {REMEDIES[fit.status]}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _fit(self, X: Any, y: Any, how: Procedure, rng: np.random.Generator) -> Fit:
        """In memory or over blocks, by where the rows are and how many."""
        rows = checked_rows(self, X, reset=True)
        kind, reason = choose(rows, self.engine, self.memory_limit)
        if kind != "lowrank":
            try:
                table = scan_rows(self, np.asarray(rows.take(np.arange(rows.n))[0], dtype=np.float64))
                given = check_given(host(y) if is_torch_array(y) else y, rows.n)
                centred, mean = centre(self, table)
                model = rows.model(kind)
                if model is not None and model.dtype.itemsize < 8 and not fits_single(centred):
                    model = None
                return fit_in_memory(self, centred, mean, given, how, kind, reason, model, rng)
            except MemoryError as error:
                if self.engine != "auto":
                    raise InputError(f'engine="{kind}" does not fit in memory: choose "lowrank" or "auto".') from error
                reason = "the exact kernel did not fit in memory"
        with enough_memory("fit"):
            coded, clusters = rows.encode(y)
            return fit_streamed(self, coded, clusters, how, reason, rng)

    def _publish(self, fit: Fit) -> None:
        self.labels_, self.components_, self.mean_, self._map = fit.labels, fit.components, fit.mean, fit.kernel_map
        self.quality_, self.cost_, self.overlap_ = float(np.sum(fit.values)), fit.cost, fit.overlap
        self.feature_weights_ = fit.weights
        self.history_, self.status_ = fit.history, str(fit.status)
        self.n_iter_ = len(fit.history["value"])
        self.sigma_, self.novelty_weight_ = fit.setting.sigma, fit.setting.novelty_weight
        self.subtract_given_ = fit.setting.subtract_given
        self.n_components_, self.n_clusters_ = len(fit.components), len(fit.values)
        self.engine_, self.approximation_error_ = fit.engine, fit.error
        self.tuning_, self._given_means = fit.tuning, fit.given_means
        self._question: Question | None = fit.question
        self._answered, self._certify = fit.answered, fit.certify
        self._certificate = self._confidence = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the rows that a certificate of a streamed fit would read again: they may be a file or a cluster."""
        state = super().__getstate__()
        return state | {"_certify": None, "_given": None} if state.get("approximation_error_") else state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_map")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Array:
        """The rows of X in the learnt directions, shape (n_samples, n_components)."""
        check_is_fitted(self)
        found = self.mean_, self._given_means, self.components_
        return checked_rows(self, X, reset=False).each(project_block, *found, columns=self.n_components_)

    def predict(self, X: Any) -> np.ndarray:
        """The alternative cluster of each row of X, by the kernel extension of U, shape (n_samples,).

        Rows are read in blocks wherever they are: any number of them takes the same memory beside the labels.
        """
        check_is_fitted(self)
        found = self.mean_, self._given_means, self.components_, self._map
        step = max(16, min(STEP, int(BLOCK_BYTES / (16 * len(self._map.landmarks)))))
        with enough_memory("predict"):
            return checked_rows(self, X, reset=False).each(predict_block, *found, step=step)

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> np.ndarray:
        """Fit and return `labels_`; y is what is known."""
        return self.fit(X, y, **kwargs).labels_

    def save(self, path: str | os.PathLike) -> None:
        """Write the fitted model to one .npz of plain arrays and JSON; nothing in it can run code.

        The callback is not saved, nor are the training rows: only their projections, which `predict` needs.
        """
        check_is_fitted(self)
        save_kdac(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike) -> KDAC:
        """Read a model written by `save`."""
        return load_kdac(cls, path)
