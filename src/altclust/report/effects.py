"""Effect sizes: how much each cluster differs from all other rows, column by column; quantiles of a measurement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from .sentences import dates_with_others, share, text, with_others

MOST_LEVELS = 30  # of a text column; columns with more are names or identifiers
QUANTILES = {"low": 0.05, "first": 0.25, "median": 0.5, "third": 0.75, "high": 0.95}
LARGEST = 10.0  # the effect is infinite where the groups have no variance


@dataclass(frozen=True)
class ColumnEffect:
    """The effect sizes of one column, one per cluster."""

    name: str
    size: np.ndarray  # Cohen's d of the means for numbers, Cohen's h of the shares for text; 0 where it is undefined
    inside: np.ndarray  # mean, or share of the level, among the cluster's rows; of dates, nanoseconds since 1970
    outside: np.ndarray  # the same among all others
    levels: list[str] | None = None  # for text, the level with the largest effect in each cluster
    is_date: bool = False  # whether the values are dates


def column_effects(values: pd.DataFrame, codes: np.ndarray, k: int) -> list[ColumnEffect]:
    """The effects of all columns that are numbers or have few levels; missing cells are left out.

    codes, shape (n,), are the clusters, of which there are k; −1 is in none, and counts among the other rows of each.
    """
    found = (_column_effect(text(name), values.iloc[:, j], codes, k) for j, name in enumerate(values.columns))
    return [effect for effect in found if effect is not None]


def _column_effect(name: str, column: pd.Series, codes: np.ndarray, k: int) -> ColumnEffect | None:
    kind, is_date = column.dtype, types.is_datetime64_any_dtype(column.dtype)
    if is_date or (types.is_numeric_dtype(kind) and not types.is_bool_dtype(kind) and not types.is_complex_dtype(kind)):
        return replace(_of_numbers(name, as_numbers(column), codes, k), is_date=is_date)
    try:
        levels, names = pd.factorize(column)
    except TypeError:  # lists and the like cannot be factorised
        return None
    if not 2 <= len(names) <= MOST_LEVELS or len(names) > max(2, len(column) // 2):
        return None
    return _of_levels(name, levels, [text(level) for level in names], codes, k)


def as_numbers(column: pd.Series) -> np.ndarray:
    """Numbers, or dates as nanoseconds since 1970; NaN where missing."""
    if not types.is_datetime64_any_dtype(column.dtype):
        return column.to_numpy(dtype=float, na_value=np.nan)
    times = column.to_numpy(dtype="datetime64[ns]")
    return np.where(np.isnat(times), np.nan, times.astype(float))


def _of_numbers(name: str, x: np.ndarray, codes: np.ndarray, k: int) -> ColumnEffect:
    known = np.isfinite(x)
    if not known.all():
        x, codes = x[known], codes[known]
    scale = float(np.max(np.abs(x), initial=0.0)) or 1.0  # so that squares neither overflow nor underflow
    x = x / scale
    middle = x.mean() if len(x) else 0.0
    x = x - middle
    member = codes + 1  # unknown rows first
    counts, sums = (np.bincount(member, w, minlength=k + 1) for w in (None, x))
    n, others = counts[1:], len(x) - counts[1:]
    defined = (n > 0) & (others > 0)
    inside = sums[1:] / np.maximum(n, 1)
    outside = (x.sum() - sums[1:]) / np.maximum(others, 1)
    scatter = x @ x - n * inside**2 - others * outside**2
    spread = np.sqrt(np.maximum(scatter, 0) / np.maximum(len(x) - 2, 1))
    difference = np.where(defined, inside - outside, 0.0)
    difference[np.abs(difference) < 1e-12] = 0.0  # rounding errors of equal means
    size = np.clip(difference / np.maximum(spread, 1e-12), -LARGEST, LARGEST)
    return ColumnEffect(name, size, (inside + middle) * scale, (outside + middle) * scale)


def _of_levels(name: str, levels: np.ndarray, names: list[str], codes: np.ndarray, k: int) -> ColumnEffect:
    known = levels >= 0
    pairs = (codes[known] + 1) * len(names) + levels[known]
    counts = np.bincount(pairs, minlength=(k + 1) * len(names)).reshape(k + 1, len(names))
    inside, outside = counts[1:], counts.sum(axis=0) - counts[1:]
    n, others = inside.sum(axis=1, keepdims=True), outside.sum(axis=1, keepdims=True)
    inside, outside = inside / np.maximum(n, 1), outside / np.maximum(others, 1)
    h = 2 * np.arcsin(np.sqrt(inside)) - 2 * np.arcsin(np.sqrt(outside))
    h *= (n > 0) & (others > 0)
    most = np.argmax(np.abs(h) + 1e-9 * (h > 0), axis=1)  # of "yes" and "no", the one that is more frequent
    every = np.arange(k), most
    return ColumnEffect(name, h[every], inside[every], outside[every], [names[level] for level in most])


def strongest(
    effects: Sequence[ColumnEffect], cluster: int, most: int, later: Collection[str] = ()
) -> list[dict[str, Any]]:
    """The columns in which a cluster differs most, as plain dicts; those to be told later come after all others.

    Of columns whose levels have the same shares, as "no internet" in six services, the first stands for all.

    Of each: name, level (None for numbers and dates), is_date, effect, inside, outside, and comparison: both as text.
    """
    sizes = np.array([effect.size[cluster] for effect in effects])
    order = np.lexsort([-np.abs(sizes), [effect.name in later for effect in effects]])
    first: dict[tuple[Any, ...], ColumnEffect] = {}
    for j in order:
        first.setdefault(_shares(effects[j], cluster), effects[j])
    return [_feature(effect, cluster) for effect in list(first.values())[:most]]


def _shares(effect: ColumnEffect, cluster: int) -> tuple[Any, ...]:
    """What is the same for levels that stand in the same rows; the name for numbers."""
    if effect.levels is None:
        return (effect.name,)
    return float(effect.inside[cluster]), float(effect.outside[cluster])


def _feature(effect: ColumnEffect, cluster: int) -> dict[str, Any]:
    inside, outside = float(effect.inside[cluster]), float(effect.outside[cluster])
    level = None if effect.levels is None else effect.levels[cluster]
    compared = dates_with_others if effect.is_date else with_others
    return {
        "name": effect.name,
        "level": level,
        "is_date": effect.is_date,
        "effect": round(float(effect.size[cluster]), 3),
        "inside": inside,
        "outside": outside,
        "comparison": compared(inside, outside) if level is None else f"{share(inside)} (others {share(outside)})",
    }


def boxes(values: np.ndarray, codes: np.ndarray, clusters: int) -> list[dict[str, Any]]:
    """Quantiles of a measurement (NaN is unknown) in each cluster (−1 is unknown) with values, as plain numbers."""
    found = []
    for code in range(clusters):
        inside = values[(codes == code) & ~np.isnan(values)]
        if len(inside):
            quantiles = np.quantile(inside, list(QUANTILES.values())).tolist()
            found.append({"code": code, "rows": len(inside), **dict(zip(QUANTILES, quantiles, strict=True))})
    return found
