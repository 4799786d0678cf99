"""One view of a table as one page that opens anywhere: a model -> a plain dict -> HTML.

The page is a single file without requests: its pictures are SVG that we write ourselves, coloured by CSS variables, so
that they print, follow the reader's dark mode and stay small. A drawing library in the page would take megabytes.
"""

from .comparing import render_comparison
from .html import render, write_report
from .summary import summarise

__all__ = ["render", "render_comparison", "summarise", "write_report"]
