"""Who is here: what visitors leave behind is cleared away once their tab is closed."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import time
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from typing import Any, Protocol

from .session import Session

EVERY = 5.0  # seconds between two looks
AWAY = 30.0  # seconds without a connection, after which a search ends; browsers come back within a few
GONE = 100.0  # seconds after which all is forgotten; Streamlit would forget at 120, but keep it in memory

log = logging.getLogger(__name__)


class Runtime(Protocol):
    """The part of Streamlit's runtime that is needed."""

    def is_active_session(self, session_id: str) -> bool:
        """Whether its tab is open."""

    def close_session(self, session_id: str) -> None:
        """Forget all of it."""


class Visits:
    """The visitors that were seen, and since when they are away."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._left: dict[str, float] = {}

    def note(self, session_id: str, session: Session) -> None:
        """Somebody is here."""
        self._sessions[session_id] = session

    def look(self, runtime: Runtime, more: Iterable[str] = (), now: float | None = None) -> int:
        """End the searches of those who are away, forget those who are gone; how many that were.

        Parameters
        ----------
        runtime : Runtime
        more : iterable of str
            Others who left something behind.
        now : float, optional
            Seconds of a clock that never goes back.
        """
        now = time.monotonic() if now is None else now
        known = {*self._sessions, *more}
        self._left = {one: since for one, since in self._left.items() if one in known}
        gone = 0
        for session_id in known:
            try:
                gone += self._look_at(session_id, runtime, now)
            except Exception:  # one visitor's trouble must not keep all others' tables in memory
                log.exception("A visitor who left could not be forgotten.")
        return gone

    def _look_at(self, session_id: str, runtime: Runtime, now: float) -> bool:
        """The same for one of them; whether it is gone."""
        if runtime.is_active_session(session_id):
            self._left.pop(session_id, None)
            return False
        away = now - self._left.setdefault(session_id, now)
        session = self._sessions.get(session_id)
        if away >= AWAY and session is not None and session.job is not None:
            session.job.stop()
        if away < GONE:
            return False
        self._sessions.pop(session_id, None)
        del self._left[session_id]
        runtime.close_session(session_id)
        return True

    async def keep_order(self, runtime: Runtime, uploads: Callable[[], MutableMapping[str, Any]]) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(EVERY)
            try:
                if self.look(runtime, list(uploads())):
                    give_back()
            except Exception:  # a look that fails must not be the last one
                log.exception("Visitors who left could not be looked for.")


def give_back() -> None:
    """Return memory that is no longer used to the system."""
    gc.collect()  # tables hang in circles that Python would otherwise find much later
    with suppress(OSError, AttributeError, TypeError):  # only the GNU library keeps freed memory, and can be told so
        ctypes.CDLL(None).malloc_trim(0)


VISITORS = Visits()  # of this process
