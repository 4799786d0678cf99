"""Work in the background: jobs that tell how far they are and can be stopped, and a few threads for all of them."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...base.errors import InputError

FORGOTTEN = 120.0  # seconds without a look, after which nobody waits; browsers ask once a minute from hidden tabs
WORKERS = 2
MOST_WAITING = 20

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """How far a job is.

    Attributes
    ----------
    stage : {"waiting", "searching", "improving", "comparing"}
    share : float
        Of the stage that is done, from 0 to 1; 0 where it cannot be told.
    round : int
        Of the improvement.
    objective : float
        After that round; smaller is better.
    """

    stage: str = "waiting"
    share: float = 0.0
    round: int = 0
    objective: float = math.nan


class Job:
    """One task that runs in another thread.

    Parameters
    ----------
    task : callable
        Called with the job; its answer becomes `result`. It hands `on_round` or `on_search` to the work.
    stage : {"searching", "comparing"}
        What it begins with.
    long : bool
        Whether it may take minutes: such jobs never take all places.
    patience : float
        Seconds after which a job that nobody looks at stops itself.

    Attributes
    ----------
    result : object
        What the task answered; None before that.
    error : str
        The sentence that says why there is no result; empty if all went well.
    progress : Progress
    """

    def __init__(
        self,
        task: Callable[[Job], Any],
        stage: str = "searching",
        long: bool = False,
        patience: float = FORGOTTEN,
    ) -> None:
        self.long = long
        self.result: Any = None
        self.error = ""
        self.progress = Progress()
        self._task, self._stage, self._patience = task, stage, patience
        self._stop, self._done = threading.Event(), threading.Event()
        self._seen = time.monotonic()

    def look(self) -> Progress:
        """How far it is; also says that somebody still waits."""
        self._seen = time.monotonic()
        return self.progress

    def stop(self) -> None:
        """Ask the work to end with what there is."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end, or nobody waits any more."""
        return self._stop.is_set() or time.monotonic() - self._seen > self._patience

    @property
    def done(self) -> bool:
        """Whether it has ended, with or without a result."""
        return self._done.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end for so long; whether it has come."""
        return self._done.wait(seconds)

    def on_round(self, number: int, objective: float, change: float, *_: float) -> bool:
        """A callback for KDAC: round 0 is the search, of which `change` is left."""
        searching = number == 0
        self.progress = Progress("searching", 1 - change) if searching else Progress("improving", 0, number, objective)
        return self.stopping

    def on_search(self, done: int, total: int) -> bool:
        """A callback for the comparison with chance."""
        self.progress = Progress("comparing", done / total)
        return self.stopping

    def run(self) -> None:
        """Do the task in this thread; whatever goes wrong becomes a sentence."""
        self.progress = Progress(self._stage)
        try:
            if not self.stopping:
                self.result = self._task(self)
        except InputError as error:
            self.error = str(error)
        except MemoryError:
            self.error = "There is not enough memory for this table: use fewer columns, or fewer rows."
        except BaseException:  # also one that would end the thread, which belongs to all visitors
            log.exception("A job of the page failed.")
            self.error = "Something went wrong that should not: the terminal in which altclust runs says more."
        finally:
            self._done.set()


class Pool:
    """A few threads that do the jobs of all sessions, first come, first served.

    One place is kept for short jobs, so that nobody with a small table waits for those with large ones.

    Parameters
    ----------
    workers : int
        Jobs at work side by side.
    most_waiting : int
        Jobs that may wait beside them.
    """

    def __init__(self, workers: int = WORKERS, most_waiting: int = MOST_WAITING) -> None:
        self._waiting: deque[Job] = deque()
        self._change = threading.Condition()
        self._most = most_waiting
        self._free_for_long = max(1, workers - 1)
        for _ in range(workers):  # daemons, so that the program can end in the middle of a job
            threading.Thread(target=self._work, daemon=True).start()

    def submit(self, job: Job) -> Job:
        """Take the job in; refuse it where too many wait."""
        with self._change:
            if sum(not waiting.stopping for waiting in self._waiting) >= self._most:
                raise InputError(f"{self._most} searches are waiting already: try again in a minute.")
            self._waiting.append(job)
            self._change.notify_all()
        return job

    def ahead(self, job: Job) -> int:
        """How many jobs wait before this one."""
        with self._change:
            before = list(self._waiting)
        return sum(not other.stopping for other in before[: before.index(job)]) if job in before else 0

    def _next(self) -> Job | None:
        """The first job that may begin now."""
        for job in self._waiting:
            if not job.long or job.stopping or self._free_for_long > 0:
                self._waiting.remove(job)
                return job
        return None

    def _work(self) -> None:
        while True:
            with self._change:
                while (job := self._next()) is None:
                    self._change.wait()
                self._free_for_long -= job.long
            with suppress(BaseException):  # the job has told already; its place must come back, whatever happened
                job.run()
            with self._change:
                self._free_for_long += job.long
                self._change.notify_all()
            del job  # an idle thread must not keep what it did last


@cache
def shared_pool() -> Pool:
    """The threads that do the work of all visitors; not in Streamlit's cache, which any visitor can clear."""
    return Pool()
