"""The page that `altclust explore` serves; Streamlit runs this file from top to bottom at every change."""

from __future__ import annotations

import streamlit as st

from altclust.apps.web.escape import for_markdown
from altclust.apps.web.exploration import Exploration
from altclust.apps.web.input_form import choose
from altclust.apps.web.jobs import shared_pool
from altclust.apps.web.preview import choose_reading
from altclust.apps.web.progress_view import show_progress
from altclust.apps.web.results_view import show
from altclust.apps.web.session import Session
from altclust.apps.web.streamlit_private import session_id, visitor
from altclust.apps.web.visits import VISITORS

TOP = (
    "<style>.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem }</style>"
    '<div style="display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem">'
    '<h1 style="font-size: 1.75rem; margin: 0; padding: 0">altclust</h1>'
    "<span>Alternative clustering: for a table with known clusters, find good clusters that are <em>different</em> "
    "from them.</span></div>"
)


def main() -> None:
    """Lay the page out."""
    st.set_page_config(page_title="altclust: alternative clustering", layout="wide")
    session: Session = st.session_state.setdefault("session", Session())
    session.visitor = visitor()
    if (visit := session_id()) is not None:
        VISITORS.note(visit, session)
    session.finish(shared_pool())
    st.html(TOP)
    choices, pressed = choose(session)
    status, results = st.container(), st.container()  # above how the table is read, which has part of the choices
    if session.table is not None and choices is not None:
        choices = choose_reading(session, choices)
        if pressed:
            session.find(shared_pool(), Exploration(session.table, choices))
            st.rerun()
    with status:
        if session.problem:
            st.error(for_markdown(session.problem))
        if session.job is not None:
            show_progress(session, shared_pool())
    if session.study is not None and session.view is not None:
        with results:
            show(session, shared_pool(), session.study, session.view)


if __name__ == "__main__":
    main()
