from __future__ import annotations

import gc
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from altclust import InputError
from altclust.apps.web.exploration import MANY_CELLS, MANY_COLUMNS, Choices, Exploration
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
    session.change(pool, lambda job: None, "test")
    for rows, columns in ((2, MANY_COLUMNS), (2, MANY_COLUMNS + 1), (MANY_CELLS // 2, 2), (MANY_CELLS // 2 + 1, 2)):
        large = replace(table, frame=pd.DataFrame(np.zeros((rows, columns), dtype=np.int8)))
        session.find(pool, Exploration(large, Choices()))
    assert [job.long for job in pool.jobs] == [False, False, True, False, True, False, True]


def test_a_search_that_is_refused_leaves_a_sentence_and_the_slider_goes_back(table):
    go = threading.Event()
    pool, session = Pool(workers=1, most_waiting=0), Session(study=Exploration(table, Choices()))
    before = session.dropped
    session.change(pool, lambda job: go.wait(1))
    assert "0 searches are already waiting" in session.problem
    assert session.job is None
    assert session.dropped == before + 1  # the slider's key changes, and with it the value that it shows


def test_only_the_last_view_is_exchanged_and_not_during_a_job(table, monkeypatch):
    asked = []
    monkeypatch.setattr(Exploration, "choose", lambda self, place, number: asked.append((place, number)))
    session = Session(study=Exploration(table, Choices(), ["first", "second"]), place=0)
    session.choose(2)
    session.place, session.job = 1, "a job"
    session.choose(2)
    assert asked == []
    session.job, session.chosen = None, [3]
    session.choose(2)
    assert asked == [(1, 2)]
    assert session.chosen == []


def test_studies_are_told_apart_even_from_those_that_are_gone(table):
    seen = set()
    for _ in range(5):  # the next one may well be where the last one was in memory
        seen.add(Exploration(table, Choices()).number)
        gc.collect()
    assert len(seen) == 5


def test_a_view_that_was_found_is_tested_beside_everything_else(table):
    class Found:
        model, stopped = "a model", False

    pool, session = Listening(), Session()
    study = Exploration(table, Choices())
    session.find(pool, study)
    search = pool.jobs[0]
    search._task = lambda job: Found()
    search.run()
    session.finish()
    assert session.job is None  # the page is free
    assert session.test is pool.jobs[1]
    assert session.test.aside
    assert session.is_testing(session.view)
    session.change(pool, lambda job: None)  # another view takes its place
    assert session.test is None
    assert pool.jobs[1].stopping


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
