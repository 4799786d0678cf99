"""Make a release: the version, a tag with its section of the changelog, and the files to upload.

Run `make release VERSION=0.2.0` on a clean main that has passed `.ci/run`. Everything is checked before anything is
changed, and nothing is pushed or uploaded: the last lines say what to push and upload.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

VERSION_FILE, CHANGELOG = Path("src/altclust/__init__.py"), Path("CHANGELOG.md")


def git(*arguments: str) -> str:
    """Run git and return its output."""
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def refuse(sentence: str) -> None:
    """Exit with a message before anything was changed."""
    raise SystemExit(sentence)


def notes_of(changelog: str, version: str) -> str:
    """The section of a version in the changelog, without its heading."""
    heading = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    parts = re.split(heading, changelog, maxsplit=1, flags=re.MULTILINE)
    notes = re.split(r"^## \[", parts[-1], maxsplit=1, flags=re.MULTILINE)[0].strip() if len(parts) > 1 else ""
    if not notes:
        refuse(f"{CHANGELOG} has nothing under '## [{version}] - date': say what is new.")
    return notes


def set_version(version: str) -> None:
    """Write the version into the package."""
    text = VERSION_FILE.read_text(encoding="utf-8")
    VERSION_FILE.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', text), encoding="utf-8")


def release(version: str) -> None:
    """Check, commit, tag, build, and open the next version."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        refuse(f"VERSION={version} is not a version: pass three numbers, such as 0.2.0.")
    tag = f"v{version}"
    if git("status", "--porcelain"):
        refuse("There are changes that are not committed: commit or stash them.")
    if git("branch", "--show-current") != "main":
        refuse("Releases are made from main: git switch main.")
    if git("tag", "--list", tag):
        refuse(f"{tag} exists already: choose the next version.")
    notes = notes_of(CHANGELOG.read_text(encoding="utf-8"), version)
    set_version(version)
    git("commit", "--all", "--allow-empty", "--message", f"Release {version}")
    git("tag", "--annotate", tag, "--cleanup=verbatim", "--message", f"altclust {version}\n\n{notes}\n")
    subprocess.run([sys.executable, "-m", "build", "--outdir", "dist"], check=True)
    for file in sorted(Path("dist").glob(f"*{version}*")):
        print(f"{file}: {file.stat().st_size / 1e6:.2f} MB")
    major, minor, patch = version.split(".")
    set_version(f"{major}.{minor}.{int(patch) + 1}.dev0")
    git("commit", "--all", "--message", f"After {version}")
    print(f"{tag} is ready; its files are in dist/. To publish: git push --follow-tags; twine upload dist/*{version}*")


if __name__ == "__main__":
    release(*(sys.argv[1:] or [""]))
