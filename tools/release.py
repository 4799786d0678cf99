"""Make a release: the version, its section of the changelog, a tag with that section, and the files to upload.

Run `make release VERSION=0.2.0` on a clean main that has passed `.ci/run`. Everything is checked before anything is
changed, and nothing is pushed or uploaded: the last lines say what to push and upload.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

VERSION_FILE, CHANGELOG = Path("src/altclust/__init__.py"), Path("CHANGELOG.md")
UNRELEASED = "## [Unreleased]\n"


def git(*arguments: str) -> str:
    """Run git and return its output."""
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def refuse(sentence: str) -> None:
    """Exit with a message before anything was changed."""
    raise SystemExit(sentence)


def notes_of(changelog: str) -> str:
    """The unreleased section of the changelog."""
    _, found, after = changelog.partition(UNRELEASED)
    if not found:
        refuse(f"{CHANGELOG} has no line {UNRELEASED.strip()!r}: add it, with the changes below.")
    return re.split(r"^## \[", after, maxsplit=1, flags=re.MULTILINE)[0].strip()


def set_version(version: str) -> None:
    """Write the version into the package."""
    text = VERSION_FILE.read_text(encoding="utf-8")
    VERSION_FILE.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', text), encoding="utf-8")


def release(version: str) -> None:
    """Check, write the changelog, commit, tag, build, and open the next version."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        refuse(f"VERSION={version} is not a version: pass three numbers, such as 0.2.0.")
    tag = f"v{version}"
    if git("status", "--porcelain"):
        refuse("There are changes that are not committed: commit or stash them.")
    if git("branch", "--show-current") != "main":
        refuse("Releases are made from main: git switch main.")
    if git("tag", "--list", tag):
        refuse(f"{tag} exists already: choose the next version.")
    changelog = CHANGELOG.read_text(encoding="utf-8")
    notes = notes_of(changelog)
    if not notes:
        refuse(f"{CHANGELOG} has nothing under {UNRELEASED.strip()}: say what is new.")
    heading = f"{UNRELEASED}\n## [{version}] - {date.today().isoformat()}\n"
    CHANGELOG.write_text(changelog.replace(UNRELEASED, heading, 1), encoding="utf-8")
    set_version(version)
    git("commit", "--all", "--message", f"Release {version}")
    git("tag", "--annotate", tag, "--cleanup=verbatim", "--message", f"altclust {version}\n\n{notes}\n")
    subprocess.run([sys.executable, "-m", "build", "--outdir", "dist"], check=True)
    major, minor, patch = version.split(".")
    set_version(f"{major}.{minor}.{int(patch) + 1}.dev0")
    git("commit", "--all", "--message", f"After {version}")
    print(f"{tag} is ready; its files are in dist/. To publish: git push --follow-tags; twine upload dist/*{version}*")


if __name__ == "__main__":
    release(*(sys.argv[1:] or [""]))
