"""The report on a view as one self-contained page: a model -> a plain dict -> HTML.

The page is a single file that works offline. Its plots are our own SVG, coloured by CSS variables, so that they print,
follow the reader's dark mode and stay small; a plotting library in the page would take megabytes.
"""

from .comparing import render_comparison
from .html import render, write_report
from .summary import summarise

__all__ = ["render", "render_comparison", "summarise", "write_report"]
