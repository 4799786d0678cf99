"""The first sentence of a result: what was found, and the verdict, in the same words wherever it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.thresholds import ALTERNATIVE, INDEPENDENT, VERY_SIMILAR
from ..search.verdict import Verdict
from .sentences import listing

MOST_SIZES = 6  # clusters whose sizes are listed
MOST_WITNESSES = 2  # columns that were not used and are named
CARRIED = 0.7  # total weight of the features that are named
MOSTLY = 0.5  # total weight from which clusters are based mostly on them


def headline(
    sizes: Sequence[int],
    overlap: float | None,
    given: Sequence[tuple[str, float]],
    unit: str,
    carried: str,
    verdict: Verdict,
    converged: bool,
    witnesses: Sequence[str] = (),
) -> dict[str, str]:
    """The first sentences of the report, of the page and of the terminal.

    overlap is the largest with what was given, in this unit, None where nothing was; given has the name and the overlap
    of each; carried says which columns the clusters are based on; witnesses are sentences about columns that were not
    used. The result has the tone and the badge of the verdict; found (what was found), why (whether to believe it) and
    advice (what to do); sentence, which is found and why; and verdict, which is badge and sentence.
    """
    found = f"{', '.join([_clusters(sizes), *_novelty(overlap, given, unit), carried])}."
    told = [verdict.why] if verdict.tone != "obvious" else []
    why = " ".join([*told, *witnesses[:MOST_WITNESSES], *([] if converged else ["The solver did not converge."])])
    sentence = f"{found} {why}".strip()
    return {
        "tone": verdict.tone,
        "badge": verdict.badge,
        "found": found,
        "why": why,
        "advice": verdict.advice,
        "sentence": sentence,
        "verdict": f"{verdict.badge}: {sentence}",
    }


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
    return listing(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} others"


def leading(weights: Sequence[dict[str, Any]]) -> tuple[list[str], float]:
    """The features with most of the weight, at most three, and the weight that they hold; weights are in order."""
    top, held = [], 0.0
    for feature in weights[:3]:
        top.append(feature["name"])
        held += feature["weight"]
        if held >= CARRIED:
            break
    return top, held


def main_features(weights: Sequence[dict[str, Any]], alone: bool) -> str:
    """The features with most of the weight, if three have it."""
    top, held = leading(weights)
    if not alone and len(top) > 1:
        return f"told apart only by {listing(top)} together"
    if held >= CARRIED:
        return f"based on {listing(top)}"
    if len(weights) <= 3 or held >= MOSTLY:
        return f"based mostly on {listing(top)}"
    return f"based on many columns, most on {listing(top)}"
