"""Display of a fitted estimator: the rows to draw, and an HTML summary for notebooks."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.extras import MissingLibrary, needed_by
from ..base.known import known_frame
from ..base.validation import column_names
from ..report.agreement import agreement
from .fitted_view import FittedView

TOP = 5  # features in the summary
HEAD, CELL = 'style="text-align:left" scope="row"', 'style="text-align:left"'


def rows_to_show(model: Any, own: Any, X: Any = None, given: Any = None) -> tuple[Any, pd.DataFrame | None, np.ndarray]:
    """Rows, their given labels and their clusters: those of the fit (what was given then is own), or others."""
    view: FittedView = model.fitted_
    if X is not None:
        known = known_frame(given)
        return X, known, np.asarray(model.predict(X, view.codes_of(known)))
    if view.search is None or view.rows is None:
        raise InputError(
            "X is missing: a model that was loaded from a file, or fitted to a sparse matrix, does not contain the "
            "rows, so pass them."
        )
    rows: Any = view.rows + model.mean_
    names = column_names(model)
    if names is not None:
        rows = pd.DataFrame(rows, columns=names)
    labels = view.searched_labels
    if view.middles is not None and view.places is not None:
        labels = np.asarray(view.labels[view.places])
    assert labels is not None
    return rows, _named(view, own), labels


def _named(view: Any, passed: Any) -> pd.DataFrame | None:
    """What was given about the rows of the fit, with its own names; codes if these are on a Dask cluster."""
    given = view.search.given
    if not given:
        return None
    if passed is None or hasattr(passed, "dask"):
        return pd.DataFrame({one.name: c for one, c in zip(view.levels, given.codes.T, strict=True) if one.are_labels})
    frame = known_frame(passed)  # kernels and distances are no columns
    return None if frame is None else frame.iloc[view.places].reset_index(drop=True)


def result_lines(model: Any, view: FittedView) -> dict[str, str]:
    """The result in a few words; without anything expensive to compute."""
    counts = np.bincount(np.asarray(model.labels_), minlength=model.n_clusters_)
    names = column_names(model)
    names = [f"column {j}" for j in range(model.n_features_in_)] if names is None else names
    top = np.argsort(-model.feature_weights_, kind="stable")[:TOP]
    known = "nothing was given" if np.isnan(model.overlap_) else f"NMI {model.overlap_:.3f} with what was given"
    lines = {
        "clusters": f"{model.n_clusters_}, of {', '.join(f'{count:,}' for count in counts)} rows",
        "overlap": known,
        "quality": f"{model.quality_:.3f} of at most {model.n_clusters_}",
        "main features": ", ".join(f"{names[j]} {model.feature_weights_[j]:.0%}" for j in top),
        "status": f"{model.status_} after {model.n_iter_} round{'s' * (model.n_iter_ != 1)}",
    }
    kept = agreement(model, np.asarray(model.labels_))
    lines |= {"agreement": kept} if kept is not None else {}
    significance = view.significance
    return lines | ({"significance": str(significance)} if significance is not None else {})


def printed(model: Any, view: FittedView | None) -> str:
    """The parameters, and below them the result of a fit."""
    lines = {} if view is None else result_lines(model, view)
    return "\n".join([repr(model), *(f"  {name}: {line}" for name, line in lines.items())])


def card(model: Any, view: FittedView | None) -> str:
    """An HTML summary of the result, shown below scikit-learn's."""
    if view is None:
        return ""
    drawn = "" if view.search is None else picture(model.plot, 2 if view.search.given else 1)
    return html_table(result_lines(model, view)) + drawn


def html_table(lines: dict[str, str]) -> str:
    """Names and what is said about them."""
    rows = (f"<tr><th {HEAD}>{escape(name)}</th><td {CELL}>{escape(line)}</td></tr>" for name, line in lines.items())
    return f"<table style='margin-top:.5em'>{''.join(rows)}</table>"


def picture(plot: Callable[..., Any], panels: int) -> str:
    """What plot(axes=…) draws, as an embedded image; without pyplot, so that no notebook shows it twice."""
    try:
        with needed_by("The picture"):
            from matplotlib.figure import Figure
    except MissingLibrary as error:
        return f"<p>{escape(str(error))}</p>"
    figure = Figure(figsize=(4 * panels, 3.4), layout="constrained")
    plot(axes=figure.subplots(1, panels, sharex=True, sharey=True))
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=80)
    image = b64encode(buffer.getvalue()).decode()
    return f'<img alt="What was given and what was found" src="data:image/png;base64,{image}">'
