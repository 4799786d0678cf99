"""Every story in examples/ runs to its end on fewer rows, says what it found and leaves its picture."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from tests.conftest import some

EXAMPLES = Path(__file__).parent.parent / "examples"
STORIES = {  # few rows, but enough to find something; the dozen searches of a verdict are left to one of them
    "digits": ["--rows", str(some(150, 240)), "--no-significance"],
    "flower": ["--rows", "800", "--no-significance"],
    "wine": ["--rows", "50"],
}


@pytest.mark.parametrize(
    "name", ["digits", *(pytest.param(name, marks=pytest.mark.slow) for name in STORIES if name != "digits")]
)
def test_story_runs_and_leaves_a_picture(name, tmp_path):
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *STORIES[name], "--out", str(tmp_path)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert finished.returncode == 0, finished.stderr
    picture, report = tmp_path / f"{name}.png", tmp_path / f"{name}.html"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 5_000
    assert "</html>" in report.read_text(encoding="utf-8")
    assert str(picture) in finished.stdout


@pytest.mark.slow
def test_the_demo_tells_the_verdict_of_its_report(tmp_path):
    command = [sys.executable, str(EXAMPLES / "penguins.py"), "--out", str(tmp_path)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert finished.returncode == 0, finished.stderr
    share = re.search(r"agreement with sex\W+(\d+)%", finished.stdout)[1]
    for page in ("README.md", "docs/start.md"):
        assert f"{share} % agree" in (EXAMPLES.parent / page).read_text(encoding="utf-8"), page
    report = unescape((tmp_path / "report.html").read_text(encoding="utf-8")).replace("\u00a0", " ")
    badge, sentence = (re.search(f'<p class="{name}">(.*)</p>', report)[1] for name in ("badge", "sentence"))
    assert f"{badge}: {sentence}" in " ".join(finished.stdout.replace("│", " ").split())


@pytest.mark.slow
def test_the_penguins_of_the_stories(tmp_path):
    command = [sys.executable, str(EXAMPLES / "stories.py"), "penguins", "--out", str(tmp_path)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert finished.returncode == 0, finished.stderr
    assert "Also differs in sex, which these clusters do not use" in finished.stdout
    assert (tmp_path / "story-penguins.png").read_bytes().startswith(b"\x89PNG")
