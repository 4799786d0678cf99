"""Faults on purpose: processes killed at random moments, disks that fill up, files and clusters that vanish.

Every scenario is a function of a folder and a random generator. It runs once, with real processes and real files, and
raises where something was lost, hung, or was said in other than a sentence. ``python -m tests.trust.faults 20`` runs
each of them so many times and prints what survived; names behind the number choose among them.
"""

from __future__ import annotations

import csv
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from altclust.files.folder_lock import NAME as LOCK
from altclust.files.manifest import NAME as MANIFEST
from altclust.files.manifest import as_text, describe

LIMIT = 240  # seconds after which a process hangs, on the busiest of machines
UNFINISHED = ".altclust-*"
OLD = b"of an earlier run"

FIND = ("find", "few.csv", "--given", "segment", "--clusters", "2", "--sigma", "1", "--no-significance")
COMMANDS = {
    "find": (*FIND, "--out", "out", "--force"),
    "tune": ("tune", "few.csv", "--given", "segment", "--clusters", "2", "--out", "out", "--force"),
    "compare": ("compare", "few.csv", "--clusters", "2", "--methods", "Residual", "--out", "out", "--force"),
    "report": ("report", "results", "--to", "out/report.html", "--force"),
    "reproduce": ("reproduce", "table1", "--sets", "SG", "--runs", "3", "--jobs", "1", "--out", "out"),
}  # fmt: skip
RESULTS = ("alternative.npz", "alternative.png", "directions.csv", "figures.json", "report.html", "table.csv")
FILES = {
    "find": RESULTS,
    "tune": ("tuning.csv", "parameters.json"),
    "compare": ("comparison.csv", "agreement.csv", "comparison.json", "comparison.html", "table.csv"),
    "report": ("report.html",),
    "reproduce": ("table1.json", "table1.md", "table1.html"),
    "save": ("model.npz",),
}
GENERATED_SETS = """
import numpy as np
from altclust.datasets.dataset import Dataset
from altclust.paper import configs

def generated():
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 120))
    X = rng.standard_normal((120, 3))
    X[:, 0] += 5 * given
    X[:, 1] += 5 * hidden
    return Dataset("SG", X, {"given": given, "hidden": hidden}, ("a", "b", "c"))

configs.SETS["SG"] = generated, 2, 1, 1.0, 0.04
from altclust.__main__ import main
main()
"""
STREAM_AND_SAVE = """
import sys, warnings
import numpy as np
from altclust import KDAC
warnings.simplefilter("ignore")
given = np.arange(20_000) % 2
model = KDAC(2, n_components=1, sigma=2.0, max_iter=3, random_state=0).fit("rows.npy", given)
try:
    model.save(sys.argv[1])
except OSError as error:
    sys.exit(f"said: {error}")
"""
DOWNLOAD = """
import sys
from altclust.datasets import cache, fetch
cache.REGISTRY["faces.csv"] = cache.RegisteredFile(sys.argv[1], "slow.csv")
print(fetch("faces.csv"))
"""


# Processes


def start(*arguments: str, cwd: Path, script: str | None = None, **environment: str | None) -> subprocess.Popen:
    """Begin the command line, or a script, in a session of its own; a variable that is None is unset."""
    wanted = {"OMP_NUM_THREADS": "1"} | os.environ | environment
    return subprocess.Popen(
        [sys.executable, *(("-m", "altclust") if script is None else ("-c", script)), *arguments],
        cwd=cwd,
        env={name: value for name, value in wanted.items() if value is not None},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )


def ended(process: subprocess.Popen) -> SimpleNamespace:
    """How a process ended; one that does not has failed."""
    try:
        out, said = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        send(process, signal.SIGKILL)
        raise AssertionError(f"it hangs: {process.args[1:]}") from None
    return SimpleNamespace(code=process.returncode, out=out, said=said)


def run(name: str, cwd: Path, *more: str, **environment: str | None) -> SimpleNamespace:
    """One undisturbed run."""
    return ended(begin(name, cwd, *more, **environment))


