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
import warnings
from functools import partial
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from altclust import KDAC
from altclust.apps.cli.main import main
from altclust.core.metrics import nmi
from altclust.datasets import views as generated_views
from altclust.tables import read_table

N = 120
FAST = ("--clusters", "2", "--no-significance")


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
    known, hidden = rng.integers(0, 2, (2, N))
    noise = rng.standard_normal((N, 4))
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


MANIFEST = ".altclust.json"
RESULTS = {"table.csv", "directions.csv", "figures.json", "report.html", "alternative.npz", "alternative.png"}


def first_view(out):
    return json.loads((out / "figures.json").read_text())["views"][0]


def names(folder):
    return {path.name for path in folder.iterdir() if path.name != MANIFEST}


def of_views(count):
    return RESULTS | {f"alternative_{i}.{kind}" for i in range(2, count + 1) for kind in ("npz", "png")}


def test_find_writes_labels_figures_and_a_report(folder, altclust):
    shape = ("--drop", "truth", "--clusters", "2", "--components", "1")
    done = altclust("find", "customers.csv", "--given", "segment", *shape, "--out", "views")
    assert done.returncode == 0, done.stderr
    assert "View 1" in done.stdout
    assert "name (constant)" in words(done.stderr)
    assert "truth (as asked)" in words(done.stderr)
    assert "Used as numbers: spend, visits, age, height." in words(done.stderr)
    table = pd.read_csv(folder / "views" / "table.csv")
    assert nmi(table["alternative"], table["truth"]) > 0.9
    run = json.loads((folder / "views" / "figures.json").read_text())
    asked = "--given segment --drop truth --clusters 2 --components 1 --out views"
    assert run["command"] == f"altclust find customers.csv {asked}"
    figures = first_view(folder / "views")
    assert figures["overlap"] < 0.05
    assert next(iter(figures["feature_weights"])) == "visits"
    assert {"p_value", "smallest_p", "stability", "is_real", "verdict", "witnesses"} < set(figures["significance"])
    assert figures["significance"]["p_value"] <= 0.05
    assert figures["significance"]["witnesses"] == []  # what was dropped appears nowhere
    assert "truth" not in done.stdout
    badge, sentence = figures["badge"], figures["verdict"].removeprefix(f"{figures['badge']}: ")
    found = sentence.partition(". ")[0] + "."
    said = words(done.stdout)
    at_once, _, said = said.partition(f"View 1: {badge} ")
    assert at_once.startswith("View 1: 2 clusters (")  # before it is tested
    said = f"{badge} {said}"  # then the verdict, first and once
    parts = [badge, *map(words, (found, sentence.removeprefix(f"{found} "), figures["advice"]))]
    assert [said.count(part) for part in parts] == [1] * len(parts)
    places = [said.index(part) for part in [*parts, words(figures["descriptions"][0]), "quality"]]
    assert places == sorted(places)
    shown = unescape((folder / "views" / "report.html").read_text()).replace("\u00a0", " ")
    assert f'<p class="badge">{badge}</p>\n  <p class="sentence">{found}</p>' in shown
    assert words(figures["reasons"]) in words(done.stdout)
    assert (folder / "views" / "alternative.png").read_bytes().startswith(b"\x89PNG")
    assert len(KDAC.load(folder / "views" / "alternative.npz").labels_) == N
    directions = pd.read_csv(folder / "views" / "directions.csv").set_index("feature")
    assert directions["weight"].idxmax() == "visits"
    assert directions["direction_1"].abs().idxmax() == "visits"
    assert "visits" in (folder / "views" / "report.html").read_text()
    assert names(folder / "views") == of_views(len(run["views"]))


def test_a_column_that_was_not_chosen_can_confirm_the_clusters(folder, altclust):
    chosen = [part for name in ("spend", "visits", "age", "height") for part in ("--columns", name)]
    shape = ("--clusters", "2", "--components", "1")
    done = altclust("find", "customers.csv", "--given", "segment", *chosen, *shape, "--out", "views")
    assert done.returncode == 0, done.stderr
    (witness,) = first_view(folder / "views")["significance"]["witnesses"]
    assert witness["column"] == "truth"
    assert words(done.stdout).count(words(witness["sentence"])) == 1


