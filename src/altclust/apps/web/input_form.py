"""The top of the page: which table, what is known of it, and the button."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from altclust.apps.web.escape import for_markdown, paragraph
from altclust.apps.web.jobs import Pool
from altclust.apps.web.serve import TABLE
from altclust.apps.web.session import Session
from altclust.apps.web.study import Choices, Study
from altclust.apps.web.uploads import EXAMPLES, example_table, open_table
from altclust.base.errors import InputError
from altclust.tables import FORMATS

NAMED, UPLOAD, EXAMPLE = "Your file", "Upload", "An example"
AUTO = "Let altclust choose"
MOST_CLUSTERS = 12
LOST = "This table is gone: the program was started anew, or the page was away for long. Upload it again."


def choose(session: Session, pool: Pool) -> None:
    """Show the three steps, and begin when the button is pressed."""
    source, known, start = st.columns(3, gap="medium")
    with source:
        st.markdown("##### 1. Your table")
        _choose_table(session)
    if session.table is None:
        return
    choices = _choose_known(session, known, start)
    with start:
        pressed = st.button(
            "Find another view", type="primary", width="stretch", disabled=session.job is not None, key="find"
        )
        _show_reading(session, choices)
    if pressed:
        _begin(session, pool, choices)


def _choose_table(session: Session) -> None:
    path = os.environ.get(TABLE)
    options = ([NAMED] if path else []) + [UPLOAD, EXAMPLE]
    place = st.segmented_control(
        "Where is it?", options, default=options[0], required=True, label_visibility="collapsed", key="place"
    )
    if place == NAMED and path:
        session.open(("file", path), lambda: open_table(Path(path)))
    elif place == EXAMPLE:
        name = st.selectbox("Which example?", list(EXAMPLES), key="example")
        session.open(("example", name), lambda: example_table(name))
    else:
        upload = st.file_uploader(
            f"A table: {', '.join(suffix[1:] for suffix in FORMATS)}", type=list(FORMATS), key="upload"
        )
        if upload is None:
            if st.session_state["upload"] is not None:  # the browser still shows a file that is no longer here
                st.warning(LOST)
            st.caption("The table stays in the memory of the program that serves this page.")
            session.open(None, lambda: None)
        else:
            session.open(("upload", upload.file_id), lambda: open_table(upload, upload.name))
    if session.table is not None:
        rows, columns = session.table.frame.shape
        st.html(paragraph(f"{session.table.name}: {rows:,} rows, {columns:,} columns."))


def _choose_known(session: Session, known: DeltaGenerator, start: DeltaGenerator) -> Choices:
    assert session.table is not None
    frame = session.table.frame
    visit = hash(session.source)  # widgets of another table begin anew
    with known:
        st.markdown("##### 2. What you know already")
        given = st.multiselect(
            "Columns with clusters that you know",
            list(frame.columns),
            default=session.guess,
            placeholder="None: show me the first view",
            help="The new clusters will differ from these. Leave it empty to see the clearest clusters of all.",
            key=f"given-{visit}",
        )
        with st.expander("Which columns to use"):
            columns = st.multiselect(
                "Columns to look at",
                [name for name in frame.columns if name not in given],
                placeholder="All that make sense",
                key=f"columns-{visit}",
            )
            standardise = st.checkbox(
                "Let every column count alike",
                value=True,
                help="Divides each column by its spread. Without it, columns with large numbers count most.",
                key=f"standardise-{visit}",
            )
    with start:
        st.markdown("##### 3. What else is there?")
        number = st.selectbox("Number of new clusters", [AUTO, *range(2, MOST_CLUSTERS + 1)], key=f"clusters-{visit}")
    return Choices(tuple(given), tuple(columns), standardise, "auto" if number == AUTO else int(number))


def _show_reading(session: Session, choices: Choices) -> None:
    """Tell how the table is read, if it can be."""
    with st.expander("How the table is read"):
        try:
            for sentence in session.draft(choices).decisions:
                st.html(paragraph(sentence, "0.9rem"))
        except InputError as error:
            st.warning(for_markdown(error))


def _begin(session: Session, pool: Pool, choices: Choices) -> None:
    assert session.table is not None
    session.find(pool, Study(session.table, choices))
    st.rerun()
