"""Sections as one self-contained HTML page: pictures are embedded and all text is escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from .section import Section

_NUMBER = re.compile(r"^[-−+]?[\d.,]+(e[-+]?\d+)?( ± [\d.,]+)?( ✓| %)?$|^–$")


def build_page(title: str, sections: Sequence[Section], introduction: str = "") -> str:
    """One HTML page with a section for each of `sections`, and links to them; pictures are embedded."""
    from jinja2 import Environment, PackageLoader  # here, because it would slow down every other command

    loader = PackageLoader("altclust.paper", "")
    made = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"text": cell_text, "encoded": lambda path: b64encode(path.read_bytes()).decode("ascii")}
    return made.get_template("page.html").render(
        title=title, sections=sections, introduction=introduction, classes=_classes
    )


def cell_text(cell: Any) -> str:
    """A cell of a table; numbers with four digits."""
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _classes(column: str, cell: Any) -> Any:
    from markupsafe import Markup

    text = cell_text(cell)
    found = {"number": _NUMBER.match(text), "printed": column == "printed", "agrees": text.endswith("✓")}
    names = " ".join(name for name, applies in found.items() if applies)
    return Markup(f' class="{names}"' if names else "")
