"""ISM as a transformer: a few orthonormal directions that depend on a target, and not on what is known."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..base.backend import Array
from ..base.errors import NotConvergedWarning
from ..base.given import Given
from ..base.known import Known, as_numbers, given_frame, is_measured, read_given
from ..base.sklearn_compat import StrOptions
from ..base.validation import AUTO, COUNT, WEIGHT, WIDTH, check_parameters, generator
from ..core.alternation import alternate, principal_axes
from ..core.certificate import Certificate, certify
from ..core.engines import make_engine
from ..core.initialization import spectral_start
from ..core.kernel_family import Kernel
from ..core.kernels import KERNELS, make_kernel
from ..core.problem import Gamma, KernelEngine, KernelObjective, Problem, row_space
from ..core.solvers import ISM, Status
from ..data.sums import centred_table, new_table
from ..search.heuristics import check_sigma, median_distance

STAGES = 2  # of σ "auto": the median distance of the rows, and then of the projected rows


class _Found(NamedTuple):
    """W in the coordinates of the problem, and what the certificate needs."""

    problem: Problem
    W: Array
    gamma: Gamma
    value: float
    n_iter: int
    status: Status


class KernelProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A few directions in which rows depend on a target, found by the iterative spectral method (ISM).

    Maximises HSIC(XW, y) − λ HSIC(XW, known) over orthonormal W, with a kernel on the projected rows. Without a target,
    HSIC(XW, U) is maximised, where U are cluster indicators that follow from W: the directions with the clearest
    clusters. X is centred but not scaled.

    Parameters
    ----------
    n_components : int
        The number of directions; at most as many as the rows span.
    kernel : str or Kernel
        As in `KDAC`.
    sigma : float or "auto"
        Width of the kernel. "auto": the median distance between rows, and then between projected rows.
    novelty_weight : float
        λ.
    n_clusters : int or "auto"
        Number of clusters without a target. "auto": one more than `n_components`.
    max_iter : int
        Limit on the steps of ISM, or on the rounds of D, W and U without a target.
    tol : float
        First-order residual at which W counts as stationary.
    random_state : int, Generator or None

    Attributes
    ----------
    components_ : array, shape (n_components, n_features)
        The directions as orthonormal rows, largest variance first.
    mean_ : array, shape (n_features,)
    sigma_ : float
    objective_ : float
        HSIC(XW, y) − λ HSIC(XW, known), up to a factor.
    certificate_ : Certificate
        Optimality of the directions; computed on first access.
    status_ : str
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import numpy as np
    >>> from altclust import KernelProjection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = X[:, 1] ** 2  # no linear method finds it
    >>> model = KernelProjection(1).fit(X, y)
    >>> bool(abs(model.components_[0, 1]) > 0.95)
    True
    """

    _parameter_constraints: dict = {  # noqa: RUF012  (scikit-learn's convention)
        "n_components": [COUNT],
        "kernel": [StrOptions(set(KERNELS)), Kernel],
        "sigma": [WIDTH, AUTO],
        "novelty_weight": [WEIGHT],
        "n_clusters": [COUNT, AUTO],
        "max_iter": [COUNT],
        "tol": [WEIGHT],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        kernel: str | Kernel = "gaussian",
        sigma: float | str = "auto",
        novelty_weight: float = 1.0,
        n_clusters: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.sigma = sigma
        self.novelty_weight = novelty_weight
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, known: Any = None) -> KernelProjection:
        """Find the directions.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
        y : None, labels or numbers of shape (n_samples,)
            The target; NaN, None and −1 among labels are unknown, and these rows do not count. Default: clusters.
        known : None, labels or numbers, several columns of them, or `altclust.Known`
            What the projected rows should not depend on, as y in `KDAC.fit`.

        Returns
        -------
        KernelProjection
            Itself, fitted.
        """
        check_parameters(self)
        centred, self.mean_ = centred_table(self, X)
        n = len(centred)
        target = None if y is None else _target(y, n).indicators()
        avoided = read_given(known, n).indicators()
        inside, basis = row_space(centred)
        rng = generator(self.random_state)
        found = self._solve(inside, target, avoided, rng)
        Z = inside @ found.W
        W = principal_axes(found.W, Z.T @ Z)
        self.components_ = (W if basis is None else basis @ W).T
        self.sigma_ = self._width
        self.objective_, self.status_, self.n_iter_ = -found.value, str(found.status), max(1, found.n_iter)
        engine = partial(make_engine, inside, found.problem.kernel, avoided)
        self._certify = partial(_certify, found.problem, engine, W, found.gamma, len(self.mean_))
        self._certificate: Certificate | None = None
        if found.status is not Status.CONVERGED:
            problem = f"KernelProjection {found.status}: raise max_iter or tol, or choose a larger sigma."
            warnings.warn(NotConvergedWarning(problem), stacklevel=2)
        return self

    def _solve(self, X: Array, target: Array | None, avoided: Array, rng: np.random.Generator) -> _Found:
        """W at every stage of σ, each from the last."""
        q = min(self.n_components, X.shape[1])
        k = q + 1 if isinstance(self.n_clusters, str) else int(self.n_clusters)
        fixed = not isinstance(self.sigma, str)
        widths = check_sigma(self.sigma, X) if fixed else median_distance(X, rng)
        W: Array | None = None
        for stage in range(1 if fixed else STAGES):
            self._width = widths if stage == 0 or W is None else median_distance(X @ W, rng)
            kernel = make_kernel(self.kernel, self._width)
            problem = Problem(min(k, len(X)), q, float(self.novelty_weight), kernel)
            engine = make_engine(X, problem.kernel, avoided)
            if target is None:
                found = self._clusters(problem, engine, W)
            else:
                found = self._supervised(problem, engine, target, avoided, W)
            W = found.W
        return found

    def _supervised(
        self, problem: Problem, engine: KernelEngine, target: Array, avoided: Array, W: Array | None
    ) -> _Found:
        """One W problem: γ is fixed, because nothing but W is sought."""
        F = np.column_stack([target, avoided])
        s = np.concatenate([np.ones(target.shape[1]), np.full(avoided.shape[1], -problem.novelty_weight)])
        gamma = Gamma(F, s)
        starts = _starts(engine.X, F, s, problem.n_components) if W is None else [W]
        solver, objective = ISM(tol=self.tol, max_iter=self.max_iter), KernelObjective(engine, gamma)
        end = min((solver(objective, start) for start in starts), key=lambda solution: solution.value)
        return _Found(problem, end.W, gamma, end.value, end.n_iter, end.status)

    def _clusters(self, problem: Problem, engine: KernelEngine, W: Array | None) -> _Found:
        """Alternate with U, as `KDAC` does."""
        embedding = None
        if W is None:
            start = spectral_start(problem, engine)
            W, embedding = start.vectors[:, : problem.n_components], start.embedding
        solver = ISM(tol=self.tol)
        end = alternate(problem, engine, solver, W, embedding, max_iter=self.max_iter, tol=max(10 * self.tol, 1e-6))
        value = problem.cost(end.W, end.embedding, engine)
        return _Found(problem, end.W, end.gamma, value, len(end.history["value"]), end.status)

    def transform(self, X: Any) -> Array:
        """The rows of X in the directions, shape (n_samples, n_components)."""
        check_is_fitted(self, "components_")
        return (new_table(self, X) - self.mean_) @ self.components_.T

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Fit, and return the projected rows."""
        return self.fit(X, y, **params).transform(X)

    @property
    def certificate_(self) -> Certificate:
        """Optimality of the directions; computed on first access."""
        check_is_fitted(self, "components_")
        if self._certificate is None:
            self._certificate = self._certify()
        return self._certificate

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def _target(y: Any, n: int) -> Given:
    """A column of labels, or of numbers: also of numbers that count all rows, which are no identifier here."""
    numbers = as_numbers(given_frame(y).iloc[:, 0])
    known = np.empty(0) if numbers is None else numbers[~np.isnan(numbers)]
    counted = len(known) > 12 and len(np.unique(known)) == len(known)
    measured = numbers is not None and (is_measured(numbers) or counted)
    return read_given(Known("measurement" if measured else "auto", y), n)


def _starts(X: Array, F: Array, s: Array, q: int) -> list[Array]:
    """Directions whose means differ with the target (Φ at W = 0), and those whose variances do.

    A dependence on a square has no slope at W = 0, as in the principal Hessian directions of Li (1992).
    """
    crossed = X.T @ F
    bent = [X.T @ (f[:, None] * X) for f in F.T]
    second = sum(sign * B @ B for sign, B in zip(s, bent, strict=True))
    return [np.linalg.eigh(-M)[1][:, :q] for M in ((crossed * s) @ crossed.T, second)]


def _certify(problem: Problem, engine: Any, W: Array, gamma: Gamma, n_features: int) -> Certificate:
    found = certify(problem, engine(), W, gamma, n_features=n_features)
    return replace(found, cluster_eigengap=float("nan"))
