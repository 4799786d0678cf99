"""How well clusters agree with what they should agree with, in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_mutual_info_score

from ..core.metrics import nmi
from .sentences import text

LITTLE = 0.1  # mutual information beyond chance, below which two clusterings tell little about each other


def agreement(model: Any, labels: np.ndarray, keep: pd.Series | None = None) -> str | None:
    """The agreement of the clusters (−1 is unknown) with these labels (None is unknown) in a sentence.

    Without labels, those that the model was fitted with, and its own clusters; a model that was loaded from a file does
    not know them. None if nothing is to be kept.
    """
    if keep is not None:
        codes, name = pd.factorize(keep)[0], text(keep.name)
    else:
        search = model.fitted_.search
        own, labels = None if search is None else search.keep, model.fitted_.searched_labels
        if own is None or labels is None or len(own.codes) != len(labels):
            return None
        if own.pairs:
            return f"Agreement with the links: kappa {own.agreement(labels):.2f} (1 is full, 0 is that of chance)."
        codes, name = own.codes, "the labels to keep"
    both = (codes >= 0) & (labels >= 0)
    if both.sum() < 2:
        return None
    rows = "" if both.all() else f" in the {both.sum():,} rows with a label"
    found = f"agreement with {name}: NMI {nmi(codes[both], labels[both]):.2f}{rows}."
    if adjusted_mutual_info_score(codes[both], labels[both]) >= LITTLE:
        return found[0].upper() + found[1:]
    beyond = "" if np.isnan(model.overlap_) else " beyond what is given"
    return f"Little {found} The other columns may tell little about {name}{beyond}."
