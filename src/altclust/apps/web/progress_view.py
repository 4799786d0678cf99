"""The progress of a job, and the buttons that end it."""

from __future__ import annotations

import streamlit as st

from altclust.apps.web.escape import paragraph
from altclust.apps.web.jobs import Pool
from altclust.apps.web.session import Session
from altclust.base.progress import Progress

EVERY = 0.5  # seconds between updates
SAYS = {
    "search": "Searching for clusters that differ from what you know",
    "fit": "Refining the result",
    "test": "Testing significance on halves of the rows",
}


@st.fragment(run_every=EVERY)
def show_progress(session: Session, pool: Pool) -> None:
    """Show the progress until the job has ended."""
    job = session.job
    if job is None or job.done:
        st.rerun()
    progress = job.look()
    with st.container(border=True):
        st.progress(min(max(progress.share, 0.0), 1.0), text=sentence(progress, pool.ahead(job)))
        with st.container(horizontal=True):
            can_keep = progress.stage in ("search", "fit")
            if can_keep and st.button("Stop and keep the best so far", key="take", disabled=job.stopping):
                job.stop()
            if st.button("Cancel", key="cancel"):
                session.drop_job()
                st.rerun()


@st.fragment(run_every=EVERY)
def show_test(session: Session, pool: Pool) -> None:
    """Say how far the test of the view is, until it has ended."""
    job = session.test
    if job is None or job.done:
        st.rerun()
    st.html(paragraph(sentence(job.look(), pool.ahead(job))))
    if st.button("Stop the test", key="stop-test"):
        session.drop_test()
        st.rerun()


def sentence(progress: Progress, ahead: int) -> str:
    """The progress in one sentence."""
    if progress.stage == "waiting":
        return f"Waiting: {ahead} searches are first." if ahead else "Waiting: this search is next."
    if progress.stage == "fit":
        return f"{SAYS['fit']}: step {progress.done}, usually a few dozen."
    return f"{SAYS[progress.stage]}: {progress.share:.0%} done."
