"""Background jobs that report progress and can be stopped, and the pool of threads and processes that runs them."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from threading import Event
from typing import Any

from ...base.errors import InputError
from ...base.progress import Progress
from ...models.worker import Ended, Worker

FORGOTTEN = 120.0  # seconds without a request, after which a job stops; hidden tabs ask once a minute
WORKERS = 2
MOST_WAITING = 20
MOST_EACH = 4  # of them of one visitor, in all tabs

WAITING = Progress("waiting", 0, 1)

log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class Job:
    """One task that runs in another thread, and calls `compute` for what takes long."""

    task: Callable[[Job], Any]  # called with the job
    stage: str = "search"  # the first one: "search", "fit" or "test"
    long: bool = False  # whether it may take minutes: such jobs never use all threads
    aside: bool = False  # whether nobody waits for it, so that it does not count in the queue
    visitor: str = ""  # whose it is
    patience: float = FORGOTTEN  # seconds without `look` after which it stops itself
    worker: Worker | None = None  # the process that computes; None: this one
    result: Any = None  # what the task returned; None before it ends
    error: str = ""  # why there is no result
    progress: Progress = WAITING
    _stop: Event = field(default_factory=Event)
    _done: Event = field(default_factory=Event)
    _seen: float = field(default_factory=time.monotonic)
    _began: tuple[float, int] = (0.0, 0)  # of the stage: when, and after how many steps

    def look(self) -> Progress:
        """The progress; also records that somebody is waiting."""
        self._seen = time.monotonic()
        return self.progress

    def stop(self) -> None:
        """Stop, and keep the best result so far."""
        self._stop.set()

    @property
    def stopping(self) -> bool:
        """Whether it was stopped, or nobody is waiting any more."""
        return self._stop.is_set() or time.monotonic() - self._seen > self.patience

    @property
    def done(self) -> bool:
        """Whether it has ended, with or without a result."""
        return self._done.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait up to so many seconds; returns whether the job has ended."""
        return self._done.wait(seconds)

    def update(self, now: Progress) -> bool:
        """Callback of fits and tests; returns whether they should stop."""
        if now.stage != self.progress.stage or now.done < self.progress.done:
            self._began = time.monotonic(), now.done
        self.progress = now
        return self.stopping

    def compute(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function with these arguments and `update`, in a process of its own if the pool has them."""
        if self.worker is None:
            return function(*args, self.update)
        return self.worker.ask(function, *args, progress=self.update)

    @property
    def left(self) -> float:
        """About how many seconds the rest of this stage takes; NaN before its first step was seen."""
        now, (began, done) = self.progress, self._began
        steps = now.done - done
        return (time.monotonic() - began) / steps * (now.total - now.done) if steps > 0 else float("nan")

    def run(self) -> None:
        """Run the task in this thread; every error becomes a sentence."""
        self.progress, self._began = Progress(self.stage, 0, 1), (time.monotonic(), 0)
        try:
            if not self.stopping:
                self.result = self.task(self)
        except InputError as error:
            self.error = str(error)
        except (MemoryError, Ended):  # a process that ended was most likely killed by the system
            self.error = "There is not enough memory for this table: use fewer columns or rows."
        except BaseException:  # also those that would end the thread, which all visitors share
            log.exception("A job of the page failed.")
            self.error = "Unexpected error: the terminal in which altclust runs shows the details."
        finally:
            self._done.set()


class Pool:
    """A few threads for the jobs of all sessions, in order of arrival; jobs that nobody waits for come last.

    One thread is kept for short jobs, so that small tables do not wait for large ones.

    With processes, every thread has one that computes for it: threads of one process would slow each other down. At
    most so many jobs wait, in all and of each visitor.
    """

    def __init__(
        self,
        workers: int = WORKERS,
        most_waiting: int = MOST_WAITING,
        most_each: int = MOST_EACH,
        processes: bool = False,
    ) -> None:
        self._waiting: deque[Job] = deque()
        self._change = threading.Condition()
        self._most, self._most_each, self._processes = most_waiting, most_each, processes
        self._free_for_long = max(1, workers - 1)
        for _ in range(workers):  # daemons, so that the program can end during a job
            threading.Thread(target=self._work, daemon=True).start()

    def submit(self, job: Job) -> Job:
        """Add the job to the queue; refuse it if the queue is full."""
        with self._change:
            alike = [waiting for waiting in self._waiting if waiting.aside == job.aside and not waiting.stopping]
            if len(alike) >= self._most:
                raise InputError(f"{self._most} searches are already waiting: try again in a minute.")
            if job.visitor and sum(waiting.visitor == job.visitor for waiting in alike) >= self._most_each:
                raise InputError(f"{self._most_each} searches of your tabs are already waiting: cancel one, or wait.")
            self._waiting.append(job)
            self._change.notify_all()
        return job

    def ahead(self, job: Job) -> int:
        """The number of jobs before this one."""
        with self._change:
            before = list(self._waiting)
        if job not in before:
            return 0
        return sum(not other.stopping and (job.aside or not other.aside) for other in before[: before.index(job)])

    def _next(self) -> Job | None:
        """The first job that may start now."""
        for job in sorted(self._waiting, key=lambda job: job.aside):
            if not job.long or job.stopping or self._free_for_long > 0:
                self._waiting.remove(job)
                return job
        return None

    def _work(self) -> None:
        worker = Worker(threads=1) if self._processes else None
        if worker is not None:
            worker.start()  # its imports take a second, which nobody waits for now
        while True:
            with self._change:
                while (job := self._next()) is None:
                    self._change.wait()
                self._free_for_long -= job.long
            job.worker = worker
            with suppress(BaseException):  # the job has recorded it; the thread must go on
                job.run()
            with self._change:
                self._free_for_long += job.long
                self._change.notify_all()
            del job  # an idle thread must not keep its last job in memory


@cache
def shared_pool() -> Pool:
    """The pool of all visitors; not in Streamlit's cache, which any visitor can clear."""
    return Pool(processes=True)
