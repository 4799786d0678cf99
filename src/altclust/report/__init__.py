"""The report on a view as one self-contained page: a model -> a plain dict -> HTML.

The page is a single file that works offline. Its plots are our own SVG, coloured by CSS variables, so that they print,
follow the reader's dark mode and stay small; a plotting library in the page would take megabytes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .summary import Shown, summarise

if TYPE_CHECKING:
    from .comparing import render_comparison
    from .html import render, write_report

__all__ = ["Shown", "render", "render_comparison", "summarise", "write_report"]

_PAGES = {"render": "html", "render_comparison": "comparing", "write_report": "html"}


def __getattr__(name: str) -> Any:
    """A function from its module: the dict can be made without the libraries that the page needs."""
    if name in _PAGES:
        return getattr(import_module(f".{_PAGES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