@pytest.fixture
def several(folder):
    """A table with two more clusterings than the given one."""
    data = generated_views(N, ("blobs", "blobs", "blobs"), (2, 3, 2), random_state=0)
    frame = pd.DataFrame(data.X, columns=[f"x{j}" for j in range(data.X.shape[1])])
    frame.assign(known=data.given.astype(str)).to_csv(folder / "several.csv", index=False)
    return "several.csv", "--given", "known"


@pytest.mark.slow
def test_views_are_printed_one_after_the_other(folder, altclust, several):
    done = altclust("find", *several, "--out", "out")
    assert done.returncode == 0, done.stderr
    figures = json.loads((folder / "out" / "figures.json").read_text())
    assert [view["significance"]["is_real"] for view in figures["views"]] == [True, True, False, False]
    said = words(done.stdout)
    places = [said.index(f"View {i}") for i in (1, 2, 3)]
    assert places == sorted(places)
    assert re.search("View 1: (New and s|S)ignificant", said[: places[1]])  # its verdict comes before the next view
    assert re.search("View 3: (Not significant|No reproducible clustering): ", said)
    assert said.count(figures["stopped"]) == 1
    table = pd.read_csv(folder / "out" / "table.csv")
    assert list(table.columns)[-3:] == ["known", "alternative", "alternative_2"]
    assert nmi(table["alternative"], table["alternative_2"]) < 0.05
    assert figures["views"][1]["overlaps"] == {"view 1": pytest.approx(nmi(*table.iloc[:, -2:].to_numpy().T))}
    assert figures["stopped"] == "Nothing more that is significant: views 3 and 4 are not."
    assert names(folder / "out") == of_views(4)
    page = (folder / "out" / "report.html").read_text()
    assert "How the views cross each other" in page
    assert "alternative_3" in page


