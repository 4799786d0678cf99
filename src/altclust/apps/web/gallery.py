"""The views that a search found, as small pictures; a button shows another without a new search."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from altclust.apps.web.escape import image, paragraph
from altclust.apps.web.session import Session
from altclust.apps.web.study import Study, View
from altclust.report.html import candidate_picture


def show_menu(session: Session, study: Study, view: View) -> None:
    """Show every view on the menu; nothing if there are fewer than two."""
    menu = study.menu(view)
    if not menu:
        return
    st.markdown("##### Other views in this table")
    last = session.place == len(study.views) - 1
    for one, column in zip(menu, st.columns(len(menu), border=True), strict=True):
        with column:
            shown = one["number"] == view.number
            st.html(picture(one))
            st.html(paragraph(one["sentence"], "0.85rem"))
            st.button(
                "Shown above" if shown else "Show this view",
                on_click=partial(session.choose, one["number"]),
                disabled=shown or not last or session.job is not None,
                width="stretch",
                key=f"menu-{session.place}-{one['number']}-{study.number}",
            )
    if not last:
        st.caption("Later views depend on this one: only the last can be changed.")


def picture(one: dict[str, Any]) -> str:
    """HTML of the small picture of a view on the menu."""
    label = f"View {one['number']}: rows in its own directions, coloured by its clusters."
    return image(candidate_picture(one, alone=True), label)