def begin(name: str, cwd: Path, *more: str, **environment: str | None) -> subprocess.Popen:
    """A command by its name; `reproduce` with a generated set, so that the paper's files are not needed."""
    if name == "save":
        return start(*(more or ("out/model.npz",)), cwd=cwd, script=STREAM_AND_SAVE, **environment)
    script = GENERATED_SETS if name == "reproduce" else None
    return start(*COMMANDS[name], *more, cwd=cwd, script=script, **environment)


def send(process: subprocess.Popen, what: signal.Signals) -> None:
    """To the process and all that it started, as a terminal or the system does."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, what)


def wait_for(moment: Callable[[], bool], process: subprocess.Popen) -> None:
    """Wait for a moment, or for the end of the process."""
    until = time.monotonic() + LIMIT
    while not moment() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)


def at_random(process: subprocess.Popen, seconds: float, folder: Path, rng: np.random.Generator) -> None:
    """Some moment of a run that takes so long: any, or one at which it writes, as often."""
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0, seconds))
        return
    wait_for(lambda: any(folder.rglob(UNFINISHED)), process)
    time.sleep(rng.uniform(0, 0.1 * seconds))


# Files


def table(folder: Path) -> None:
    """A small table, rows in a file to stream, and a folder with files of an earlier run's names."""
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, 60))
    noise = rng.standard_normal((60, 3))
    pd.DataFrame(
        {
            "segment": np.array(["old", "new"])[known],
            "spend": 50 * known + 10 * noise[:, 0],
            "visits": 3.0 * hidden + 0.5 * noise[:, 1],
            "age": 40 + 5 * noise[:, 2],
        }
    ).to_csv(folder / "few.csv", index=False)
    given, other = np.arange(20_000) % 2, rng.integers(0, 2, 20_000)
    X = rng.standard_normal((20_000, 5))
    X[:, 0] += 8 * given
    X[:, 1] += 7 * other
    np.save(folder / "rows.npy", X)


def results(name: str, folder: Path) -> None:
    """What `altclust report` reports on; it is made once."""
    if name == "report":
        if not (folder.parent / "results").exists():
            assert run("find", folder, "--out", "../results").code == 0
        shutil.copytree(folder.parent / "results", folder / "results")


def fill(folder: Path, name: str) -> None:
    """The files of this command, by an earlier run."""
    folder.mkdir(exist_ok=True)
    for file in FILES[name]:
        (folder / file).write_bytes(OLD)
    written = as_text(describe(folder / file) for file in FILES[name])
    (folder / MANIFEST).write_text(written, encoding="utf-8")


def visible(folder: Path) -> dict[str, bytes]:
    """Every file that has its name, with what is in it; those that begin with a dot are not finished."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


def digests(folder: Path) -> dict[str, str]:
    """Of every file, whether it is old, or else what is in it; a comparison shows the seconds that it took."""
    return {
        file: "old" if content == OLD else "new" if file.startswith("comparison.") else sha256(content).hexdigest()
        for file, content in visible(folder).items()
    }


def unfinished(folder: Path) -> list[Path]:
    """What is hidden there, apart from the lists of what was written."""
    return sorted(path for path in folder.rglob(".*") if path.name != MANIFEST)


def assert_whole(folder: Path) -> None:
    """Every file can be read to its end."""
    for path in folder.rglob("[!.]*"):
        if not path.is_file() or path.read_bytes() == OLD:
            continue
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        elif path.suffix == ".csv":
            rows = list(csv.reader(path.open(encoding="utf-8", newline="")))
            assert len({len(row) for row in rows}) == 1, path
            assert path.name != "table.csv" or len(rows) == 61, path
        elif path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as file:
                assert all(file[name] is not None for name in file.files), path
        elif path.suffix == ".png":
            from PIL import Image

            Image.open(path).load()
        elif path.suffix == ".html":
            assert path.read_text(encoding="utf-8").rstrip().endswith("</html>"), path


def timeless(content: bytes) -> Any:
    """JSON without the seconds that something took; other files as they are."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(entry) for key, entry in value.items() if key != "time"}
        return [without(entry) for entry in value] if isinstance(value, list) else value

    try:
        return without(json.loads(content))
    except ValueError:
        return content


def assert_sentence(done: SimpleNamespace) -> None:
    """Neither a traceback nor an essay."""
    assert "Traceback" not in done.said, done.said
    assert "Exception ignored" not in done.said, done.said


