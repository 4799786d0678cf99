"""Visitors: their data is deleted once their tab is closed."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import time
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from .session import Session

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class VisitOptions:
    """How long a visitor is waited for."""

    every: float = 5.0  # seconds between checks
    away: float = 30.0  # seconds without a connection, after which a search stops; browsers reconnect within a few
    gone: float = 100.0  # seconds after which all data is deleted; Streamlit does so at 120, but keeps it in memory


class Runtime(Protocol):
    """The part of Streamlit's runtime that is needed."""

    def is_active_session(self, session_id: str) -> bool:
        """Whether its tab is open."""

    def close_session(self, session_id: str) -> None:
        """Forget all of it."""


class Visits:
    """The visitors, and since when they are disconnected."""

    def __init__(self, options: VisitOptions | None = None) -> None:
        self._waits = options or VisitOptions()
        self._sessions: dict[str, Session] = {}
        self._left: dict[str, float] = {}

    def note(self, session_id: str, session: Session) -> None:
        """Record a visitor."""
        self._sessions[session_id] = session

    def look(self, runtime: Runtime, more: Iterable[str] = (), now: float | None = None) -> int:
        """Stop the searches of disconnected visitors and delete the data of those who left; returns their number.

        more are other visitors with uploaded files, now the seconds of a monotonic clock.
        """
        now = time.monotonic() if now is None else now
        known = {*self._sessions, *more}
        self._left = {one: since for one, since in self._left.items() if one in known}
        gone = 0
        for session_id in known:
            try:
                gone += self._look_at(session_id, runtime, now)
            except Exception:  # an error with one visitor must not keep the data of all others
                log.exception("The data of a visitor who left could not be deleted.")
        return gone

    def _look_at(self, session_id: str, runtime: Runtime, now: float) -> bool:
        """The same for one visitor; returns whether they left."""
        if runtime.is_active_session(session_id):
            self._left.pop(session_id, None)
            return False
        away = now - self._left.setdefault(session_id, now)
        session = self._sessions.get(session_id)
        if away >= self._waits.away and session is not None:
            for job in (session.job, session.aside):
                if job is not None:
                    job.stop()
        if away < self._waits.gone:
            return False
        self._sessions.pop(session_id, None)
        del self._left[session_id]
        runtime.close_session(session_id)
        return True

    async def keep_order(self, runtime: Runtime, uploads: Callable[[], MutableMapping[str, Any]]) -> None:
        """Check repeatedly."""
        while True:
            await asyncio.sleep(self._waits.every)
            try:
                if self.look(runtime, list(uploads())):
                    give_back()
            except Exception:  # a failed check must not be the last
                log.exception("The check for visitors who left failed.")


def give_back() -> None:
    """Return unused memory to the system."""
    gc.collect()  # tables are in reference cycles, which Python would collect much later
    with suppress(OSError, AttributeError, TypeError):  # only the GNU C library has it
        ctypes.CDLL(None).malloc_trim(0)


VISITORS = Visits()  # of this process
