"""The verdict: what was found, and whether it is significant, in the same words wherever it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.thresholds import ALTERNATIVE, INDEPENDENT, VERY_SIMILAR
from ..search.significance import AS_CLEAR, LEVEL, NO_GAPS, SAME_VIEW, STABLE
from .sentences import listing

MOST_SIZES = 6  # clusters whose sizes are listed
MOST_WITNESSES = 2  # columns that were not used and are named
OBVIOUS = "groups of columns with few values are a fact about these columns, not a discovery"
CARRIED = 0.7  # total weight of the features that are named

BADGES = {
    "obvious": "Obvious groups",
    "witnessed": "Confirmed by a column that was not used; no clear gap",
    "clear": "New and significant",
    "first": "Significant",
    "shaky": "Significant, but not stable",
    "known": "Similar to what was given",
    "untested": "Significance not tested",
    "chance": "Not significant",
    "unstable": "No reproducible clustering",
    "predicted": "Clusters predicted",
}


def headline(
    sizes: Sequence[int],
    overlap: float | None,
    given: Sequence[tuple[str, float]],
    weights: Sequence[dict[str, Any]],
    significance: dict[str, Any],
    converged: bool,
    rule: dict[str, Any] | None = None,
    alone: bool = True,
    measured: bool = False,
    predicted: bool = False,
) -> dict[str, str]:
    """The first sentence of the report, of the page and of the terminal.

    Parameters
    ----------
    sizes : sequence of int
        Rows in each cluster.
    overlap : float or None
        The largest NMI with what was given; None where nothing was.
    given : sequence of (name, NMI)
        What was given, where the names are known.
    weights : sequence of dict
        name and weight of the features, the largest weight first.
    significance : dict
        p_value, stability, is_real and without_gaps, None where they are not known, and witnesses, as in the summary.
    converged : bool
    rule : dict, optional
        The columns that reproduce the clusters, as in the summary.
    alone : bool
        Whether a single column tells the clusters apart.
    measured : bool
        Whether measurements are among what was given.
    predicted : bool
        Whether these are other rows than those of the fit.

    Returns
    -------
    dict
        tone (a key of `BADGES`), badge, sentence, and verdict, which is both in one line.
    """
    tone = "predicted" if predicted else _tone(overlap, significance, rule)
    carried = _main_features(weights, alone) if rule is None else rule["phrase"]
    parts = [_clusters(sizes), *_novelty(overlap, given, "overlap" if measured else "NMI"), carried]
    sentence = f"{', '.join(parts)}; {OBVIOUS if tone == 'obvious' else _significance(significance)}."
    sentence = " ".join([sentence, *(witness["sentence"] for witness in significance["witnesses"][:MOST_WITNESSES])])
    if not converged:
        sentence += " The solver did not converge."
    return {"tone": tone, "badge": BADGES[tone], "sentence": sentence, "verdict": f"{BADGES[tone]}: {sentence}"}


def _tone(overlap: float | None, significance: dict[str, Any], rule: dict[str, Any] | None) -> str:
    p_value, stability = significance["p_value"], significance["stability"]
    if rule is not None and rule["few_valued"]:
        return "obvious"
    if significance["is_real"] is False:
        if stability is not None and stability < SAME_VIEW:  # what a column confirms must be there in other rows
            return "unstable"
        return "witnessed" if significance["witnesses"] else "chance"
    if overlap is not None and overlap > ALTERNATIVE:
        return "known"
    if p_value is None:
        return "untested"
    if p_value > LEVEL:
        return "witnessed"
    if stability < STABLE:
        return "shaky"
    return "first" if overlap is None else "clear"


def _clusters(sizes: Sequence[int]) -> str:
    if len(sizes) == 1:
        return f"1 cluster of {sizes[0]:,} rows"
    if len(sizes) > MOST_SIZES:
        return f"{len(sizes)} clusters of {min(sizes):,} to {max(sizes):,} rows"
    return f"{len(sizes)} clusters of {listing([f'{size:,}' for size in sizes])} rows"


def _novelty(overlap: float | None, given: Sequence[tuple[str, float]], unit: str) -> list[str]:
    if overlap is None:
        return ["found without a given clustering"]
    names = [name for name, _ in given]
    if names in ([], ["given"]):
        names = ["what was given"]
    most = f"{unit} {overlap:.2f}" if len(names) == 1 else f"{unit} at most {overlap:.2f}"
    if overlap < INDEPENDENT:
        return [f"almost independent of {_few(names)} ({most})"]
    if overlap <= ALTERNATIVE:
        return [f"different from {_few(names)}, but not independent ({most})"]
    alike = "very similar to" if overlap > VERY_SIMILAR else "partly similar to"
    closest = max(given, key=lambda pair: pair[1])[0] if len(given) > 1 else names[0]
    return [f"{alike} {closest} ({unit} {overlap:.2f})"]


def _few(names: Sequence[str]) -> str:
    return listing(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} other given columns"


def _main_features(weights: Sequence[dict[str, Any]], alone: bool) -> str:
    """The features with most of the weight, if three have it."""
    top, held = [], 0.0
    for feature in weights[:3]:
        top.append(feature["name"])
        held += feature["weight"]
        if held >= CARRIED:
            break
    if not alone and len(top) > 1:
        return f"told apart only by {listing(top)} together"
    if held >= CARRIED:
        return f"based on {listing(top)}"
    if len(weights) <= 3 or held >= 0.5:
        return f"based mostly on {listing(top)}"
    return f"based on many columns, most on {listing(top)}"


def _significance(significance: dict[str, Any]) -> str:
    p_value, stability = significance["p_value"], significance["stability"]
    if p_value is None:
        return significance["missing"]
    if stability < SAME_VIEW:
        return f"halves of the rows give other clusters (NMI {stability:.2f})"
    if p_value > LEVEL:
        return NO_GAPS if significance["without_gaps"] else AS_CLEAR
    if stability < STABLE:
        return "significant, but cluster borders differ between halves of the rows"
    return "significant and stable"
