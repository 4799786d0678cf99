"""The Palmer penguins, a real table that comes with the package."""

from __future__ import annotations

from importlib.resources import files
from typing import Literal, overload

import numpy as np
import pandas as pd

from altclust.datasets.dataset import Dataset

MEASUREMENTS = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")


@overload
def penguins(*, as_frame: Literal[False] = False) -> Dataset: ...
@overload
def penguins(*, as_frame: Literal[True]) -> pd.DataFrame: ...
def penguins(*, as_frame: bool = False) -> Dataset | pd.DataFrame:
    """Penguins of three species, measured near Palmer Station, Antarctica, from 2007 to 2009.

    Parameters
    ----------
    as_frame : bool
        Whether to return the whole table as a data frame instead: all 344 birds, with the text columns and the
        missing cells.

    Returns
    -------
    Dataset or pandas.DataFrame
        The Dataset has the 333 birds whose measurements and sex are known. X of shape (333, 4): length and depth of
        the bill and length of the flipper in millimetres, body mass in grams. The scales differ, so standardise the
        columns first. Labels ``species`` (given): Adelie, Chinstrap, Gentoo; and ``sex`` (alternative): female, male;
        numbered in this order. The data frame has 344 rows and 8 columns: species, island, the four measurements,
        sex and year.

    Notes
    -----
    The file is part of the package: nothing is downloaded. The data were collected by K. Gorman and the Palmer Station
    LTER and published under CC0 by A. Horst, A. Hill and K. Gorman: palmerpenguins, an R package, 2020.

    Examples
    --------
    >>> from altclust.datasets import penguins
    >>> penguins()
    <penguins: 333 x 4; species (3 classes), sex (2 classes)>
    >>> penguins(as_frame=True).shape
    (344, 8)
    """
    with files("altclust.datasets").joinpath("penguins.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file)
    if as_frame:
        return table
    known = table.dropna()
    X = np.array(known[list(MEASUREMENTS)], dtype=np.float64, order="C")
    labels = {name: pd.factorize(known[name], sort=True)[0].astype(np.int64) for name in ("species", "sex")}
    return Dataset("penguins", X, labels, MEASUREMENTS)
