"""The obvious groups that a search left aside, in a sentence."""

from __future__ import annotations

from typing import Any

MOST_RULES = 3  # obvious groups that are named


def left_out(model: Any) -> str | None:
    """The obvious groups that the search found and left aside, in a sentence; None if there are none."""
    source = model.tuning_ or model.fitted_.significance
    own = model.fitted_.obvious_group
    rules = (
        [] if source is None else [one.phrase for one in source.obvious if own is None or one.columns != own.columns]
    )
    more = f" and {len(rules) - MOST_RULES} more" if len(rules) > MOST_RULES else ""
    return f"Obvious groups that were left aside: {', '.join(rules[:MOST_RULES])}{more}." if rules else None
