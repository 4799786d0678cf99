"""Both clusterings side by side; rows that are selected in one chart are highlighted in the other and listed."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from altclust.apps.web import charts
from altclust.apps.web.escape import unique_names
from altclust.apps.web.exploration import Exploration, ShownView
from altclust.apps.web.session import Session
from altclust.report.sentences import text

MOST_LISTED = 200
NEW = "new clusters"


class Colouring(NamedTuple):
    """What the colours of the plotted rows show, and the levels of the rows (−1 where unknown), or their numbers."""

    name: str
    codes: list[int]
    levels: list[str]
    numbers: np.ndarray | None = None


@st.fragment
def compare(session: Session, study: Exploration, view: ShownView, summary: dict[str, Any]) -> None:
    """Two charts of the same directions, each coloured by what the visitor chooses, and the selected rows."""
    for side, place in zip(("left", "right"), st.columns(2), strict=True):
        with place:
            _chart(session, study, summary, side)
    note = summary["drawing"]["note"]
    if session.chosen:
        if note:
            st.caption(note)
        _show_chosen(session, study, view, summary)
    else:
        st.caption(f"{note} Drag over points to select rows in both charts.".strip())


def _chart(session: Session, study: Exploration, summary: dict[str, Any], side: str) -> None:
    options, known = choices(study, summary), len(summary["given"])
    first = 0 if side == "right" else min(1, len(options) - 1)  # on the left what is known, or the first column
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        title = st.empty()
        place = st.selectbox(
            f"Colours of the {side} chart",
            range(len(options)),
            index=first,
            format_func=lambda i: f"Colour by {options[i]}",
            label_visibility="collapsed",
            width=300,
            key=f"colour-{side}-{study.number}-{session.place}-{len(options)}",
        )
    title.markdown(f"##### {'New clusters' if place == 0 else 'Known clusters' if place <= known else 'Column'}")
    shown, key = colouring(study, summary, place), f"chart-{side}-{place}-{session.turn}"
    if shown.numbers is None:
        figure = charts.scatter(summary["drawing"], shown.codes, shown.levels, session.chosen, given=place > 0)
    else:
        figure = charts.gradient(summary["drawing"], shown.numbers, shown.name, session.chosen)
    st.plotly_chart(
        figure,
        on_select=partial(_brush, session, key),
        selection_mode=("box", "lasso"),
        config={"displaylogo": False, "scrollZoom": False},
        key=key,
        alt=f"The rows in the learnt directions, coloured by {shown.name}.",
    )


def _brush(session: Session, key: str) -> None:
    points = st.session_state[key]["selection"]["points"]
    if points:  # a chart that is drawn anew reports that nothing is selected; the button clears the selection
        session.chosen = sorted({int(np.ravel(point["customdata"])[0]) for point in points})


def _show_chosen(session: Session, study: Exploration, view: ShownView, summary: dict[str, Any]) -> None:
    rows = np.array(session.chosen)
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{len(rows):,} rows selected**")
            if st.button("Clear selection", key="clear"):
                session.clear_chosen()
                st.rerun(scope="fragment")
        counts, table = st.columns([1, 3])
        counts.caption("Rows per cluster")
        counts.dataframe(split(summary, rows), hide_index=True, height=260)
        table.caption(f"The first {MOST_LISTED} rows" if len(rows) > MOST_LISTED else "Rows")
        table.dataframe(listing(study.table.frame, view, rows[:MOST_LISTED]), height=260)


def listing(frame: pd.DataFrame, view: ShownView, rows: np.ndarray) -> pd.DataFrame:
    """These rows with their new clusters, numbered from 1 as in the charts."""
    listed = frame.iloc[rows].astype(str).set_axis(rows + 1)
    new = np.array(view.cluster_names, dtype=object)[view.labels[rows]]
    listed.insert(0, unique_names([*listed.columns, "new cluster"])[-1], new)
    return listed


def split(summary: dict[str, Any], rows: np.ndarray) -> pd.DataFrame:
    """The number of selected rows in each cluster, known and new."""
    drawing = summary["drawing"]
    picked = np.isin(np.array(drawing["ids"]).astype(int), rows)
    sides = [("new clusters", summary["legend"]), *((one["name"], one["legend"]) for one in summary["given"])]
    counts = [
        {"rows": int(np.sum(np.array(codes)[picked] == entry["code"])), "cluster": entry["name"], "of": name}
        for (name, legend), codes in zip(sides, drawing["codes"], strict=True)
        for entry in legend
    ]
    return pd.DataFrame(counts).query("rows > 0")


def choices(study: Exploration, summary: dict[str, Any]) -> list[str]:
    """What rows can be coloured by: the new clusters first, what is known next, then the columns of the table."""
    return [NEW, *(one["name"] for one in summary["given"]), *(text(name) for name in study.study.values.columns)]


def colouring(study: Exploration, summary: dict[str, Any], place: int) -> Colouring:
    """The colours by one of the `choices`, by its place."""
    drawing, sides = summary["drawing"], [{"name": NEW, "legend": summary["legend"]}, *summary["given"]]
    if place < len(sides):
        side = sides[place]
        levels = [entry["name"] for entry in side["legend"] if entry["code"] >= 0]
        return Colouring(side["name"], drawing["codes"][place], levels)
    rows = np.array(drawing["ids"]).astype(int)
    cells = study.study.values.iloc[rows, place - len(sides)]
    name = text(cells.name)
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return Colouring(name, [], [], cells.to_numpy(dtype=float))
    codes, levels = pd.factorize(cells, sort=True)
    return Colouring(name, codes.tolist(), [text(level) for level in levels])
