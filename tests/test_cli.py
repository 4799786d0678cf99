from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from altclust.metrics import nmi


def altclust(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-c", "from altclust.cli import main; main()", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 2, (2, 200))
    pd.DataFrame(
        {
            "segment": np.array(["old", "new"])[known],
            "spend": 50 * known + 10 * rng.standard_normal(200),
            "visits": 3.0 * hidden + 0.5 * rng.standard_normal(200),
            "name": "somebody",
            "truth": np.array(["a", "b"])[hidden],
        }
    ).to_csv(tmp_path / "customers.csv", index=False)
    return tmp_path


def test_find_writes_labels_figures_and_a_picture(folder):
    done = altclust("find", "customers.csv", "--given", "segment", "--out", "views", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "The alternative view" in done.stdout
    assert "Left out, because they are not numbers: name, truth" in done.stderr
    table = pd.read_csv(folder / "views" / "table.csv")
    assert nmi(table["alternative"], table["truth"]) > 0.9
    figures = json.loads((folder / "views" / "figures.json").read_text())
    assert figures["novelty"] < 0.05
    assert next(iter(figures["feature_weights"])) == "visits"
    assert (folder / "views" / "view.png").read_bytes().startswith(b"\x89PNG")
    assert {p.name for p in (folder / "views").iterdir()} == {"table.csv", "figures.json", "view.png"}


def test_nothing_is_overwritten_unless_forced(folder):
    (folder / "views").mkdir()
    (folder / "views" / "table.csv").write_text("mine")
    refused = altclust("find", "customers.csv", "--given", "segment", "--out", "views", cwd=folder)
    assert refused.returncode == 2
    assert "exists: choose another --out, or pass --force" in " ".join(refused.stderr.split())
    assert (folder / "views" / "table.csv").read_text() == "mine"
    forced = altclust("find", "customers.csv", "--given", "segment", "--out", "views", "--force", cwd=folder)
    assert forced.returncode == 0, forced.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["absent.csv"], 2, "absent.csv is not a file"),
        (["customers.csv", "--given", "color"], 2, "--given 'color' is not a column of customers.csv: it has segment"),
        (["customers.csv", "--given", "name"], 1, "given has 1 cluster(s)"),
        (["customers.csv", "--given", "segment", "--clusters", "500"], 1, "n_clusters=500 but X has n_samples=200"),
        (["customers.csv", "--given", "segment", "--sigma", "0"], 1, "'sigma' parameter of KDAC"),
        (["found.csv"], 2, "has a column 'alternative' already"),
        (["text.csv"], 2, "has no column of numbers"),
        (["empty.csv"], 1, "empty.csv could not be read as CSV"),
        (["holes.csv"], 1, "X has NaN in column 'b'"),
        (["--magic"], 2, "No such option"),
    ],
)
def test_mistakes_get_a_sentence_and_leave_nothing(folder, arguments, code, message):
    (folder / "text.csv").write_text("a,b\nx,y\nz,w\n")
    (folder / "empty.csv").write_text("")
    (folder / "found.csv").write_text("a,alternative\n1,0\n2,1\n")
    (folder / "holes.csv").write_text("a,b\n1,2\n3,\n5,6\n")
    done = altclust("find", *arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not (folder / "altclust-out").exists()


def test_warnings_are_sentences(folder):
    (folder / "flat.csv").write_text("a,b\n" + "".join(f"{i % 2 * 5 + i / 100},7\n" for i in range(30)))
    done = altclust("find", "flat.csv", "--clusters", "2", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "constant column(s)" in done.stderr
    assert "UserWarning" not in done.stderr


def test_version(folder):
    assert altclust("--version", cwd=folder).stdout.startswith("altclust 0.")


def test_help_has_examples(folder):
    done = altclust("find", "--help", cwd=folder)
    assert done.returncode == 0
    assert "altclust find customers.csv --given segment" in done.stdout
