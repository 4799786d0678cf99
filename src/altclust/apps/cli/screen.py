"""Progress on the screen: sentences, a progress bar, and Ctrl-C, which stops a search and keeps its best result."""

from __future__ import annotations

import errno
import math
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from joblib import Parallel, delayed
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from ...base.errors import FitWarning, NotConvergedWarning
from ...base.parallel import end_with_parent
from ...base.progress import Progress
from .options import in_options

console = Console(stderr=True)

INTERRUPTED = 130  # exit code after Ctrl-C
WRITING = "Writing the report"
PATIENCE = 10.0  # seconds between signs of life without a terminal
COMPARING = "Testing significance on parts of the rows"

HANGUP = getattr(signal, "SIGHUP", None)  # a terminal that is closed; Windows has none, and `nohup` ignores it
IGNORED = HANGUP is None or signal.getsignal(HANGUP) is signal.SIG_IGN
SIGNALS = (signal.SIGINT, signal.SIGTERM, *(() if IGNORED else (HANGUP,)))  # Ctrl-C; `kill` and `timeout`


class Stopped(BaseException):
    """Ctrl-C that ends the program at once; the message says what was written."""

    def __init__(self, left: str = "nothing was written") -> None:
        super().__init__(left)


def stop_at_once(received: int, *_: object) -> None:
    """What Ctrl-C does outside `live`."""
    if received == HANGUP:
        mute_closed_terminal()
    raise Stopped


def stop_after_writing(*_: object) -> None:
    """What Ctrl-C does once all files are written."""
    raise Stopped("all results were written")


def printable(text: str) -> str:
    """A text without the control characters of terminals: names and cells come from any file."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "�" for letter in text)


def plain(text: str) -> str:
    """A text for a cell of a rich table, where brackets would be read as markup."""
    return escape(printable(text))


def say(sentence: str, style: str | None = None) -> None:
    """Print one line to stderr, without markup."""
    console.print(printable(sentence.strip()), style=style, markup=False, highlight=False, soft_wrap=True)


def show(sentence: str, style: str | None = None) -> None:
    """Print one line of the result to stdout, without markup."""
    Console().print(printable(sentence), style=style, markup=False, highlight=False, soft_wrap=True)


def show_pairs(pairs: Iterable[tuple[str, str | None]], title: str | None = None) -> None:
    """Print names and texts as a table; those without a text are left out."""
    table = Table(title=title, show_header=False)
    for name, text in pairs:
        if text:
            table.add_row(name, plain(text))
    Console().print(table)


class Live:
    """A progress bar for the current stage; every update returns whether Ctrl-C was pressed."""

    def __init__(self, bar: Bar, task: TaskID) -> None:
        self.bar, self.task = bar, task
        self.interrupted = self.writing = False
        self.began = self.told = time.monotonic()
        self.count = ""

    def stage(self, name: str) -> None:
        """Start another stage."""
        self.bar.reset(self.task, total=None, description=name, figures="")
        self.count = ""
        self._tell()

    def write(self) -> None:
        """Start writing, which cannot be interrupted."""
        self.writing = True
        self.stage(WRITING)

    def update(self, now: Progress) -> bool:
        """Callback of everything that takes time."""
        if now.stage == "fit":
            self.count = f", step {now.done}"
            self.bar.update(self.task, description="Refining", total=None, figures=f"step {now.done}{_figures(now)}")
        else:
            self.count = f", {now.done} of {now.total}"
            name = COMPARING if now.stage == "test" else None
            figures = "" if math.isnan(now.overlap) else f"best so far{_figures(now)}"
            self.bar.update(self.task, description=name, completed=now.done, total=now.total, figures=figures)
        self._tell()
        return self.interrupted

    def _tell(self) -> None:
        """A line now and then where there is no terminal, and so no bar."""
        now = time.monotonic()
        if console.is_terminal or now - self.told < PATIENCE:
            return
        self.told = now
        say(f"{self.bar.tasks[0].description}{self.count} ({now - self.began:.0f} s) …")


def _figures(now: Progress) -> str:
    return "" if math.isnan(now.overlap) else f": overlap {now.overlap:.2f} with what is given"


def start_searchers(jobs: int) -> Iterable[None]:
    """Start the processes that search in parallel; the values come when they are ready, some seconds later."""
    if jobs == 1:
        return ()
    return Parallel(n_jobs=jobs, return_as="generator")(delayed(end_with_parent)() for _ in range(2))


@contextmanager
def live(first: str, start: Callable[[], Iterable[None]] = tuple) -> Iterator[Live]:
    """A progress bar; the first Ctrl-C stops the search and keeps its best result, the second ends the program.

    SIGTERM and SIGHUP count as Ctrl-C. Processes that `start` starts ignore them: this process handles them.
    """
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"), TimeElapsedColumn()
    before = [signal.signal(one, signal.SIG_IGN) for one in SIGNALS]
    try:
        starting = start()
        closed = mute_closed_terminal() and not IGNORED  # while signals were ignored
        with Bar(*columns, console=console, transient=True) as bar:
            shown = Live(bar, bar.add_task(first, total=None, figures=""))

            def note(received: int, *_: object) -> None:
                if received == HANGUP:
                    mute_closed_terminal()
                if shown.writing or (shown.interrupted and received == HANGUP):
                    return  # a shell and the system may both send it
                if shown.interrupted:
                    raise Stopped
                shown.interrupted = True
                stopping = "Stopping with the best result so far (Ctrl-C again: stop at once)"
                bar.update(shown.task, description=stopping)

            for one in SIGNALS:
                signal.signal(one, note)
            if closed or (mute_closed_terminal() and not IGNORED):
                note(signal.SIGINT)
            with _warnings_as_sentences():
                for _ in starting:  # here Ctrl-C counts again
                    pass
                yield shown
            if shown.writing:
                before = [stop_after_writing] * len(SIGNALS)
    finally:
        for one, handler in zip(SIGNALS, before, strict=True):
            signal.signal(one, handler)


def mute_closed_terminal() -> bool:
    """Drop what is printed to a stream that no longer exists, and return whether it was a terminal."""
    closed = False
    for stream in (1, 2):
        try:
            os.write(stream, b"")
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream)
            os.close(nowhere)
            closed |= error.errno == errno.EIO
    return closed


@contextmanager
def _warnings_as_sentences() -> Iterator[None]:
    """Print our own warnings at the end, as sentences about options; those of libraries are dropped."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", FitWarning)
        warnings.simplefilter("ignore", NotConvergedWarning)  # `write_results` reports it, without Python's arguments
        yield
    ours = [warning.message for warning in found if isinstance(warning.message, FitWarning)]
    for sentence in dict.fromkeys(map(in_options, ours)):
        say(sentence, style="yellow")
