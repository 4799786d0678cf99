"""Nothing that altclust reads can run code: no unpickling, no evaluating, no shell, and what is shown is only text."""

from __future__ import annotations

import ast
import contextlib
import json
import re
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import altclust
from altclust import InputError, open_rows
from altclust.apps.cli.main import main
from altclust.tables import read_table

SOURCES = Path(altclust.__file__).parent
MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "jsonpickle"}
CALLS = {"eval", "exec", "compile", "__import__"}
ATTRIBUTES = {  # functions of other packages that unpickle, evaluate or run something
    "read_pickle",
    "loadmat",
    "read_hdf",
    "fromregex",
    "genfromtxt",
    "system",
    "popen",
    "spawnl",
    "import_module",
    "literal_eval",
    "read_html",
    "read_xml",
    "read_sql",
    "from_string",
}
ALLOWED = {
    ("files/contained.py", "subprocess"): "the process that reads files with limits: a list of arguments, and no shell",
    (
        "models/worker.py",
        "pickle",
    ): "questions and answers through pipes between our own processes; no file and no network",
    ("models/worker.py", "subprocess"): "the process that answers: a list of arguments, and no shell",
}
LOADS = {
    "files/npy.py": "np.lib.format.read_array(allow_pickle=False), after the header was checked",
    "datasets/loaders.py": "a file whose SHA-256 was checked a moment before, and still without pickle",
}


READERS = {  # beside all of tables/
    "apps/cli/results.py",
    "data/file_rows.py",
    "data/opening.py",
    "files/contained.py",
    "files/contained_readers.py",
    "files/model_archive.py",
    "files/npy.py",
    "models/saving.py",
}


