"""The input form at the top of the page: the table, what is known, and the button."""

from __future__ import annotations

import os

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from altclust.apps.web.escape import paragraph
from altclust.apps.web.exploration import Choices
from altclust.apps.web.serve import TABLE
from altclust.apps.web.session import Session
from altclust.apps.web.uploads import EXAMPLES, PAGE, example_table
from altclust.tables import FORMATS, read_table

NAMED, UPLOAD, EXAMPLE = "Your file", "Upload", "An example"
AUTO = "automatic"
MOST_CLUSTERS = 12
KNOWN = (
    "The new clusters differ from the columns in the first box. With none, view 1 shows the clearest clusters, and the "
    "views after it are alternatives to them. With the second box, the new clusters also "
    "agree with a column of labels, which may be known for some rows only; the clearest clusters are found without it."
)
LOST = "This table is no longer available: the program was restarted, or the page was closed too long. Upload it again."


def choose(session: Session) -> tuple[Choices | None, bool]:
    """Show the three steps; returns the choices once a table is open, and whether the button was pressed."""
    source, known, start = st.columns(3, gap="medium")
    with source:
        st.markdown("##### 1. Table")
        _choose_table(session)
    if session.table is None:
        return None, False
    choices = _choose_known(session, known, start)
    with start:
        pressed = st.button(
            "Find alternative", type="primary", width="stretch", disabled=session.job is not None, key="find"
        )
    return choices, pressed


def _choose_table(session: Session) -> None:
    path = os.environ.get(TABLE)
    options = ([NAMED] if path else []) + [UPLOAD, EXAMPLE]
    place = st.segmented_control(
        "Source", options, default=options[0], required=True, label_visibility="collapsed", key="place"
    )
    if place == NAMED and path:
        session.open(("file", path), lambda: read_table(path, limits=PAGE))
    elif place == EXAMPLE:
        name = st.selectbox("Example", list(EXAMPLES), key="example")
        session.open(("example", name), lambda: example_table(name))
    else:
        upload = st.file_uploader(
            f"Table ({', '.join(suffix[1:] for suffix in FORMATS)})", type=list(FORMATS), key="upload"
        )
        if upload is None:
            if st.session_state["upload"] is not None:  # the browser still shows a file that is gone
                st.warning(LOST)
            st.caption("The table is kept in memory only, on the computer that runs altclust.")
            session.open(None, lambda: None)
        else:
            session.open(("upload", upload.file_id), lambda: read_table(upload, upload.name, PAGE))
    if session.table is not None:
        rows, columns = session.table.frame.shape
        st.html(paragraph(f"{session.table.name}: {rows:,} rows, {columns:,} columns."))


def _choose_known(session: Session, known: DeltaGenerator, start: DeltaGenerator) -> Choices:
    assert session.table is not None
    frame = session.table.frame
    visit = session.visit
    with known:
        st.markdown("##### 2. Known clusters", help=KNOWN)
        given = st.multiselect(
            "Columns with known clusters",
            list(frame.columns),
            default=session.guess,
            placeholder="None: the clearest clusters first",
            label_visibility="collapsed",
            key=f"given-{visit}",
        )
        keep = st.selectbox(
            "Labels to agree with",
            [name for name in frame.columns if name not in given],
            index=None,
            placeholder="Agree with: nothing",
            format_func=lambda name: f"Agree with: {name}",
            label_visibility="collapsed",
            key=f"keep-{visit}",
        )
    with start:
        st.markdown("##### 3. Search")
        number = st.selectbox(
            "Number of new clusters",
            [AUTO, *range(2, MOST_CLUSTERS + 1)],
            format_func=lambda number: f"Number of clusters: {number}",
            label_visibility="collapsed",
            key=f"clusters-{visit}",
        )
    return Choices(tuple(given), keep, "auto" if number == AUTO else int(number))
