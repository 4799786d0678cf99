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
import warnings
from collections.abc import Callable
from typing import Any

LOOK = 0.1  # seconds between checks for a result
START = "import sys; sys.path[:] = {path!r}; from altclust.models.worker import serve_requests; serve_requests()"


class TooLate(Exception):
    """The call took longer than its timeout."""


class Ended(Exception):
    """The process ended without a result, by itself or killed by the system."""


class Cancelled(Exception):
    """The call was cancelled."""


class Worker:
    """One worker process, started at the first call and again after it was ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None

    def ask(self, function: Callable[..., Any], *args: Any, timeout: float, cancelled: Callable[[], bool]) -> Any:
        """Call a function of this package in the worker and return its result.

        After `TooLate`, `Ended` and `Cancelled` the process has been ended.
        """
        if cancelled():
            raise Cancelled
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", START.format(path=sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        answers: queue.Queue[Any] = queue.Queue()
        threading.Thread(target=_exchange, args=(self._process, (function, args), answers), daemon=True).start()
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
                    return answer[0]
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _exchange(process: subprocess.Popen, question: Any, answers: queue.Queue[Any]) -> None:
    """Send a call and put its result, in a tuple, into the queue; None if the process ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump(question, process.stdin)
        process.stdin.flush()
        answers.put((pickle.load(process.stdout),))
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        answers.put(None)


def serve_requests() -> None:
    """The main loop of the worker, until the calling process closes the pipe or ends."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that libraries print must not mix with results
    questions: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()
    while True:
        function, args = questions.get()
        pickle.dump(function(*args), out)
        out.flush()


def _listen(questions: queue.Queue[Any]) -> None:
    """Receive calls until the pipe ends, possibly in the middle of a call if the caller was killed."""
    try:
        while True:
            questions.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)
