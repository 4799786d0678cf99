"""What was found and how sure, in one sentence that never sounds surer than the figures are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..search.significance import FLEETING, STABLE, SURE
from .sentences import listing

NEW, ALIKE, SAME = 0.05, 0.3, 0.7  # NMI with what was given: below, above and far above
MOST_SIZES = 6  # clusters whose sizes are told one by one
CARRIED = 0.7  # share of the view that the named features hold together

BADGES = {
    "clear": "A new view, stronger than chance",
    "first": "A first view, stronger than chance",
    "shaky": "A view, but not a firm one",
    "known": "Much of this was known",
    "untested": "Not compared with chance",
    "chance": "No stronger than chance",
}


def headline(
    sizes: Sequence[int],
    overlap: float | None,
    given: Sequence[tuple[str, float]],
    weights: Sequence[dict[str, Any]],
    confidence: dict[str, Any],
    converged: bool,
) -> dict[str, str]:
    """The first sentence of the page.

    Parameters
    ----------
    sizes : sequence of int
        Rows in each cluster.
    overlap : float or None
        The largest NMI with what was given; None where nothing was.
    given : sequence of (name, NMI)
        What was given, as far as its names are known.
    weights : sequence of dict
        name and weight of the features, weightiest first.
    confidence : dict
        p_value, stability and is_real, None where they are not known, as in the summary.
    converged : bool

    Returns
    -------
    dict
        tone (a key of `BADGES`), badge and sentence.
    """
    tone = _tone(overlap, confidence)
    start = {"chance": "Nothing certain: ", "known": "Little that is new: "}.get(tone, "")
    parts = [f"{start}{_clusters(sizes)}", *_newness(overlap, given), _carriers(weights)]
    sentence = f"{', '.join(parts)}; {_sureness(confidence)}."
    if not converged:
        sentence += " The search ended before it came to rest."
    return {"tone": tone, "badge": BADGES[tone], "sentence": sentence}


def _tone(overlap: float | None, confidence: dict[str, Any]) -> str:
    p_value, stability = confidence["p_value"], confidence["stability"]
    if confidence["is_real"] is False:
        return "chance"
    if overlap is not None and overlap > ALIKE:
        return "known"
    if p_value is None:
        return "untested"
    if p_value > SURE or stability < STABLE:
        return "shaky"
    return "first" if overlap is None else "clear"


def _clusters(sizes: Sequence[int]) -> str:
    if len(sizes) == 1:
        return f"1 cluster of {sizes[0]:,} rows"
    if len(sizes) > MOST_SIZES:
        return f"{len(sizes)} clusters of {min(sizes):,} to {max(sizes):,} rows"
    return f"{len(sizes)} clusters of {listing([f'{size:,}' for size in sizes])} rows"


def _newness(overlap: float | None, given: Sequence[tuple[str, float]]) -> list[str]:
    if overlap is None:
        return ["found without anything given"]
    names = [name for name, _ in given]
    if names in ([], ["given"]):
        names = ["what was given"]
    most = f"NMI {overlap:.2f}" if len(names) == 1 else f"NMI at most {overlap:.2f}"
    if overlap < NEW:
        return [f"almost independent of {_few(names)} ({most})"]
    if overlap <= ALIKE:
        return [f"different from {_few(names)}, though not independent ({most})"]
    alike = "much like" if overlap > SAME else "in part like"
    closest = max(given, key=lambda pair: pair[1])[0] if len(given) > 1 else names[0]
    return [f"{alike} {closest} (NMI {overlap:.2f})"]


def _few(names: Sequence[str]) -> str:
    return listing(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} other given columns"


def _carriers(weights: Sequence[dict[str, Any]]) -> str:
    """The features that hold most of the view, if three do."""
    top, held = [], 0.0
    for feature in weights[:3]:
        top.append(feature["name"])
        held += feature["weight"]
        if held >= CARRIED:
            return f"carried by {listing(top)}"
    if len(weights) <= 3 or held >= 0.5:
        return f"carried mostly by {listing(top)}"
    return f"spread over many columns, foremost {listing(top)}"


def _sureness(confidence: dict[str, Any]) -> str:
    p_value, stability = confidence["p_value"], confidence["stability"]
    if confidence["is_real"] is False:
        return "no stronger than what shuffled rows show"
    if p_value is None:
        return confidence["missing"]
    if stability < FLEETING:
        return "stronger than chance, but other rows show another view first"
    if p_value > SURE:
        return "barely clearer than chance, but back on other rows"
    if stability < STABLE:
        return "stronger than chance, but its borders move from sample to sample"
    return "stronger than chance and back on other rows"
