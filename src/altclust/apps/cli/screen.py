"""What the commands say while they work: sentences, a live bar, and Ctrl-C taken as "that is enough"."""

from __future__ import annotations

import math
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, delayed
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from ...base.parallel import end_with_parent
from ...core.solvers import Status

console = Console(stderr=True)

INTERRUPTED = 130  # exit code after Ctrl-C
COMPARING = "Comparing with shuffled rows, to tell the view from chance"


SIGNALS = signal.SIGINT, signal.SIGTERM  # Ctrl-C, and what `kill` and `timeout` send


class Stopped(BaseException):
    """Ctrl-C, and whoever pressed it does not want to wait for what there is; the message says what is left."""

    def __init__(self, left: str = "nothing was written") -> None:
        super().__init__(left)


def stop_at_once(*_: object) -> None:
    """What Ctrl-C does outside `live`."""
    raise Stopped


def stop_after_writing(*_: object) -> None:
    """What Ctrl-C does when nothing is left but to show what was written."""
    raise Stopped("all results were written")


def printable(text: str) -> str:
    """A text without what a terminal would obey: names and cells come from anywhere."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "�" for letter in text)


def plain(text: str) -> str:
    """A text for a cell of a table on the screen, which would take brackets for colours."""
    return escape(printable(text))


def say(sentence: str, style: str | None = None) -> None:
    """One line on the screen, as it is."""
    console.print(printable(sentence.strip()), style=style, markup=False, highlight=False, soft_wrap=True)


class Live:
    """A bar for the stage that is under way; every report answers whether Ctrl-C was pressed."""

    def __init__(self, progress: Progress, bar: TaskID) -> None:
        self.progress, self.bar = progress, bar
        self.interrupted = self.refined = self.writing = False

    def stage(self, name: str) -> None:
        """Begin something else."""
        self.refined = False
        self.progress.reset(self.bar, total=None, description=name, figures="")

    def write(self) -> None:
        """Begin to write, which is too short to be interrupted."""
        self.writing = True
        self.stage("Writing the report")

    def share(self, done: float, total: float) -> bool:
        """So much is done."""
        self.progress.update(self.bar, completed=done, total=total)
        return self.interrupted

    def round(self, number: int, value: float, change: float, overlap: float) -> bool:
        """KDAC's callback: the search comes first, with number 0, and then the rounds."""
        where = "clearest so far" if number == 0 else f"round {number}"
        new = "" if math.isnan(overlap) else f", overlap {overlap:.3f}"
        figures = "" if math.isnan(value) else f"{where}: objective {value:.3f}{new}"
        if number == 0 and self.refined:  # a view that was found is tested
            self.progress.update(self.bar, description=COMPARING, completed=1 - change, total=1, figures="")
        elif number == 0:
            self.progress.update(self.bar, completed=1 - change, total=1, figures=figures)
        else:
            self.refined = True
            self.progress.update(self.bar, description="Refining", total=None, figures=figures)
        return self.interrupted


def start_searchers(jobs: int) -> None:
    """Start the processes that search side by side."""
    if jobs != 1:
        Parallel(n_jobs=jobs)(delayed(end_with_parent)() for _ in range(2))


@contextmanager
def live(first: str, start: Callable[[], Any] = lambda: None) -> Iterator[Live]:
    """A bar that begins with this stage; the first Ctrl-C is noted, the second ends everything at once.

    SIGTERM counts as Ctrl-C.

    Processes that start begins inherit that Ctrl-C is ignored: it is for this one alone.
    """
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"), TimeElapsedColumn()
    before = [signal.signal(one, signal.SIG_IGN) for one in SIGNALS]
    try:
        start()
        with Progress(*columns, console=console, transient=True) as progress:
            shown = Live(progress, progress.add_task(first, total=None, figures=""))

            def note(*_: object) -> None:
                if shown.writing:
                    return
                if shown.interrupted:
                    raise Stopped
                shown.interrupted = True
                progress.update(shown.bar, description="Ending with what there is (again to leave at once)")

            for one in SIGNALS:
                signal.signal(one, note)
            with _warnings_as_sentences():
                yield shown
            if shown.writing:
                before = [stop_after_writing] * len(SIGNALS)
    finally:
        for one, handler in zip(SIGNALS, before, strict=True):
            signal.signal(one, handler)


@contextmanager
def _warnings_as_sentences() -> Iterator[None]:
    """Show what is warned of at the end, without Python's names for it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in said):
        if str(Status.CANCELLED) not in text:  # whoever pressed Ctrl-C knows
            say(text, style="yellow")
