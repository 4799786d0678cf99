"""The printed values of Table 1, and the rule for agreement with ours."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

MEASURES = ("nmi", "cq", "novelty", "cost", "time")

ABSOLUTE = 0.02  # tolerance for NMI, CQ and novelty
RELATIVE = 0.02  # tolerance for a cost, relative to the printed one

RULE = (
    "✓ marks agreement: NMI, CQ and novelty within 0.02 of the printed value and the cost within 2 % of it, or within "
    "the printed deviation of a random start; a cost, or a CQ printed with decimals, may also round to the printed "
    "digits. The cost is compared as the authors compute it, not the true one. Times are never marked."
)


@dataclass(frozen=True)
class Figure:
    """One printed value: its text, and the text of its standard deviation for random starts."""

    text: str
    deviation: str | None = None

    @property
    def value(self) -> float:
        """The value as a number."""
        return float(self.text)

    @property
    def half_digit(self) -> float:
        """Half a unit of the last printed digit."""
        return 0.5 * 10.0 ** -len(self.text.partition(".")[2])

    def __str__(self) -> str:
        return self.text if self.deviation is None else f"{self.text} ± {self.deviation}"


@cache
def printed() -> dict[tuple[str, str, str], dict[str, Figure]]:
    """Every printed row by (set, method, init); a row has one figure per measure."""
    # Floats stay text, so that "2.0" and "2" keep the number of digits that was printed.
    text = files(__package__).joinpath("expected.toml").read_text(encoding="utf-8")
    rows = {}
    for name, block in tomllib.loads(text, parse_float=str).items():
        for row, figures in block.items():
            method, init = row.split("_")
            texts = {key: map(str, value if isinstance(value, list) else [value]) for key, value in figures.items()}
            rows[name, method, init] = {measure: Figure(*text) for measure, text in texts.items()}
    return rows


def agrees(measure: str, ours: float, figure: Figure) -> bool:
    """Whether our value agrees with the printed one, by `RULE`."""
    if measure == "time":
        return False
    allowed = RELATIVE * abs(figure.value) if measure == "cost" else ABSOLUTE
    allowed = max(allowed, float(figure.deviation or 0))
    # "1" may be a rounded 0.6, which is too rough for an NMI, but it is how costs were rounded
    if measure == "cost" or (measure == "cq" and "." in figure.text):
        allowed = max(allowed, figure.half_digit)
    return abs(ours - figure.value) <= allowed + 1e-12
