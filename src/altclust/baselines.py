"""Other methods of alternative clustering, with the same ``fit(X, given)`` as `altclust.KDAC`."""

from .models.baselines import (
    ADFT,
    COALA,
    NACI,
    AlternativeTransform,
    ConditionalBottleneck,
    MinCEntropy,
    MultipleSpectralViews,
    OrthogonalClustering,
    OrthogonalProjection,
    RegressOut,
    Residual,
    gower_kernel,
)

__all__ = [
    "ADFT",
    "COALA",
    "NACI",
    "AlternativeTransform",
    "ConditionalBottleneck",
    "MinCEntropy",
    "MultipleSpectralViews",
    "OrthogonalClustering",
    "OrthogonalProjection",
    "RegressOut",
    "Residual",
    "gower_kernel",
]
