"""KDAC as a scikit-learn estimator: validate, solve, set attributes; no mathematics."""

from __future__ import annotations

import logging
import os
import warnings
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from .certificate import Certificate, certify
from .engines import ENGINES, choose
from .kernels import Array, Gaussian
from .metrics import feature_weights, novelty
from .problem import SCALINGS, Problem, indicators, row_space
from .result import Result
from .saving import load_kdac, save_kdac
from .solve import Callback, solve
from .solvers import SOLVERS, Solver, Status
from .spectral import ROUNDINGS
from .starts import make_starts
from .tune import median_distance, number_of_clusters
from .validate import centre, check_given, check_rows, check_sigma, check_sizes, check_solver, check_start

logger = logging.getLogger(__name__)

FEW_ROWS = 1500
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
        k. "auto": as many as the first given clustering has; with nothing given, where the eigenvalues of the
        kernel of X fall furthest.
    n_components : int or "auto"
        q, the number of directions. "auto": where the eigenvalues of the spectral start's Φ jump furthest,
        at most k.
    sigma : float or "auto"
        Width σ of the Gaussian kernel. "auto": the median distance between rows. Ring- or moon-shaped clusters
        need a far smaller one.
    novelty_weight : float or "auto"
        λ, the price of resembling what is given. "auto": 1.
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
    callback : callable, optional
        Called after each round with (round, F, change). A true answer ends the fit with what there is.
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
    sigma_, novelty_weight_, n_components_, n_clusters_ :
        The values that were used.
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
        "scaling": [StrOptions(set(SCALINGS))],
        "solver": [StrOptions(set(SOLVERS)), callable],
        "init": [StrOptions({"spectral", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "engine": [StrOptions({"auto", *ENGINES})],
        "rounding": [StrOptions(set(ROUNDINGS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
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
        scaling: str = "balanced",
        solver: str | Solver = "ism",
        init: str | Array = "spectral",
        n_init: int = 10,
        engine: str = "auto",
        rounding: str = "kmeans",
        max_iter: int = 100,
        tol: float = 1e-2,
        callback: Callback | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.sigma = sigma
        self.novelty_weight = novelty_weight
        self.scaling = scaling
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.engine = engine
        self.rounding = rounding
        self.max_iter = max_iter
        self.tol = tol
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
        rng = _generator(self.random_state)
        table = check_rows(self, X, reset=True)
        given = check_given(y, len(table))
        centred, mean = centre(self, table)
        # Threads that wait for each other cost more than they bring on matrices this small (benchmarks/fit.py).
        with _threads().limit(limits=1 if len(table) < FEW_ROWS else None):
            problem, result = self._solve(self._problem(centred, given, rng), rng)
        self._certificate: Certificate | None = None
        self._certify = (problem, result.W, result.gamma)
        self._set(result, problem.to_table(result.W), mean)
        self.novelty_weight_ = problem.novelty_weight
        self.novelty_ = novelty(self.labels_, given)
        self.feature_weights_ = feature_weights(self.components_.T, centred)
        if self.novelty_ > 0.5:
            warnings.warn(
                f"The view that was found resembles what was given (NMI {self.novelty_:.2f}): raise novelty_weight, or "
                "change sigma or n_components.",
                UserWarning,
                stacklevel=2,
            )
        if result.status is not Status.CONVERGED:
            moves = result.history["change_W"][-1], result.history["change_U"][-1]
            warnings.warn(
                f"KDAC {result.status} after {result.n_iter} rounds (W and U last moved by {moves[0]:.1e} and "
                f"{moves[1]:.1e}, tol={self.tol:g}): {REMEDIES[result.status]}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _problem(self, centred: Array, given: list[np.ndarray], rng: np.random.Generator) -> Problem:
        """Fill in what was left open; q stays at the rank of X where the spectral start is to choose it."""
        n, d = centred.shape
        sigma = median_distance(centred, rng) if self.sigma == "auto" else check_sigma(float(self.sigma), centred)
        if self.n_clusters == "auto":
            k = number_of_clusters(centred, given, sigma, rng)
        else:
            k = int(self.n_clusters)
        q = None if self.n_components == "auto" else int(self.n_components)
        if not isinstance(self.init, str):
            q = check_start(self.init, d, q).shape[1]
        check_sizes(n, d, k, q)
        rows, basis = row_space(centred)
        rank = rows.shape[1]
        if q is not None and q > rank:
            warnings.warn(
                f"n_components={q} but the rows of X span only {rank} direction(s): {rank} are used.",
                UserWarning,
                stacklevel=3,
            )
        weight = 1.0 if self.novelty_weight == "auto" else float(self.novelty_weight)
        Y = indicators(given, n, self.scaling)
        return Problem(rows, basis, Y, k, min(q or rank, rank), weight, Gaussian(sigma))

    def _solve(self, problem: Problem, rng: np.random.Generator) -> tuple[Problem, Result]:
        """The best of the starts; the problem comes back with the q that was chosen."""
        engine, self.engine_ = choose(problem.X, problem.kernel, self.engine)
        logger.info("engine %s", self.engine_)
        solver = SOLVERS[self.solver]() if isinstance(self.solver, str) else check_solver(self.solver)
        problem, starts = make_starts(problem, engine, self.init, self.n_components == "auto", self.n_init, rng)
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

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_map")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Array:
        """The rows of X in the learnt directions, shape (n_samples, n_components)."""
        check_is_fitted(self)
        return (check_rows(self, X, reset=False) - self.mean_) @ self.components_.T

    def predict(self, X: Any) -> np.ndarray:
        """The alternative cluster of each row of X, by the kernel extension of U, shape (n_samples,)."""
        check_is_fitted(self)
        return self._map.labels((check_rows(self, X, reset=False) - self.mean_) @ self.components_.T)

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


@cache
def _threads() -> ThreadpoolController:
    """Looking up the loaded libraries takes milliseconds, so it is done once."""
    return ThreadpoolController()


def _generator(random_state: Any) -> np.random.Generator:
    """One Generator from whatever scikit-learn calls a random state."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
