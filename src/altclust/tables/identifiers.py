"""Columns that name rows instead of measuring them: row numbers, order numbers, customers, subjects.

The name of a column is a hint. Whole numbers are also recognised by what measurements never do: they rise evenly with
the rows, they number blocks of rows of equal length, or they repeat less than by chance, as patients with three visits
each. For n values in a range of R whole numbers, chance gives at least about n (n - 1) / 2R equal pairs, whatever the
distribution.
"""

from __future__ import annotations

import re

import numpy as np
from scipy.stats import poisson

NAMED = re.compile(
    r"(.*[\W_])?(id|idx|index|key|uuid|row|rownum|row[\W_]?(number|name)s?)|unnamed: \d+|", re.IGNORECASE
)
NAMED_AGAIN = re.compile(  # also where values repeat
    r"(.*[\W_])?(id|uuid)|subject|patient|participant|respondent|customer|client|user|.*[\W_](no|nr|number)",
    re.IGNORECASE,
)
CAPITAL = re.compile(r".*[a-z](I[Dd]|N[or]|Number)")  # customerID, InvoiceNo
FEWEST = 8  # rows that are not in order by chance
RARE = 1e-3  # probability of so few equal pairs
NEARLY = 0.9  # share of the rows whose number is there
MOST_ROWS = 3  # of each number, on average, where it repeats less than by chance
EVEN = 0.99  # correlation of a column with the row numbers
YEARS = 1500, 2100  # in order, because a table is sorted by them


def is_named(name: str, again: bool = False) -> bool:
    """Whether the name of a column is that of an identifier; again: of one whose values may repeat."""
    forms = (NAMED_AGAIN, CAPITAL) if again else (NAMED, NAMED_AGAIN, CAPITAL)
    return any(form.fullmatch(name.strip()) for form in forms)


def why_identifier(name: str, numbers: np.ndarray, few: int) -> str:
    """Why a column of numbers (NaN where missing) with more than a few values is an identifier; "" if it is not."""
    values = numbers[~np.isnan(numbers)]
    n, different = len(values), np.unique(values)
    if n <= 2 or n < NEARLY * len(numbers) or not np.all(values == np.round(values)):
        return ""
    if len(different) == n and different[-1] - different[0] == n - 1:
        return "row numbers"
    if len(different) == n and is_named(name):
        return "a number for every row"
    if len(different) > few and is_named(name, again=True):
        return f"an identifier with {len(different)} values, by its name"
    if n < FEWEST:
        return ""
    if len(different) == n and _rises_evenly(values):
        return "rises evenly with the rows"
    if MOST_ROWS * len(different) >= n and _hardly_repeats(values, different):
        return "numbers that repeat less than by chance, as those of an identifier"
    if len(different) > few and _numbers_blocks(values):
        return "numbers blocks of rows"
    return ""


def _rises_evenly(values: np.ndarray) -> bool:
    """Whether different numbers are in order, and most steps are alike or all of them small."""
    steps = np.diff(values)
    if steps.min() <= 0:
        return False
    alike = np.unique(steps, return_counts=True)[1].max() >= len(steps) / 2
    return bool(alike or np.corrcoef(values, np.arange(len(values)))[0, 1] > EVEN)


def _hardly_repeats(values: np.ndarray, different: np.ndarray) -> bool:
    """Whether there are fewer equal pairs than chance gives."""
    n, counts = len(values), np.unique(values, return_counts=True)[1]
    size = float(np.ptp(different)) / float(np.diff(different).min()) + 1  # of the range, in its smallest steps
    pairs = float(np.sum(counts * (counts - 1.0))) / 2
    return bool(poisson.cdf(pairs, n * (n - 1.0) / (2 * size)) < RARE)


def _numbers_blocks(values: np.ndarray) -> bool:
    """Whether rising numbers stand in several rows each, most of them in equally many."""
    steps = np.diff(values)
    if steps.min() < 0 or (YEARS[0] <= values[0] and values[-1] <= YEARS[1]):
        return False
    lengths = np.diff(np.concatenate([[-1], np.flatnonzero(steps), [len(steps)]]))
    found, times = np.unique(lengths, return_counts=True)
    return bool(found[np.argmax(times)] > 1 and times.max() >= len(lengths) / 2)
