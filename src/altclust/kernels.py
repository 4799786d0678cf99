"""The kernels that `altclust.KDAC` takes as objects: functions f(β) of projected rows.

β is ‖Wᵀ(x_i − x_j)‖² (a difference kernel) or x_iᵀWWᵀx_j (a product kernel).
"""

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
