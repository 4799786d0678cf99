"""The kernels that `altclust.KDAC` takes as objects: functions of distances or products of projected rows."""

from .core.kernel_family import (
    Kernel,
    Linear,
    Mixture,
    Multiquadratic,
    Polynomial,
    RationalQuadratic,
    SelfTuning,
    Squared,
)
from .core.kernels import Gaussian

__all__ = [
    "Gaussian",
    "Kernel",
    "Linear",
    "Mixture",
    "Multiquadratic",
    "Polynomial",
    "RationalQuadratic",
    "SelfTuning",
    "Squared",
]