def test_one_view(folder, altclust, several):
    done = altclust("find", *several, "--views", "1", "--no-significance", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert names(folder / "out") == RESULTS
    assert first_view(folder / "out")["significance"] is None


def test_nothing_is_overwritten_unless_forced(folder, altclust):
    (folder / "views").mkdir()
    (folder / "views" / "table.csv").write_text("mine")
    refused = altclust("find", "customers.csv", "--given", "segment", *FAST, "--out", "views")
    assert refused.returncode == 2
    assert "views/table.csv exists: choose another --out, or move what is in the way" in words(refused.stderr)
    assert (folder / "views" / "table.csv").read_text() == "mine"
    assert names(folder / "views") == {"table.csv"}
    forced = altclust("find", "customers.csv", "--given", "segment", *FAST, "--out", "views", "--force")
    assert forced.returncode == 2
    assert "so not table.csv" in words(forced.stderr)
    assert (folder / "views" / "table.csv").read_text() == "mine"


def test_types_logarithms_and_the_decimal_mark_are_options(folder, altclust):
    rng = np.random.default_rng(0)
    table = pd.read_csv(folder / "customers.csv").assign(
        zip=rng.choice([10115, 20095, 50667], N),
        paid=np.exp(rng.normal(size=N)),
        price=[f"{i},500" for i in range(1, N + 1)],
    )
    table.to_csv(folder / "more.csv", index=False)
    start = ("find", "more.csv", "--given", "segment", "--sigma", "1", *FAST)
    refused = altclust(*start)
    assert refused.returncode == 2
    assert "--decimal is needed to read column 'price', where '1,500' is 1500 or 1.5" in words(refused.stderr)
    wrong = altclust(*start, "--as", "zip")
    assert "--as 'zip' names no type: write it as NAME=TYPE, such as zip=category." in words(wrong.stderr)
    options = ("--decimal", ",", "--as", "zip=number", "--as", "truth=text", "--log", "paid")
    done = altclust(*start, *options, "--out", "typed")
    assert done.returncode == 0, done.stderr
    assert "Logarithms are taken: paid." in words(done.stderr)
    assert "price ('1,500' is 1.5)" in words(done.stderr)
    listed = json.loads((folder / "typed" / "figures.json").read_text())["recipe"]["listing"]
    assert {name: kind for name, kind, *_ in listed} == {
        "segment": "category", "spend": "number", "visits": "number", "age": "number", "height": "number",
        "name": "category", "truth": "text", "zip": "number", "paid": "number", "price": "number",
    }  # fmt: skip
    tuned = altclust("tune", "more.csv", "--given", "segment", *options, "--clusters", "2", "--out", "tuned", "--json")
    assert tuned.returncode == 0, tuned.stderr
    assert "--as zip=number --as truth=text --log paid --decimal ," in json.loads(tuned.stdout)["command"]


@pytest.mark.parametrize("command", ["find", "tune"])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["absent.csv"], 2, "absent.csv does not exist or is not a file"),
        (
            ["customers.csv", "--given", "color"],
            2,
            "--given 'color' is not a column of customers.csv: the nearest of 7 columns are 'truth', 'segment'",
        ),
        (["customers.csv", "--given", "Segment"], 2, "did you mean 'segment'?"),
        (["customers.csv", "--id", "nobody"], 2, "--id 'nobody' is not a column"),
        (
            ["customers.csv", "--columns", "gene_*"],
            2,
            "--columns 'gene_*' is not a column: the nearest of 7 columns are 'segment'",
        ),
        (["customers.csv", "--drop", "gene"], 2, "--drop 'gene' is not a column"),
        (["customers.csv", "--drop", "visit"], 2, "--drop 'visit' is not a column: did you mean 'visits'?"),
        (["customers.csv", "--columns", "AGE"], 2, "--columns 'AGE' is not a column: did you mean 'age'?"),
        (["customers.csv", "--as", "trut=text"], 2, "--as 'trut' is not a column: did you mean 'truth'?"),
        (["customers.csv", "--log", "hight"], 2, "--log 'hight' is not a column: did you mean 'height'?"),
        (["customers.csv", "--log", "truth"], 2, "--log 'truth' has the type category, and only numbers have"),
        (["customers.csv", "--given", "age", "--log", "age"], 2, "--log 'age' is not clustered (given)"),
        (["customers.csv", "--given-file", "empty.csv"], 1, "empty.csv is empty"),
        (["customers.csv", "--given-file", "holes.csv"], 2, f"has 4 rows, and customers.csv has {N}"),
        (
            ["holes.csv", "--given-file", "holes.csv"],
            2,
            "--given-file holes.csv and holes.csv both have a column 'a': rename one",
        ),
        (["picture.png"], 1, "picture.png has no format that altclust reads"),
        (["customers.csv", "--given", "name"], 2, "--given name has 1 cluster(s)"),
        (["text.csv"], 2, "text.csv: No column can be clustered: 'a' is left out (text with 2 values)"),
        (["empty.csv"], 1, "empty.csv is empty"),
        (["holes.csv", "--no-impute"], 2, "Column 'b' has 1 missing cells"),
        (["--magic"], 2, "No such option"),
    ],
)
def test_mistakes_get_a_sentence_and_leave_nothing(folder, altclust, command, arguments, code, message):
    refuse(folder, altclust, [command, *arguments], code, message)


def test_a_given_measurement(folder, altclust):
    told = altclust("find", "customers.csv", "--given", "age", "--sigma", "1", "--components", "1", *FAST)
    assert told.returncode == 0, told.stderr
    assert "Given: age (a measurement). [--as NAME=category makes a measurement a clustering]" in told.stderr
    assert "almost independent of age (overlap 0.0" in words(told.stdout)
    assert json.loads((folder / "altclust-out" / "figures.json").read_text())["given"] == ["age"]
    refused = altclust("compare", "customers.csv", "--given", "age", "--out", "compared")
    assert refused.returncode == 2
    assert "--given age is a measurement" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["find", "customers.csv", "--clusters", "500"], 2, f"--clusters 500 is more than the {N} rows: ask for fewer"),
        (["find", "customers.csv", "--sigma", "0"], 2, "--sigma 0 must be above 0"),
        (["find", "customers.csv", "--novelty-weight", "-3"], 2, "Invalid value for '--novelty-weight'"),
        (["find", "customers.csv", "--views", "0"], 2, "Invalid value for '--views'"),
        (["find", "customers.csv", "--views", "2", "--no-significance"], 2, "leave out --no-significance"),
        (["find", "customers.csv", "--keep", "Truth"], 2, "--keep 'Truth' is not a column of customers.csv: did you"),
        (
            ["find", "customers.csv", "--given", "segment", "--keep", "segment"],
            2,
            "customers.csv: --keep 'segment' is also given: clusters cannot agree with a column and be independent",
        ),
        (["find", "customers.csv", "--views", "2", "--parameters", "p.json"], 2, "leave out --parameters"),
        (["find", "twice.csv"], 2, "already has a column 'alternative_2'"),
        (["find", "found.csv"], 2, "already has a column 'alternative'"),
        (["find", "customers.csv", "--parameters", "found.csv"], 2, "is not a file that `altclust tune` wrote"),
        (["find", "customers.csv", "--parameters", "p.json", "--sigma", "1"], 2, "leave out --sigma"),
        (["find", "customers.csv", "--parameters", "p.json"], 2, "is for the columns a, b: run `altclust tune` again"),
        (["find", "holes.csv", "--parameters", "p.json"], 2, "is for --no-standardise: pass that option too"),
        (["tune", "customers.csv", "--clusters", "500"], 2, f"--clusters 500 is more than the {N} rows: ask for fewer"),
    ],
)
def test_mistakes_of_one_command(folder, altclust, arguments, code, message):
    refuse(folder, altclust, arguments, code, message)


