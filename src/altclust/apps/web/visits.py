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
from typing import Any

from .session import Session

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class VisitOptions:
    """How long a visitor is waited for."""

    every: float = 5.0  # seconds between checks
    away: float = 30.0  # seconds without a connection, after which a search stops; browsers reconnect within a few
    gone: float = 100.0  # seconds after which all data is deleted; Streamlit does so at 120, but keeps it in memory


class Visits:
    """The visitors, and since when they are disconnected."""

    def __init__(self, options: VisitOptions | None = None) -> None:
        self._waits = options or VisitOptions()
        self._sessions: dict[str, Session] = {}
        self._left: dict[str, float] = {}

    def note(self, session_id: str, session: Session) -> None:
        """Record a visitor."""
        self._sessions[session_id] = session

    def look(self, runtime: Any, more: Iterable[str] = (), now: float | None = None) -> int:
        """Stop the searches of disconnected visitors and delete the data of those who left; returns their number.

        runtime is Streamlit's, more are other visitors with uploaded files, now the seconds of a monotonic clock.
        """
        now = time.monotonic() if now is None else now
        away = [one for one in {*self._sessions, *more} if not runtime.is_active_session(one)]
        self._left = {one: self._left.get(one, now) for one in away}
        gone = 0
        for one, since in list(self._left.items()):
            session = self._sessions.get(one)
            if session is not None and now - since >= self._waits.away:
                for job in filter(None, (session.job, session.aside)):
                    job.stop()
            if now - since < self._waits.gone:
                continue
            self._sessions.pop(one, None)
            del self._left[one]
            try:
                runtime.close_session(one)
                gone += 1
            except Exception:  # an error with one visitor must not keep the data of all others
                log.exception("The data of a visitor who left could not be deleted.")
        return gone

    async def keep_order(self, runtime: Any, uploads: Callable[[], MutableMapping[str, Any]]) -> None:
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
