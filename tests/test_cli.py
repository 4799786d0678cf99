from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from altclust.cli import main
from altclust.metrics import nmi

FAST = ("--clusters", "2", "--no-confidence")


@pytest.fixture
def altclust(folder, monkeypatch):
    """Run the command line in this process, in the folder."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["altclust", *map(str, arguments)])
        stdout, stderr = io.StringIO(), io.StringIO()
        code = 0
        with contextlib.chdir(folder), contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            try:
                main()
            except SystemExit as end:
                code = end.code or 0
        return SimpleNamespace(returncode=code, stdout=stdout.getvalue(), stderr=stderr.getvalue())

    return run


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, 200))
    noise = rng.standard_normal((200, 4))
    pd.DataFrame(
        {
            "segment": np.array(["old", "new"])[known],
            "spend": 50 * known + 10 * noise[:, 0],
            "visits": 3.0 * hidden + 0.5 * noise[:, 1],
            "age": 40 + 5 * noise[:, 2],
            "height": 170 + 9 * noise[:, 3],
            "name": "somebody",
            "truth": np.array(["a", "b"])[hidden],
        }
    ).to_csv(tmp_path / "customers.csv", index=False)
    return tmp_path


def words(text):
    return " ".join(re.sub("[│┃]", " ", text).split())


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_find_writes_labels_figures_and_a_picture(folder, altclust):
    done = altclust("find", "customers.csv", "--given", "segment", "--clusters", "2", "--out", "views")
    assert done.returncode == 0, done.stderr
    assert "The alternative view" in done.stdout
    assert "Left out, because they are not numbers: name, truth" in done.stderr
    table = pd.read_csv(folder / "views" / "table.csv")
    assert nmi(table["alternative"], table["truth"]) > 0.9
    figures = json.loads((folder / "views" / "figures.json").read_text())
    assert figures["novelty"] < 0.05
    assert next(iter(figures["feature_weights"])) == "visits"
    assert set(figures["confidence"]) == {"p_value", "stability", "verdict"}
    assert figures["confidence"]["p_value"] <= 0.05
    assert "stronger than chance" in words(done.stdout)
    assert words(figures["reasons"]) in words(done.stdout)
    assert (folder / "views" / "view.png").read_bytes().startswith(b"\x89PNG")
    assert names(folder / "views") == {"table.csv", "figures.json", "view.png"}


def test_a_fixed_sigma_leaves_nothing_to_search(folder, altclust):
    done = altclust("find", "customers.csv", "--given", "segment", "--sigma", "0.7", *FAST)
    assert done.returncode == 0, done.stderr
    figures = json.loads((folder / "altclust-out" / "figures.json").read_text())
    assert figures["sigma"] == 0.7
    assert figures["reasons"] is None
    assert figures["confidence"] is None
    assert "chance" not in done.stdout


def test_nothing_is_overwritten_unless_forced(folder, altclust):
    (folder / "views").mkdir()
    (folder / "views" / "table.csv").write_text("mine")
    refused = altclust("find", "customers.csv", "--given", "segment", *FAST, "--out", "views")
    assert refused.returncode == 2
    assert "exists: choose another --out, or pass --force" in words(refused.stderr)
    assert (folder / "views" / "table.csv").read_text() == "mine"
    assert names(folder / "views") == {"table.csv"}
    forced = altclust("find", "customers.csv", "--given", "segment", *FAST, "--out", "views", "--force")
    assert forced.returncode == 0, forced.stderr


@pytest.mark.parametrize("command", ["find", "views", "tune"])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["absent.csv"], 2, "absent.csv is not a file"),
        (["customers.csv", "--given", "color"], 2, "--given 'color' is not a column of customers.csv: it has segment"),
        (["customers.csv", "--given", "name"], 1, "given has 1 cluster(s)"),
        (["text.csv"], 2, "has no column of numbers"),
        (["empty.csv"], 1, "empty.csv could not be read as CSV"),
        (["holes.csv"], 1, "X has NaN in column 'b'"),
        (["--magic"], 2, "No such option"),
    ],
)
def test_mistakes_get_a_sentence_and_leave_nothing(folder, altclust, command, arguments, code, message):
    refuse(folder, altclust, [command, *arguments], code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["find", "customers.csv", "--clusters", "500"], 1, "n_clusters=500 but X has n_samples=200"),
        (["find", "customers.csv", "--sigma", "0"], 1, "'sigma' parameter of KDAC"),
        (["find", "found.csv"], 2, "has a column 'alternative' already"),
        (["find", "customers.csv", "--parameters", "found.csv"], 2, "is not a file that `altclust tune` wrote"),
        (["find", "customers.csv", "--parameters", "p.json", "--sigma", "1"], 2, "leave out --sigma"),
        (["find", "customers.csv", "--parameters", "p.json"], 2, "chosen for the columns a, b: run `altclust tune`"),
        (["find", "holes.csv", "--parameters", "p.json"], 2, "with --no-standardise: pass it too"),
        (["views", "found.csv"], 2, "has a column 'view_2' already"),
        (["views", "customers.csv", "--views", "many"], 2, "--views 'many' is neither a number from 1 on nor"),
        (["views", "customers.csv", "-n", "0"], 2, "--views '0' is neither"),
        (["views", "customers.csv", "--no-confidence"], 2, "leave out --no-confidence"),
        (["tune", "customers.csv", "--clusters", "500"], 1, "n_clusters=500 but X has n_samples=200"),
        (["tune", "customers.csv", "--rule", "taste"], 2, "'taste' is not one of 'separation', 'paper'"),
    ],
)
def test_mistakes_of_one_command(folder, altclust, arguments, code, message):
    refuse(folder, altclust, arguments, code, message)


def refuse(folder, altclust, arguments, code, message):
    (folder / "text.csv").write_text("a,b\nx,y\nz,w\n")
    (folder / "empty.csv").write_text("")
    (folder / "found.csv").write_text("a,alternative,view_2\n1,0,0\n2,1,1\n")
    (folder / "holes.csv").write_text("a,b\n1,2\n3,\n5,6\n")
    chosen = dict.fromkeys(("n_clusters", "n_components", "sigma", "novelty_weight", "scaling", "subtract_given"), 1)
    (folder / "p.json").write_text(json.dumps(chosen | {"directions": {"a": [1], "b": [0]}, "standardise": False}))
    before = names(folder)
    done = altclust(*arguments)
    assert done.returncode == code, done.stderr
    assert message in words(done.stderr)
    assert names(folder) == before


def test_warnings_are_sentences(folder, altclust):
    (folder / "flat.csv").write_text("a,b\n" + "".join(f"{i % 2 * 5 + i / 100},7\n" for i in range(30)))
    done = altclust("find", "flat.csv", *FAST)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("constant column(s)") == 1
    assert "UserWarning" not in done.stderr


def test_tune_writes_what_find_uses(folder, altclust):
    given = ("customers.csv", "--given", "segment")
    done = altclust("tune", *given, "--clusters", "2")
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(folder / "altclust-out" / "tuning.csv")
    chosen = json.loads((folder / "altclust-out" / "parameters.json").read_text())
    row = table[table["chosen"]].iloc[0]
    assert row["score"] == pytest.approx(chosen["score"])
    assert row["sigma"] == pytest.approx(chosen["sigma"])
    assert f"The best of {len(table)} trials" in done.stdout
    assert words(chosen["reasons"]) in words(done.stdout)
    assert "3/3" in done.stderr  # three paths where k is fixed
    command = chosen["command"].split()
    assert command[:5] == ["altclust", "find", *given]
    again = altclust(*command[1:], "--no-confidence")
    assert again.returncode == 0, again.stderr
    figures = json.loads((folder / "altclust-out" / "figures.json").read_text())
    assert figures["sigma"] == chosen["sigma"]
    assert figures["reasons"] == chosen["reasons"]
    found = pd.read_csv(folder / "altclust-out" / "table.csv")
    assert nmi(found["alternative"], found["truth"]) > 0.9


def test_tune_prints_json_and_resumes(folder, altclust):
    given = ("customers.csv", "--given", "segment", "--clusters", "2", "--no-standardise", "--json")
    first = altclust("tune", *given, "--resume", "kept", "--out", "one")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["standardise"] is False
    assert len(names(folder / "kept")) == 3
    again = altclust("tune", *given, "--resume", "kept", "--out", "two")
    assert json.loads(again.stdout)["reasons"] == json.loads(first.stdout)["reasons"]
    tables = [(folder / out / "tuning.csv").read_text() for out in ("one", "two")]
    assert tables[0] == tables[1]
    other = altclust("tune", *given, "--resume", "kept", "--out", "three", "--seed", "1")
    assert other.returncode == 1
    assert "another table, of other parameters or of another random_state" in words(other.stderr)
    assert not (folder / "three").exists()


def test_tune_by_the_papers_rule(folder, altclust):
    done = altclust("tune", "customers.csv", "--given", "segment", "--components", "1", "--rule", "paper")
    assert done.returncode == 0, done.stderr
    assert "Theorem 1's inequality" in words(done.stdout)
    assert pd.read_csv(folder / "altclust-out" / "tuning.csv")["inequality"].notna().all()


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_the_search_with_what_there_is(folder, jobs):
    arguments = ["tune", "customers.csv", "--rule", "paper", "--clusters", "4", "--jobs", str(jobs), "--resume", "kept"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from altclust.cli import main; main()", *arguments],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not list(folder.glob("kept/*.npz")) and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all its processes
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "Interrupted: this is the best of the" in said
    assert "Traceback" not in said
    table = pd.read_csv(folder / "altclust-out" / "tuning.csv")
    assert table["chosen"].sum() == 1
    assert table["stage"].nunique() < 10


def test_views_writes_columns_figures_and_pictures(folder, altclust):
    out = folder / "altclust-views"
    out.mkdir()
    (out / "view_7.png").write_text("of an earlier run")
    arguments = ("views", "customers.csv", "--given", "segment", "-n", "2", "--no-confidence")
    refused = altclust(*arguments)
    assert refused.returncode == 2
    assert "view_7.png exists" in words(refused.stderr)
    done = altclust(*arguments, "--force")
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(out / "table.csv")
    figures = json.loads((out / "views.json").read_text())
    assert len(figures["views"]) == 2
    assert figures["stopped"] == "2 view(s) were asked for."
    for i, view in enumerate(figures["views"], 1):
        assert view["cluster_sizes"] == np.bincount(table[f"view_{i}"]).tolist()
        assert view["p_value"] is view["verdict"] is None
        assert f"View {i}: {view['clusters']} clusters of " in words(done.stderr)
        assert set(view["feature_weights"]) == {"spend", "visits", "age", "height"}
    assert nmi(table["view_1"], table["truth"]) > 0.9
    assert figures["views"][1]["novelty"] < 0.3
    assert names(out) == {"table.csv", "views.json", "view_1.png", "view_2.png"}
    assert (out / "view_2.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_views_until_chance(folder, altclust):
    done = altclust("views", "customers.csv", "--given", "segment")
    assert done.returncode == 0, done.stderr
    views = json.loads((folder / "altclust-views" / "views.json").read_text())["views"]
    assert len(views) == 1
    assert views[0]["p_value"] <= 0.05
    assert views[0]["verdict"] in words(done.stderr)
    assert "View 2: This view is no stronger than chance" in words(done.stdout)


def test_views_of_noise_says_why_there_are_none(folder, altclust):
    X = np.random.default_rng(1).standard_normal((60, 3))
    pd.DataFrame(X, columns=list("abc")).to_csv(folder / "noise.csv", index=False)
    done = altclust("views", "noise.csv")
    assert done.returncode == 0, done.stderr
    assert "No view was found." in done.stdout
    assert "View 1: This view is no stronger than chance" in words(done.stdout)
    assert list(pd.read_csv(folder / "altclust-views" / "table.csv").columns) == list("abc")


def test_version(folder):
    done = subprocess.run(
        [sys.executable, "-c", "from altclust.cli import main; main()", "--version"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.startswith("altclust 0.")


@pytest.mark.parametrize("command", ["find", "tune", "views"])
def test_help_has_examples(altclust, command):
    done = altclust(command, "--help")
    assert done.returncode == 0
    assert f"altclust {command} customers.csv --given segment" in done.stdout


def test_help_says_what_is_searched_for(altclust):
    done = altclust("find", "--help")
    assert words(done.stdout).count("searched for if left out") == 3
