"""What a run may replace, and what it reads and writes: nothing is lost, and nothing is silently wrong."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pandas as pd
import pytest
from tests.apps.cli.test_main import MANIFEST, RESULTS, altclust, folder, names, words  # noqa: F401

from altclust.files.folder_lock import NAME as LOCK
from altclust.files.folder_lock import only_run_in
from altclust.files.manifest import describe, is_unchanged, read_manifest

N = 40
QUICK = ("--clusters", "2", "--components", "1", "--sigma", "0.7", "--no-significance")
FIND = ("find", "few.csv", "--given", "segment", *QUICK)


@pytest.fixture
def few(folder):  # noqa: F811
    """A small table."""
    pd.read_csv(folder / "customers.csv")[["segment", "spend", "visits"]].head(N).to_csv(
        folder / "few.csv", index=False
    )
    return folder


def contents(where):
    return {path.name: path.read_bytes() for path in where.iterdir() if path.is_file()}


def test_force_replaces_only_what_altclust_wrote(few, altclust):  # noqa: F811
    mine = {name: few / name for name in ("table.xlsx", "table.txt", "view_7.png", "notes.md")}
    for name, path in mine.items():
        path.write_text(f"my {name}")
    done = altclust(*FIND, "--out", ".", "--force")
    assert done.returncode == 0, done.stderr
    assert {name: path.read_text() for name, path in mine.items()} == {name: f"my {name}" for name in mine}
    assert {one.name for one in read_manifest(few)} == RESULTS
    assert describe(few / "table.csv") in read_manifest(few)

    refused = altclust(*FIND, "--out", ".")
    assert refused.returncode == 2
    assert f"{', '.join(sorted(RESULTS))} exist: choose another --out, or pass --force" in words(refused.stderr)
    again = altclust(*FIND, "--out", ".", "--force")
    assert again.returncode == 0, again.stderr

    (few / "report.html").write_text("my notes on the report")
    before = contents(few)
    changed = altclust(*FIND, "--out", ".", "--force")
    assert changed.returncode == 2
    assert "--force overwrites only what altclust wrote and nobody changed since, so not report.html" in words(
        changed.stderr
    )
    assert contents(few) == before
    assert altclust("report", ".", "--force").returncode == 2
    assert contents(few) == before


def test_mistakes_are_told_before_results_that_are_in_the_way(few, altclust, monkeypatch):  # noqa: F811
    (few / "report.html").write_text("mine")
    wrong = {
        ("fw.csv",): "fw.csv does not exist",
        ("few.csv", "--given-file", "absent.csv"): "absent.csv does not exist",
        ("few.csv", "--given", "segmnt"): "did you mean 'segment'?",
        ("few.csv", "--drop", "visit"): "did you mean 'visits'?",
    }
    for words_typed, message in wrong.items():
        done = altclust("find", *words_typed, "--out", ".")
        assert done.returncode == 2
        assert message in words(done.stderr)
    monkeypatch.setattr("altclust.apps.cli.task.QUICKLY_READ", 0)  # a large table is not read in vain
    done = altclust("find", "few.csv", "--given", "segmnt", "--out", ".")
    assert "report.html exists" in words(done.stderr)


def test_find_leaves_pictures_of_others_alone(few, altclust):  # noqa: F811
    (few / "alternative_7.png").write_text("mine")
    before = contents(few)
    for more in ((), ("--force",)):
        done = altclust("find", "few.csv", "--given", "segment", "--out", ".", *more)
        assert done.returncode == 2
        assert "alternative_7.png exists: choose another --out, or move what is in the way" in words(done.stderr)
    assert contents(few) == before


def test_the_input_is_never_written(few, altclust):  # noqa: F811
    frame = pd.read_csv(few / "few.csv")
    frame.to_excel(few / "table.xlsx", index=False)
    before = contents(few)
    done = altclust("find", "table.xlsx", "--given", "segment", *QUICK, "--out", ".", "--force")
    assert done.returncode == 2
    assert "table.xlsx is the table, and the results would replace it: choose another --out." in words(done.stderr)
    assert contents(few) == before

    assert altclust(*FIND).returncode == 0
    own = altclust("find", "altclust-out/table.csv", "--drop", "alternative", *QUICK, "--force")
    assert own.returncode == 2
    assert "altclust-out/table.csv is the table" in words(own.stderr)
    frame[["spend", "visits"]].to_csv(few / "other.tsv", sep="\t", index=False)
    given = altclust("find", "other.tsv", "--given-file", "altclust-out/table.csv", *QUICK, "--force")
    assert given.returncode == 2
    assert "altclust-out/table.csv is --given-file" in words(given.stderr)
    target = altclust("report", "altclust-out", "--to", "altclust-out/table.csv", "--force")
    assert target.returncode == 2
    assert "is a file that the report is made from" in words(target.stderr)


def test_files_of_an_earlier_run_are_replaced_and_other_commands_are_not(few, altclust):  # noqa: F811
    out = few / "altclust-out"
    assert altclust("tune", "few.csv", "--given", "segment", "--clusters", "2", "--components", "1").returncode == 0
    assert altclust(*FIND).returncode == 0
    assert names(out) == RESULTS | {"tuning.csv", "parameters.json"}
    assert all(is_unchanged(out / name, read_manifest(out)) for name in names(out))
    (out / "report.html").unlink()
    assert altclust("report", "altclust-out").returncode == 0
    assert altclust(*FIND, "--force").returncode == 0  # the report that was written again is altclust's too
    assert names(out) == RESULTS | {"tuning.csv", "parameters.json"}


def test_a_file_that_appears_during_the_search_is_kept(few, altclust, monkeypatch):  # noqa: F811
    from altclust import KDAC

    fit = KDAC.fit

    def slow(self, *args, **kwargs):
        (few / "altclust-out" / "table.csv").write_text("mine")
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(KDAC, "fit", slow)
    done = altclust(*FIND)
    assert done.returncode == 0, done.stderr
    assert "altclust-out/table.csv appeared during the search, and is kept: see table-2.csv." in words(done.stderr)
    assert (few / "altclust-out" / "table.csv").read_text() == "mine"
    assert len(pd.read_csv(few / "altclust-out" / "table-2.csv")) == N
    ours = {one.name for one in read_manifest(few / "altclust-out")}
    assert "table-2.csv" in ours
    assert "table.csv" not in ours


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 3}', '{"files": [{"name": "table.csv"}]}', "[" * 100_000])
def test_a_damaged_manifest_lets_nothing_be_replaced(tmp_path, text):
    (tmp_path / MANIFEST).write_text(text)
    assert read_manifest(tmp_path) == set()


def test_only_unchanged_files_are_ours(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("ours")
    ours = {describe(path)}
    assert is_unchanged(path, ours)
    path.write_text("mine")  # as long as before
    assert not is_unchanged(path, ours)
    path.unlink()
    (tmp_path / "b.txt").write_text("ours")
    path.symlink_to("b.txt")
    assert not is_unchanged(path, ours)
    assert not is_unchanged(tmp_path / "absent", ours)


def test_one_run_at_a_time_in_a_folder(few, altclust):  # noqa: F811
    out = few / "altclust-out"
    with only_run_in(out):
        refused = altclust(*FIND, "--force")
        assert refused.returncode == 2
        assert (
            "Another run of altclust is writing to altclust-out: wait until it has ended, or choose another --out."
            in words(refused.stderr)
        )
        assert [path.name for path in out.iterdir()] == [LOCK]
    assert not out.exists()
    assert altclust(*FIND).returncode == 0
    assert names(out) == RESULTS


def test_a_killed_run_does_not_lock_the_folder(tmp_path):
    script = (
        "import sys, time, pathlib\nfrom altclust.files.folder_lock import only_run_in\n"
        "with only_run_in(pathlib.Path('a/b')):\n    print('locked', flush=True)\n    time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "locked\n"
    with pytest.raises(BlockingIOError), only_run_in(tmp_path / "a" / "b"):
        pass
    process.kill()
    process.communicate()
    with only_run_in(tmp_path / "a" / "b"):
        pass
    assert not (tmp_path / "a" / "b" / LOCK).exists()


def test_many_that_want_one_folder_get_it_one_by_one(tmp_path):
    inside, most, refused = [], [], []

    def work():
        for _ in range(60):
            try:
                with only_run_in(tmp_path / "new" / "folder"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
            except BlockingIOError:
                refused.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) + len(refused) == 240
    assert not (tmp_path / "new" / "folder" / LOCK).exists()


def test_folders_that_cannot_be_are_refused_before_the_search(few, altclust):  # noqa: F811
    (few / "dangling").symlink_to("nowhere")
    (few / "taken").mkdir()
    (few / "taken" / "report.html").mkdir()
    before = names(few)
    for out, message in (
        ("", "Invalid value for '--out': is empty: name a folder"),
        ("dangling", "--out dangling is a link to nowhere, which does not exist: choose another folder."),
        ("dangling/a/b", "--out dangling/a/b is below dangling, a link to nowhere, which does not exist: choose"),
        ("taken", "taken/report.html exists"),
    ):
        done = altclust(*FIND, "--out", out, "--force")
        assert done.returncode == 2
        assert message in words(done.stderr)
    assert names(few) == before


@pytest.mark.slow
def test_a_file_name_that_is_not_utf_8(few):
    name = os.fsencode(few) + b"/caf\xe9.csv"
    os.rename(few / "few.csv", name)
    command = [sys.executable, "-m", "altclust", "find", b"caf\xe9.csv", "--given", "segment", *QUICK]
    done = subprocess.run(command, cwd=few, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert names(few / "altclust-out") == RESULTS
    assert json.loads((few / "altclust-out" / "figures.json").read_text(encoding="utf-8"))["table"] == "caf?.csv"


def test_blank_ids_match_nothing(few, altclust):  # noqa: F811
    frame = pd.read_csv(few / "few.csv", dtype=str)
    frame.insert(0, "who", [f"c{i}" if i % 4 else "" for i in range(N)])
    frame.drop(columns="segment").to_csv(few / "rows.csv", index=False)
    frame[["who", "segment"]].iloc[:-3].to_csv(few / "known.csv", index=False)  # several blank ids here, too
    done = altclust("find", "rows.csv", "--given-file", "known.csv", "--id", "who", *QUICK)
    assert done.returncode == 0, done.stderr
    unknown = N // 4 + sum(i % 4 != 0 for i in range(N - 3, N))
    assert f"{unknown} of {N} rows have no label: they are not constrained." in words(done.stderr)


def test_blank_lines_of_a_given_file_are_unknown_rows(few, altclust):  # noqa: F811
    frame = pd.read_csv(few / "few.csv", dtype=str)
    frame.drop(columns="segment").to_csv(few / "rows.csv", index=False)
    known = frame["segment"].tolist()
    known[3] = known[-1] = known[-2] = ""
    (few / "known.csv").write_text("\n".join(["segment", *known]) + "\n")
    done = altclust("find", "rows.csv", "--given-file", "known.csv", *QUICK)
    assert done.returncode == 0, done.stderr
    assert f"3 of {N} rows have no label: they are not constrained." in words(done.stderr)
    (few / "known.csv").write_text("\n".join(["segment", *known[:-5]]) + "\n\n")
    short = altclust("find", "rows.csv", "--given-file", "known.csv", *QUICK, "--out", "other")
    assert short.returncode == 2
    assert f"known.csv has {N - 5} rows, and rows.csv has {N}" in words(short.stderr)


def test_blank_lines_do_not_move_labels(few, altclust):  # noqa: F811
    lines = (few / "few.csv").read_text().splitlines()
    (few / "gaps.csv").write_text("\n".join([*lines[:5], "", *lines[5:20], "", "", *lines[20:], "", ""]))
    assert altclust(*FIND, "--out", "whole").returncode == 0
    done = altclust("find", "gaps.csv", "--given", "segment", *QUICK, "--out", "gaps")
    assert done.returncode == 0, done.stderr
    assert "Blank lines are not rows: 3." in words(done.stderr)
    whole = (few / "whole" / "table.csv").read_text().splitlines()
    gaps = (few / "gaps" / "table.csv").read_text().splitlines()
    assert gaps == [*whole[:5], "", *whole[5:20], "", "", *whole[20:], ""]


def test_names_that_a_spreadsheet_would_compute(few, altclust):  # noqa: F811
    frame = pd.read_csv(few / "few.csv").rename(columns={"spend": "=1+1", "visits": "-x", "segment": "@seg"})
    frame.to_csv(few / "odd.csv", index=False)
    done = altclust("find", "odd.csv", "--given", "@seg", *QUICK)
    assert done.returncode == 0, done.stderr
    directions = pd.read_csv(few / "altclust-out" / "directions.csv")
    assert sorted(directions["feature"]) == ["'-x", "'=1+1"]
    assert np.isfinite(directions["direction_1"]).all()
    assert list(pd.read_csv(few / "altclust-out" / "table.csv").columns) == ["@seg", "=1+1", "-x", "alternative"]


def test_a_workbook_with_formulas_is_reported_on_again(few, altclust):  # noqa: F811
    frame = pd.read_csv(few / "few.csv")
    with pd.ExcelWriter(few / "plain.xlsx", engine="openpyxl") as book:
        frame.to_excel(book, sheet_name="data", index=False)
        pd.DataFrame({"c": ["kept"]}).to_excel(book, sheet_name="notes", index=False)
    with zipfile.ZipFile(few / "plain.xlsx") as old, zipfile.ZipFile(few / "rows.xlsx", "w") as new:
        for part in old.infolist():
            content = old.read(part)
            if part.filename == "xl/worksheets/sheet1.xml":  # the column that is found, as formulas with stored results
                content, count = re.subn(rb'(<c r="C(\d+)" t="n">)<v>', rb"\1<f>B\2*1</f><v>", content)
                assert count == N
            new.writestr(part, content, zipfile.ZIP_DEFLATED)
    done = altclust("find", "rows.xlsx", "--given", "segment", *QUICK)
    assert done.returncode == 0, done.stderr
    written = pd.read_excel(few / "altclust-out" / "table.xlsx")
    pd.testing.assert_frame_equal(written.drop(columns="alternative"), frame)  # the values of the formulas
    again = altclust("report", "altclust-out", "--force")
    assert again.returncode == 0, again.stderr


SLOW = ("find", "customers.csv", "--given", "segment")


@pytest.mark.parametrize("word", [b"customers.csv", b"Searching"])
def test_a_closed_terminal_counts_as_ctrl_c(folder, word):  # noqa: F811
    """The search stops, and its best result is written, though nobody sees what is printed."""
    searching = word == b"Searching"
    command = [sys.executable, "-m", "altclust", *SLOW]
    assert _exit_code_when_closed_at(word, command, folder, 0.5 * searching) == 130
    assert not searching or names(folder / "altclust-out") == RESULTS


@pytest.mark.slow
def test_a_terminal_that_is_closed_while_signals_are_ignored(folder):  # noqa: F811
    """Processes start under ignored signals; a terminal that is closed just then is noticed afterwards."""
    script = (
        "import sys, time\nfrom altclust.apps.cli import find\nfrom altclust.__main__ import main\n"
        "find.start_searchers = lambda jobs: (print('STARTING', flush=True), time.sleep(1))\n"
        f"sys.argv = {['altclust', *SLOW]}\nmain()"
    )
    assert _exit_code_when_closed_at(b"STARTING", [sys.executable, "-c", script], folder) == 130
    assert names(folder / "altclust-out") == RESULTS


def _exit_code_when_closed_at(word: bytes, command: list[str], folder, after: float = 0) -> int:  # noqa: F811
    """Run a command in a terminal of its own, which is closed some seconds after the word is printed."""
    child, terminal = pty.fork()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where these tests are run by `nohup`
        os.chdir(folder)
        os.execv(command[0], command)
    said = b""
    while word not in said:
        said += os.read(terminal, 1000)
    time.sleep(after)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.slow
def test_nohup_is_obeyed():
    script = (
        "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from altclust import __main__\nfrom altclust.apps.cli import screen\n"
        "print(signal.SIGHUP in __main__.SIGNALS, signal.SIGHUP in screen.SIGNALS)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240)
    assert done.stdout == "False False\n", done.stderr
