"""A process of our own that answers one question after the other, and can be ended in the middle of one.

It is a plain Python that imports this package and nothing of the program that asks: that program needs no
``if __name__ == "__main__"``, and a Ctrl-C in its terminal does not reach the process.
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

LOOK = 0.1  # seconds between looks at an answer that is awaited
START = "import sys; sys.path[:] = {path!r}; from altclust.models.worker import answer_questions; answer_questions()"


class TooLate(Exception):
    """The answer took longer than it might."""


class Ended(Exception):
    """The process is gone, by itself or by the system."""


class Cancelled(Exception):
    """Nobody wants the answer any more."""


class Answerer:
    """One such process, begun when it is first asked and again after it was ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None

    def ask(self, function: Callable[..., Any], *args: Any, timeout: float, cancelled: Callable[[], bool]) -> Any:
        """What the function, which belongs to a module of this package, answers over there.

        Raises
        ------
        TooLate, Ended, Cancelled
            And the process is gone.
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
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _exchange(process: subprocess.Popen, question: Any, answers: queue.Queue[Any]) -> None:
    """One question and its answer in a tuple; None where the process ended instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump(question, process.stdin)
        process.stdin.flush()
        answers.put((pickle.load(process.stdout),))
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        answers.put(None)


def answer_questions() -> None:
    """What the process does, until whoever asks closes its pipe or is gone."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    questions: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=_listen, args=(questions,), daemon=True).start()
    while True:
        function, args = questions.get()
        pickle.dump(function(*args), out)
        out.flush()


def _listen(questions: queue.Queue[Any]) -> None:
    """Hear questions until there is an end, or half a one because whoever asked was ended."""
    try:
        while True:
            questions.put(pickle.load(sys.stdin.buffer))
    finally:
        os._exit(0)
