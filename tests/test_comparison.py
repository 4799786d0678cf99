from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from altclust.base.errors import InputError
from altclust.baselines import COALA
from altclust.comparison import METHODS, compare, conclude
from altclust.core.metrics import match_labels, nmi
from altclust.report import render_comparison

N = 100


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    cells = rng.permutation(np.arange(N) % 4)
    known, hidden = cells % 2, cells // 2
    X = 10 + rng.standard_normal((N, 6))
    X[:, :2] += 7 * known[:, None]
    X[:, 2:4] += 6 * hidden[:, None]
    return X, known, hidden


@pytest.fixture(scope="module")
def found(rows):
    X, known, _ = rows
    centred = (X - X.mean(axis=0)) / X.std(axis=0)
    return compare(centred, pd.DataFrame({"segment": known}), counts=X, n_jobs=2)


def test_every_method_has_a_row(found, rows):
    assert found.table["method"].tolist() == list(METHODS)
    assert found.table["problem"].tolist() == [""] * len(METHODS)
    assert found.table["clusters"].nunique() == 1  # all take what KDAC found
    assert (found.table["quality"] <= 1 + 1e-9).all()
    assert (found.table["overlap: segment"] < 0.1).sum() >= 9  # pin
    assert (found.table["seconds"] > 0).all()
    assert found.labels.shape == (N, len(METHODS))
    good = [nmi(found.labels[name], rows[2]) > 0.9 for name in METHODS]
    assert sum(good) >= 8  # pin
    assert good[0]  # KDAC


def test_agreement_is_a_table_of_nmi(found):
    names = ["given: segment", *METHODS]
    assert found.agreement.columns.tolist() == found.agreement.index.tolist() == names
    assert np.allclose(found.agreement, found.agreement.T)
    assert np.allclose(np.diag(found.agreement), 1)


def test_a_method_that_fails_or_takes_too_long_says_so(rows):
    X, known, _ = rows
    slow = compare(X, known, methods=["KDAC", "Residual"], timeout=0.3)
    assert slow.table["problem"].tolist()[0] == "It was stopped after 0.3 seconds."
    assert pd.isna(slow.table["quality"].iloc[0])
    failed = compare(X - 20, known, methods=["CIB", "Orth-1"], n_clusters=2, timeout=60)
    assert "needs counts" in failed.table["problem"].iloc[0]
    assert failed.table["problem"].iloc[1] == ""
    assert failed.labels.columns.tolist() == ["Orth-1"]


def test_a_process_that_dies_is_a_row(rows):
    killed = []

    def kill(progress):
        """As the system does when memory is short."""
        for process in asked_processes(os.getpid()):
            os.kill(process, signal.SIGKILL)
            killed.append(process)

    found = compare(rows[0], rows[1], methods=["KDAC", "Residual"], n_clusters=2, progress=kill)
    assert killed
    assert "ended without a result" in found.table["problem"].iloc[0]


def asked_processes(parent):
    """The processes that answer this one, by what the system says of them."""
    command = ["ps", "-ww", "-e", "-o", "ppid=", "-o", "pid=", "-o", "args="]
    lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return [int(line.split()[1]) for line in lines if "serve_requests" in line and int(line.split()[0]) == parent]


@pytest.mark.slow
def test_a_script_needs_no_guard_and_leaves_nothing_behind(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom altclust.comparison import compare\n"
        "X = np.random.default_rng(0).standard_normal((40, 3))\n"
        "print(compare(X, np.arange(40) % 2, methods=['Residual', 'Orth-1'], n_clusters=2).labels.shape)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "(40, 2)\n", done.stderr


@pytest.mark.slow
def test_a_method_ends_with_the_program_that_asked(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np\nfrom altclust.comparison import compare\n"
        "X = np.random.default_rng(0).standard_normal((3000, 3))\n"
        "compare(X, np.arange(3000) % 2, methods=['COALA'], n_clusters=2)\n"
    )
    process = subprocess.Popen([sys.executable, str(script)])
    until = time.monotonic() + 60
    while not (children := asked_processes(process.pid)) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)
    process.kill()
    process.wait()
    assert children, "no method was started"
    while is_there(children[0]) and time.monotonic() < until:
        time.sleep(0.1)
    assert not is_there(children[0])


