"""A fitted model and its rows -> the content of the report, as one plain dict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import InputError
from ..base.given import table_nmi
from ..base.known import known_frame
from ..core.feature_weights import between_shares, tell_apart
from ..core.solvers import LBFGS
from ..search.obvious import EXACT, reproduced_by
from ..search.significance import Significance
from ..search.verdict import Verdict, judge_untested
from .agreement import agreement
from .drawing import drawing
from .effects import boxes, column_effects, strongest
from .labelling import Labelling, alternative_labelling, as_frame, check_length, collapse, cross, given_labellings
from .parameters import parameters
from .sentences import NEGLIGIBLE, cluster_sentence, number, text
from .verdict import MOSTLY, headline, leading, main_features

MOST_FEATURES = 6  # shown for a cluster
MOST_WEIGHTS = 15  # features in the chart of weights
MOST_RULES = 3  # obvious groups that are named
FIELDS = ("column", "type", "use", "why")  # of every column
PREDICTED = "The clusters of these rows are predicted by a saved model."


@dataclass(frozen=True)
class Shown:
    """What a report shows of a table, beside its rows as numbers.

    Attributes
    ----------
    labels : int array, shape (n,), or None
        The rows' alternative clusters; None for the model's own.
    values : DataFrame with n rows, or None
        The table in its original units, for descriptions of clusters and rows; None for the rows as numbers. Columns
        with the name of a given one are left out.
    ids : iterable of length n, or None
        Row names; None for numbers from 1.
    keep : Series of length n, or None
        The column with labels that the clusters should agree with, None where unknown; None for the model's own.
    name : str
        The name of the table.
    alternative : str
        The name of the new clustering.
    cluster_names : dict of int to str, or None
        The names of its clusters; None for "cluster 0" and so on.
    decisions : sequence of str
        Sentences about how the table was read.
    listing : sequence of (column, type, use, why)
        Every column of the table, as in `altclust.tables.Recipe.listing`.
    command : str or None
        The command that gives the same result again.
    predicted : bool
        Whether these are other rows than those of the fit.
    """

    labels: Any = None
    values: pd.DataFrame | None = None
    ids: Iterable[Any] | None = None
    keep: pd.Series | None = None
    name: str = "table"
    alternative: str = "alternative"
    cluster_names: dict[int, str] | None = None
    decisions: Sequence[str] = ()
    listing: Sequence[Sequence[str]] = ()
    command: str | None = None
    predicted: bool = False


def summarise(model: Any, X: Any, given: Any = None, shown: Shown = Shown()) -> dict[str, Any]:
    """The content of a report on one view; nothing is fitted or tested for it.

    Parameters
    ----------
    model : KDAC
        Fitted; with its significance if `KDAC.significance_` was asked for.
    X : array or DataFrame, shape (n, d)
        The rows as the model saw them.
    given : labels, or several named columns of labels, optional
        What was given; NaN, None and −1 are unknown.
    shown : Shown

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
    >>> summary = summarise(model, data.X, data.given)
    >>> len(summary["clusters"]), summary["headline"]["badge"]
    (2, 'Significance not tested')
    """
    if isinstance(X, str | PathLike):
        raise InputError(f"X={str(X)!r} is a path: load the rows first.")
    table = as_frame(X)
    n = len(table)
    numbered = [c if isinstance(c, str) else f"column {j}" for j, c in enumerate(table.columns)]
    features = [text(f) for f in getattr(model, "feature_names_in_", numbered)]
    known = given_labellings(given, n, [text(column) for column, kind, *_ in shown.listing if kind == "date"])
    found = alternative_labelling(
        shown.alternative,
        model.labels_ if shown.labels is None else shown.labels,
        n,
        model.n_clusters_,
        shown.cluster_names,
    )
    nmis = [
        table_nmi(cross(one, found)[:-1, :-1]) if one.measured is None else one.measured.overlap(found.codes)
        for one in known
    ]
    predicted, keep, values = shown.predicted, shown.keep, shown.values
    overlap = None if predicted else number(model.overlap_)
    overlap = max(nmis) if overlap is None and nmis else overlap
    if keep is not None:
        check_length("keep", len(keep), n)
    kept = None if predicted else agreement(model, found.codes, keep)
    sizes = found.sizes.tolist()
    known, found = [collapse(one) for one in known], collapse(found)
    values = table.set_axis(features, axis=1) if values is None else as_frame(values)
    check_length("values", len(values), n)
    values = values.loc[:, [text(c) not in {one.name for one in known} for c in values.columns]]
    order = np.argsort(-np.asarray(model.feature_weights_), kind="stable")
    weights = [{"name": features[j], "weight": float(model.feature_weights_[j])} for j in order]
    used = [name for name in features if name not in map(text, model.left_aside())]
    clustered = table.loc[:, np.isin(features, used)].set_axis(used, axis=1)
    rule = None if predicted else model.fitted_.obvious_group
    # The features of a column of text are called ``colour=red`` …. Equal rows have equal labels, so that enough columns
    # with few values would always reproduce them.
    sources = {*used, *(name.partition("=")[0] for name in used if "=" in name)}
    shown_and_used = values.loc[:, [text(name) in sources for name in values.columns]]
    rule = rule or reproduced_by(found.codes, shown_and_used, several=False)
    # Of several columns that show the same, a rule may name others than the weights: it is told below them then.
    short = rule is not None and (rule.few_valued or rule.agreement >= EXACT or weights[0]["name"] in rule.columns)
    inside = found.codes >= 0
    alone = tell_apart(between_shares(table.to_numpy(dtype=float)[inside], found.codes[inside]))
    tested = None if predicted else model.fitted_.significance
    certificate = model.fitted_.certificate  # None if nobody has asked for it
    verdict = Verdict("predicted", PREDICTED)
    if not predicted:
        verdict = judge_untested(overlap, rule) if tested is None else tested.judgement
    return {
        "name": text(shown.name),
        "alternative": found.name,
        "rows": n,
        "columns": len(used),
        "headline": headline(
            sizes,
            overlap,
            [(one.name, nmi) for one, nmi in zip(known, nmis, strict=True)],
            "NMI" if all(one.measured is None for one in known) else "overlap",
            rule.phrase if rule is not None and short else main_features(weights, alone),
            verdict,
            model.status_ == "converged",
            [] if tested is None else [witness.sentence for witness in tested.witnesses],
        ),
        "clusters": describe_clusters(found, values, [one for one in weights if one["name"] in used]),
        "rule": None if rule is None else {"columns": list(rule.columns), "sentence": rule.sentence},
        "left_out": None if predicted else left_out(model),
        "agreement": kept,
        "others": found.others,
        "given": [_given(one, found, nmi) for one, nmi in zip(known, nmis, strict=True)],
        "legend": _legend(found),
        "drawing": drawing(
            model,
            table,
            [found, *known],
            values,
            shown.ids,
            clustered,
            {one["name"]: one["weight"] for one in weights},
            known_frame(given),
        ),
        "weights": weights[:MOST_WEIGHTS],
        "told_alone": alone,
        "other_weights": {
            "features": len(weights[MOST_WEIGHTS:]),
            "weight": float(sum(w["weight"] for w in weights[MOST_WEIGHTS:])),
        },
        "overlap": overlap,
        "quality": number(model.quality_),
        "n_clusters": int(model.n_clusters_),
        "significance": _significance(tested),
        "certificate": certificate and {"verdict": certificate.verdict, "residual": number(certificate.residual)},
        "engine": text(model.engine_),
        "guess_agreement": number(model.guess_agreement_),
        "approximation_error": number(model.approximation_error_),
        "history": {key: [number(v) for v in series] for key, series in model.history_.items()},
        "one_objective": bool(np.isnan(model.history_["change_U"]).all()),
        "tol": number(_tolerance(model)),
        "status": str(model.status_),
        "parameters": parameters(model),
        "reasons": None if model.tuning_ is None else model.tuning_.reasons,
        "variants": list(model.fitted_.variants),
        "decisions": [str(sentence) for sentence in shown.decisions],
        "listing": listed_columns(model, shown.listing),
        "command": shown.command,
        "version": version("altclust"),
    }


def left_out(model: Any) -> str | None:
    """The obvious groups that the search found and did not choose, in a sentence; None if there are none."""
    source, own = model.tuning_ or model.fitted_.significance, model.fitted_.obvious_group
    obvious = [] if source is None else source.obvious
    rules = [one.phrase for one in obvious if own is None or one.columns != own.columns]
    more = f" and {len(rules) - MOST_RULES} more" if len(rules) > MOST_RULES else ""
    return f"Obvious groups that were found but not chosen: {', '.join(rules[:MOST_RULES])}{more}." if rules else None


def listed_columns(model: Any, listing: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Every column of `altclust.tables.Recipe.listing` as a plain dict; what the search left aside is told."""
    aside = model.left_aside()
    found = [dict(zip(FIELDS, one, strict=True)) for one in listing]
    for one in found:
        if one["column"] in aside:
            one |= {"use": "left aside", "why": "its values are an obvious group"}
    return [one | {"column": text(one["column"])} for one in found]


