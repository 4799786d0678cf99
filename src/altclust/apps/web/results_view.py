"""The results: both clusterings side by side, quality and overlap, descriptions of the clusters, downloads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from altclust.apps.web import charts, downloads
from altclust.apps.web.brushing import compare
from altclust.apps.web.column_charts import MOST_CHARTS, column_charts
from altclust.apps.web.escape import for_disk, image, paragraph, unique_names
from altclust.apps.web.exploration import Exploration, ShownView
from altclust.apps.web.jobs import Job, Pool
from altclust.apps.web.progress_view import show_aside
from altclust.apps.web.session import Session
from altclust.models.views import Views
from altclust.report.charts import NULL_LABEL, null_chart

WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
ENDS = {WEIGHTS[0]: "quality", WEIGHTS[-1]: "novelty"}
TONES: dict[str, Any] = {"clear": "green", "first": "green", "chance": "red", "unstable": "red"}  # others are orange
STEPS = {
    "test": "Finds the view again in halves of the rows, tests it in the other halves, and repeats the fit in samples.",
    "search": "Finds clusters that differ from the known ones and from all views so far.",
}
PATIENCE = 2.0  # seconds to wait for a refit before progress is shown


def show(session: Session, pool: Pool, study: Exploration, view: ShownView) -> None:
    """Show the views that were found."""
    summary = study.summary(view)
    headline, testing = summary["headline"], session.is_testing(view)
    with st.container(horizontal=True, vertical_alignment="center"):
        _choose_view(session, study)
        if testing:
            st.badge("Testing significance", color="blue")
        else:
            st.badge(headline["badge"], color=TONES.get(headline["tone"], "orange"))
        _say_what_is_next(session, pool, study)
    st.html(paragraph(headline["found" if testing else "sentence"], "1.1rem"))
    if not testing:
        st.html(paragraph(headline["advice"]))
    for warning in view.warnings:
        st.warning(warning)
    compare(session, study, view, summary)
    _show_columns(session, study, summary)
    _tune(session, pool, study, view)
    _explain(session, study, view, summary)
    _download(study)


def _choose_view(session: Session, study: Exploration) -> None:
    """The views as tabs; those that are not significant are grey."""
    if len(study.views) == 1:
        return
    place = st.segmented_control(
        "View",
        range(len(study.views)),
        default=session.place,
        required=True,
        format_func=lambda i: f"View {i + 1}" if study.views[i].view.in_table else f":gray[View {i + 1}]",
        label_visibility="collapsed",
        key=f"view-{study.number}-{session.turn}-{len(study.views)}",
    )
    if place is not None and place != session.place:
        session.place = place
        session.clear_chosen()
        st.rerun()


def _say_what_is_next(session: Session, pool: Pool, study: Exploration) -> None:
    """What runs beside everything else, what can be started, or why there are no more views."""
    number = len(study.views)
    if session.aside is not None:
        show_aside(session, pool)
    elif study.to_do:
        label = f"Test view {number}" if study.to_do == "test" else f"Search for view {number + 1}"
        if st.button(label, help=STEPS[study.to_do], disabled=session.job is not None, key="go-on"):
            session.go_on(pool)
            st.rerun()
    else:
        st.text(Views.of(one.view for one in study.views).stopped)


def _show_columns(session: Session, study: Exploration, summary: dict[str, Any]) -> None:
    """The columns that carry the view, in the units of the table."""
    drawn = column_charts(study, summary)
    if not drawn:
        return
    st.markdown("##### The columns behind it, in their own units")
    for i, (one, place) in enumerate(zip(drawn, st.columns(MOST_CHARTS), strict=False)):
        with place:
            key = f"column-{i}-{study.number}-{session.place}-{session.turn}"
            st.plotly_chart(one.figure, config={"displayModeBar": False}, key=key, alt=one.label)
            if one.note:
                st.caption(one.note)


def _tune(session: Session, pool: Pool, study: Exploration, view: ShownView) -> None:
    slider, quality, overlap, significance = st.columns([3, 1, 1, 2], gap="medium")
    with slider:
        if len(view.numbers) > 1:
            key = f"number-{session.place}-{study.number}-{session.dropped}-{session.turn}"
            st.segmented_control(
                "Clusters of this view",
                view.numbers,
                default=view.view.n_clusters,
                required=True,
                help="The same view with fewer or more clusters, which are nearly as clear.",
                disabled=session.job is not None,
                on_change=partial(_change, session, pool, view, key, lambda k, _: study.with_clusters(view, int(k))),
                key=key,
            )
        key = f"weight-{session.place}-{view.view.n_clusters}-{study.number}-{session.dropped}"
        st.select_slider(
            "Quality (left) or novelty (right)",
            WEIGHTS,
            value=view.model.novelty_weight_,
            format_func=lambda weight: ENDS.get(weight, f"{weight:g}"),
            help="Penalty for overlap with the known clusters: 0 asks for clear clusters only, 100 for new ones.",
            disabled=session.job is not None or view.known is None,
            on_change=partial(_change, session, pool, view, key, lambda weight, job: study.refit(view, weight, job)),
            key=key,
        )
        if view is not study.views[-1]:
            st.caption("Later views depend on this one: after a change they are searched for again.")
    before = view.before
    with quality:
        st.metric(
            "Quality",
            f"{view.model.quality_:.2f} of {view.model.n_clusters_}",
            **_difference(view.model.quality_, before and before.quality_, "normal"),
            help="How well the clusters are separated in the learnt directions (HSIC); at most the number of clusters.",
        )
    with overlap:
        if view.known is not None:
            st.metric(
                "Overlap",
                f"{view.model.overlap_:.2f}",
                **_difference(view.model.overlap_, before and before.overlap_, "inverse"),
                help="Normalised mutual information with the known clusters: 0 is independent, 1 is the same.",
            )
    found = view.view.significance
    if found is not None:
        significance.html(paragraph(str(found)))
        drawn = null_chart(found.reference, found.score, alone=True)
        if drawn:
            significance.html(image(drawn, NULL_LABEL, "15rem"))


def _difference(now: float, before: float | None, colour: str) -> dict[str, Any]:
    """The change for a metric; without an arrow where it rounds to 0."""
    if before is None:
        return {}
    shown = f"{now - before:+.3f}"
    if float(shown) == 0:
        return {"delta": "no change", "delta_color": "off", "delta_arrow": "off"}
    return {"delta": shown, "delta_color": colour}


def _change(session: Session, pool: Pool, view: ShownView, key: str, task: Callable[[float, Job], ShownView]) -> None:
    """Replace the view by what a task makes of it with the value that was chosen."""
    value = float(st.session_state[key])
    if session.view is not view:  # another table or view was opened meanwhile
        return
    session.change(pool, lambda job: task(value, job))
    if session.job is not None:
        session.job.wait(PATIENCE)
        session.finish(pool)


def _explain(session: Session, study: Exploration, view: ShownView, summary: dict[str, Any]) -> None:
    clusters, table, weights = st.tabs(["Clusters", "Cross table", "Column weights"])
    with clusters:
        for sentence in filter(None, (summary["agreement"], summary["left_out"])):
            st.html(paragraph(sentence))
        for cluster in summary["clusters"]:
            code = cluster["code"]
            name, sentence = st.columns([1, 3], vertical_alignment="center")
            key = f"name-{session.place}-{code}-{study.number}"
            name.text_input(
                f"Name of cluster {code}",
                value=view.names.get(code, ""),
                placeholder=f"Name cluster {code}",
                max_chars=60,
                label_visibility="collapsed",
                on_change=lambda code=code, key=key: study.rename(view.place, code, st.session_state[key]),
                key=key,
            )
            sentence.html(paragraph(cluster["sentence"]))
    with table:
        if not summary["given"]:
            st.text("No known clusters were given.")
        for given in summary["given"]:
            st.html(paragraph(f"{given['name']} (rows) by new cluster (columns):"))
            st.dataframe(crosstab(given, summary["legend"]), width="content")
    with weights:
        st.plotly_chart(
            charts.weights(summary),
            config={"displayModeBar": False},
            key=f"weights-{session.turn}",
            alt="Bars: the weight of each column.",
        )


def crosstab(given: dict[str, Any], legend: list[dict[str, Any]]) -> pd.DataFrame:
    """The number of rows in each pair of a known and a new cluster."""
    rows = unique_names(entry["name"] for entry in given["legend"])
    columns = unique_names(entry["name"] for entry in legend)
    return pd.DataFrame(given["counts"], index=rows, columns=columns)


def _download(study: Exploration) -> None:
    st.markdown("##### Downloads")
    name = study.table.name
    files = [
        ("Table", downloads.table, f"{for_disk(Path(name).stem)}-alternative{study.table.suffix}", None),
        ("Report", downloads.report, "report.html", "text/html"),
        ("Plot", downloads.picture, "view.png", "image/png"),
        ("Figures", downloads.figures, "figures.json", "application/json"),
    ]
    with st.container(horizontal=True):
        for label, make, file, mime in files:
            st.download_button(
                label,
                partial(make, study),
                file,
                mime,
                on_click="ignore",
                icon=":material/download:",
                key=f"get-{label}",
            )
