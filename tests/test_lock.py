"""The lock file holds what pyproject.toml asks for, and every entry has a hash."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
LOCKED = ("app", "dask", "excel", "parquet")


def entries() -> dict[str, str]:
    """Text of each entry by name; several lines."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[a-z0-9])", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)
    return {re.split("[=<> ]", block, maxsplit=1)[0]: block for block in blocks if block.strip()}


def test_the_lock_has_all_that_is_asked_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [asked for name in LOCKED for asked in project["optional-dependencies"][name]]
    locked = entries()
    for asked in map(Requirement, project["dependencies"] + extras):
        version = re.match(r"[a-z0-9-]+==(\S+)", locked[asked.name])
        assert version, asked.name
        assert version[1] in asked.specifier, f"{asked} but {version[1]} is locked: `make lock`"


def test_every_entry_is_exact_and_has_a_hash():
    for name, entry in entries().items():
        assert re.match(rf"{re.escape(name)}==\S+", entry), name
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), name