# 1. Killed at a random moment


def killed(name: str, folder: Path, rng: np.random.Generator) -> None:
    """Kill -9: each file is old or new, and all are the same where nothing hidden is left; the next run clears up."""
    out = folder / "out"
    fill(out, name)
    results(name, folder)
    known = folder.parent / f"{name}.json"  # what an undisturbed run takes and leaves
    if not known.exists():
        began = time.monotonic()
        assert run(name, folder).code == 0
        seconds = time.monotonic() - began
        known.write_text(json.dumps([seconds, digests(out)]))
        shutil.rmtree(out)
        fill(out, name)
    seconds, new = json.loads(known.read_text())
    process = begin(name, folder)
    at_random(process, seconds, folder, rng)
    send(process, signal.SIGKILL)
    ended(process)
    assert_whole(out)
    now, old = digests(out), dict.fromkeys(FILES[name], "old")
    left = [path for path in unfinished(out) if path.name != LOCK]
    if left:  # killed between the first new name and the last, less than a millisecond of work: some of each
        assert all(now[file] in (old[file], new[file]) for file in FILES[name]), (now, old, new)
    else:
        assert now in (old, new), (now, old, new)
    again = run(name, folder)
    assert again.code == 0, again.said
    assert digests(out) == new
    assert not unfinished(folder), unfinished(folder)


def resumed(name: str, folder: Path, rng: np.random.Generator) -> None:
    """Kill -9 of what keeps its parts: the next run goes on, and ends with what an undisturbed run finds."""
    known = folder.parent / f"resumed {name}.json"
    if not known.exists():
        began = time.monotonic()
        done = run(name, folder)
        assert done.code == 0, done.said
        seconds = time.monotonic() - began
        shutil.copytree(folder / "out", folder.parent / f"undisturbed {name}")
        known.write_text(json.dumps(seconds))
        shutil.rmtree(folder / "out")
    process = begin(name, folder)
    at_random(process, json.loads(known.read_text()), folder, rng)
    send(process, signal.SIGKILL)
    ended(process)
    assert_whole(folder)
    finished = folder.rglob("*_*.json")
    parts = {path: path.stat().st_mtime_ns for path in finished}
    again = run(name, folder)
    assert again.code == 0, again.said
    assert {path: path.stat().st_mtime_ns for path in parts} == parts  # they were not made again
    expected, found = visible(folder.parent / f"undisturbed {name}"), visible(folder / "out")
    assert set(found) == set(expected)
    for file in found:
        if file not in ("table1.md", "table1.html"):  # which show the seconds
            assert timeless(found[file]) == timeless(expected[file]), file
    assert not unfinished(folder), unfinished(folder)


def killed_download(folder: Path, rng: np.random.Generator) -> None:
    """Kill -9 during a download: the data folder has the whole file or none."""
    body = rng.bytes(200_000)
    asked = threading.Event()

    class Slow(BaseHTTPRequestHandler):
        pause = 0.02

        def do_GET(self) -> None:
            asked.set()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(OSError):
                for i in range(0, len(body), 4000):
                    self.wfile.write(body[i : i + 4000])
                    time.sleep(self.pause)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    data = folder / "data"
    place = {"ALTCLUST_DATA": str(data), "ALTCLUST_DATA_URL": f"http://127.0.0.1:{server.server_port}", "NO_PROXY": "*"}
    fetching = partial(start, sha256(body).hexdigest(), cwd=folder, script=DOWNLOAD, **place)
    try:
        process = fetching()
        wait_for(asked.is_set, process)
        time.sleep(rng.uniform(0, 1.2))
        send(process, signal.SIGKILL)
        ended(process)
        assert visible(data) in ({}, {"faces.csv": body})
        Slow.pause = 0.0
        again = ended(fetching())
        assert again.code == 0, again.said
        assert visible(data) == {"faces.csv": body}
        assert not unfinished(data)
    finally:
        server.shutdown()
        server.server_close()


