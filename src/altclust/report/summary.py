"""A fitted model and its rows -> the content of the report, as one plain dict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..core.metrics import table_nmi
from .drawing import axis_name, drawing, drawn_rows, hover_columns
from .effects import column_effects, strongest
from .labelling import Labelling, alternative_labelling, as_frame, check_length, collapse, cross, given_labellings
from .parameters import parameters
from .sentences import NEGLIGIBLE, cluster_sentence, text
from .verdict import headline

MOST_FEATURES = 6  # shown for a cluster
MOST_WEIGHTS = 15  # features in the chart of weights
PREDICTED = "the clusters of these rows are predicted from a fit to other rows"
UNTESTED = "significance was not tested"
TOO_FEW = "too few rows to test significance"


def summarise(
    model: Any,
    X: Any,
    given: Any = None,
    *,
    labels: Any = None,
    values: pd.DataFrame | None = None,
    ids: Iterable[Any] | None = None,
    name: str = "table",
    alternative: str = "alternative",
    cluster_names: dict[int, str] | None = None,
    decisions: Sequence[str] = (),
    command: str | None = None,
    confidence: bool = True,
    predicted: bool = False,
) -> dict[str, Any]:
    """The content of a report on one view.

    Parameters
    ----------
    model : KDAC
        Fitted.
    X : array or DataFrame, shape (n, d)
        The rows as the model saw them.
    given : labels, or several named columns of labels, optional
        What was given; NaN, None and −1 are unknown.
    labels : int array, shape (n,), optional
        The rows' alternative clusters; the model's own if left out.
    values : DataFrame with n rows, optional
        The table in its original units, for descriptions of clusters and rows; X if left out. Columns with the name
        of a given one are left out.
    ids : iterable of length n, optional
        Row names; numbers from 1 if left out.
    name : str
        The name of the table.
    alternative : str
        The name of the new clustering.
    cluster_names : dict of int to str, optional
        The names of its clusters; "cluster 0" and so on if left out.
    decisions : sequence of str
        Sentences about how the table was read.
    command : str, optional
        The command that gives the same result again.
    confidence : bool
        Whether to test significance, which takes a dozen searches if the model has not done it yet.
    predicted : bool
        Whether these are other rows than those of the fit.

    Returns
    -------
    dict
        Of str, int, float, bool, None, list and dict only, without NaN; see `altclust.report.render`.

    Examples
    --------
    >>> from altclust import KDAC
    >>> from altclust.datasets import moons
    >>> from altclust.report import summarise
    >>> data = moons(100, random_state=0)
    >>> model = KDAC(2, sigma=1.0, n_components=2, random_state=0).fit(data.X, data.given)
    >>> summary = summarise(model, data.X, data.given, confidence=False)
    >>> len(summary["clusters"]), summary["headline"]["badge"]
    (2, 'Significance not tested')
    """
    if isinstance(X, str | PathLike):
        raise InputError(f"X={str(X)!r} is a path: load the rows first.")
    table = as_frame(X)
    n = len(table)
    features = [text(f) for f in getattr(model, "feature_names_in_", _column_names(table))]
    known = given_labellings(given, n)
    found = alternative_labelling(
        alternative, model.labels_ if labels is None else labels, n, model.n_clusters_, cluster_names
    )
    nmis = [table_nmi(cross(one, found)[:-1, :-1]) for one in known]
    overlap = max(nmis) if nmis else None if predicted else number(model.overlap_)
    sizes = found.sizes.tolist()
    known, found = [collapse(one) for one in known], collapse(found)
    values = table.set_axis(features, axis=1) if values is None else as_frame(values)
    check_length("values", len(values), n)
    values = values.loc[:, [text(c) not in {one.name for one in known} for c in values.columns]]
    weights = _weights(features, model.feature_weights_)
    significance = (
        _confidence(model) if confidence and not predicted else _no_confidence(PREDICTED if predicted else UNTESTED)
    )
    return {
        "name": text(name),
        "alternative": found.name,
        "rows": n,
        "columns": table.shape[1],
        "headline": headline(
            sizes,
            overlap,
            [(one.name, nmi) for one, nmi in zip(known, nmis, strict=True)],
            weights,
            significance,
            model.status_ == "converged",
        )
        | ({"badge": "Clusters predicted"} if predicted else {}),
        "clusters": _clusters(found, values),
        "others": found.others,
        "given": [_given(one, found, nmi) for one, nmi in zip(known, nmis, strict=True)],
        "legend": _legend(found),
        "drawing": _drawing(model, table, [found, *known], values, ids, features, weights),
        "weights": weights[:MOST_WEIGHTS],
        "other_weights": {
            "features": len(weights[MOST_WEIGHTS:]),
            "weight": float(sum(w["weight"] for w in weights[MOST_WEIGHTS:])),
        },
        "overlap": overlap,
        "quality": number(model.quality_),
        "n_clusters": int(model.n_clusters_),
        "confidence": significance,
        "certificate": _certificate(model),
        "approximation_error": number(model.approximation_error_),
        "history": {key: [number(v) for v in series] for key, series in model.history_.items()},
        "tol": number(model.tol),
        "status": str(model.status_),
        "parameters": parameters(model),
        "reasons": None if model.tuning_ is None else model.tuning_.reasons,
        "decisions": [str(sentence) for sentence in decisions],
        "command": command,
        "version": version("altclust"),
    }


def number(value: Any) -> float | None:
    """A number for JSON, which has neither NaN nor infinity."""
    return float(value) if math.isfinite(value) else None


def _column_names(table: pd.DataFrame) -> list[str]:
    return [c if isinstance(c, str) else f"column {j}" for j, c in enumerate(table.columns)]


def _weights(names: Sequence[str], weights: np.ndarray) -> list[dict[str, Any]]:
    order = np.argsort(-np.asarray(weights), kind="stable")
    return [{"name": names[j], "weight": float(weights[j])} for j in order]


def _clusters(found: Labelling, values: pd.DataFrame) -> list[dict[str, Any]]:
    effects = column_effects(values, found.codes, len(found.levels))
    clusters = []
    for code, (name, size) in enumerate(zip(found.levels, found.sizes.tolist(), strict=True)):
        top = [f for f in strongest(effects, code, MOST_FEATURES) if abs(f["effect"]) >= NEGLIGIBLE]
        clusters.append(
            {
                "code": code,
                "name": name,
                "rows": size,
                "share": size / len(found.codes),
                "sentence": cluster_sentence(name, size, len(found.codes), top),
                "features": top,
            }
        )
    return clusters[:-1] if found.others else clusters


def _legend(labelling: Labelling) -> list[dict[str, Any]]:
    """The clusters in order; unknown rows last, with the code −1."""
    entries = [
        {"code": code, "name": name, "rows": size}
        for code, (name, size) in enumerate(zip(labelling.levels, labelling.sizes.tolist(), strict=True))
    ]
    return entries + ([{"code": -1, "name": "unknown", "rows": labelling.unknown}] if labelling.unknown else [])


def _given(labelling: Labelling, found: Labelling, nmi: float) -> dict[str, Any]:
    counts = cross(labelling, found)
    legend, columns = _legend(labelling), _legend(found)
    return {
        "name": labelling.name,
        "overlap": nmi,
        "legend": legend,
        "counts": [[int(counts[row["code"], column["code"]]) for column in columns] for row in legend],
    }


def _drawing(
    model: Any,
    table: pd.DataFrame,
    labellings: list[Labelling],
    values: pd.DataFrame,
    ids: Iterable[Any] | None,
    features: list[str],
    weights: list[dict[str, Any]],
) -> dict[str, Any]:
    rows = drawn_rows(labellings)
    drawn = table.iloc[rows]
    Z = np.asarray(model.transform(drawn if hasattr(model, "feature_names_in_") else drawn.to_numpy()))
    spreads = drawn.to_numpy(dtype=float).std(axis=0)
    axes = [axis_name(i + 1, w, spreads, features) for i, w in enumerate(np.asarray(model.components_)[:2])]
    shown = hover_columns(values, {w["name"]: w["weight"] for w in weights})
    names = None
    if ids is not None:
        every = list(ids)
        check_length("ids", len(every), len(table))
        names = [every[i] for i in rows]
    return drawing(Z, rows, labellings, values.iloc[rows, shown], names, axes)


def _confidence(model: Any) -> dict[str, Any]:
    try:
        confidence = model.confidence_
    except InputError:
        return _no_confidence(UNTESTED)
    if math.isnan(confidence.p_value):
        return _no_confidence(TOO_FEW) | {"verdict": confidence.verdict}
    return {
        "p_value": float(confidence.p_value),
        "stability": float(confidence.stability),
        "is_real": bool(confidence.is_real),
        "verdict": confidence.verdict,
        "missing": None,
    }


def _no_confidence(why: str) -> dict[str, Any]:
    return {"p_value": None, "stability": None, "is_real": None, "verdict": None, "missing": why}


def _certificate(model: Any) -> dict[str, Any] | None:
    try:
        certificate = model.certificate_
    except InputError:
        return None
    return {"verdict": certificate.verdict, "residual": number(certificate.residual)}
