"""The colours of clusters, which stay distinct for colour-blind readers: Okabe and Ito's for new clusters.

Given clusters have other hues and hollow marks, so that nobody takes two clusters for one because they look alike.
"""

from __future__ import annotations

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")  # in print
ANY_PAGE = (*COLOURS[:-1], "#8A8A8A")  # on pages that may be dark, where black is not visible
# Given clusters, on light and dark pages: at least 22 apart in CIELAB, also with each kind of colour blindness.
GIVEN = ("#8457D0", "#8C8410", "#A3505A", "#4F8F9D", "#DC9F80", "#ACA2FC", "#5D48F9", "#803690")
UNKNOWN = "#BBBBBB"  # rows without a label
ACCENTS = ("#0072B2", "#2A85C7")  # buttons of the page in the browser, light and dark
# The same hues with more contrast, for the light and the dark style of the report; the last is that of unknown rows.
LIGHT = ("#0072b2", "#e08e00", "#009e73", "#c2639a", "#4aa3dc", "#d55e00", "#b3a100", "#4b4f57", "#b3bac4")
DARK = ("#4c9fe8", "#f5b03e", "#2cc497", "#ea95c4", "#93d4fa", "#ff8650", "#efe256", "#dfe3ea", "#5b6675")


def mark(code: int) -> tuple[int, int]:
    """The numbers of a cluster's colour and shape; colours repeat with other shapes."""
    n = len(COLOURS)
    return code % n, (code + code // n) % n


def css_variables() -> str:
    """The colours of the report: ``--c0`` to ``--c7`` and ``--unknown``, and ``.g0`` to ``.g7`` of given clusters."""
    names = [*(f"--c{i}" for i in range(len(COLOURS))), "--unknown"]
    light, dark = ("".join(map("{}:{};".format, names, colours)) for colours in (LIGHT, DARK))
    given = "".join(f".g{i}{{stroke:{colour}}}" for i, colour in enumerate(GIVEN))
    return f":root{{{light}}}@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}\n{given}\n"