# 2. and 3. No space, no permission


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Path]:
    """A disk of its own, of so many bytes; `SystemError` where this user may not have one."""
    place = folder / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "altclust-faults", str(place)], capture_output=True, text=True
    ) if shutil.which("mount") else SimpleNamespace(returncode=1, stderr="there is no mount")  # fmt: skip
    if made.returncode:
        raise SystemError(f"no disk of our own can be had here: {made.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """A folder that this user cannot write to."""
    if os.geteuid():
        place = folder / "locked"
        place.mkdir(0o500)
        yield place
    else:  # whom modes do not stop
        with disk(folder, 2**16) as place:
            subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
            yield place


def full(name: str, folder: Path, rng: np.random.Generator) -> None:
    """A disk that is full at some byte of what is written: one sentence, and the earlier results are as they were."""
    with disk(folder, 2**20) as place:
        out = place / "out"
        fill(out, name)
        results(name, folder)
        needed = {"find": 90, "tune": 10, "report": 30, "save": 8, "reproduce": 6}[name]
        room = int(rng.integers(0, 2**10 * needed)) // 4096 * 4096
        (place / "ballast").write_bytes(bytes(shutil.disk_usage(place).free - room))
        own = {"report": ("--to", f"{out}/report.html"), "save": (f"{out}/model.npz",)}
        target = own.get(name, ("--out", str(out)))
        done = run(name, folder, *target)
        assert done.code == 1, (room, done.said)
        assert_sentence(done)
        assert str(place) in done.said, done.said
        assert re.search("no space (is )?left", done.said.lower()), done.said
        assert_whole(place)
        left = {file: content for file, content in visible(out).items() if not file.startswith("cells")}
        if name != "reproduce":  # whose three files are three sentences about rows that are kept one by one
            assert left == dict.fromkeys(FILES[name], OLD)
        assert not unfinished(place)


def too_large(name: str, folder: Path, rng: np.random.Generator) -> None:
    """The same where files may only have so many bytes, which every user can arrange."""
    fill(folder / "out", name)
    process = begin(name, folder)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1000, 1000))
    done = ended(process)
    assert done.code == 1, done.said
    assert_sentence(done)
    assert "no space is left" in done.said, done.said
    assert visible(folder / "out") == dict.fromkeys(FILES[name], OLD)
    assert not unfinished(folder)


def full_temporary(folder: Path, rng: np.random.Generator) -> None:
    """No space where temporary files go: nothing of ours needs any."""
    with disk(folder, 2**14) as place:
        (place / "ballast").write_bytes(bytes(shutil.disk_usage(place).free))
        done = run("find", folder, TMPDIR=str(place))
        assert done.code == 0, done.said
        assert_whole(folder / "out")


def read_only(name: str, folder: Path, rng: np.random.Generator) -> None:
    """A folder that cannot be written to is refused before the work begins."""
    results(name, folder)
    with locked(folder) as place:
        option = "--to" if name == "report" else "--out"
        done = run(name, folder, option, str(place / "out" if name != "report" else place / "report.html"))
        assert done.code == 2, done.said
        assert_sentence(done)
        assert "cannot be written to" in " ".join(done.said.replace("│", " ").split()), done.said
        assert not visible(place)


# 4. Files that change while they are read

CHANGES = """
import os, sys, warnings
import numpy as np, pandas as pd
from altclust import KDAC, InputError
warnings.simplefilter("ignore")
n = 12_000
X = np.load("rows.npy")[:n]
known = np.arange(n) % 2

def cut(path):
    os.truncate(path, os.path.getsize(path) // 3)

def remove(path):
    os.remove(path)

def replace(path):
    write(path + ".new" + os.path.splitext(path)[1], X[::-1])
    os.replace(path + ".new" + os.path.splitext(path)[1], path)

def overwrite(path):
    write(path, X[::-1])

def write(path, rows):
    if path.endswith("npy"):
        np.save(path, rows)
    else:
        pd.DataFrame(rows, columns=list("abcde")).to_parquet(path, row_group_size=1000)

for kind, change in (part.split(":") for part in sys.argv[2:]):
    path = "changing.parquet" if kind == "parquet" else "changing.npy"
    write(path, X)
    changed = []

    def callback(progress):
        if progress.done >= int(sys.argv[1]) and not changed:
            changed.append(progress)
            globals()[change](path)

    rows = np.load(path, mmap_mode="r") if kind == "mapped" else path
    options = dict(n_components=1, sigma=2.0, sample_size=2000, tol=1e-12, max_iter=4, random_state=0)
    model = KDAC(2, **options, callback=callback)
    try:
        model.fit(rows, known)
        print(kind, change, "nothing was noticed" if changed else "nothing was changed", flush=True)
    except InputError as error:
        print(kind, change, "refused:", error, flush=True)
"""
KINDS = [
    *(f"{kind}:{change}" for kind in ("npy", "parquet") for change in ("cut", "remove", "replace", "overwrite")),
    "mapped:cut",
]


def changing(folder: Path, rng: np.random.Generator) -> None:
    """A file of rows that is cut, removed, replaced or overwritten during a fit: one sentence."""
    done = ended(start(str(rng.integers(1, 6)), *KINDS, cwd=folder, script=CHANGES))
    assert done.code == 0, (done.code, done.out, done.said)
    assert_sentence(done)
    lines = done.out.splitlines()
    assert len(lines) == len(KINDS), done.out
    for kind, line in zip(KINDS, lines, strict=True):
        assert line.startswith(f"{kind.replace(':', ' ')} refused: X"), line
        assert "was changed or removed while it was read" in line, line


# 5. A cluster that falls apart

CLUSTER = """
import os, signal, subprocess, sys, threading, time, warnings
import numpy as np

def load(i, j):
    return np.array(np.load("rows.npy", mmap_mode="r")[i:j])

def main():
    import dask, dask.array as da, distributed
    from altclust import KDAC
    from altclust.data import dask_rows
    from altclust.data.dask_rows import ClusterLost
    warnings.simplefilter("ignore")
    fault, moment = sys.argv[1], float(sys.argv[2])
    if fault == "workers":  # which nobody replaces
        dask_rows.PATIENCE = 3.0

    def part(name, *more):
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", "--host", "127.0.0.1", "--no-dashboard"]
        return subprocess.Popen([*command, "--scheduler-file", "cluster.json", *more], stderr=subprocess.DEVNULL)

    def worker():
        return part("worker", "--nthreads", "1", "--no-nanny", "--local-directory", "space")

    scheduler = part("scheduler", "--port", "0")
    while not os.path.exists("cluster.json"):
        time.sleep(0.05)
    workers = [worker() for _ in range(2)]
    client = distributed.Client(scheduler_file="cluster.json")
    client.wait_for_workers(2)
    rows = np.arange(0, 20_000, 2_500)
    X = da.concatenate([da.from_delayed(dask.delayed(load)(i, i + 2_500), (2_500, 5), dtype=float) for i in rows])

    struck = threading.Event()

    def strike():
        time.sleep(moment)
        if fault == "scheduler":
            scheduler.kill()
        elif fault == "workers":
            for one in workers:
                one.kill()
        elif fault == "turn":
            for i in range(4):
                workers[i % 2].kill()
                workers[i % 2] = worker()
                time.sleep(1.5)
        struck.set()

    def once(progress):
        if progress.done == 1 and fault != "none" and not struck.is_set() and not threads:
            threads.append(threading.Thread(target=strike))
            threads[0].start()
        if fault in ("scheduler", "workers") and progress.done >= 3:
            struck.wait()

    threads = []
    try:
        options = dict(n_components=1, sigma=2.0, tol=1e-9, max_iter=6, random_state=0)
        model = KDAC(2, **options, callback=once).fit(X, np.arange(20_000) % 2)
        labels = model.labels_.compute()
        print("labels", np.flatnonzero(labels != labels[0]).sum(), flush=True)
    except ClusterLost as error:
        print("refused:", error, flush=True)
    os._exit(0)

if __name__ == "__main__":
    main()
"""


def cluster(fault: str, folder: Path, rng: np.random.Generator) -> None:
    """Workers killed in turn: the same labels; all of them, or the scheduler: one sentence."""

    def disturbed(fault: str) -> SimpleNamespace:
        (folder / "cluster.json").unlink(missing_ok=True)
        process = start(fault, f"{rng.uniform(0, 0.5):.3f}", cwd=folder, script=CLUSTER)
        done = SimpleNamespace()
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            done.hangs = True
        send(process, signal.SIGKILL)  # what is left of the cluster, which keeps the pipes open
        done.out, done.said = process.communicate()
        assert not hasattr(done, "hangs"), f"a fit hangs when {fault} is lost: {done.said}"
        assert_sentence(done)
        return done

    done = disturbed(fault)
    if fault != "turn":
        assert done.out.startswith("refused: The "), (done.out, done.said)
        return
    known = folder.parent / "labels of a cluster.txt"
    if not known.exists():
        known.write_text(disturbed("none").out)
    assert done.out == known.read_text() != "", (done.out, done.said)


# 6. Asked to stop


def stopped(what: signal.Signals, folder: Path, rng: np.random.Generator) -> None:
    """Ctrl-C or SIGTERM at any moment of `find`: exit code 130 and a sentence, or it had ended before."""
    known = folder.parent / "find.seconds"
    if not known.exists():
        began = time.monotonic()
        assert run("find", folder).code == 0
        known.write_text(str(time.monotonic() - began))
        shutil.rmtree(folder / "out")
    fill(folder / "out", "find")
    process = begin("find", folder)
    at_random(process, 1.1 * float(known.read_text()), folder, rng)
    send(process, what)
    done = ended(process)
    now = visible(folder / "out")
    if done.code == -what or "KeyboardInterrupt" in done.said:  # Python itself had not begun
        assert "few.csv" not in done.said, done.said
        assert set(now.values()) == {OLD}
        return
    assert done.code in (0, 130), (done.code, done.said)
    assert_sentence(done)
    assert_whole(folder / "out")
    assert not unfinished(folder)
    assert set(now) == set(FILES["find"])
    assert set(now.values()) == {OLD} or OLD not in now.values()
    if "nothing was written" in done.said:
        assert set(now.values()) == {OLD}
    if "this is the best result so far" in done.said or "all results were written" in done.said or done.code == 0:
        assert OLD not in now.values()


# 7. Nobody is left behind


def family(mark: str) -> list[int]:
    """The processes that have this mark in their environment, and are not merely waiting to be noticed."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            marked = process.name.isdecimal() and f"ALTCLUST_MARK={mark}".encode() in (process / "environ").read_bytes()
            if marked and (process / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(int(process.name))
    return found


def orphans(name: str, folder: Path, rng: np.random.Generator) -> None:
    """Kill -9 of the first process alone: those that it started end by themselves."""
    mark = f"{os.getpid()}-{rng.integers(2**31)}"
    long = pd.DataFrame(rng.standard_normal((400, 60))).assign(segment=rng.integers(0, 2, 400).astype(str))
    long.to_csv(folder / "long.csv", index=False)
    process = start(*ORPHANS[name], "--out", "out", cwd=folder, ALTCLUST_MARK=mark)
    # joblib's processes are watched from their first task on; before it, they end when they have been idle for minutes
    wait_for(lambda: len(family(mark)) >= 2, process)
    time.sleep(rng.uniform(4, 5))  # until each has had a task
    started = set(family(mark)) - {process.pid}
    assert started, "nothing was started"
    process.kill()
    process.wait()
    until = time.monotonic() + 30
    while family(mark) and time.monotonic() < until:
        time.sleep(0.1)
    assert not family(mark), f"still there: {[Path(f'/proc/{one}/cmdline').read_bytes() for one in family(mark)]}"


ORPHANS = {
    "compare": ("compare", "few.csv", "--given", "segment"),
    "tune": ("tune", "long.csv", "--given", "segment", "--jobs", "2"),
}


# 8. Odd places

BACKWARDS = """
import itertools, time
count, real = itertools.count(), time.time
time.time = lambda: real() - 60 * next(count)
"""
PLACES: dict[str, dict[str, str | None]] = {
    "no temporary folder": {"TMPDIR": "/nowhere/at/all"},
    "no home": {"HOME": None, "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None},
    "a home that cannot be written to": {"HOME": "/proc", "XDG_CACHE_HOME": None, "XDG_CONFIG_HOME": None},
    "the C locale": {"LC_ALL": "C", "LANG": "C", "LANGUAGE": None},
    "ASCII streams": {"PYTHONIOENCODING": "ascii"},
    "a clock that goes backwards": {"PYTHONPATH": "clock"},
}


def odd_place(name: str, folder: Path, rng: np.random.Generator) -> None:
    """Everything is found and written; names of columns in other letters come back as they were."""
    frame = pd.read_csv(folder / "few.csv").rename(columns={"segment": "größe", "spend": "支出"})
    frame.to_csv(folder / "größen.csv", index=False)
    (folder / "clock").mkdir()
    (folder / "clock" / "sitecustomize.py").write_text(BACKWARDS)
    everywhere = {key: value for place in PLACES.values() for key, value in place.items()}
    environment = everywhere if name == "all of them" else dict(PLACES[name])
    if environment.get("PYTHONPATH"):
        environment["PYTHONPATH"] = os.pathsep.join([str(folder / "clock"), *sys.path[1:]])
    arguments = [word.replace("segment", "größe").replace("few.csv", "größen.csv") for word in FIND]
    done = ended(start(*arguments, "--out", "out", cwd=folder, **environment))
    assert done.code == 0, done.said
    assert_sentence(done)
    assert_whole(folder / "out")
    table = pd.read_csv(folder / "out" / "table.csv")
    assert list(table.columns) == [*frame.columns, "alternative"]


def nobody_reads(folder: Path, rng: np.random.Generator) -> None:
    """``altclust find … | head -1``, and standard output that is closed: the results are there, and no complaint."""
    for shell in ('"$@" | head -1', '"$@" >&-', '"$@" --json | head -1', '"$@" > /dev/full'):
        shutil.rmtree(folder / "out", ignore_errors=True)
        words = ["bash", "-c", shell, "bash", sys.executable, "-m", "altclust", *FIND, "--out", "out"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LIMIT)
        assert_sentence(done := SimpleNamespace(said=done.stderr, out=done.stdout))
        assert set(visible(folder / "out")) == set(FILES["find"]), (shell, done.said)
        assert_whole(folder / "out")


Scenario = Callable[[Path, np.random.Generator], None]
SCENARIOS: dict[str, Scenario] = {
    **{f"killed: {name}": partial(killed, name) for name in ("find", "compare", "report", "save")},
    **{f"killed and resumed: {name}": partial(resumed, name) for name in ("reproduce",)},
    "killed: download": killed_download,
    **{f"full disk: {name}": partial(full, name) for name in ("find", "tune", "save", "reproduce", "report")},
    **{f"files too large: {name}": partial(too_large, name) for name in ("find", "tune")},
    "full disk: temporary folder": full_temporary,
    **{f"read-only: {name}": partial(read_only, name) for name in COMMANDS},
    "a file that changes": changing,
    **{f"cluster: {fault}": partial(cluster, fault) for fault in ("turn", "workers", "scheduler")},
    "stopped: Ctrl-C": partial(stopped, signal.SIGINT),
    "stopped: SIGTERM": partial(stopped, signal.SIGTERM),
    **{f"orphans: {name}": partial(orphans, name) for name in ORPHANS},
    **{f"odd place: {name}": partial(odd_place, name) for name in (*PLACES, "all of them")},
    "nobody reads": nobody_reads,
}


def once(name: str, place: Path, seed: int) -> None:
    """One run of a scenario, in a folder of its own below place, which keeps what undisturbed runs find."""
    folder = Path(tempfile.mkdtemp(dir=place))
    table(folder)
    SCENARIOS[name](folder, np.random.default_rng(seed))
    shutil.rmtree(folder)


def measure(runs: int, names: list[str]) -> None:
    """A line for every scenario: how often it ran, and how often nothing was lost and nothing hung."""
    for name in names or SCENARIOS:
        survived, began = 0, time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            for seed in range(runs):
                try:
                    once(name, Path(place), seed)
                    survived += 1
                except Exception:
                    print(f"--- {name}, seed {seed}\n{traceback.format_exc()}", file=sys.stderr, flush=True)
        print(f"| {name} | {runs} | {survived} | {time.monotonic() - began:.0f} s |", flush=True)


if __name__ == "__main__":
    measure(int(sys.argv[1]), sys.argv[2:])
