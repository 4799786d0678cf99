"""The verdict on a view: from all evidence to one tone, in the same words wherever it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..base.thresholds import ALTERNATIVE

if TYPE_CHECKING:
    from .obvious import Obvious
    from .significance import Significance

LEVEL = 0.05
STABLE = 0.85  # stability, below which other rows give other clusters
SAME_VIEW = 0.5  # NMI with the clusters of halves, below which the test is one of other clusters
ROWS_PER_CLUSTER = 25  # fewer in each cluster are too few to test in halves

BADGES = {
    "clear": "New and significant",
    "first": "Significant",
    "known": "Similar to what was given",
    "obvious": "Obvious groups",
    "chance": "Not significant",
    "unstable": "No reproducible clustering",
    "small": "Too few rows to test",
    "untested": "Significance not tested",
    "predicted": "Clusters predicted",
}
ADVICE = {
    "clear": "You can use these clusters: read what sets each apart, and check that it makes sense to you.",
    "first": "You can use these clusters: read what sets each apart, and check that it makes sense to you.",
    "known": "This is no new view: look at the other views, or leave out the columns that show what was given.",
    "obvious": "This is a fact about these columns: leave them out to see what the others show.",
    "chance": "Do not take these clusters for groups that exist: at most, they divide the rows for convenience. Next, "
    "leave out dates, identifiers and columns that do not matter to you, or give another column.",
    "unstable": "Do not use these clusters: fewer columns, those that matter to you, or more rows may show some.",
    "small": "Read the clusters as a suggestion: fewer columns, those that matter to you, or more rows may tell.",
    "untested": "Test it before you rely on these clusters.",
    "predicted": "See the report of the fit for its significance.",
}
REAL = ("clear", "first", "known")


@dataclass(frozen=True)
class Verdict:
    """What the evidence says.

    Attributes
    ----------
    tone : str
        A key of `BADGES`.
    why : str
        The reason, in sentences.
    """

    tone: str
    why: str

    @property
    def badge(self) -> str:
        """The verdict in a few words."""
        return BADGES[self.tone]

    @property
    def advice(self) -> str:
        """What to do next."""
        return ADVICE[self.tone]

    def __str__(self) -> str:
        return f"{self.badge}: {self.why}"


def judge(found: Significance) -> Verdict:
    """The verdict of a test, of what it found about columns, and of the overlap with what was given."""
    if found.is_obvious:
        return Verdict("obvious", f"These clusters are {found.obvious[0].phrase}.")
    if found.p_value != found.p_value:
        needed = f"the test needs {ROWS_PER_CLUSTER} for each cluster"
        return Verdict("small", f"The table has {found.rows:,} rows; {needed}.")
    stability, halves = round(found.stability, 2), round(found.halves, 2)  # as they are shown
    if stability < STABLE or (found.block and halves < SAME_VIEW):
        part, value = ("Samples", stability) if stability < STABLE else ("Halves", halves)
        again = f"{part} of the rows give other clusters (NMI {value:.2f})."
        return Verdict("unstable", " ".join([again, *_caution(found, weak=True)]))
    again = f"Samples of the rows give the same clusters (NMI {stability:.2f})."
    if halves < SAME_VIEW:
        few = f"Halves of the {found.rows:,} rows tested are too few to show them (NMI {halves:.2f})."
        return Verdict("small", f"{again} {few}")
    why = " ".join([_clear(found), again, *_caution(found, weak=found.p_value > LEVEL)])
    if found.p_value > LEVEL:
        return Verdict("chance", why)
    if found.overlap > ALTERNATIVE:
        return Verdict("known", why)
    return Verdict("first" if found.overlap != found.overlap else "clear", why)


def judge_untested(overlap: float | None, rule: Obvious | None) -> Verdict:
    """The verdict where significance was not tested: what a column says, and the overlap with what was given."""
    if rule is not None and rule.few_valued:
        return Verdict("obvious", f"These clusters are {rule.phrase}.")
    known = overlap is not None and overlap > ALTERNATIVE
    return Verdict("known" if known else "untested", "Whether the clusters exist was not tested.")


def _p(found: Significance) -> str:
    smallest = found.p_value <= found.smallest_p * 1.001
    views = "" if found.views == 1 else f", corrected for {found.views} views"
    return (f"p ≤ {found.smallest_p:.2g}" if smallest else f"p = {found.p_value:.2g}") + views


def _clear(found: Significance) -> str:
    share = found.p_value / found.views  # of one view, before the correction
    cases = f"{100 * share:.0f} of 100" if share >= 0.01 else "fewer than 1 of 100"
    if found.without_gaps:
        return f"Neighbouring clusters touch: data without groups have as clear gaps in {cases} cases ({_p(found)})."
    return f"Data without groups show clusters this clear in {cases} cases ({_p(found)})."


def _caution(found: Significance, weak: bool = False) -> list[str]:
    """What limits the test."""
    told = []
    if weak and found.rows < 4 * ROWS_PER_CLUSTER:
        told.append(f"With {found.rows} rows, real clusters are often missed.")
    if found.block:
        blocks = max(2, found.rows // found.block)
        told.append(
            f"Consecutive rows are alike, as in a time series: the halves are made of {blocks} blocks of consecutive "
            "rows, and p assumes independent rows, so that it may be too small. Shuffle the rows if their order means "
            "nothing."
        )
    return told
