"""While a job is under way: how far it is, and the buttons that end it."""

from __future__ import annotations

import streamlit as st

from altclust.apps.web.jobs import Pool, Progress
from altclust.apps.web.session import Session

EVERY = 0.5  # seconds between two looks
SAYS = {
    "searching": "Searching for clusters that differ from what you know",
    "improving": "Improving what was found",
    "comparing": "Comparing with shuffled rows, to tell the view from chance",
}


@st.fragment(run_every=EVERY)
def show_progress(session: Session, pool: Pool) -> None:
    """Look at the job again and again, until it has ended."""
    job = session.job
    if job is None or job.done:
        st.rerun()
    progress = job.look()
    with st.container(border=True):
        st.progress(min(max(progress.share, 0.0), 1.0), text=sentence(progress, pool.ahead(job)))
        with st.container(horizontal=True):
            takes = progress.stage in ("searching", "improving")
            if takes and st.button("Take what there is", key="take", disabled=job.stopping):
                job.stop()
            if st.button("Cancel", key="cancel"):
                session.drop_job()
                st.rerun()


def sentence(progress: Progress, ahead: int) -> str:
    """What is going on."""
    if progress.stage == "waiting":
        return f"Waiting for a free place: {ahead} before you." if ahead else "Waiting for a free place: you are next."
    if progress.stage == "improving":
        return f"{SAYS['improving']}: round {progress.round}, cost {progress.objective:.3f} (lower is better)."
    return f"{SAYS[progress.stage]}: {progress.share:.0%} done."
