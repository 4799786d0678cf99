"""Everything of Streamlit that the page uses and that is not part of its public interface.

A new version of Streamlit may change any of it: `require_version` is the one place to look then.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...base.errors import InputError

OLDEST, TOO_NEW = (1, 67), (2, 0)  # versions that have these parts
UPLOADS = "/_stcore/upload_file/"  # the path that files are sent to
COOKIE = "_streamlit_xsrf"  # the same in all tabs of a browser


def require_version() -> None:
    """Refuse a Streamlit that may lack these parts."""
    found = version("streamlit")
    number = tuple(map(int, re.findall(r"\d+", found)[:2]))
    if not OLDEST <= number < TOO_NEW:
        wanted = " and ".join([f"at least {'.'.join(map(str, OLDEST))}", f"below {'.'.join(map(str, TOO_NEW))}"])
        raise InputError(f"The page needs a Streamlit of {wanted}, and {found} is installed: install another.")


def runtime() -> Any:
    """The running server."""
    from streamlit.runtime import get_instance

    return get_instance()


def uploads() -> MutableMapping[str, Any]:
    """The uploaded files of all visitors: a dict of the session's id to the files by their ids."""
    return getattr(runtime().uploaded_file_mgr, "file_storage", {})


def session_id() -> str | None:
    """The id of the tab for which the page is run now; None outside of a server."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    found = get_script_run_ctx()
    return None if found is None else found.session_id


def visitor() -> str:
    """The same text in all tabs of one browser."""
    import streamlit as st

    return f"{st.context.ip_address} {st.context.cookies.get(COOKIE, '')}"


def start_page() -> Path:
    """The HTML file that a browser gets first."""
    from streamlit.file_util import get_static_dir

    return Path(get_static_dir()) / "index.html"
