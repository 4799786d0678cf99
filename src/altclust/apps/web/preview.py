"""How the table is read: every column with its type, its use and its first cells."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from altclust.apps.web.escape import for_markdown, paragraph
from altclust.apps.web.session import Session
from altclust.apps.web.study import Choices, Study
from altclust.base.errors import InputError
from altclust.report.html import MOST_LISTED
from altclust.report.sentences import cell, text

FIRST_ROWS = 4
TALLEST = 400  # pixels
LINE = 35  # pixels of a row


def show_reading(session: Session, choices: Choices) -> None:
    """Show how the table is read, or why it cannot be; open until there is a result."""
    with st.expander("How the table is read", expanded=session.study is None):
        try:
            study = session.draft(choices)
            listed = preview(study)
            decisions = study.decisions
        except InputError as error:
            st.warning(for_markdown(error))
            return
        st.dataframe(listed, hide_index=True, height=min(TALLEST, LINE * (len(listed) + 1) + 3))
        columns = len(study.recipe.listing)
        if columns > MOST_LISTED:
            st.caption(f"The first {MOST_LISTED} of {columns:,} columns")
        st.html("".join(paragraph(sentence, "0.9rem") for sentence in decisions))


def preview(study: Study) -> pd.DataFrame:
    """Every column of the table in a row: its type, how it is used and why, and the first cells of the table."""
    first = study.table.frame.head(FIRST_ROWS)
    rows = [
        {"column": text(one.column), "type": one.type, "used as": one.use, "why": one.why}
        | {f"row {i}": cell(value) for i, value in enumerate(first[one.column].tolist(), 1)}
        for one in study.recipe.listing[:MOST_LISTED]
    ]
    return pd.DataFrame(rows)
