from __future__ import annotations

import gc
import math
import os
import threading
import time
import weakref
from types import SimpleNamespace

import pytest

pytest.importorskip("streamlit", reason="streamlit is not installed")

from altclust import InputError
from altclust.apps.web.jobs import Job, Pool, shared_pool
from altclust.apps.web.progress_view import USUAL, sentence
from altclust.base.progress import Progress


def finished(job, seconds=5.0):
    assert job.wait(seconds)
    return job


def test_a_job_tells_how_far_it_is_and_leaves_its_result():
    told = []

    def task(job):
        for now in (Progress("search", 1, 4), Progress("search", 4, 4), Progress("fit", 1, 100, -1.5, 0.2)):
            assert not job.update(now)
            told.append(job.look())
        return "a view"

    job = finished(Pool(1).submit(Job(task)))
    assert [progress.share for progress in told] == [0.25, 1.0, 0.01]
    assert (told[2].stage, told[2].done, told[2].objective) == ("fit", 1, -1.5)
    assert (job.result, job.error) == ("a view", "")


def test_a_job_tells_how_long_the_rest_of_a_stage_takes(monkeypatch):
    clock, left = [0.0], []
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def work(job):
        left.append(job.left)
        for seconds, now in (
            (4.0, Progress("search", 2, 10)),
            (10.0, Progress("search", 5, 10)),
            (11.0, Progress("search", 1, 10)),  # a second search
            (13.0, Progress("search", 2, 10)),
            (20.0, Progress("test", 0, 6)),
            (23.0, Progress("test", 1, 6)),
        ):
            clock[0] = seconds
            job.update(now)
            left.append(job.left)

    Job(work).run()
    expected = [math.nan, 16.0, 10.0, math.nan, 16.0, math.nan, 15.0]
    assert left == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("now", "left", "words"),
    [
        (Progress("waiting", 0, 1), 0, "Waiting: 2 searches are first."),
        (Progress("search", 0, 1), math.nan, f"Preparing the search. {USUAL}"),
        (
            Progress("search", 12, 46),
            8,
            "Searching: 12 of 46 candidates, about 10 seconds more. Then they are compared.",
        ),
        (Progress("search", 12, 46), 2, "Searching: 12 of 46 candidates, a few seconds more. Then they are compared."),
        (Progress("search", 1, 46), math.nan, "Searching: 1 of 46 candidates. Then they are compared."),
        (Progress("search", 46, 46), 0, "Comparing the 46 candidates, which may take as long as the search."),
        (Progress("fit", 3, 100, -2.732), 99, "Fitting the view to the rows: round 3."),
        (Progress("test", 2, 6), 130, "Testing significance: 2 of 6 parts of the rows, about 3 minutes more."),
    ],
)
def test_progress_says_what_is_being_done_and_how_long_it_may_take(now, left, words):
    assert sentence(SimpleNamespace(progress=now, left=left), 2) == words


def test_a_job_that_is_stopped_ends_with_what_there_is():
    begun = threading.Event()

    def task(job):
        rounds = 0
        while not job.update(Progress("fit", rounds + 1, 100)):
            rounds += 1
            begun.set()
            time.sleep(0.001)
        return rounds

    job = Pool(1).submit(Job(task))
    assert begun.wait(5)
    assert not job.done
    job.stop()
    assert finished(job).result >= 1


def test_a_job_that_is_stopped_while_it_waits_never_begins():
    pool, go = Pool(1), threading.Event()
    pool.submit(Job(lambda job: go.wait(5)))
    began = []
    waiting = pool.submit(Job(lambda job: began.append(1)))
    waiting.stop()
    go.set()
    assert finished(waiting).result is None
    assert not began


def test_a_job_that_nobody_looks_at_stops_itself():
    job = Job(lambda job: job.update(Progress("test", 1, 10)), patience=0.05)
    time.sleep(0.1)
    assert job.stopping
    job.look()
    assert not job.stopping


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            InputError("n_clusters=99 but X has 3 rows: ask for fewer."),
            "n_clusters=99 but X has 3 rows: ask for fewer.",
        ),
        (MemoryError(), "not enough memory"),
        (ZeroDivisionError("secret"), "the terminal in which altclust runs shows the details"),
    ],
)
def test_whatever_goes_wrong_becomes_a_sentence(error, sentence):
    def task(job):
        raise error

    job = finished(Pool(1).submit(Job(task)))
    assert sentence in job.error
    assert "secret" not in job.error
    assert job.result is None


