"""How the table is read: every column with its type, its use and its first cells, and what changes it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from altclust.apps.web.escape import for_markdown, paragraph
from altclust.apps.web.exploration import Choices
from altclust.apps.web.session import Session
from altclust.base.errors import InputError
from altclust.report.html import MOST_LISTED
from altclust.report.sentences import cell, text
from altclust.tables import TableEncoder
from altclust.tables.column_types import TYPES
from altclust.tables.recipe import Listed

FIRST_ROWS = 4
TALLEST = 400  # pixels
LINE = 35  # pixels of a row
AUTO = "automatic"
LOGS: dict[str, Any] = {"None": (), "Automatic": "auto", "Of chosen columns": None}
MARKS = {"Automatic": None, "Point: 1.5": ".", "Comma: 1,5": ","}


def choose_reading(session: Session, choices: Choices) -> Choices:
    """Show how the table is read, or why it cannot be, and what changes it; open until there is a result."""
    assert session.table is not None
    frame = session.table.frame
    with st.expander("How the table is read", expanded=session.study is None):
        rest = [name for name in frame.columns if name not in (*choices.given, choices.keep)]
        choices = replace(choices, encoder=replace(_choose_options(session.visit, rest), types=session.types))
        try:
            study = session.draft(choices)
            listing, decisions = study.study.recipe.listing, [*study.table.notes, *study.study.recipe.sentences]
        except InputError as error:
            listing, decisions = _plain_listing(frame, session.types), []
            st.warning(for_markdown(error))
        _edit_types(session, frame, listing[:MOST_LISTED])
        more = f" The first {MOST_LISTED} of {len(listing):,} columns are listed." * (len(listing) > MOST_LISTED)
        st.caption(f"Double-click a type to change it.{more}")
        if decisions:
            st.html("".join(paragraph(sentence, "0.9rem") for sentence in decisions))
    return choices


def _choose_options(visit: int, names: list[str]) -> TableEncoder:
    """What changes how columns are read, apart from their types."""
    use, leave, logs, mark = st.columns(4)
    with use:
        columns = st.multiselect("Columns to cluster", names, placeholder="All measurements", key=f"columns-{visit}")
    with leave:
        drop = st.multiselect("Columns to leave out", names, placeholder="None", key=f"drop-{visit}")
    with logs:
        log = LOGS[st.selectbox("Logarithms", LOGS, help="Automatic: of skewed positive numbers.", key=f"log-{visit}")]
        if log is None:
            log = tuple(st.multiselect("Logarithms of", names, key=f"logged-{visit}", label_visibility="collapsed"))
    with mark:
        decimal = st.selectbox("Decimal mark", MARKS, help="Automatic: found per column.", key=f"decimal-{visit}")
    with st.container(horizontal=True):
        encode = st.checkbox("Use columns with few values", value=True, key=f"encode-{visit}")
        impute = st.checkbox("Replace missing numbers by the median", value=True, key=f"impute-{visit}")
        standardise = st.checkbox(
            "Scale columns to unit variance",
            value=True,
            help="Without it, columns with large numbers weigh most.",
            key=f"standardise-{visit}",
        )
    return TableEncoder(
        columns=tuple(columns),
        drop=tuple(drop),
        encode=encode,
        impute=impute,
        log=log,
        decimal=MARKS[decimal],
        standardise=standardise,
    )


def _edit_types(session: Session, frame: pd.DataFrame, listing: tuple[Listed, ...]) -> None:
    """The columns as a table in which their types can be changed."""
    key = f"types-{session.visit}-{session.edits}"
    listed = preview(frame, listing)
    st.data_editor(
        listed,
        hide_index=True,
        height=min(TALLEST, LINE * (len(listed) + 1) + 3),
        disabled=[name for name in listed.columns if name != "type"],
        column_config={"type": st.column_config.SelectboxColumn(options=[AUTO, *TYPES], required=True)},
        on_change=partial(_take_types, session, key, [one.column for one in listing]),
        key=key,
    )


def _take_types(session: Session, key: str, names: list[str]) -> None:
    for row, cells in st.session_state[key]["edited_rows"].items():
        kind = cells.get("type")
        session.choose_type(names[int(row)], None if kind == AUTO else kind)


def _plain_listing(frame: pd.DataFrame, types: dict[str, str]) -> tuple[Listed, ...]:
    """The columns with the types that were chosen, where the table cannot be read with them."""
    return tuple(Listed(str(name), types.get(str(name), AUTO), "", "") for name in frame.columns)


def preview(frame: pd.DataFrame, listing: tuple[Listed, ...]) -> pd.DataFrame:
    """Every column in a row: its type, how it is used and why, and the first cells of the table."""
    first = frame.head(FIRST_ROWS)
    rows = [
        {"column": text(one.column), "type": one.type, "used as": one.use, "why": one.why}
        | {f"row {i}": cell(value) for i, value in enumerate(first[one.column].tolist(), 1)}
        for one in listing
    ]
    return pd.DataFrame(rows)