def trees() -> list[tuple[str, ast.Module]]:
    paths = sorted(SOURCES.rglob("*.py"))
    return [(path.relative_to(SOURCES).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths]


def suspects(tree: ast.AST) -> set[str]:
    """The names of what could run code."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            found |= {module.split(".")[0] for module in modules} & (MODULES | {"subprocess"})
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            last = name.split(".")[-1]
            options = {option.arg: ast.unparse(option.value) for option in node.keywords}
            if name in CALLS or (last in ATTRIBUTES and "." in name):
                found.add(name)
            if options.get("shell", "False") != "False" or options.get("allow_pickle", "False") != "False":
                found.add(f"{name} with {options}")
            if last in ("load", "loads") and name.split(".")[0] in ("joblib", "torch", "toml"):
                found.add(name)
    return found


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import load",
        "import yaml",
        "eval(text)",
        "exec(text)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=trusted)",
        "joblib.load(path)",
        "torch.load(path)",
        "pd.read_pickle(path)",
        "scipy.io.loadmat(path)",
        "os.system(command)",
        "subprocess.run(command, shell=True)",
        "import subprocess",
        "importlib.import_module(name)",
    ],
)
def test_the_search_finds_what_it_should(code):
    assert suspects(ast.parse(code))


def test_nothing_unpickles_or_evaluates():
    found = {(path, name) for path, tree in trees() for name in suspects(tree)}
    assert found == set(ALLOWED)


def test_arrays_are_loaded_in_few_places_and_never_with_pickle():
    calls = {}
    for path, tree in trees():
        for node in ast.walk(tree):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in ("np.load", "np.memmap", "np.fromfile", "np.lib.format.read_array", "np.lib.format.open_memmap"):
                calls[path] = ast.unparse(node)
    assert calls.keys() == LOADS.keys()
    for call in calls.values():
        assert "allow_pickle=False" in call, call


def test_attributes_are_not_set_by_names_from_files():
    """`setattr` with a name that is not written out belongs to nobody who reads files."""
    readers = {path: tree for path, tree in trees() if path in READERS or path.startswith("tables/")}
    assert readers.keys() > READERS
    for path, tree in readers.items():
        assert "setattr(" not in ast.unparse(tree), path


def test_no_assert_guards_against_files():
    """`python -O` leaves asserts out."""
    for path in READERS:
        assert not [node for node in ast.walk(ast.parse((SOURCES / path).read_text())) if isinstance(node, ast.Assert)]


def test_pyarrow_is_one_that_does_not_unpickle():
    """Before 14.0.1, types in Arrow and Parquet files could be pickles (CVE-2023-47248)."""
    project = SOURCES.parents[1] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("there is no pyproject.toml beside an installed package")
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (least,) = re.fullmatch(r"pyarrow>=([\d.]+)", extras["parquet"][0]).groups()
    assert tuple(map(int, least.split("."))) >= (14, 0, 1)


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_types_that_would_be_unpickled_are_only_names(tmp_path, suffix):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq
    from tests.trust.hostile_files import MARKER, pickled

    names = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": pickled()}
    rows = pa.table([pa.array([1.0, 2.0, 4.0])], schema=pa.schema([pa.field("a", pa.float64(), metadata=names)]))
    path = tmp_path / f"rows.{suffix}"
    if suffix == "parquet":
        pq.write_table(rows, path)
    else:
        with pa.ipc.new_file(str(path), rows.schema) as writer:
            writer.write_table(rows)
    with contextlib.chdir(tmp_path), contextlib.suppress(InputError):
        read_table(path)
        if suffix == "parquet":
            open_rows(path).take(np.arange(2))
    assert not (tmp_path / MARKER).exists()


HOSTILE = (
    "<script>window.evil = 1</script>",
    "</script><img src=x onerror=evil()>",
    "\"'><svg onload=evil()>",
    "{{ 7 * 7 }}{% raw %}",
    "=cmd|' /C calc'!A0",
    "</style></title><b>",
    "javascript:evil()",
    "]]>&lt;script&gt;",
)


class Page(HTMLParser):
    """What a browser would find in a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words += data


@pytest.mark.parametrize("command", ["find", "compare"])
def test_hostile_cells_names_and_files_are_only_text_in_the_report(tmp_path, monkeypatch, command):
    rng = np.random.default_rng(0)
    known, hidden = rng.integers(0, 3, (2, 90))
    columns = {f"{HOSTILE[j]} {j}": rng.normal(size=90) + 5 * (hidden if j == 1 else 0) for j in range(4)}
    frame = pd.DataFrame(columns).assign(
        **{HOSTILE[4]: np.array(HOSTILE)[known], HOSTILE[5]: np.array(HOSTILE)[hidden]}
    )
    frame[HOSTILE[6]] = np.array(HOSTILE)[rng.integers(0, 8, 90)]
    name = "<img src=x onerror=evil()>.csv"
    frame.to_csv(tmp_path / name, index=False)
    more = {
        "find": ["--sigma", "1", "--clusters", "2", "--no-significance", "--id", HOSTILE[6]],
        "compare": ["--clusters", "2", "--methods", "Residual"],
    }[command]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["altclust", command, name, "--given", HOSTILE[4], "--out", "out", "--quiet", *more]
    )
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    pages = list((tmp_path / "out").glob("*.html"))
    assert pages
    for path in pages:
        page = Page(path.read_text(encoding="utf-8"))
        assert "img" not in page.tags
        assert page.tags.count("script") <= 2
        assert not [key for key, _ in page.attributes if key.startswith("on")]
        links = [value or "" for key, value in page.attributes if key in ("href", "src", "action", "xlink:href")]
        assert not [link for link in links if not link.startswith(("#", "data:,"))]
        assert name in page.words
    figures = json.loads((tmp_path / "out" / f"{'figures' if command == 'find' else 'comparison'}.json").read_text())
    assert figures["table"] == name


def test_formulas_are_written_as_the_text_that_they_are(tmp_path):
    """A decision: cells that a spreadsheet would take for formulas come back as they were, in CSV as in Excel.

    A table is given back cell for cell, so that it can go on through other programs; a quote before "=" would change
    it. An Excel file says that such a cell is text. A CSV file cannot say so.
    """
    (tmp_path / "rows.csv").write_text("a,b\n=1+1,2\n@SUM(A1),3\n")
    read_table(tmp_path / "rows.csv").add(tmp_path / "back.csv", pd.DataFrame({"new": [0, 1]}))
    assert (tmp_path / "back.csv").read_text() == "a,b,new\n=1+1,2,0\n@SUM(A1),3,1\n"
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append(["x", 2])
    book.active["A2"].value, book.active["A2"].data_type = "=1+1", "s"
    book.save(tmp_path / "rows.xlsx")
    read_table(tmp_path / "rows.xlsx").add(tmp_path / "back.xlsx", pd.DataFrame({"new": [0]}))
    cell = openpyxl.load_workbook(tmp_path / "back.xlsx").active["A2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")
