"""Display of a fitted estimator: the rows to draw, and an HTML summary for notebooks."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from array_api_compat import is_torch_array
from sklearn.utils.validation import check_is_fitted

from ..base.backend import host
from ..base.errors import InputError
from ..base.given_labels import is_unknown
from ..base.known import known_frame
from ..base.validation import column_names
from ..report.agreement import agreement

TOP = 5  # features in the summary
HEAD, CELL = 'style="text-align:left" scope="row"', 'style="text-align:left"'


def rows_to_show(model: Any, X: Any = None, given: Any = None) -> tuple[Any, pd.DataFrame | None, np.ndarray]:
    """Rows, their given labels and their clusters: those of the fit, unless others are passed."""
    check_is_fitted(model)
    if X is not None:
        return X, known_frame(given), np.asarray(model.predict(X))
    search = model._view.search
    if search is None or model._view.rows is None:
        raise InputError(
            "X is missing: a model that was loaded from a file, or fitted to a sparse matrix, does not contain the "
            "rows, so pass them."
        )
    rows = model._view.rows + model.mean_
    names = column_names(model)
    if names is not None:
        rows = pd.DataFrame(rows, columns=names)
    labels = model._view.searched_labels
    if model._view.middles is not None and len(model.labels_) == len(rows):
        labels = np.asarray(model.labels_)
    return rows, _named(search.given, model._given), labels


def _named(codes: list[np.ndarray], given: Any) -> pd.DataFrame | None:
    """The given clusterings with their own names; codes instead of labels if these are on a Dask cluster."""
    if not codes:
        return None
    if given is None or hasattr(given, "dask"):
        return pd.DataFrame({f"given {j}": c for j, c in enumerate(codes, 1) if c.ndim == 1})
    frame = known_frame(host(given) if is_torch_array(given) else given)
    if frame is None or (frame.shape[1] < len(codes) and len(frame) != len(codes[0])):
        return None
    if frame.shape[1] < len(codes):  # kernels and distances are no columns
        return frame
    named = {}
    for (name, column), code in zip(frame.items(), codes, strict=True):
        if code.ndim == 2 and len(column) == len(code):
            named[str(name)] = column.to_numpy()
            continue
        if code.ndim == 2:  # rows of a sample, whose values are not known here
            continue
        levels = [level for level in pd.unique(column) if not is_unknown(level)]  # in the order of the codes
        named[str(name)] = np.array([*levels, None], dtype=object)[code]
    return pd.DataFrame(named)


def result_lines(model: Any) -> dict[str, str]:
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
        "status": f"{model.status_} after {model.n_iter_} rounds",
    }
    kept = agreement(model, np.asarray(model.labels_))
    lines |= {"agreement": kept} if kept is not None else {}
    significance = model._view.significance
    return lines | ({"significance": str(significance)} if significance is not None else {})


def printed(model: Any) -> str:
    """The parameters, and below them the result of a fit."""
    if not hasattr(model, "_view"):
        return repr(model)
    return "\n".join([repr(model), *(f"  {name}: {line}" for name, line in result_lines(model).items())])


def card(model: Any) -> str:
    """An HTML summary of the result, shown below scikit-learn's."""
    if not hasattr(model, "_view"):
        return ""
    rows = "".join(
        f"<tr><th {HEAD}>{escape(name)}</th><td {CELL}>{escape(line)}</td></tr>"
        for name, line in result_lines(model).items()
    )
    return f"<table style='margin-top:.5em'>{rows}</table>{_picture(model)}"


def _picture(model: Any) -> str:
    """The view as an embedded image; nothing if the model does not hold the rows."""
    if model._view.search is None:
        return ""
    return picture(model.plot, 2 if model._view.search.given else 1)


def picture(plot: Callable[..., Any], panels: int) -> str:
    """What plot(axes=…) draws, as an embedded image; without pyplot, so that no notebook shows it twice."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * panels, 3.4), layout="constrained")
    plot(axes=figure.subplots(1, panels, sharex=True, sharey=True))
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=80)
    image = b64encode(buffer.getvalue()).decode()
    return f'<img alt="What was given and what was found" src="data:image/png;base64,{image}">'