def test_a_job_that_would_end_its_thread_does_not_take_its_place_along():
    def leave(job):
        raise SystemExit

    class Broken(Job):
        def run(self):
            raise SystemExit

    pool = Pool(1)
    left = pool.submit(Job(leave, long=True))
    pool.submit(Broken(leave, long=True))
    assert finished(pool.submit(Job(lambda job: 1, long=True))).result == 1
    assert "the terminal in which altclust runs shows the details" in left.error


def test_jobs_side_by_side_do_not_mix():
    pool, meet = Pool(2), threading.Barrier(2, timeout=5)

    def task(share):
        def run(job):
            meet.wait()
            job.update(Progress("test", share, 100))
            meet.wait()
            return share

        return run

    jobs = [pool.submit(Job(task(share), "test")) for share in (10, 70)]
    assert [finished(job).result for job in jobs] == [10, 70]
    assert [job.progress.share for job in jobs] == [0.1, 0.7]


def test_long_jobs_leave_a_place_for_short_ones():
    pool, go = Pool(2), threading.Event()
    begun = [threading.Event() for _ in range(2)]

    def hold(event):
        def run(job):
            event.set()
            return go.wait(5)

        return run

    first, second = (pool.submit(Job(hold(event), long=True)) for event in begun)
    assert begun[0].wait(5)
    short = pool.submit(Job(lambda job: "a view"))  # overtakes the second long one
    assert finished(short).result == "a view"
    assert not begun[1].is_set()
    assert second.progress.stage == "waiting"
    go.set()
    assert finished(first).result
    assert finished(second).result


def test_long_jobs_run_where_there_is_one_worker():
    assert finished(Pool(1).submit(Job(lambda job: 1, long=True))).result == 1


def test_an_idle_worker_keeps_nothing_of_its_last_job():
    class Table:
        pass

    table = Table()
    gone = weakref.ref(table)
    job = finished(Pool(1).submit(Job(lambda job, table=table: None)))
    del job, table
    for _ in range(100):
        gc.collect()
        if gone() is None:
            break
        time.sleep(0.02)
    assert gone() is None


def test_nobody_can_make_a_second_pool():
    assert shared_pool() is shared_pool()


def test_the_queue_has_an_order_and_an_end():
    pool, go = Pool(workers=1, most_waiting=2), threading.Event()
    began = threading.Event()

    def hold(job):
        began.set()
        go.wait(5)

    pool.submit(Job(hold))
    assert began.wait(5)
    first, second = pool.submit(Job(lambda job: 1)), pool.submit(Job(lambda job: 2))
    assert (pool.ahead(first), pool.ahead(second)) == (0, 1)
    assert second.progress.stage == "waiting"
    with pytest.raises(InputError, match="2 searches are already waiting: try again"):
        pool.submit(Job(lambda job: 3))
    first.stop()  # who has left is not counted
    assert pool.ahead(second) == 0
    pool.submit(Job(lambda job: 3))
    go.set()
    assert finished(second).result == 2


def test_a_visitor_with_many_tabs_leaves_room_for_others():
    pool, go = Pool(workers=1, most_waiting=20, most_each=2), threading.Event()
    began = threading.Event()

    def hold(job):
        began.set()
        go.wait(5)

    pool.submit(Job(hold, visitor="ada"))
    assert began.wait(5)
    tabs = [pool.submit(Job(lambda job: 1, visitor="ada")) for _ in range(2)]
    with pytest.raises(InputError, match="2 searches of your tabs are already waiting: cancel one"):
        pool.submit(Job(lambda job: 1, visitor="ada"))
    pool.submit(Job(lambda job: 1, visitor="ada", aside=True))  # nobody waits for it
    other = pool.submit(Job(lambda job: 2, visitor="eve"))
    tabs[0].stop()
    pool.submit(Job(lambda job: 1, visitor="ada"))
    go.set()
    assert finished(other).result == 2


def process_of(job_progress):
    return os.getpid()


def end_of_memory(job_progress):
    os._exit(1)


def test_a_pool_with_processes_computes_there_and_outlives_their_end():
    pool = Pool(1, processes=True)
    process = finished(pool.submit(Job(lambda job: job.compute(process_of))), 60).result
    assert process != os.getpid()
    assert finished(pool.submit(Job(lambda job: job.compute(process_of)))).result == process
    ended = finished(pool.submit(Job(lambda job: job.compute(end_of_memory))))
    assert "not enough memory" in ended.error
    assert finished(pool.submit(Job(lambda job: job.compute(process_of))), 60).result not in (process, os.getpid())
