from __future__ import annotations

import asyncio

import pytest

from altclust.apps.web.jobs import Job
from altclust.apps.web.session import Session
from altclust.apps.web.visits import VisitOptions, Visits

AWAY, GONE = VisitOptions().away, VisitOptions().gone


class Runtime:
    """Says who is here, and notes who was closed."""

    def __init__(self, *here):
        self.here, self.closed = set(here), []

    def is_active_session(self, session_id):
        return session_id in self.here

    def close_session(self, session_id):
        self.closed.append(session_id)


@pytest.fixture
def visit():
    session = Session(job=Job(lambda job: None))
    visits = Visits()
    visits.note("ada", session)
    return visits, session


def test_who_is_here_is_left_alone(visit):
    visits, session = visit
    runtime = Runtime("ada")
    for now in (0.0, 10 * GONE):
        assert visits.look(runtime, now=now) == 0
    assert not session.job.stopping
    assert not runtime.closed


def test_a_closed_tab_ends_its_search_and_then_all_is_forgotten(visit):
    visits, session = visit
    runtime = Runtime()
    visits.look(runtime, now=100.0)
    visits.look(runtime, now=100.0 + AWAY - 1)
    assert not session.job.stopping
    visits.look(runtime, now=100.0 + AWAY)
    assert session.job.stopping
    assert not runtime.closed
    assert visits.look(runtime, now=100.0 + GONE) == 1
    assert runtime.closed == ["ada"]
    assert visits.look(runtime, now=100.0 + 2 * GONE) == 0  # once is enough


def test_a_browser_that_comes_back_finds_all_as_it_was(visit):
    visits, session = visit
    runtime = Runtime()
    visits.look(runtime, now=0.0)
    runtime.here.add("ada")
    visits.look(runtime, now=AWAY - 1)
    runtime.here.clear()
    visits.look(runtime, now=AWAY + 1)
    visits.look(runtime, now=2 * AWAY)
    assert not session.job.stopping


def test_uploads_of_somebody_who_never_saw_the_page_are_forgotten_too(visit):
    visits, _ = visit
    runtime = Runtime("ada")
    visits.look(runtime, ["bob"], now=0.0)
    assert visits.look(runtime, ["bob"], now=GONE) == 1
    assert runtime.closed == ["bob"]


def test_a_visitor_who_cannot_be_forgotten_keeps_nobody_else(visit):
    visits, _ = visit
    visits.note("eve", Session())
    visits.note("zoe", Session())

    class Broken(Runtime):
        def close_session(self, session_id):
            super().close_session(session_id)
            if session_id != "eve":
                raise RuntimeError("this one cannot be closed")

    runtime = Broken()
    visits.look(runtime, now=0.0)
    assert visits.look(runtime, now=GONE) == 1
    assert sorted(runtime.closed) == ["ada", "eve", "zoe"]
    assert visits.look(runtime, now=3 * GONE) == 0
    assert len(runtime.closed) == 3  # nobody is tried again and again
    assert not visits._left


def test_who_left_nothing_behind_is_not_remembered(visit):
    visits, _ = visit
    runtime = Runtime("ada")
    visits.look(runtime, ["bob"], now=0.0)
    visits.look(runtime, now=1.0)  # Streamlit has thrown bob's uploads away itself
    assert not visits._left


def test_the_order_is_kept_whatever_goes_wrong():
    visits = Visits(VisitOptions(every=0.0, gone=0.0))
    visits.note("ada", Session())
    runtime, asked = Runtime(), []

    def uploads():
        asked.append(1)
        if len(asked) == 1:
            raise RuntimeError("the first look fails")
        return {"bob": {}}

    async def keep():
        task = asyncio.create_task(visits.keep_order(runtime, uploads))
        while set(runtime.closed) < {"ada", "bob"}:
            await asyncio.sleep(0.01)
        task.cancel()

    asyncio.run(asyncio.wait_for(keep(), 20))
