"""The type of all data sets: a matrix and its known clusterings."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A matrix and its known clusterings.

    Attributes
    ----------
    name : str
        The set's name.
    X : ndarray of shape (n_samples, n_features), float64
        The rows, as generated or as in the file: neither centred nor scaled.
    labels : mapping of str to ndarray of shape (n_samples,), int64
        The known clusterings by name, classes numbered from 0. The first is the given clustering, the second
        the alternative to be found. Empty if none is known.
    feature_names : tuple of str, length n_features
        The columns' names.

    Examples
    --------
    >>> from altclust.datasets import moons
    >>> data = moons(400, random_state=0)
    >>> data
    <moons: 400 x 4; gaussians (2 classes), moons (2 classes)>
    >>> data.given is data.labels["gaussians"], data.alternative is data.labels["moons"]
    (True, True)
    """

    name: str
    X: NDArray[np.float64]
    labels: Mapping[str, NDArray[np.int64]]
    feature_names: tuple[str, ...]

    @property
    def given(self) -> NDArray[np.int64] | None:
        """The clustering that is already known, shape (n_samples,); None if the set has no labels."""
        return next(iter(self.labels.values()), None)

    @property
    def alternative(self) -> NDArray[np.int64] | None:
        """The clustering to be found, shape (n_samples,); None if the set has no second labels."""
        return next(iter(list(self.labels.values())[1:]), None)

    def __repr__(self) -> str:
        known = ", ".join(f"{name} ({len(np.unique(y))} classes)" for name, y in self.labels.items())
        n, d = self.X.shape
        return f"<{self.name}: {n} x {d}; {known or 'no labels'}>"


@dataclass(frozen=True, eq=False, repr=False)
class ImageDataset(Dataset):
    """A picture whose distinct colours are the rows."""

    image: NDArray[np.uint8]  # shape (height, width, 3): red, green and blue
    pixel_rows: NDArray[np.int64]  # shape (height, width): the row of X with each pixel's colour
