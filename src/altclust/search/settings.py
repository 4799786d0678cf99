"""The settings of one fit, from the estimator to the saved file; None where a search is to find them."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from ..base.backend import Array
from ..base.sklearn_compat import Interval, Options, StrOptions
from ..base.validation import check_values
from ..core.embedding import ROUNDINGS
from ..core.kernel_family import Kernel
from ..core.kernels import KERNELS
from ..core.problem import SCALINGS


@dataclass(frozen=True, eq=False)
class Settings:
    """What defines one fit; None where it is to be found, see docs/choosing.md.

    Pass it to `altclust.KDAC`. `Tuning.settings` are those that a search found, and `KDAC.settings_` those of a fit.

    Attributes
    ----------
    n_clusters, n_components, sigma, novelty_weight, kernel
        As the parameters of `altclust.KDAC`, which may be set there or here.
    subtract_given : bool or None
        Whether to first subtract from every row the mean of its given cluster, which finds views that share all
        their directions with the given clustering. The given cluster of a new row is predicted. None: chosen by the
        search; False if `sigma` is fixed.
    whitening : {0, 0.5, 1} or None
        The rows are expressed in their principal directions (within the given clusters, if their means are
        subtracted), each divided by its standard deviation to this power. With 1, a direction that dwarfs the others
        cannot hide them, and units and mixed columns no longer matter. None: chosen by the search; 0 if `sigma` is
        fixed.
    degree_floor : float or None
        Share of the mean degree that is added to every degree, so that rows far from all others do not count as
        clusters. None: chosen by the search; 0.1, 0.001 or 0 if `sigma` is fixed, see docs/solvers.md. Used by the
        solvers "auto" and "lbfgs".
    pull : float or None
        How strongly the directions are held close to `init`: pull ‖initᵀW‖² / q is added to the quality. None: the
        directions of the search are held; 0 if `sigma` is fixed. Used by the solvers "auto" and "lbfgs".
    subspace : array of shape (n_features, m), or None
        Orthonormal columns in whose span directions are sought. None: all directions; if a table has more than 200
        columns, the search chooses its leading principal directions or a few columns that stand out.
    keep_obvious : bool
        Whether the search may choose a view that columns with few values reproduce. Default: such views are listed in
        ``significance_.obvious``, and the search goes on without these columns.
    keep_weight : float
        μ, the reward for agreement with `keep` in `KDAC.fit`; the search prefers views that agree, also if it is 0.
    scaling : {"balanced", "paper"}
        The scaling of Y that λ refers to: unit columns, so that λ means the same for every n, or the paper's
        one-hot columns.
    init : {"spectral", "random"} or array of shape (n_features, n_components)
    n_init : int
        Number of random starts; the result with the lowest cost is kept.
    rounding : {"kmeans", "cluster_qr"}

    Examples
    --------
    >>> from altclust import KDAC, Settings
    >>> KDAC(2, settings=Settings(subtract_given=True)).settings.subtract_given
    True
    """

    n_clusters: int | None = None
    n_components: int | None = None
    sigma: float | None = None
    novelty_weight: float | None = None
    kernel: Any = None
    subtract_given: bool | None = None
    whitening: float | None = None
    degree_floor: float | None = None
    pull: float | None = None
    subspace: Array | None = None
    keep_obvious: bool = False
    keep_weight: float = 0.3
    scaling: str = "balanced"
    init: Any = "spectral"
    n_init: int = 10
    rounding: str = "kmeans"

    allowed: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "sigma": [Interval(Real, 0, None, closed="neither"), None],
        "novelty_weight": [Interval(Real, 0, 1e9, closed="both"), None],
        "kernel": [StrOptions(set(KERNELS)), Kernel, None],
        "subtract_given": ["boolean", None],
        "whitening": [Options(Real, {0, 0.5, 1}), None],
        "degree_floor": [Interval(Real, 0, 1e3, closed="both"), None],
        "pull": [Interval(Real, 0, 1e9, closed="both"), None],
        "subspace": ["array-like", None],
        "keep_obvious": ["boolean"],
        "keep_weight": [Interval(Real, 0, 1e9, closed="both")],
        "scaling": [StrOptions(set(SCALINGS))],
        "init": [StrOptions({"spectral", "random"}), "array-like"],
        "n_init": [Interval(Integral, 1, 10_000, closed="both")],
        "rounding": [StrOptions(set(ROUNDINGS))],
    }

    def check(self) -> None:
        """Refuse values that are not allowed."""
        check_values(vars(self), self.allowed, "Settings")

    @property
    def k(self) -> int:
        """The number of clusters, once it is known."""
        assert self.n_clusters is not None
        return self.n_clusters

    @property
    def width(self) -> float:
        """σ, once it is known."""
        assert self.sigma is not None
        return self.sigma

    @property
    def weight(self) -> float:
        """λ, which is 1 where it is open."""
        return 1.0 if self.novelty_weight is None else self.novelty_weight

    @property
    def has_start(self) -> bool:
        """Whether the start is set as directions."""
        return not isinstance(self.init, str)
