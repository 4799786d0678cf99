"""The progress of a job, and the buttons that end it."""

from __future__ import annotations

import math

import streamlit as st

from altclust.apps.web.escape import paragraph
from altclust.apps.web.jobs import Job, Pool
from altclust.apps.web.session import Session

EVERY = 0.5  # seconds between updates
SHORT = 5  # seconds
USUAL = "It often takes 5 to 30 seconds in all, more for many columns."


@st.fragment(run_every=EVERY)
def show_progress(session: Session, pool: Pool) -> None:
    """Show the progress until the job has ended."""
    job = session.job
    if job is None or job.done:
        st.rerun()
    progress = job.look()
    with st.container(border=True):
        st.progress(min(max(progress.share, 0.0), 1.0), text=sentence(job, pool.ahead(job)))
        with st.container(horizontal=True):
            can_keep = progress.stage in ("search", "fit")
            if can_keep and st.button("Stop and keep the best so far", key="take", disabled=job.stopping):
                job.stop()
            if st.button("Cancel", key="cancel"):
                session.drop_job()
                st.rerun()


@st.fragment(run_every=EVERY)
def show_aside(session: Session, pool: Pool) -> None:
    """Say how far the test of the last view or the search for the next one is, until it has ended."""
    job, study = session.aside, session.study
    if job is None or job.done or study is None:
        st.rerun()
    number = len(study.views) + (study.to_do == "search")
    job.look()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html(paragraph(f"View {number}: {sentence(job, pool.ahead(job))}", "0.9rem"))
        if st.button("Stop", key="stop-aside"):
            session.drop_aside()
            st.rerun()


def sentence(job: Job, ahead: int) -> str:
    """What a job is doing and how long that may take, in one or two sentences."""
    now = job.progress
    if now.stage == "waiting":
        return f"Waiting: {ahead} searches are first." if ahead else "Waiting: this is next."
    if now.stage == "fit":
        return f"Fitting the view to the rows: round {now.done}." if now.done else "Preparing the fit."
    if not now.done:
        return "Preparing the test of significance." if now.stage == "test" else f"Preparing the search. {USUAL}"
    if now.stage == "test":
        return f"Testing significance: {now.done} of {now.total} parts of the rows{duration(job.left)}."
    if now.done == now.total:
        return f"Comparing the {now.total} candidates, which may take as long as the search."
    return f"Searching: {now.done} of {now.total} candidates{duration(job.left)}. Then they are compared."


def duration(seconds: float) -> str:
    """About how long it takes, as the end of a sentence; nothing if that is not known."""
    if math.isnan(seconds):
        return ""
    if seconds < SHORT:
        return ", a few seconds more"
    if seconds < 90:
        return f", about {SHORT * math.ceil(seconds / SHORT)} seconds more"
    return f", about {math.ceil(seconds / 60)} minutes more"
