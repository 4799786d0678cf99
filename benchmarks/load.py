"""Many visitors of the web app at once: errors, memory, waiting times, and the effect of a long job on others.

Starts the real server in its own process and sends messages like a browser, so that nearly all processor time is the
server's. Every visitor uploads a table, presses "Find alternative" with automatic parameters (a full search), moves
the slider three times (a short fit each), and so on.

    python benchmarks/load.py                                      # 20 visitors, 200 fits of 1,000 rows, some minutes
    python benchmarks/load.py --users 4 --fits 16 --rows 200 --noise 0
"""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pandas as pd

from altclust import datasets

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.page_server import Server, serving
from benchmarks.visitor import Visitor

EVERY = 20  # fits between two measurements of memory
AHEAD = re.compile(r"(\d+) searches are first")
TESTING, PREPARING = "Testing significance: ", "Preparing the test"  # the first is followed by how far it is
REFUSED, FAILED = "already waiting", "Unexpected error"
WARM = 3.0  # seconds until the first long search has started
WEIGHTS = ("20", "0.1", "5")  # positions of the slider after a search


def table(rows: int, seed: int, noise: int = 2) -> bytes:
    """A CSV with three given blobs, two hidden moons, and columns of noise: hundreds of them take long to test."""
    data = datasets.views(rows, ("blobs", "moons"), (3, 2), noise_columns=noise, random_state=seed)
    frame = pd.DataFrame(data.X, columns=list(data.feature_names)).assign(given=data.given)
    return frame.to_csv(index=False).encode()


@dataclass
class Fit:
    """One fit from the view of its visitor."""

    kind: str
    first: float  # seconds from the click to the first message
    whole: float
    gaps: list[float] = field(default_factory=list)  # seconds between two messages
    ahead: list[int] = field(default_factory=list)  # the numbers of searches ahead, as shown on the page


async def find(visitor: Visitor) -> Fit:
    """Press the button and wait for the result."""
    start, before, count = time.monotonic(), visitor.times, len(visitor.sentences)
    await visitor.press("find")
    await visitor.settled(before)
    return _fit("search", visitor, start, count)


async def slide(visitor: Visitor, weight: str) -> Fit:
    """Move the slider and wait for the result."""
    start, before, count = time.monotonic(), visitor.times, len(visitor.sentences)
    await visitor.choose("weight-", weight)
    await visitor.settled(before)
    return _fit("slider", visitor, start, count)


def _fit(kind: str, visitor: Visitor, start: float, count: int) -> Fit:
    end = time.monotonic()
    moments = [moment for moment, _ in visitor.sentences[count:]] or [end]
    ahead = [int(found[1]) for _, text in visitor.sentences[count:] if (found := AHEAD.search(text))]
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    return Fit(kind, moments[0] - start, end - start, gaps, ahead)


@asynccontextmanager
async def visiting(url: str):
    """An open tab, closed at the end."""
    visitor = Visitor(url)
    await visitor.open()
    try:
        yield visitor
    finally:
        await visitor.close()


@dataclass
class Crowd:
    """The results of many visitors at once."""

    asked: int = 0
    fits: list[Fit] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)  # megabytes after every 20 fits

    @property
    def growth(self) -> float:
        """Mean of the last three measurements of memory over that of the first three."""
        early, late = self.memory[:3], self.memory[-3:]
        return statistics.mean(late) / statistics.mean(early)

    @property
    def falling(self) -> bool:
        """Whether the number of searches ahead never increased for any visitor."""
        return all(fit.ahead == sorted(fit.ahead, reverse=True) for fit in self.fits)