def is_there(process):
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")  # a zombie has ended, and waits for somebody to notice


def test_cancel_and_wrong_use(rows):
    X, known, _ = rows
    cut = compare(X, known, methods=["Residual", "Orth-1"], n_clusters=2, progress=lambda progress: progress.done == 1)
    assert cut.table["problem"].tolist() == ["", "It was cancelled."]
    noise, start = np.random.default_rng(0).standard_normal((3000, 100)), time.monotonic()
    under_way = compare(
        noise, np.arange(3000) % 2, methods=["KDAC"], progress=lambda progress: time.monotonic() > start + 1
    )
    assert under_way.table["problem"].tolist() == ["It was cancelled."]
    with pytest.raises(InputError, match="'magic' is not a method: choose among KDAC"):
        compare(X, known, methods=["magic"])
    with pytest.raises(InputError, match="has to be KDAC or one of"):
        compare(X, known, methods={"mine": KMeans(2)})
    with pytest.raises(InputError, match="timeout=0"):
        compare(X, known, timeout=0)


def test_methods_may_have_parameters_of_their_own(rows):
    X, known, _ = rows
    mine = {"plain": COALA(quality=1.0), "other": COALA(quality=0.1)}
    found = compare(X, known, methods=mine, n_clusters=2)
    assert found.table["method"].tolist() == ["plain", "other"]
    assert nmi(found.labels["plain"], known) > 0.9
    assert nmi(found.labels["other"], known) < 0.1


def test_labels_are_matched():
    assert match_labels(np.array([2, 2, 0, 1]), np.array([0, 0, 1, -1])).tolist() == [0, 0, 1, 2]
    split = match_labels(np.array([1, 2, 2, 0]), np.array([0, 0, 0, 0]))  # the largest part keeps the number
    assert split[1] == split[2] == 0
    assert sorted(set(split)) == [0, 1, 2]


def test_the_page_escapes_names(found, rows):
    evil = "<script>alert(1)</script>"
    given = pd.DataFrame({evil: np.array(["<b>", "&"])[rows[1]]})
    table = found.table.rename(columns={"overlap: segment": f"overlap: {evil}"})
    page = render_comparison(replace(found, table=table), rows[0][:, :2], given, name=evil, command=evil)
    assert evil not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in page
    assert "KDAC" in page


def test_the_conclusion_names_outliers_and_what_was_given():
    rng = np.random.default_rng(0)
    good, given = rng.integers(0, 2, (2, 200))
    lonely = np.zeros(200, dtype=int)
    lonely[:2] = 1
    labels = pd.DataFrame({"A": good, "B": 1 - good, "C": lonely, "D": given})
    everything = {"given: g": given, **{name: labels[name].to_numpy() for name in labels}}
    agreement = pd.DataFrame({a: {b: nmi(x, y) for b, y in everything.items()} for a, x in everything.items()})
    told = conclude(labels, agreement)
    assert told.startswith("2 of 4 methods find similar clusters (A, B): start with these")
    assert "Only outliers apart from the other rows: C;" in told
    assert told.endswith("Similar to what was given: D.")
    alone = conclude(labels[["A", "C"]], agreement.loc[["A", "C"], ["A", "C"]])
    assert alone.startswith("Every method finds other clusters")


def test_sizes_are_in_the_table_and_on_the_page(found, rows):
    counts = np.sort(np.bincount(found.labels["KDAC"]))[::-1]
    assert found.table.set_index("method").loc["KDAC", "sizes"] == ", ".join(map(str, counts))
    page = render_comparison(found, rows[0][:, :2])
    assert found.conclusion in page
    assert "sizes</th>" in page
