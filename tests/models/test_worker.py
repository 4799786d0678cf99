from __future__ import annotations

import os
import signal

import pytest

from altclust import InputError
from altclust.base.progress import Progress
from altclust.models.worker import Cancelled, Ended, TooLate, Worker


@pytest.fixture
def worker():
    worker = Worker(threads=1)
    yield worker
    worker.end()


def count(most, callback):
    """How far it comes until it is stopped."""
    for done in range(most):
        if callback(Progress("fit", done, most)):
            return done
    return most


def refuse():
    raise InputError("must be at least 1.", argument="n_clusters", value=0)


def wait_for_ever():
    signal.pause()


def test_callbacks_are_called_here_and_can_stop_a_call_there(worker):
    seen = []
    assert worker.ask(count, 3, progress=seen.append) == 3
    assert [(now.stage, now.done, now.total) for now in seen] == [("fit", done, 3) for done in range(3)]
    assert worker.ask(count, 1000, progress=lambda now: now.done == 5) == 5
    assert worker.ask(os.getpid) != os.getpid()
    assert worker.ask(os.getenv, "OMP_NUM_THREADS") == "1"


def test_errors_are_raised_here_and_the_worker_goes_on(worker):
    process = worker.ask(os.getpid)
    with pytest.raises(InputError, match="n_clusters=0 must be at least 1") as refused:
        worker.ask(refuse)
    assert refused.value.argument == "n_clusters"
    assert "in refuse" in refused.value.__notes__[0]
    assert worker.ask(os.getpid) == process


def test_a_call_can_be_ended(worker):
    with pytest.raises(TooLate):
        worker.ask(wait_for_ever, timeout=0.2)
    with pytest.raises(Cancelled):
        worker.ask(wait_for_ever, cancelled=iter([False, False, True]).__next__)
    with pytest.raises(Ended):
        worker.ask(os._exit, 1)
    assert worker.ask(abs, -1) == 1