async def crowd(server: Server, users: int, fits: int, rows: int, every: int = EVERY) -> Crowd:
    """`users` visitors share `fits` fits: a search, the slider three times, a search, ..."""
    seen = Crowd()

    async def visit(seed: int) -> None:
        async with visiting(server.url) as visitor:
            try:
                await visitor.upload(f"table {seed}.csv", table(rows, seed))
                for turn in range(fits // users):
                    seen.asked += 1
                    fit = await (slide(visitor, WEIGHTS[turn % 4 - 1]) if turn % 4 else find(visitor))
                    if not visitor.has("weight-"):
                        visitor.wrong.append(f"there is no result: {visitor.words()}")
                    visitor.wrong += [alert.body for alert in visitor.shown("alert") if FAILED in alert.body]
                    seen.fits.append(fit)
                    if len(seen.fits) % every == 0:
                        seen.memory.append(server.memory())
                        print(f"  {len(seen.fits)} fits, {seen.memory[-1]:.0f} MB", file=sys.stderr, flush=True)
            except (TimeoutError, ConnectionError, LookupError) as error:
                visitor.wrong.append(f"{error!r}, while the page said: {visitor.words()[-200:]}")
            seen.wrong += visitor.wrong

    await asyncio.gather(*(visit(seed) for seed in range(users)))
    return seen


@dataclass
class Beside:
    """Times of other visitors, with or without a long job running."""

    reruns: list[float]
    fits: list[Fit]


async def beside(server: Server, rows: int, searches: int = 6) -> Beside:
    """One visitor reruns the page repeatedly while others search, one after the other."""
    reruns, fits = [], []
    async with visiting(server.url) as looking:

        async def look() -> None:
            while True:
                reruns.append(await looking.rerun())
                await asyncio.sleep(0.2)

        task = asyncio.create_task(look())
        for seed in range(searches):
            async with visiting(server.url) as searching:
                await searching.upload("small.csv", table(rows, seed))
                fits.append(await find(searching))
        task.cancel()
    return Beside(reruns, fits)


async def long_jobs(server: Server, rows: int, noise: int) -> tuple[Beside, Beside]:
    """Times of others, without and with a visitor who searches and tests wide tables all the time."""

    async def keep_busy() -> None:
        while True:
            async with visiting(server.url) as visitor:
                await visitor.upload("long.csv", table(rows, 1, noise))
                await find(visitor)
                await visitor.until(lambda: visitor.has("stop-aside"))
                await visitor.until(lambda: not visitor.has("stop-aside"))

    alone = await beside(server, rows)
    busy = asyncio.create_task(keep_busy())
    try:
        await asyncio.sleep(WARM)
        crowded = await beside(server, rows)
        if busy.done():
            raise AssertionError(f"the visitor with long jobs stopped: {busy.exception()}")
    finally:
        busy.cancel()
        await asyncio.gather(busy, return_exceptions=True)
    return alone, crowded


async def turned_away(server: Server, people: int, rows: int, tabs: bool = False) -> tuple[int, list[str]]:
    """All press the button at the same moment; the number of refusals, and the errors. Or all are tabs of one."""
    visitors: list[Visitor] = []
    content = table(rows, 0)
    for _ in range(people):
        visitor = Visitor(server.url, visitors[0].token if tabs and visitors else "")
        visitors.append(visitor)
        await visitor.open()
        await visitor.upload("table.csv", content)
    for visitor in visitors:
        await visitor.press("find")
    for visitor in visitors:
        await visitor.until(lambda visitor=visitor: bool(visitor.sentences) or was_refused(visitor))
    refused = sum(was_refused(visitor) for visitor in visitors)
    for visitor in visitors:
        if visitor.shown("progress"):
            await visitor.press("cancel")
    for visitor in visitors:
        await visitor.until(lambda visitor=visitor: not visitor.shown("progress"))
        await visitor.close()
    return refused, [sentence for visitor in visitors for sentence in visitor.wrong]


def was_refused(visitor: Visitor) -> bool:
    """Whether the page says that too many searches are waiting, of all or of this visitor."""
    return any(REFUSED in alert.body for alert in visitor.shown("alert"))


async def left_behind(server: Server, rows: int, noise: int) -> float:
    """Seconds from closing a tab to the end of its long job, when another one's starts."""
    first = Visitor(server.url)
    await first.open()
    async with visiting(server.url) as second:
        for visitor, columns in ((first, noise), (second, 2)):
            await visitor.upload("table.csv", table(rows, 1, columns))
            await find(visitor)  # its view is then tested
        await second.until(lambda: second.has("stop-aside"))
        if any(words in second.words() for words in (TESTING, PREPARING)):
            raise AssertionError(f"two long jobs run at the same time: {second.words()}")
        await first.close()
        start = time.monotonic()
        await second.until(lambda: TESTING in second.words())
        return time.monotonic() - start


async def emptied(server: Server, seconds: float = 150.0) -> tuple[int, int]:
    """Sessions and bytes of uploads that remain after all visitors have left."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and (server.sessions() or server.uploads()):
        await asyncio.sleep(2)
    return server.sessions(), server.uploads()


def median(values: Sequence[float]) -> float:
    """The median; NaN if there are no values."""
    return statistics.median(values) if values else float("nan")


def show(*row: object) -> None:
    """One line of the table."""
    print(f"{row[0]:<58} {' '.join(str(cell) for cell in row[1:])}", flush=True)


def compare(name: str, without: Sequence[float], among: Sequence[float]) -> None:
    """Medians without and with long jobs of others, their ratio, and the largest value with them."""
    before, after = median(without), median(among)
    show(name, f"{before:.2f} {after:.2f} {after / before:.2f}, at most {max(among):.2f}")


async def run(users: int, fits: int, rows: int, noise: int) -> None:
    start = time.monotonic()
    if noise:
        with serving() as server:
            alone, crowded = await long_jobs(server, rows, noise)
        show(f"another searches and tests tables with {noise} columns of noise: without, with, ratio")
        compare("  a plain rerun (ms)", *([1e3 * each for each in one.reruns] for one in (alone, crowded)))
        compare("  click to first message (s)", *([fit.first for fit in one.fits] for one in (alone, crowded)))
        compare("  whole search (s)", *([fit.whole for fit in one.fits] for one in (alone, crowded)))
        longest = ([max(fit.gaps, default=fit.whole) for fit in one.fits] for one in (alone, crowded))
        compare("  longest time between messages (s)", *longest)
    with serving() as server:
        show("memory of the idle server", f"{server.memory():.0f} MB")
        began = time.monotonic()
        seen = await crowd(server, users, fits, rows)
        took = time.monotonic() - began
        searches = [fit for fit in seen.fits if fit.kind == "search"]
        show("visitors, rows of each table", users, rows)
        show("fits asked, finished, seconds", seen.asked, len(seen.fits), f"{took:.0f}")
        show("  of them searches, moves of the slider", len(searches), len(seen.fits) - len(searches))
        show("errors in pages, lines in the server's terminal", len(seen.wrong), len(server.complaints()))
        for line in [*seen.wrong, *server.complaints()][:10]:
            show("  ", line[:200])
        show("click to first message, median and maximum (s)", f"{median([fit.first for fit in searches]):.2f}",
             f"{max(fit.first for fit in searches):.2f}")  # fmt: skip
        gaps = [gap for fit in searches for gap in fit.gaps]
        show("time between messages, median and maximum (s)", f"{median(gaps):.2f} {max(gaps, default=0.0):.2f}")
        waited = [fit for fit in searches if fit.ahead]
        show("searches that showed the number ahead of them", len(waited))
        show("largest number ahead, and whether it never increased", max((fit.ahead[0] for fit in waited), default=0),
             seen.falling)  # fmt: skip
        show(f"memory after every {EVERY} fits (MB)", *(f"{one:.0f}" for one in seen.memory))
        if len(seen.memory) >= 6:
            show("  growth, last three measurements over the first three", f"{seen.growth:.3f}")
        if noise:
            show("a tab is closed: its long job ends after (s)", f"{await left_behind(server, rows, noise):.0f}")
        refused, wrong = await turned_away(server, users + 6, 200)
        show(f"of {users + 6} who press at once: refused with a message", refused)
        show("  errors in pages", len(wrong))
        refused, wrong = await turned_away(server, 10, 200, tabs=True)
        show("of 10 tabs of one visitor that search at once: refused with a message", refused)
        show("  errors in pages", len(wrong))
        sessions, uploads = await emptied(server)
        show("after all have left: sessions, bytes of uploads, memory", sessions, uploads, f"{server.memory():.0f} MB")
        show("seconds in all", f"{time.monotonic() - start:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=20)
    parser.add_argument("--fits", type=int, default=200, help="total number of fits")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--noise", type=int, default=400, help="columns of the long jobs; 0: no long jobs")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the server is always stopped
    asyncio.run(run(arguments.users, arguments.fits, arguments.rows, arguments.noise))


if __name__ == "__main__":
    main()
