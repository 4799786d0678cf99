"""KDAC as a scikit-learn estimator: validate, solve, set attributes; no mathematics."""

from __future__ import annotations

import logging
import os
import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .certificate import Certificate, certify
from .confidence import Confidence, assess
from .engines import ENGINES, choose
from .given_means import GivenMeans
from .kernels import Array, Gaussian
from .metrics import feature_weights, novelty
from .problem import SCALINGS, Problem, indicators, remove_given, row_space
from .result import Result
from .saving import load_kdac, save_kdac
from .search import Question
from .setting import Setting, settle
from .solve import Callback, solve
from .solvers import SOLVERS, Solver, Status
from .spectral import ROUNDINGS
from .starts import make_starts
from .threads import fitting_threads
from .validate import InputError, centre, check_given, check_rows, check_solver, generator

logger = logging.getLogger(__name__)

REMEDIES = {
    Status.MAX_ITER: "raise max_iter or tol, or choose a larger sigma",
    Status.AT_REST: 'solver="ism" would go on from there',
    Status.CANCELLED: "the model holds what was found until then",
}


class KDAC(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
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
    engine : {"auto", "dense"}
    rounding : {"kmeans", "cluster_qr"}
    max_iter : int
        Rounds of D, W and U.
    tol : float
        Root mean square sine of the angles by which the subspaces of W and U may still move.
    n_jobs : int, optional
        Processes that search side by side.
    callback : callable, optional
        Called after each round with (round, F, change), and during the search with (0, NaN, share of it that is
        left). A true answer ends the round or the search that is under way with what there is.
    random_state : int, Generator or None

    Attributes
    ----------
    labels_ : int array, shape (n_samples,)
    components_ : array, shape (n_components, n_features)
        The directions in which the new clustering lives, as rows; widest spread first.
    feature_weights_ : array, shape (n_features,)
        The share of each feature in those directions: diag(WWᵀ) times the feature's variance, summing to 1.
    novelty_ : float
        NMI of `labels_` with the given clustering (the largest of several): 0 is new. NaN if nothing was given.
    quality_ : float
        HSIC(XW, U), at most k.
    cost_ : float
        −HSIC(XW, U) + λ HSIC(XW, Y).
    certificate_ : Certificate
        What can be proved about the directions; computed when first asked for.
    history_ : dict of arrays
        F, first-order residual, changes of W and U, and solver iterations, per round.
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
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "engine": [StrOptions({"auto", *ENGINES})],
        "rounding": [StrOptions(set(ROUNDINGS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
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
        self._validate_params()
        rng = generator(self.random_state)
        table = check_rows(self, X, reset=True)
        given = check_given(y, len(table))
        centred, mean = centre(self, table)
        with fitting_threads(len(table)):
            setting, question, tuning = settle(self, centred, given, rng)
            means = GivenMeans.fit(centred, given) if setting.subtract_given else None
            rows = remove_given(centred, given) if setting.subtract_given else centred
            problem, result = self._solve(self._problem(rows, given, setting), setting, rng)
        self.tuning_, self.subtract_given_, self._given_means = tuning, setting.subtract_given, means
        used = question.n_components if tuning is not None else result.W.shape[1]
        self._question: Question | None = replace(question, n_components=used)
        self._certificate: Certificate | None = None
        self._confidence: Confidence | None = None
        self._certify = (problem, result.W, result.gamma)
        self._set(result, problem.to_table(result.W), mean)
        self.novelty_weight_ = problem.novelty_weight
        self.novelty_ = novelty(self.labels_, given)
        self.feature_weights_ = feature_weights(self.components_.T, centred)
        if self.novelty_ > 0.5:
            alike = f"The view that was found resembles what was given (NMI {self.novelty_:.2f})"
            warnings.warn(f"{alike}: raise novelty_weight, or change sigma or n_components.", UserWarning, stacklevel=2)
        if result.status is not Status.CONVERGED:
            moves = result.history["change_W"][-1], result.history["change_U"][-1]
            warnings.warn(
                f"KDAC {result.status} after {result.n_iter} rounds (W and U last moved by {moves[0]:.1e} and "
                f"{moves[1]:.1e}, tol={self.tol:g}): {REMEDIES[result.status]}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _problem(self, rows: Array, given: list[np.ndarray], setting: Setting) -> Problem:
        """Q stays at the rank of X where the spectral start is to choose it."""
        inside, basis = row_space(rows)
        rank = inside.shape[1]
        q = setting.n_components
        if not isinstance(self.n_components, str) and self.n_components > rank:
            message = (
                f"n_components={self.n_components} but the rows of X span only {rank} direction(s): {rank} are used."
            )
            warnings.warn(message, UserWarning, stacklevel=3)
        Y, kernel = indicators(given, len(rows), self.scaling), Gaussian(setting.sigma)
        return Problem(inside, basis, Y, setting.n_clusters, min(q or rank, rank), setting.novelty_weight, kernel)

    def _solve(self, problem: Problem, setting: Setting, rng: np.random.Generator) -> tuple[Problem, Result]:
        """The best of the starts; the problem comes back with the q that was chosen."""
        engine, self.engine_ = choose(problem.X, problem.kernel, self.engine)
        logger.info("engine %s", self.engine_)
        solver = SOLVERS[self.solver]() if isinstance(self.solver, str) else check_solver(self.solver)
        problem, starts = make_starts(problem, engine, setting.init, setting.n_components is None, self.n_init, rng)
        best: Result | None = None
        for W, embedding in starts:
            result = solve(
                problem,
                engine,
                solver,
                W,
                embedding,
                max_iter=self.max_iter,
                tol=self.tol,
                rounding=self.rounding,
                rng=rng,
                callback=self.callback,
            )
            if best is None or result.cost < best.cost:
                best = result
            if result.status is Status.CANCELLED:
                break
        assert best is not None
        return problem, best

    def _set(self, result: Result, W: Array, mean: Array) -> None:
        self.labels_ = result.labels
        self.components_ = W.T
        self.mean_ = mean
        self.quality_ = result.quality
        self.cost_ = result.cost
        self.history_ = result.history
        self.status_ = str(result.status)
        self.n_iter_ = result.n_iter
        self.sigma_ = result.kernel_map.kernel.sigma
        self.n_components_, self.n_clusters_ = W.shape[1], len(result.values)
        self._map = result.kernel_map

    @property
    def certificate_(self) -> Certificate:
        """What can be proved about the directions, computed when first asked for."""
        check_is_fitted(self)
        if self._certificate is None:
            problem, W, gamma = self._certify
            self._certificate = certify(problem, choose(problem.X, problem.kernel, self.engine)[0], W, gamma)
        return self._certificate

    @property
    def confidence_(self) -> Confidence:
        """How stable the view is and whether it is stronger than chance; a dozen searches when first asked for."""
        check_is_fitted(self)
        if self._confidence is None:
            if self._question is None:
                raise InputError(
                    "confidence_ was not asked for before the model was saved, and needs the rows: fit again."
                )
            rng = generator(self.random_state)
            self._confidence = assess(self._question, self.labels_, n_jobs=self.n_jobs, rng=rng)
        return self._confidence

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_map")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Array:
        """The rows of X in the learnt directions, shape (n_samples, n_components)."""
        check_is_fitted(self)
        rows: Array = check_rows(self, X, reset=False) - self.mean_
        if self._given_means is not None:
            rows = self._given_means.remove(rows)
        return rows @ self.components_.T

    def predict(self, X: Any) -> np.ndarray:
        """The alternative cluster of each row of X, by the kernel extension of U, shape (n_samples,)."""
        check_is_fitted(self)
        return self._map.labels(self.transform(X))

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
