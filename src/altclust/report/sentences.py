"""Numbers as text, and sentences about clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from ..base.errors import LONGEST, one_line, shown_name

NEGLIGIBLE, MEDIUM, LARGE, VERY_LARGE = 0.2, 0.5, 0.8, 1.3  # effect sizes at which the words change
MOST_NAMED = 3  # features in a sentence


def text(value: Any) -> str:
    """A value or a name as one short line, never empty: 1.0 is "1", and long text is cut."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return shown_name(value)


def number(value: Any) -> float | None:
    """A number for JSON, which has neither NaN nor infinity."""
    return float(value) if math.isfinite(value) else None


def with_others(inside: float, outside: float) -> str:
    """A mean and that of all other rows, to three significant digits or as many as it takes to differ."""
    largest = max(inside, outside, key=abs)
    inside, outside = (0.0 if abs(mean) < 1e-12 * abs(largest) else mean for mean in (inside, outside))  # rounding
    least = _decimals(largest)
    pairs = [(_written(inside, decimals), _written(outside, decimals)) for decimals in range(least, least + 4)]
    return "{} (others {})".format(*next((pair for pair in pairs if pair[0] != pair[1]), pairs[0]))


def dates_with_others(inside: float, outside: float) -> str:
    """A mean date and that of all other rows, from nanoseconds since 1970; with the time where it is the same day."""
    times = [str(np.datetime64(int(nanoseconds), "ns")).replace("T", " ") for nanoseconds in (inside, outside)]
    length = 16 if times[0][:10] == times[1][:10] else 10
    return f"{times[0][:length]} (others {times[1][:length]})"


def _decimals(value: float) -> int:
    """Decimals for three significant digits; negative from ten thousand on."""
    if value == 0 or not math.isfinite(value):
        return 0
    magnitude = math.floor(math.log10(abs(value)))
    return 2 - magnitude if magnitude >= 4 else max(0, 2 - magnitude)


def _written(value: float, decimals: int) -> str:
    if value != 0 and not 1e-5 <= abs(value) < 1e12:
        return f"{value:.3g}"
    rounded = round(value, decimals) + 0.0  # no "-0"
    comma = "," if abs(rounded) >= 10_000 else ""
    return f"{rounded:{comma}.{max(decimals, 0)}f}"


def cell(value: Any) -> str:
    """One cell of a table: numbers nearly in full, text cut, missing cells as a dash."""
    if value is None or value is pd.NA or value != value:
        return "–"
    if isinstance(value, datetime):
        return value.isoformat(" ", "minutes").removesuffix(" 00:00")
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        if value != 0 and not 1e-4 <= abs(value) < 1e12:
            return f"{value:.4g}"
        comma = "," if abs(value) >= 10_000 else ""
        whole = float(value).is_integer() or abs(value) >= 100_000
        return f"{value:{comma}.0f}" if whole else f"{value:{comma}.{max(0, 3 - math.floor(math.log10(abs(value))))}f}"
    return one_line(value, LONGEST)


def share(value: float) -> str:
    """A share as per cent."""
    percent = 100 * value
    return f"{percent:.1f} %" if 0.05 <= percent < 1 else f"{percent:.0f} %"


def rows(count: int) -> str:
    """A number of rows."""
    return f"{count:,} row" if count == 1 else f"{count:,} rows"


def listing(parts: Sequence[str]) -> str:
    """Parts with commas and "and"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def strength(size: float) -> str:
    """The size of an effect as an adverb and a space; empty for a medium one."""
    bounds = ((VERY_LARGE, "much "), (LARGE, "clearly "), (MEDIUM, ""))
    return next((word for bound, word in bounds if abs(size) >= bound), "slightly ")


def describe(feature: dict[str, Any]) -> str:
    """One feature of a cluster, from `altclust.report.effects.strongest`: "much higher income, 52.1 (others 31.0)"."""
    size, level = feature["effect"], feature["level"]
    if level is None:
        more, less = ("later", "earlier") if feature.get("is_date") else ("higher", "lower")
        return f"{strength(size)}{more if size > 0 else less} {feature['name']}, {feature['comparison']}"
    return f"{feature['name']} is “{level}” for {feature['comparison']}"


def cluster_sentence(name: str, count: int, of: int, features: Sequence[dict[str, Any]]) -> str:
    """How a cluster with so many rows of a table differs from all other rows: by its features, the strongest first."""
    start = name[:1].upper() + name[1:] if name.startswith("cluster ") else name
    start = f"{start} ({rows(count)}, {share(count / of)})"
    if count == 0:
        return f"{start} is empty."
    named = [describe(f) for f in features[:MOST_NAMED] if abs(f["effect"]) >= NEGLIGIBLE]
    if not named:
        return f"{start}: no single column differs from the other rows."
    return f"{start}: {'; '.join(named)}."
