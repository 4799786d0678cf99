"""A release in a repository of its own: a tag that carries its part of the changelog, and files that install."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools/release.py"
IDENTITY = ("-c", "user.name=Tester", "-c", "user.email=tester@example.org")


def git(folder, *arguments):
    return subprocess.run(["git", *IDENTITY, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A tiny project with something to release."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Tester")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "tester@example.org")
    (tmp_path / "src/altclust").mkdir(parents=True)
    (tmp_path / "src/altclust/__init__.py").write_text('__version__ = "0.1.0.dev0"\n')
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [0.1.0] - 2026-01-31\n\n### Added\n- A wheel.\n\n## [0.0.9] - 2025-01-31\n- Fire.\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "altclust"\ndynamic = ["version"]\nrequires-python = ">=3.11"\n'
        '[tool.hatch.version]\npath = "src/altclust/__init__.py"\n'
    )
    (tmp_path / ".gitignore").write_text("dist/\n")
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    return tmp_path


def release(folder, version):
    return subprocess.run([sys.executable, TOOL, version], cwd=folder, capture_output=True, text=True)


@pytest.mark.slow  # the build fetches its own tools
def test_a_release_is_a_tag_with_its_changelog(repository):
    done = release(repository, "0.1.0")
    assert done.returncode == 0, done.stderr
    assert "git push --follow-tags" in done.stdout
    assert re.search(r"altclust-0.1.0.tar.gz: 0.0\d MB", done.stdout)
    message = git(repository, "tag", "--list", "--format=%(contents)", "v0.1.0")
    assert "### Added\n- A wheel." in message
    assert "Fire" not in message
    assert '__version__ = "0.1.0"' in git(repository, "show", "v0.1.0:src/altclust/__init__.py")
    assert '"0.1.1.dev0"' in (repository / "src/altclust/__init__.py").read_text()
    built = {path.name for path in (repository / "dist").iterdir()}
    assert built == {"altclust-0.1.0.tar.gz", "altclust-0.1.0-py3-none-any.whl"}
    assert git(repository, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("version", "spoil", "says"),
    [
        ("next", lambda folder: None, "VERSION=next is not a version"),
        ("", lambda folder: None, "is not a version"),
        ("0.1.0", lambda folder: (folder / "new.txt").write_text("x"), "not committed"),
        ("0.1.0", lambda folder: git(folder, "switch", "--quiet", "--create", "other"), "made from main"),
        ("0.1.0", lambda folder: git(folder, "tag", "v0.1.0"), "v0.1.0 exists already"),
    ],
)
def test_a_release_that_cannot_be_made_changes_nothing(repository, version, spoil, says):
    spoil(repository)
    before = git(repository, "log", "--oneline"), (repository / "CHANGELOG.md").read_text()
    done = release(repository, version)
    assert done.returncode == 1
    assert says in done.stderr
    assert (git(repository, "log", "--oneline"), (repository / "CHANGELOG.md").read_text()) == before


@pytest.mark.parametrize("heading", ["", "## [0.1.0]\n- A wheel.\n", "## [0.1.0] - 2026-01-31\n"])
def test_a_release_without_news_or_a_date_is_refused(repository, heading):
    (repository / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n## [0.0.9] - 2025-01-31\n- Fire.\n")
    git(repository, "commit", "--quiet", "--all", "--message", "Nothing new")
    done = release(repository, "0.1.0")
    assert done.returncode == 1
    assert "say what is new" in done.stderr