def refuse(folder, altclust, arguments, code, message):
    (folder / "text.csv").write_text("a,b\nx,y\nz,w\n")
    (folder / "empty.csv").write_text("")
    (folder / "picture.png").write_text("")
    (folder / "found.csv").write_text("a,alternative,view_2\n1,0,0\n2,1,1\n")
    (folder / "twice.csv").write_text("a,alternative_2\n1,0\n2,1\n")
    (folder / "holes.csv").write_text("a,b\n1,2\n3,\n5,6\n7,9\n")
    usual = ("n_clusters", "n_components", "sigma", "novelty_weight", "scaling", "subtract_given")
    chosen = dict.fromkeys((*usual, "whitening", "degree_floor", "pull", "subspace"), 1)
    (folder / "p.json").write_text(json.dumps(chosen | {"directions": {"a": [1], "b": [0]}, "standardise": False}))
    before = names(folder)
    done = altclust(*arguments)
    assert done.returncode == code, done.stderr
    assert message in words(done.stderr)
    assert names(folder) == before


def test_warnings_are_sentences(folder, altclust):
    (folder / "line.csv").write_text(
        "a,b\n" + "".join(f"{i % 2 * 5 + i / 100},{i % 2 * 5 + i / 100}\n" for i in range(30))
    )
    done = altclust("find", "line.csv", "--as", "b=number", *FAST, "--components", "2")
    assert done.returncode == 0, done.stderr
    assert words(done.stderr).count("--components 2 is more than the 1 direction that the rows span.") == 1
    assert "UserWarning" not in done.stderr


def test_arguments_of_the_library_are_options_on_the_command_line(folder, altclust):
    done = altclust("find", "customers.csv", "--given", "segment", "--no-encode", "--components", "9", *FAST)
    assert done.returncode == 2
    assert words(done.stderr).endswith("altclust: --components 9 is more than the 4 column(s): ask for at most 4.")
    assert "n_components" not in done.stderr
    wide = altclust("find", "customers.csv", "--sigma", "1e30", *FAST)
    assert wide.returncode == 2
    assert "--sigma 1e+30 does not fit rows that spread over" in words(wide.stderr)
    (folder / "far.csv").write_text("a,b\n" + "".join(f"{i % 3},{i % 5}\n" for i in range(30)) + "1e300,1\n")
    far = altclust("find", "far.csv", "--as", "a=number", "--no-standardise", *FAST)
    assert far.returncode == 1
    assert "altclust: The table has values beyond 1e+50, whose powers overflow: rescale" in words(far.stderr)


def test_no_words_of_a_library_reach_the_screen(folder, altclust, monkeypatch):
    """Few distinct rows make scikit-learn warn of empty clusters; we say so ourselves, once."""
    (folder / "few.csv").write_text("a,b,given\n" + "".join(f"{i % 3},{i % 3 * 2},{'xy'[i % 2]}\n" for i in range(40)))
    plain = ("--as", "a=number", "--as", "b=number", "--no-significance")
    done = altclust("find", "few.csv", "--given", "given", "--clusters", "5", "--sigma", "1", *plain)
    assert done.returncode == 0, done.stderr
    assert "distinct clusters" not in done.stderr
    assert words(done.stderr).count("--clusters 5 leaves 2 cluster(s) empty, because many rows are equal") == 1

    def fail(*_, **__):
        warnings.warn("words of a library", UserWarning, stacklevel=1)
        raise ValueError("words of a library")

    monkeypatch.setattr(KDAC, "fit", fail)
    broken = altclust("find", "few.csv", "--given", "given", "--out", "other")
    assert broken.returncode == 1
    assert "words of a library" not in broken.stderr
    assert "altclust: unexpected error in fail (line " in words(broken.stderr)


