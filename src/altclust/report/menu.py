"""The views on the menu of a fit, as plain dicts with the points of their small plots."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pandas as pd

from .drawing import drawn_rows
from .labelling import Labelling, collapse
from .positions import positions
from .sentences import number, text

MOST_DRAWN = 400  # points in a small plot
MOST_RULES = 3  # obvious groups that are named
LONGEST = 400  # characters of a sentence


def chosen_number(model: Any) -> int:
    """The place of the fitted view on the menu, from 1; 0 if there is no menu."""
    menu = getattr(model, "candidates_", ())
    same = (i for i, one in enumerate(menu, 1) if np.array_equal(one.labels, model.labels_))
    return next(same, 0)


def reasons(model: Any) -> str | None:
    """Why this view is the fitted one; None if there was no search."""
    if model.tuning_ is None:
        return None
    place = chosen_number(model)
    if place <= 1:
        return model.tuning_.reasons
    menu = model.candidates_
    return f"View {place} of the {len(menu)} that the search found was chosen by the user: {menu[place - 1].sentence}"


def left_out(model: Any) -> str | None:
    """The obvious groups that the search found and left aside, in a sentence; None if there are none."""
    source = model.tuning_ or model._view.significance
    own = model._view.obvious_group
    rules = (
        [] if source is None else [one.phrase for one in source.obvious if own is None or one.columns != own.columns]
    )
    more = f" and {len(rules) - MOST_RULES} more" if len(rules) > MOST_RULES else ""
    return f"Obvious groups that were left aside: {', '.join(rules[:MOST_RULES])}{more}." if rules else None


def candidates(model: Any, table: pd.DataFrame, labels: Any = None) -> list[dict[str, Any]]:
    """One plain dict for each view on the menu, best first; empty if there are fewer than two.

    Parameters
    ----------
    model : KDAC
        Fitted.
    table : DataFrame, shape (n, d)
        The rows as the model saw them.
    labels : int array, shape (n,), optional
        The clusters of these rows in the fitted view. If they are not those of the fit, the rows may be others: then
        their clusters in every view are predicted.
    """
    menu = getattr(model, "candidates_", ())
    if len(menu) < 2:
        return []
    own = labels is None or np.array_equal(np.asarray(labels), model.labels_)
    views = [copy(model).choose(i) for i in range(1, len(menu) + 1)]
    found = [np.asarray(view.labels_ if own else view.predict(as_fitted(model, table))) for view in views]
    labellings = [
        collapse(Labelling("", [str(i) for i in range(view.n_clusters_)], codes))
        for view, codes in zip(views, found, strict=True)
    ]
    rows = drawn_rows(labellings, MOST_DRAWN)
    drawn, chosen = as_fitted(model, table.iloc[rows]), chosen_number(model)
    return [
        {
            "number": place,
            "chosen": place == chosen,
            "sentence": text(one.sentence, LONGEST),
            "clusters": int(one.n_clusters),
            "overlap": number(one.overlap),
            "found_again": number(one.stability),
            "columns": [text(name) for name in one.columns],
            "drawing": _points(np.asarray(view.transform(drawn)), labelling.codes[rows]),
        }
        for place, (one, view, labelling) in enumerate(zip(menu, views, labellings, strict=True), 1)
    ]


def as_fitted(model: Any, table: pd.DataFrame) -> Any:
    """The rows with the names of their columns only if the model was fitted with names."""
    return table if hasattr(model, "feature_names_in_") else table.to_numpy()


def _points(Z: np.ndarray, codes: np.ndarray) -> dict[str, Any]:
    x, y, _, _ = positions(Z)
    return {
        "jittered": Z.shape[1] == 1,
        "x": [float(f"{v:.4g}") for v in x],
        "y": [float(f"{v:.4g}") for v in y],
        "codes": codes.tolist(),
    }
