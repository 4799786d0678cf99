"""A worker process that runs one function call after the other, and can be killed during a call.

It is a new Python process that imports this package and nothing of the calling program: that program needs no
``if __name__ == "__main__"``, and a Ctrl-C in its terminal does not reach the worker.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from ..base.progress import Callback, Progress

LOOK = 0.1  # seconds between checks for a result
START = "import sys; sys.path[:] = {path!r}; from altclust.models.worker import serve_requests; serve_requests()"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class TooLate(Exception):
    """The call took longer than its timeout."""


class Ended(Exception):
    """The process ended without a result, by itself or killed by the system."""


class Cancelled(Exception):
    """The call was cancelled."""


class Worker:
    """One worker process, started at the first call and again after it was ended.

    Parameters
    ----------
    threads : int, optional
        Threads of its linear algebra.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._process: subprocess.Popen | None = None
        self._environment = {} if threads is None else dict.fromkeys(THREADS, str(threads))

    def start(self) -> subprocess.Popen:
        """Start the process, if it is not running."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", START.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=os.environ | self._environment,
            )
        return self._process

    def ask(
        self,
        function: Callable[..., Any],
        *args: Any,
        timeout: float = float("inf"),
        cancelled: Callable[[], bool] = bool,
        progress: Callback | None = None,
    ) -> Any:
        """Call a function of this package in the worker and return its result, or raise its error.

        With `progress`, the function gets one more argument: a callback, which calls `progress` here.

        Raises
        ------
        TooLate, Ended, Cancelled
            The process has been ended.
        """
        if cancelled():
            raise Cancelled
        answers: queue.Queue[Any] = queue.Queue()
        question = pickle.dumps((function, args, progress is not None))
        asked = self.start(), question, progress or bool, answers
        threading.Thread(target=_exchange, args=asked, daemon=True).start()
        until = time.monotonic() + timeout
        try:
            while True:
                try:
                    answer = answers.get(timeout=LOOK)
                except queue.Empty:
                    if cancelled():
                        raise Cancelled from None
                    if time.monotonic() > until:
                        raise TooLate from None
                else:
                    if answer is None:
                        raise Ended
                    break
        except BaseException:
            self.end()
            raise
        result, error = answer
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _exchange(process: subprocess.Popen, question: bytes, progress: Callback, answers: queue.Queue[Any]) -> None:
    """Send a call, answer its callbacks, and put its result and error into the queue; None if the process ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(question)
        process.stdin.flush()
        while isinstance(answer := pickle.load(process.stdout), Progress):
            pickle.dump(bool(progress(answer)), process.stdin)
            process.stdin.flush()
        answers.put(answer)
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        answers.put(None)


def serve_requests() -> None:
    """The main loop of the worker, until the calling process closes the pipe or ends."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that libraries print must not mix with results
    received: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_listen, args=(received,), daemon=True).start()

    def send(message: Any) -> None:
        pickle.dump(message, out)
        out.flush()

    def report(now: Progress) -> bool:
        send(now)
        return received.get()

    while True:
        function, args, followed = received.get()
        try:
            answer: tuple[Any, Exception | None] = function(*args, *[report] * followed), None
        except Exception as error:
            error.add_note(traceback.format_exc())
            answer = None, error
        send(answer)
        del function, args, answer  # an idle worker must not keep a table in memory


def _listen(received: queue.Queue[Any]) -> None:
    """Receive calls and answers until the pipe ends, possibly in the middle of a call if the caller was killed."""
    try:
        while True:
            received.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)
