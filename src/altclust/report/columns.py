"""Every column of a table: its type, how it was used, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .sentences import text

FIELDS = ("column", "type", "use", "why")


def listed_columns(model: Any, listing: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """The columns of a recipe's listing as plain dicts; what the search left aside is told.

    Parameters
    ----------
    model : KDAC
        Fitted.
    listing : sequence of (column, type, use, why)
        Such as `altclust.tables.Recipe.listing`.
    """
    aside = model.left_aside()
    found = [dict(zip(FIELDS, one, strict=True)) for one in listing]
    for one in found:
        if one["column"] in aside:
            one |= {"use": "left aside", "why": "its values are an obvious group"}
    return [{key: text(value) for key, value in one.items()} for one in found]
