"""The documentation keeps its word: code runs, every command is named, every link exists, the site builds."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import typer
from tests.conftest import NIGHTLY
from typer.testing import CliRunner

import altclust
import altclust.search.significance
from altclust.apps.cli.main import app
from altclust.core.metrics import nmi
from altclust.search.significance import AssessOptions

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = [m.name for m in pkgutil.walk_packages(altclust.__path__, "altclust.") if ".datasets" not in m.name]

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
UNRUN = {
    "text": "diagrams, and usage lines that the site is built with",
    "": "diagrams, and in docs/reproduction* commands that take minutes, whose words are checked below",
}
NOT_OURS = ("pip ", "make ", "source ", "git ")  # set up a machine
ONLY_PARSED = ("explore", "reproduce")  # a server that stays, and minutes of work
if not NIGHTLY:
    ONLY_PARSED += ("compare", "tune")  # which have their own tests
OPTIONAL = ("dask", "pyarrow", "torch")  # a block that imports one of these needs it


QUICK = (ROOT / "README.md", ROOT / "docs" / "start.md")  # what everybody reads; all others are run by `make nightly`


def pages_with(*languages):
    found = [page for page in PAGES if any(kind in languages for kind, _ in FENCE.findall(page.read_text()))]
    marked = [pytest.param(page, marks=() if page in QUICK else pytest.mark.slow) for page in found]
    return pytest.mark.parametrize("page", marked, ids=lambda page: page.relative_to(ROOT).as_posix())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table that the pages speak of: three segments, and shoppers of two kinds."""
    rng = np.random.default_rng(0)
    segment, shopper = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    centres = np.column_stack([segment, segment, shopper, shopper])
    names = ["basket", "spend_per_year", "weekend_share", "visits_per_month"]
    table = pd.DataFrame(centres + 0.1 * rng.standard_normal((60, 4)), columns=names)
    table["segment"] = np.array(["budget", "regular", "premium"])[segment]
    table.to_csv(tmp_path / "customers.csv", index=False)
    monkeypatch.chdir(tmp_path)
    # `significance_` has its own tests; here a small one is enough.
    monkeypatch.setattr(altclust.KDAC, "_tests", AssessOptions(rows=60, splits=1, draws=19))
    return tmp_path


def run_python(code: str, page: Path, names: dict) -> None:
    imported = set(re.findall(r"^(?:import|from) (\w+)", code, flags=re.MULTILINE))
    if all(importlib.util.find_spec(name) for name in imported.intersection(OPTIONAL)):
        exec(compile(code, page.name, "exec", dont_inherit=True), names)
        plt.close("all")


def run_shell(code: str) -> None:
    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words or line.startswith(NOT_OURS):
            continue
        assert words[0] == "altclust", f"`{line}` is neither ours nor in the list of those that are not run"
        result = CliRunner().invoke(app, [*words[1:], "--help"] if words[1] in ONLY_PARSED else words[1:])
        assert result.exit_code == 0, f"`{line}`: {result.output} {result.exception!r}"


@pages_with("python", "bash")
def test_page_runs_from_top_to_bottom(page, folder):
    names: dict = {"__name__": "page"}
    for language, code in FENCE.findall(page.read_text()):
        if language == "python":
            run_python(code, page, names)
        elif language == "bash":
            run_shell(code)
    CLAIMS.get(page.name, lambda names: None)(names)


def readme_claims(names):
    assert names["model"].overlap_ < 0.05
    assert os.path.exists("view.npz")


def start_claims(names):
    assert "alternative" in pd.read_csv("altclust-out/table.csv")
    assert os.path.exists("altclust-out/report.html")
    assert nmi(names["model"].labels_, names["shopper"]) > 0.9


def scaling_claims(names):
    assert names["model"].engine_.startswith("fitted on ")
    assert names["rows"].n == 6000
    assert len(names["labels"]) == 4000  # of the rows that were not in the fit


def finds(hidden):
    def claim(names):
        assert nmi(names["model"].labels_, names[hidden]) > 0.9
        assert names["model"].overlap_ < 0.05

    return claim


def cells_claims(names):
    finds("active")(names)
    assert sum(100 <= gene < 120 for gene in names["top"]) >= 18  # pin


CLAIMS = {
    "README.md": readme_claims,
    "start.md": start_claims,
    "scaling.md": scaling_claims,
    "segments.md": finds("habit"),
    "cells.md": cells_claims,
    "text.md": finds("tone"),
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_is_run_or_has_a_reason(page):
    for language, code in FENCE.findall(page.read_text()):
        assert language in ("python", "bash") or language in UNRUN, f"{page.name} has a block of {language!r}"
        for line in code.splitlines() if not language else ():
            if line.startswith("altclust "):
                words = shlex.split(line, comments=True)[1:]
                assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0, line


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def full_names(command, name):
    nested = getattr(command, "commands", None)
    return [full for sub, inner in nested.items() for full in full_names(inner, f"{name} {sub}")] if nested else [name]


def test_every_command_is_documented():
    text = "\n".join(page.read_text() for page in PAGES)
    for full in full_names(typer.main.get_command(app), "altclust"):
        assert full in text, f"`{full}` is in no page of the documentation"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_inside_the_repository_exist(page):
    for target in re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_that_commands_name_exist(page):
    named = re.findall(r"\b(?:tests|benchmarks|tools|examples|conda)/[\w/]+\.\w+", page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    for page in PAGES[1:]:
        name = page.relative_to(ROOT / "docs").as_posix()
        assert f": {name}\n" in navigation, f"{name} is not in the navigation"


@pytest.mark.slow
def test_site_builds_without_a_warning_and_asks_for_nothing_elsewhere(tmp_path):
    for part in ("material", "mkdocstrings"):
        pytest.importorskip(part)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    reference = (tmp_path / "cli.html").read_text()
    for full in full_names(typer.main.get_command(app), "altclust"):
        assert re.search(rf">{full}<a", reference), f"`{full}` is not in the reference"
    for page in PAGES[1:]:
        html = (tmp_path / page.relative_to(ROOT / "docs")).with_suffix(".html").read_text()
        loaded = re.findall(r'<(?:script|link|img|iframe)[^>]+?(?:src|href)="(https?:[^"]+)"', html)
        assert not loaded, f"{page.name} loads {loaded}"
