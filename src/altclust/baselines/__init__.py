"""Other methods of alternative clustering, with the same ``fit(X, given)`` as `altclust.KDAC`."""

from .base import Baseline
from .bottleneck import ConditionalBottleneck
from .coala import COALA
from .metric import ADFT, AlternativeTransform
from .mincentropy import MinCEntropy, gower_kernel
from .msc import MultipleSpectralViews
from .naci import NACI
from .orthogonal import OrthogonalClustering, OrthogonalProjection
from .residual import RegressOut, Residual

__all__ = [
    "ADFT",
    "COALA",
    "NACI",
    "AlternativeTransform",
    "Baseline",
    "ConditionalBottleneck",
    "MinCEntropy",
    "MultipleSpectralViews",
    "OrthogonalClustering",
    "OrthogonalProjection",
    "RegressOut",
    "Residual",
    "gower_kernel",
]
