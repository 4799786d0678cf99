"""The picture of docs/family.md: the kernels as functions of the distance.

python examples/kernel_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from altclust import kernels

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SHOWN = {
    "Gaussian": kernels.Gaussian(1.0),
    "rational quadratic, α = 1": kernels.RationalQuadratic(1.0),
    "rational quadratic, α = 0.5": kernels.RationalQuadratic(1.0, 0.5),
    "multiquadratic": kernels.Multiquadratic(1.0),
    "squared": kernels.Squared(),
}


def draw() -> plt.Figure:
    """The values of five kernels, and the strength with which a pair at a distance pulls."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    distance = np.linspace(0, 4, 200)
    for name, kernel in SHOWN.items():
        value = kernel.value(distance**2)
        left.plot(distance, value - value[0], label=name)
        right.plot(distance, -2 * distance * kernel.slope(distance**2), label=name)
    left.set(xlabel="distance / σ", ylabel="k(distance) − k(0)", ylim=(-3, 0.1), title="Kernel")
    right.set(xlabel="distance / σ", ylabel="−dk/d distance", ylim=(0, 1.2), title="Strength of attraction")
    right.legend(fontsize=8)
    return figure


if __name__ == "__main__":
    draw().savefig(IMAGES / "kernels.png", dpi=110)
