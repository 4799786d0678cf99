"""A few visitors at once; `python benchmarks/load.py` asks the same of twenty."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")
pytest.importorskip("plotly", reason="plotly is not installed")
pytest.importorskip("benchmarks", reason="the benchmarks are not in this copy of the repository")
if not Path("/proc/self/status").exists():
    pytest.skip("memory is read from /proc", allow_module_level=True)

from benchmarks.load import crowd, table, turned_away
from benchmarks.page_server import serving
from benchmarks.visitor import Visitor

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    with serving() as running:
        yield running
        assert not running.complaints()


def test_every_visitor_gets_every_fit_without_an_error(server):
    seen = asyncio.run(crowd(server, users=4, fits=8, rows=40, every=4))
    assert not seen.wrong
    assert (seen.asked, len(seen.fits)) == (8, 8)
    assert [fit.kind for fit in seen.fits].count("slider") == 4
    assert seen.falling
    assert len(seen.memory) == 2
    assert server.sessions() == 0


def test_who_comes_when_the_queue_is_full_gets_a_sentence(server):
    refused, wrong = asyncio.run(turned_away(server, people=25, rows=40))
    assert refused >= 1  # two are served and twenty wait
    assert not wrong
    assert server.sessions() == 0


def test_the_tabs_of_one_visitor_do_not_fill_the_queue(server):
    refused, wrong = asyncio.run(turned_away(server, people=10, rows=40, tabs=True))
    assert 1 <= refused <= 4  # two are served and four wait, and those that are served may have ended
    assert not wrong


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_without_a_word_with_tabs_open_and_a_search_under_way(ending):
    async def visit(server):
        visitor = Visitor(server.url)
        await visitor.open()
        await visitor.upload("table.csv", table(200, 0))
        await visitor.press("find")
        await visitor.until(lambda: bool(visitor.sentences), 60)
        server.process.send_signal(ending)
        code = await asyncio.to_thread(server.process.wait, 60)
        await visitor.close()
        return code

    with serving() as server:
        assert asyncio.run(visit(server)) == 0
        assert not server.complaints()
