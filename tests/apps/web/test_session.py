from __future__ import annotations

import gc
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from altclust import InputError
from altclust.apps.web.exploration import MANY_CELLS, MANY_COLUMNS, Choices, Exploration, ShownView
from altclust.apps.web.jobs import Job, Pool
from altclust.apps.web.session import Session
from altclust.tables import Table


@pytest.fixture
def table():
    return Table("t.csv", pd.DataFrame({"x": np.arange(6.0), "y": np.arange(6.0)}), (), lambda path, new: None)


class Listening:
    """A pool that only notes what it is asked for."""

    def __init__(self):
        self.jobs = []

    def submit(self, job):
        self.jobs.append(job)
        return job


def test_searches_that_may_take_minutes_are_long_jobs(table):
    pool, session = Listening(), Session()
    study = Exploration(table, Choices())
    session.find(pool, study)
    session.study = study
    session.change(pool, lambda job: None)
    for rows, columns in ((2, MANY_COLUMNS), (2, MANY_COLUMNS + 1), (MANY_CELLS // 2, 2), (MANY_CELLS // 2 + 1, 2)):
        large = replace(table, frame=pd.DataFrame(np.zeros((rows, columns), dtype=np.int8)))
        session.find(pool, Exploration(large, Choices()))
    assert [job.long for job in pool.jobs] == [False, False, False, True, False, True]


def test_a_search_that_is_refused_leaves_a_sentence_and_the_slider_goes_back(table):
    go = threading.Event()
    pool, session = Pool(workers=1, most_waiting=0), Session(study=Exploration(table, Choices()))
    before = session.dropped
    session.change(pool, lambda job: go.wait(1))
    assert "0 searches are already waiting" in session.problem
    assert session.job is None
    assert session.dropped == before + 1  # the slider's key changes, and with it the value that it shows


def test_studies_are_told_apart_even_from_those_that_are_gone(table):
    seen = set()
    for _ in range(5):  # the next one may well be where the last one was in memory
        seen.add(Exploration(table, Choices()).number)
        gc.collect()
    assert len(seen) == 5


class Found:
    """A view, with as much of it as a session uses."""

    def __init__(self, number, real=None):
        self.number, self.is_real, self.n_clusters = number, real, 2
        self.significance = None if real is None else "a verdict"


def shown(number, real=None, **more):
    return ShownView(Found(number, real), None, None, None, **more)


def done(job, result):
    """Let a job end with a result."""
    job.task = lambda job: result
    job.run()


@pytest.fixture
def found(table):
    """A session with one view, which is being tested."""
    pool, session = Listening(), Session()
    session.find(pool, Exploration(table, Choices()))
    done(pool.jobs[0], shown(1))
    session.finish(pool)
    return pool, session


def test_a_view_that_was_found_is_tested_beside_everything_else(found):
    pool, session = found
    assert session.job is None  # the page is free
    assert session.aside is pool.jobs[1]
    assert session.aside.aside
    assert session.is_testing(session.view)
    session.change(pool, lambda job: None)  # another view takes its place
    assert session.aside is None
    assert pool.jobs[1].stopping


def test_the_next_view_is_searched_for_while_the_first_is_looked_at(found):
    pool, session = found
    session.chosen = [3]
    turn = session.turn
    done(session.aside, shown(1, True))
    session.finish(pool)
    assert not session.is_testing(session.view)
    assert session.aside.task == session.study.find
    done(session.aside, shown(2))
    session.finish(pool)
    assert len(session.study.views) == 2
    assert (session.place, session.chosen, session.turn) == (0, [3], turn)  # the visitor stays where they are
    assert session.aside.task == session.study.test
    assert session.is_testing(session.study.views[1])
    done(session.aside, shown(2, False))
    session.finish(pool)
    assert session.aside.task == session.study.find  # behind one view that is not significant, others often are
    done(session.aside, shown(3))
    session.finish(pool)
    done(session.aside, shown(3, False))
    session.finish(pool)
    assert session.aside is None
    assert [one.view.is_real for one in session.study.views] == [True, False, False]
    assert len(pool.jobs) == 6


@pytest.mark.parametrize("ending", ["stopped", "error"])
def test_what_runs_aside_and_gives_nothing_is_not_started_again(found, ending):
    pool, session = found
    session.aside.error = "Not enough memory." if ending == "error" else ""
    done(session.aside, None)
    session.finish(pool)
    assert session.aside is None
    assert session.study.to_do == "test"
    assert session.problem == ("Not enough memory." if ending == "error" else "")
    session.go_on(pool)  # the button
    assert session.is_testing(session.view)


def test_a_search_that_was_stopped_early_is_not_tested_by_itself(table):
    pool, session = Listening(), Session()
    session.find(pool, Exploration(table, Choices()))
    done(session.job, shown(1, stopped=True))
    session.finish(pool)
    assert session.view is not None
    assert session.aside is None


def test_a_change_of_an_earlier_view_drops_the_later_ones(found):
    pool, session = found
    session.study.views = [shown(1, True), shown(2, True)]
    session.change(pool, lambda job: None)
    session.place = 1  # meanwhile
    done(session.job, shown(1))
    session.finish(pool)
    assert len(session.study.views) == 1
    assert session.place == 0
    assert session.is_testing(session.view)


def test_a_search_that_somebody_waits_for_comes_before_what_runs_aside():
    go, order = threading.Event(), []
    pool = Pool(workers=1)
    running = pool.submit(Job(lambda job: go.wait(5)))
    while running.progress.stage == "waiting":
        time.sleep(0.01)
    aside = pool.submit(Job(lambda job: order.append("aside"), "search", long=True, aside=True))
    search = pool.submit(Job(lambda job: order.append("search"), long=True))
    go.set()
    assert aside.wait(5)
    assert search.wait(5)
    assert order == ["search", "aside"]


def test_waiting_tests_do_not_keep_searches_out():
    go = threading.Event()
    pool = Pool(workers=1, most_waiting=1)
    running = pool.submit(Job(lambda job: go.wait(5)))
    while running.progress.stage == "waiting":
        time.sleep(0.01)
    pool.submit(Job(lambda job: None, "test", long=True, aside=True))
    with pytest.raises(InputError, match="already waiting"):
        pool.submit(Job(lambda job: None, "test", long=True, aside=True))
    assert pool.ahead(pool.submit(Job(lambda job: None))) == 0
    go.set()
