"""Summaries -> one HTML page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from typing import Any

from ..base.errors import InputError
from ..base.extras import needed_by
from ..files.atomic import write_atomically
from .labelling import MOST_LEVELS
from .palette import css_variables
from .sentences import rows, share

with needed_by("A report"):
    from jinja2 import Environment, PackageLoader
    from markupsafe import Markup

    from .charts import box_chart, line_chart, null_chart
    from .svg import markers, places, scatter, swatch

MOST_LISTED = 500  # columns in the list of all
GLOSSES = {
    "A local minimum": "No small change of the directions improves the result.",
    "A strict local minimum": "No small change of the directions improves the result.",
    "W spans all columns": "All directions are used, so there was none to choose.",
    "Not stationary": "A small change of the directions would still improve the result.",
    "Stationary": "Small changes of the directions hardly change the result.",
    "A saddle": 'A change of the directions would improve the result: try solver="newton" or another start.',
}


def render(*views: dict[str, Any]) -> str:
    """One self-contained HTML page on one or several views, from their `altclust.report.summarise`."""
    if not views:
        raise InputError("views is empty: pass at least one summary.")
    shown = [view | {"pictures": pictures(view)} for view in views]
    return fill("page.html", views=shown, crossing=crossing(views), script=template_file("page.js"))


def crossing(views: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each view: its name, and its overlap with what is given and with the views before it."""
    names = [one["name"] for one in views[-1]["given"]] + [views[-1]["alternative"]]
    lines = []
    for view in views:
        overlaps = {one["name"]: one["overlap"] for one in view["given"]}
        lines.append({"name": view["alternative"], "overlaps": [(name, overlaps.get(name)) for name in names]})
    return lines


def fill(template: str, **content: Any) -> str:
    """A page from one of our templates; every string that is passed to it is escaped."""
    made = Environment(loader=PackageLoader("altclust.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {"rows": rows, "share": share}
    made.globals |= {"most_listed": MOST_LISTED, "swatch": swatch, "in_plain_words": in_plain_words}
    style = Markup(css_variables()) + template_file("page.css")
    return made.get_template(template).render(style=style, marks=markers(MOST_LEVELS), **content)


def write_report(path: str | os.PathLike, *views: dict[str, Any]) -> None:
    """Write `render(*views)` to a file, completely or not at all."""
    page = render(*views)
    # A damaged file may hold half of a surrogate pair, which UTF-8 cannot encode.
    write_atomically(path, lambda temporary: temporary.write_text(page, encoding="utf-8", errors="replace"))


def pictures(view: dict[str, Any]) -> dict[str, Any]:
    """The plots of one view as SVG, and the data of the points for the script."""
    drawn = view["drawing"]
    x, y = places(drawn["x"], drawn["y"])
    names = [view["alternative"], *(one["name"] for one in view["given"])]
    legends = [view["legend"], *(one["legend"] for one in view["given"])]
    history = view["history"]
    seen = history.get("rows", [])
    sampled = sum(count < max(seen) for count in seen)
    moved, measure = history["change_W"], "Change of the directions in each round"
    if view["one_objective"]:
        moved, measure = history["residual"], "First-order residual after each step"
    return {
        "scatter": [
            scatter(x, y, drawn["codes"], i, f"Rows in the learnt directions, coloured by {name}", given=i > 0)
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
        "value": line_chart(history["value"], "Objective after each round", sampled=sampled),
        "change": line_chart(moved, measure, log=True, bound=view["tol"], sampled=sampled),
        "null": null_chart(view["significance"]["reference"] or [], view["significance"]["score"] or 0.0),
        "boxes": [
            box_chart(one["boxes"], f"{one['name']} in each new cluster", one["is_date"]) for one in view["given"]
        ],
        "sampled": sampled,
    }


def in_plain_words(verdict: str) -> str:
    """The verdict of a certificate in plain words."""
    return next((plain for start, plain in GLOSSES.items() if verdict.startswith(start)), "")


def template_file(name: str) -> Markup:
    """The text of one of our own files, which is inserted without escaping."""
    return Markup(resources.files("altclust.report").joinpath("templates", name).read_text(encoding="utf-8"))