def test_a_search_that_does_not_converge_is_reported(folder, altclust, monkeypatch):
    monkeypatch.setattr("altclust.apps.cli.find.KDAC", partial(KDAC, max_iter=1))
    done = altclust("find", "customers.csv", "--given", "segment", "--sigma", "0.7", *FAST)
    assert done.returncode == 0, done.stderr
    assert "alternative: the optimisation stopped before it converged, after 1 rounds" in words(done.stderr)
    assert "max_iter" not in done.stderr


def test_one_row_is_too_few(folder, altclust):
    (folder / "one.csv").write_text("a,b\n1,2\n")
    done = altclust("find", "one.csv", "--columns", "a")
    assert done.returncode == 2
    assert "one.csv" in words(done.stderr)


def test_tune_writes_what_find_uses(folder, altclust):
    given = ("customers.csv", "--given", "segment")
    done = altclust("tune", *given, "--clusters", "2")
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(folder / "altclust-out" / "tuning.csv")
    chosen = json.loads((folder / "altclust-out" / "parameters.json").read_text())
    row = table[table["chosen"]].iloc[0]
    assert row["sigma"] == pytest.approx(chosen["sigma"])
    assert f"The best of {len(table)} candidates" in done.stdout
    assert words(chosen["reasons"]) in words(done.stdout)
    command = chosen["command"].split()
    assert command[:5] == ["altclust", "find", *given]
    again = altclust(*command[1:], "--no-significance")
    assert again.returncode == 0, again.stderr
    figures = first_view(folder / "altclust-out")
    assert figures["parameters"]["sigma"] == chosen["sigma"]
    assert figures["reasons"] == chosen["reasons"]
    found = pd.read_csv(folder / "altclust-out" / "table.csv")
    assert nmi(found["alternative"], found["truth"]) > 0.9


def test_tune_prints_json_and_does_not_depend_on_the_seed(folder, altclust):
    given = ("customers.csv", "--given", "segment", "--clusters", "2", "--no-standardise", "--json")
    first = altclust("tune", *given, "--out", "one")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["standardise"] is False
    again = altclust("tune", *given, "--out", "two", "--seed", "1")
    assert json.loads(again.stdout)["reasons"] == json.loads(first.stdout)["reasons"]
    tables = [(folder / out / "tuning.csv").read_text() for out in ("one", "two")]
    assert tables[0] == tables[1]


def test_tune_shows_the_scores_of_the_ranking(folder, altclust):
    done = altclust("tune", "customers.csv", "--given", "segment", "--clusters", "2")
    assert done.returncode == 0, done.stderr
    for head in ("start", "k", "q", "sigma", "overlap", "contrast", "found again", "score"):
        assert f" {head} " in words(done.stdout)
    assert "nan" not in done.stdout
    table = pd.read_csv(folder / "altclust-out" / "tuning.csv")
    assert {"again", "contrast", "mixture", "evenness", "score"} <= set(table.columns)


