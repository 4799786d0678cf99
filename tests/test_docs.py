"""The documentation keeps its word: examples run, every command is named, every link inside the repository exists."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
from pathlib import Path

import pytest
import typer

import altclust
from altclust.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [m.name for m in pkgutil.walk_packages(altclust.__path__, "altclust.") if ".datasets" not in m.name]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_readme_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    namespace: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), namespace)
    assert namespace["model"].novelty_ < 0.01
    assert os.path.exists("view.npz")


def test_scaling_page_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pytest.importorskip("pyarrow")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "scaling.md").read_text(), flags=re.DOTALL)
    namespace: dict = {}
    for block in blocks:
        exec(compile(block, "scaling.md", "exec"), namespace)
    assert namespace["model"].engine_.startswith("lowrank")
    assert namespace["rows"].n == len(namespace["labels"])


def test_every_command_is_documented():
    text = "\n".join(page.read_text() for page in PAGES)
    commands = typer.main.get_command(app).commands
    for name, command in commands.items():
        nested = getattr(command, "commands", None)
        for full in [f"altclust {name} {sub}" for sub in nested] if nested else [f"altclust {name}"]:
            assert full in text, f"`{full}` is in no page of the documentation"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_inside_the_repository_exist(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
