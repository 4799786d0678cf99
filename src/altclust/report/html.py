"""Summaries -> one page."""

from __future__ import annotations

import os
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from ..base.errors import InputError
from ..files.model_archive import write_whole
from .chart import line_chart
from .labelling import MOST_LEVELS
from .sentences import rows, share
from .svg import markers, places, scatter, swatch

GLOSSES = {
    "A local minimum": "No small turn of the learnt directions makes the view better.",
    "A strict local minimum": "No small turn of the learnt directions makes the view better.",
    "W spans all columns": "All columns are in the view, so there were no directions to choose.",
    "Not stationary": "The directions could still be turned a little towards a better view.",
    "Stationary": "Small turns of the learnt directions hardly change the view.",
    "A saddle": 'A turn of the learnt directions would make the view better: try solver="newton" or another start.',
}


def render(*views: dict[str, Any]) -> str:
    """One HTML page that shows one or several views and needs nothing beside itself.

    Parameters
    ----------
    views : dicts
        From `altclust.report.summarise`.
    """
    if not views:
        raise InputError("views is empty: pass at least one summary.")
    return (
        environment()
        .get_template("page.html")
        .render(
            views=[view | {"pictures": pictures(view)} for view in views],
            marks=markers([-1, *range(MOST_LEVELS)]),
            style=own("page.css"),
            script=own("page.js"),
        )
    )


def environment() -> Environment:
    """Where the templates are, and what they may call; every string that they are given is escaped."""
    made = Environment(loader=PackageLoader("altclust.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"rows": rows, "share": share}
    made.globals |= {"swatch": swatch, "gloss": gloss}
    return made


def write_report(path: str | os.PathLike, *views: dict[str, Any]) -> None:
    """Write `render(*views)` to a file, which is there whole or not at all."""
    page = render(*views)
    # Half of a surrogate pair, which a damaged file may hold, has no place in UTF-8.
    write_whole(path, lambda temporary: temporary.write_text(page, encoding="utf-8", errors="replace"))


def pictures(view: dict[str, Any]) -> dict[str, Any]:
    """The pictures of one view as SVG, and what its script must know of the points."""
    drawn = view["drawing"]
    x, y = places(drawn["x"], drawn["y"])
    names = [view["alternative"], *(one["name"] for one in view["given"])]
    legends = [view["legend"], *(one["legend"] for one in view["given"])]
    history = view["history"]
    seen = history.get("rows", [])
    sampled = sum(count < max(seen) for count in seen)
    return {
        "scatter": [
            scatter(x, y, drawn["codes"], i, f"Rows in the learnt directions, coloured by {name}")
            for i, name in enumerate(names)
        ],
        "points": {
            "x": x,
            "y": y,
            "codes": drawn["codes"],
            "names": names,
            "levels": [{str(entry["code"]): entry["name"] for entry in legend} for legend in legends],
            "ids": drawn["ids"],
            "columns": drawn["columns"],
            "values": drawn["values"],
        },
        "value": line_chart(history["value"], "The cost after each round", sampled=sampled),
        "change": line_chart(
            history["change_W"], "How far the directions moved", log=True, bound=view["tol"], sampled=sampled
        ),
        "sampled": sampled,
    }


def gloss(verdict: str) -> str:
    """What a certificate means, without its mathematics."""
    return next((plain for start, plain in GLOSSES.items() if verdict.startswith(start)), "")


def own(name: str) -> Markup:
    """A file of ours, which may stand in a page as it is."""
    return Markup(resources.files("altclust.report").joinpath("templates", name).read_text(encoding="utf-8"))
