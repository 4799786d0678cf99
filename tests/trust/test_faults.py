"""Nothing is lost and nothing hangs: `faults` on purpose, a few of each here and many of each by `make nightly`.

``ALTCLUST_FAULT_RUNS=20`` runs every scenario so many times, each at another moment.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from altclust import KDAC
from altclust.apps.cli.main import main
from altclust.apps.cli.screen import SIGNALS
from altclust.files.atomic import AtomicGroup, can_write, write_atomically

fcntl = pytest.importorskip("fcntl", reason="faults are made with what Linux has")
faults = pytest.importorskip("tests.trust.faults", reason="faults are made with what Linux has")

RUNS = int(os.environ.get("ALTCLUST_FAULT_RUNS", "1"))
OFTEN = ("killed: find", "killed: download", "full disk: find")  # the rest takes minutes


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where all runs of a scenario keep what an undisturbed run finds."""
    return tmp_path_factory.mktemp("faults")


@pytest.mark.parametrize("seed", range(RUNS))
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in OFTEN else pytest.mark.slow) for name in faults.SCENARIOS]
)
def test_nothing_is_lost_and_nothing_hangs(name, seed, place):
    if name.startswith("cluster"):
        pytest.importorskip("distributed")
    if name == "a file that changes":
        pytest.importorskip("pyarrow")
    if name.startswith("orphans") and not os.path.isdir("/proc"):
        pytest.skip("there is no /proc to look for processes in")
    try:
        faults.once(name, place, seed)
    except SystemError as why:
        pytest.skip(str(why))


# What is written together