def _tolerance(model: Any) -> float:
    """What the change of the directions, or the residual of one objective, must fall below."""
    if not np.isnan(model.history_["change_U"]).all():
        return model.tol
    return min(getattr(model.solver, "tol", LBFGS.tol), model.tol / 10)


def describe_clusters(
    found: Labelling, values: pd.DataFrame, weights: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Each cluster with the columns in which it differs most, and a sentence.

    The weights of the columns that were used, in order, say the same: one without weight is not told, and those with
    most of it come before the others.
    """
    heaviest, held = leading(weights)
    weightless = {one["name"] for one in weights if one["weight"] == 0}
    later = {one["name"] for one in weights} - set(heaviest) if held >= MOSTLY else set()
    effects = column_effects(values, found.codes, len(found.levels))
    effects = [effect for effect in effects if effect.name not in weightless]
    clusters = []
    for code, (name, size) in enumerate(zip(found.levels, found.sizes.tolist(), strict=True)):
        top = [f for f in strongest(effects, code, MOST_FEATURES, later) if abs(f["effect"]) >= NEGLIGIBLE]
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
        "is_date": labelling.is_date,
        "boxes": [] if labelling.values is None else boxes(labelling.values, found.codes, len(found.levels)),
        "counts": [[int(counts[row["code"], column["code"]]) for column in columns] for row in legend],
    }


def _significance(found: Significance | None) -> dict[str, Any]:
    """The figures of a test; None if there was none, or if there were too few rows."""
    names, told = ("p_value", "smallest_p", "score", "stability", "halves"), ("is_real", "without_gaps", "verdict")
    if found is None:
        return dict.fromkeys((*names, *told, "reference")) | {"witnesses": []}
    return {
        **{name: number(getattr(found, name)) for name in names},
        **{name: getattr(found, name) for name in told},
        "reference": [float(value) for value in found.reference],
        "witnesses": [asdict(one) for one in found.witnesses],
    }