def test_ctrl_c_ends_the_search_with_what_there_is(folder):
    arguments = ["tune", "customers.csv", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from altclust.apps.cli.main import main; main()", *arguments],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while not list(folder.glob("altclust-out/.*")) and time.monotonic() < until:  # the lock of the folder
        time.sleep(0.01)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all its processes
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "Interrupted: this is the best of" in said
    assert "Traceback" not in said
    table = pd.read_csv(folder / "altclust-out" / "tuning.csv")
    assert table["chosen"].sum() == 1
    assert len(table) < 28  # candidates of the whole search


def test_noise_says_that_it_is_not_significant(folder, altclust, few_draws):
    X = np.random.default_rng(1).standard_normal((80, 2))
    pd.DataFrame(X, columns=list("ab")).to_csv(folder / "noise.csv", index=False)
    done = altclust("find", "noise.csv")
    assert done.returncode == 0, done.stderr
    assert re.search("View 1: (Not significant|No reproducible clustering) ", words(done.stdout))
    assert list(pd.read_csv(folder / "altclust-out" / "table.csv").columns) == ["a", "b", "first_view", "alternative"]
    figures = json.loads((folder / "altclust-out" / "figures.json").read_text())
    assert figures["stopped"] == "No view is significant: views 1 and 2 are not."


def test_ctrl_c_while_python_still_imports(folder):
    process = subprocess.Popen(
        [sys.executable, "-m", "altclust", "find", "customers.csv"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode in (130, -signal.SIGINT), said  # the latter if Python itself had not begun
    assert "Traceback" not in said or process.returncode == -signal.SIGINT
    assert not (folder / "altclust-out").exists()


def test_version(altclust):
    done = altclust("--version")
    assert done.stdout.startswith("altclust 0.")


@pytest.mark.parametrize("command", ["find", "tune"])
def test_help_has_examples(altclust, command):
    done = altclust(command, "--help")
    assert done.returncode == 0
    assert f"altclust {command} customers.csv --given segment" in done.stdout


def test_help_says_what_is_searched_for(altclust):
    done = altclust("find", "--help")
    assert words(done.stdout).count("Default: searched for.") == 3


def test_the_shell_completes_columns(folder):
    asked = {
        "_ALTCLUST_COMPLETE": "complete_bash",
        "COMP_WORDS": "altclust find customers.csv --given s",
        "COMP_CWORD": "4",
    }
    command = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'altclust'; from altclust.apps.cli.main import main; main()",
    ]
    done = subprocess.run(command, cwd=folder, env=os.environ | asked, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["segment", "spend"], done.stderr


def test_without_a_given_column_the_table_is_clustered_first(folder, altclust):
    done = altclust("find", "customers.csv", *FAST, "--columns", "spend", "--columns", "visits")
    assert done.returncode == 0, done.stderr
    assert "No --given column: the table was clustered first" in words(done.stderr)
    table = pd.read_csv(folder / "altclust-out" / "table.csv")
    pairs = {nmi(table[new], table[old]) > 0.9 for new in ("first_view", "alternative") for old in ("segment", "truth")}
    assert pairs == {True, False}
    assert nmi(table["first_view"], table["alternative"]) < 0.1


def test_given_from_another_file_by_row_and_by_id(folder, altclust):
    table = pd.read_csv(folder / "customers.csv")
    table.insert(0, "who", [f"c{i}" for i in range(N)])
    table.drop(columns="segment").to_csv(folder / "rows.csv", index=False)
    table[["who", "segment"]].sample(frac=0.9, random_state=0).to_csv(folder / "known.tsv", index=False, sep="\t")
    table[["segment"]].to_parquet(folder / "known.parquet")
    by_id = altclust(
        "find", "rows.csv", "--given-file", "known.tsv", "--id", "who", "--drop", "truth", *FAST, "--out", "a"
    )
    assert by_id.returncode == 0, by_id.stderr
    assert f"{N // 10} of {N} rows have no label: they are not constrained." in words(by_id.stderr)
    by_row = altclust("find", "rows.csv", "--given-file", "known.parquet", "--drop", "truth", *FAST, "--out", "b")
    assert by_row.returncode == 0, by_row.stderr
    for out in ("a", "b"):
        found = pd.read_csv(folder / out / "table.csv")
        assert nmi(found["alternative"], found["truth"]) > 0.9
        assert "segment" not in found.columns
    refused = altclust("find", "rows.csv", "--given-file", "known.tsv", *FAST, "--out", "c")
    assert refused.returncode == 2
    assert "or --id with a column that both have" in words(refused.stderr)
    table[["who", "segment"]].assign(who=range(N)).to_csv(folder / "strange.csv", index=False)
    refused = altclust("find", "rows.csv", "--given-file", "strange.csv", "--id", "who", *FAST, "--out", "c")
    assert refused.returncode == 2
    told = "--id 'who' matches no row: rows.csv has values such as 'c0', and strange.csv such as '0'."
    assert told in words(refused.stderr)
    for cells, problem in (("x", "has 1 cluster(s)"), (range(N), "is an identifier (row numbers)")):
        table[[]].assign(number=cells).to_csv(folder / "constant.csv", index=False)
        refused = altclust("find", "rows.csv", "--given-file", "constant.csv", *FAST, "--out", "c")
        assert refused.returncode == 2
        assert f"--given-file constant.csv: column 'number' {problem}" in words(refused.stderr)


@pytest.mark.parametrize("suffix", [".tsv", ".parquet", ".feather", ".xlsx", ".npz"])
def test_the_table_comes_back_in_its_format(folder, altclust, suffix):
    frame = pd.read_csv(folder / "customers.csv")
    write = {
        ".tsv": lambda path: frame.to_csv(path, sep="\t", index=False),
        ".parquet": frame.to_parquet,
        ".feather": frame.to_feather,
        ".xlsx": lambda path: frame.to_excel(path, index=False),
        ".npz": lambda path: np.savez(
            path, **{name: frame[name].to_numpy(dtype=None if frame[name].dtype == float else str) for name in frame}
        ),
    }
    write[suffix](folder / f"rows{suffix}")
    done = altclust("find", f"rows{suffix}", "--given", "segment", "--sigma", "0.7", *FAST)
    assert done.returncode == 0, done.stderr
    back = read_table(folder / "altclust-out" / f"table{suffix}").frame
    assert list(back.columns) == [*frame.columns, "alternative"]
    assert nmi(back["alternative"].astype(int), back["truth"]) > 0.9


def test_json_for_machines_and_quiet(folder, altclust):
    quick = ("customers.csv", "--given", "segment", "--sigma", "0.7", *FAST)
    told = altclust("find", *quick, "--json", "--quiet", "--out", "a")
    assert told.returncode == 0
    assert told.stderr == ""
    assert json.loads(told.stdout) == json.loads((folder / "a" / "figures.json").read_text())
    silent = altclust("find", *quick, "-q", "--out", "b")
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
    wrong = altclust("find", "absent.csv", "-q")
    assert "absent.csv does not exist or is not a file" in words(wrong.stderr)


def test_report_again_and_of_other_rows(folder, altclust):
    quick = ("customers.csv", "--given", "segment", "--sigma", "0.7", *FAST)
    assert altclust("find", *quick).returncode == 0
    out = folder / "altclust-out"
    (out / "report.html").unlink()
    again = altclust("report", "altclust-out")
    assert again.returncode == 0, again.stderr
    assert f"{N} rows" in (out / "report.html").read_text()
    refused = altclust("report", "altclust-out")
    assert refused.returncode == 2
    assert "exists: choose another --to, or pass --force" in words(refused.stderr)
    pd.read_csv(folder / "customers.csv").drop(columns="segment").head(50).to_csv(folder / "new.csv", index=False)
    other = altclust("report", "altclust-out", "new.csv", "--to", "new.html")
    assert other.returncode == 0, other.stderr
    assert "new.csv has no column segment" in words(other.stderr)
    assert "new.csv" in (folder / "new.html").read_text()
    (folder / "few.csv").write_text("spend\n1\n2\n")
    lacking = altclust("report", "altclust-out", "few.csv", "--to", "few.html")
    assert lacking.returncode == 1
    assert "The table has no column 'visits'" in words(lacking.stderr)
    nothing = altclust("report", "absent")
    assert nothing.returncode == 2
    assert "holds no complete results of `altclust find`" in words(nothing.stderr)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_find_with_what_there_is(folder, jobs):
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from altclust.apps.cli.main import main; main()",
            "find",
            "customers.csv",
            "--given",
            "segment",
            "--jobs",
            jobs,
        ],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    said = ""
    while "Standardised" not in said:  # the last word before the search
        said += process.stderr.readline()
    time.sleep(0.5)  # two processes are still starting
    os.killpg(process.pid, signal.SIGINT)
    said += process.communicate(timeout=120)[1]
    assert process.returncode == 130, said
    assert "Interrupted: this is the best result so far" in said
    assert "Traceback" not in said
    assert names(folder / "altclust-out") == RESULTS
    assert first_view(folder / "altclust-out")["significance"] is None


def test_ctrl_c_between_two_stages_keeps_the_view_that_is_there(folder, altclust, monkeypatch):
    monkeypatch.setattr("altclust.apps.cli.find.show_view", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    done = altclust("find", "customers.csv", "--given", "segment", "--drop", "truth", "--clusters", "2")
    assert done.returncode == 130, done.stderr
    assert "Interrupted: this is the best result so far." in done.stderr
    assert names(folder / "altclust-out") == RESULTS
    figures = json.loads((folder / "altclust-out" / "figures.json").read_text())
    assert figures["stopped"] == "It was stopped after view 1."
    assert figures["views"][0]["significance"]["is_real"]


HOSTILE = ("<script>alert(1)</script>", 'a "quoted" name', "emoji 😀, comma", "new\nline", "=1+1", "@cmd|'x'!A0")


def test_hostile_names_and_cells_come_back_as_they_were(folder, altclust):
    frame = pd.read_csv(folder / "customers.csv")[["segment", "spend", "visits", "age", "height", "name"]]
    frame["name"] = [HOSTILE[i % 6] + str(i) for i in range(N)]
    frame["segment"] = frame["segment"].map({"old": "</script><b>", "new": "=HYPERLINK(1)"})
    frame.columns = HOSTILE
    for kind, write, read in (
        (".csv", lambda path: frame.to_csv(path, index=False), pd.read_csv),
        (".xlsx", lambda path: _excel(frame, path), pd.read_excel),
        (".parquet", frame.to_parquet, pd.read_parquet),
    ):
        write(folder / f"hostile{kind}")
        done = altclust("find", f"hostile{kind}", "--given", HOSTILE[0], "--sigma", "0.7", *FAST, "--out", kind[1:])
        assert done.returncode == 0, done.stderr
        back = read(folder / kind[1:] / f"table{kind}")
        assert list(back.columns) == [*HOSTILE, "alternative"]
        for name in HOSTILE[1:5]:
            assert back[name].tolist() == pytest.approx(frame[name].tolist())
        for name in (HOSTILE[0], HOSTILE[5]):
            assert back[name].tolist() == frame[name].tolist()
        page = (folder / kind[1:] / "report.html").read_text()
        assert "<script>alert(1)" not in page
        assert "</script><b>" not in page


def _excel(frame, path):
    from openpyxl import Workbook

    book = Workbook()
    for i, row in enumerate([list(frame.columns), *frame.itertuples(index=False)], 1):
        for j, value in enumerate(row, 1):
            book.active.cell(i, j, value)
            if isinstance(value, str):
                book.active.cell(i, j).data_type = "s"
    book.save(path)


def test_compare_puts_methods_side_by_side(folder, altclust):
    arguments = ("compare", "customers.csv", "--given", "segment", "--clusters", "2", "--columns", "visits")
    done = altclust(*arguments, "--columns", "spend", "--methods", "Residual", "--methods", "CIB", "--methods", "COALA")
    assert done.returncode == 0, done.stderr
    out = folder / "altclust-compare"
    assert names(out) == {"table.csv", "comparison.csv", "agreement.csv", "comparison.json", "comparison.html"}
    table = pd.read_csv(out / "table.csv")
    assert nmi(table["residual"], table["truth"]) > 0.9
    rows = {row["method"]: row for row in json.loads((out / "comparison.json").read_text())["methods"]}
    assert set(rows) == {"Residual", "CIB", "COALA"}
    assert rows["Residual"]["overlap: segment"] < 0.05
    assert "needs counts" in rows["CIB"]["problem"]  # a few of them are below zero
    assert "needs counts" in words((out / "comparison.html").read_text())
    refused = altclust(*arguments, "--methods", "magic", "--out", "other")
    assert refused.returncode == 2
    assert "--methods 'magic' is not a method: choose among KDAC" in words(refused.stderr)


def test_a_name_does_not_steer_the_terminal(altclust, folder):
    """Sequences that a terminal obeys are shown, not sent; the table comes back with its names as they were."""
    table = pd.read_csv(folder / "customers.csv").rename(
        columns={"visits": "vi\x1b]0;title\x07sits", "name": "na\x1b[2J"}
    )
    table.to_csv(folder / "odd.csv", index=False)
    done = altclust("find", "odd.csv", "--given", "segment", "--clusters", 2, "--sigma", 2, "--no-significance")
    assert done.returncode == 0, done.stderr
    assert "vi�]0;title�sits" in done.stdout
    assert "na�[2J" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "vi\x1b]0;title\x07sits" in (folder / "altclust-out/table.csv").read_text()
    refused = altclust("find", "odd.csv", "--given", "\x1b[2J")
    assert refused.returncode == 2
    assert "\x1b" not in refused.stderr