def names(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def write_both(first, second, write_second):
    with AtomicGroup() as files:
        files.write(first, lambda path: path.write_text("newer"))
        files.write(second, write_second)


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_while_others_are_written_is_kept(tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr("os.link", lambda *_: os.stat(tmp_path / "no such file"))
    a, b, c = (tmp_path / name for name in ("a.txt", "b.txt", "c"))
    b.write_text("ours")
    with AtomicGroup() as files:
        for path in (a, b, c):
            files.write(path, lambda path: path.write_text("new"), lambda path: path.read_text() == "ours")
        a.write_text("mine")
        c.symlink_to(a)
    assert names(tmp_path) == {"a.txt": "mine", "a-2.txt": "new", "b.txt": "new", "c": "mine", "c-2": "new"}
    assert files.moved == {a: tmp_path / "a-2.txt", c: tmp_path / "c-2"}


def test_files_get_their_names_together_or_never(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with AtomicGroup() as files:
        files.write(tmp_path / "a.txt", lambda path: path.write_text("new"))
        files.write(tmp_path / "b.txt", lambda path: path.write_text("new"))
        assert (tmp_path / "a.txt").read_text() == "old"
        assert len(list(tmp_path.glob(".altclust-*"))) == 2
    assert names(tmp_path) == {"a.txt": "new", "b.txt": "new"}

    def fail(path):
        path.write_text("half")
        raise ValueError("a cell that the format does not know")

    with pytest.raises(ValueError, match="a cell"):
        write_both(tmp_path / "a.txt", tmp_path / "b.txt", fail)
    assert names(tmp_path) == {"a.txt": "new", "b.txt": "new"}


def test_what_was_left_by_the_killed_is_cleared_away_and_what_others_write_is_not(tmp_path):
    left = tmp_path / ".altclust-a-0123abcd.txt"
    others = [".altclust-b-0123abcd.txt", ".altclust-a-0123abcd.csv", ".a-0123abcd.txt", "a-0123abcd.txt"]
    for name in (left.name, *others):
        (tmp_path / name).write_text("half")
    write_atomically(tmp_path / "a.txt", lambda path: path.write_text("whole"))
    assert names(tmp_path) == dict.fromkeys(others, "half") | {"a.txt": "whole"}
    with left.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as somebody does who is alive and writes the same
        write_atomically(tmp_path / "a.txt", lambda path: path.write_text("again"))
        assert left.exists()
    write_atomically(tmp_path / "a.txt", lambda path: path.write_text("again"))
    assert not left.exists()


def test_many_at_once_write_the_same_name(tmp_path):
    def write(text):
        for _ in range(30):
            write_atomically(tmp_path / "a.txt", lambda path: path.write_text(text * 1000))

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(write, "abcd"))
    assert set(names(tmp_path)) == {"a.txt"}
    assert (tmp_path / "a.txt").read_text() in {letter * 1000 for letter in "abcd"}


def test_long_names_the_usual_mode_and_a_folder_in_the_way(tmp_path):
    long = tmp_path / f"{'ö' * 120}.txt"
    write_atomically(long, lambda path: path.write_text("whole"))
    usual = tmp_path / "usual.txt"
    usual.write_text("as others write it")
    assert stat.S_IMODE(long.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder"):
        write_both(usual, tmp_path / "folder", lambda path: path.write_text("new"))
    assert usual.read_text() == "as others write it"
    with pytest.raises(FileNotFoundError, match=r"nowhere/a\.txt"):
        write_atomically(tmp_path / "nowhere" / "a.txt", lambda path: path.write_text("new"))


def test_a_disk_that_is_full_is_named_with_the_file(tmp_path, monkeypatch):
    def forgetful(path):
        raise OSError("100 requested and 28 written")  # numpy's words for it

    monkeypatch.setattr("altclust.files.atomic.shutil.disk_usage", lambda folder: SimpleNamespace(free=0))
    with pytest.raises(OSError, match=r"a\.npy") as caught:
        write_atomically(tmp_path / "a.npy", forgetful)
    assert caught.value.errno == errno.ENOSPC
    assert not list(tmp_path.iterdir())


def test_folders_that_can_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    assert can_write(tmp_path / "not" / "yet")
    assert not can_write(tmp_path / "file" / "below")
    assert not can_write(Path("/proc/1/nothing"))


# Rows in files


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<i4", "?"])
def test_blocks_of_a_file_are_those_of_its_array(kind, order, tmp_path):
    from altclust import open_rows

    X = np.random.default_rng(0).integers(0, 9, (9000, 3)).astype(kind, order=order)
    np.save(tmp_path / "rows.npy", X)
    rows = open_rows(tmp_path / "rows.npy")
    assert np.array_equal(rows.read(100, 4500), X[100:4500])
    few = np.array([0, 1, 4095, 4096, 8999])
    assert np.array_equal(rows.take(few)[0], X[few])
    assert rows.read(0, 5).dtype == (np.float32 if kind == "<f4" else np.float64)


def test_a_file_that_changed_before_new_rows_are_read_is_read_anew(tmp_path):
    X = np.random.default_rng(0).standard_normal((400, 3))
    X[::2, 0] += 9
    np.save(tmp_path / "rows.npy", X)
    model = KDAC(2, n_components=1, sigma=1.0, random_state=0).fit(tmp_path / "rows.npy")
    np.save(tmp_path / "rows.npy", X[:300])
    assert np.array_equal(model.predict(tmp_path / "rows.npy"), model.labels_[:300])


# Signals


def test_ctrl_c_after_the_results_were_written_says_so(tmp_path):
    faults.table(tmp_path)
    script = (
        "import signal, os\nfrom altclust.apps.cli import find\n"
        "find.show_result = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "from altclust.apps.cli.main import main\nmain()"
    )
    done = faults.ended(faults.start(*faults.FIND, "--out", "out", cwd=tmp_path, script=script))
    assert done.code == 130
    assert "interrupted: all results were written." in done.said
    assert set(faults.visible(tmp_path / "out")) == set(faults.RESULTS)


def test_a_process_of_ours_ends_with_whoever_started_it(tmp_path):
    script = (
        "import os, multiprocessing, time\nfrom altclust.base.parallel import end_with_parent\n"
        "multiprocessing.current_process().name = 'LokyProcess-1'\nend_with_parent()\n"
        "print(os.getpid(), flush=True)\ntime.sleep(600)"
    )
    parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {script!r}]); input()"
    process = subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()  # the child is there, and watches
    process.kill()
    began = time.monotonic()
    assert process.stdout.read() == ""  # which ends when the child does
    assert time.monotonic() - began < 60  # of its ten minutes
    process.communicate()


def test_a_program_that_calls_the_command_line_gets_its_signals_back(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["altclust", "--version"])
    before = [signal.getsignal(one) for one in SIGNALS]
    with pytest.raises(SystemExit):
        main()
    assert [signal.getsignal(one) for one in SIGNALS] == before
