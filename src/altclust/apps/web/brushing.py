"""Both clusterings side by side; rows that are selected in one chart are highlighted in the other and listed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from altclust.apps.web import charts
from altclust.apps.web.escape import paragraph, unique_names
from altclust.apps.web.session import Session
from altclust.apps.web.study import Study, View

MOST_LISTED = 200


@st.fragment
def compare(session: Session, study: Study, view: View, summary: dict[str, Any]) -> None:
    """Two charts of the same directions, and the selected rows."""
    drawing, known = summary["drawing"], summary["given"]
    place = 0
    if len(known) > 1:
        place = st.selectbox(
            "Clustering in the left chart",
            range(len(known)),
            format_func=lambda i: known[i]["name"],
            width=300,
            key=f"which-{session.place}-{len(known)}",
        )
    left, right = st.columns(2)
    with left:
        if known:
            st.markdown("##### Known clusters")
            st.html(paragraph(f"Coloured by {known[place]['name']}"))
            _chart(session, drawing, drawing["codes"][1 + place], known[place]["legend"], "known")
        else:
            st.markdown("##### No known clusters")
            st.text("Choose a column with known clusters to see it here.")
    with right:
        st.markdown("##### New clusters")
        st.html(paragraph("Coloured by new cluster"))
        _chart(session, drawing, drawing["codes"][0], summary["legend"], "found")
    if drawing["note"]:
        st.caption(drawing["note"])
    if session.chosen:
        _show_chosen(session, study, view, summary)
    else:
        st.caption("Drag over points to select rows in both charts.")


def _chart(
    session: Session, drawing: dict[str, Any], codes: list[int], legend: list[dict[str, Any]], side: str
) -> None:
    names = [entry["name"] for entry in legend if entry["code"] >= 0]
    key = f"chart-{side}-{session.turn}"
    st.plotly_chart(
        charts.scatter(drawing, codes, names, session.chosen),
        on_select=partial(_brush, session, key),
        selection_mode=("box", "lasso"),
        config={"displaylogo": False, "scrollZoom": False},
        key=key,
        alt=f"The rows in the learnt directions, with the {'known' if side == 'known' else 'new'} clusters as colours.",
    )


def _brush(session: Session, key: str) -> None:
    points = st.session_state[key]["selection"]["points"]
    session.chosen = sorted({int(np.ravel(point["customdata"])[0]) for point in points})


def _show_chosen(session: Session, study: Study, view: View, summary: dict[str, Any]) -> None:
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


def listing(frame: pd.DataFrame, view: View, rows: np.ndarray) -> pd.DataFrame:
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
