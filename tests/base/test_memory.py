from __future__ import annotations

import math
import sys

import pytest

from altclust.base import memory
from altclust.files import npy as arrays
from altclust.files.npy import BadFile, check_fits


@pytest.fixture
def silent(tmp_path, monkeypatch):
    """A system that tells nothing about its memory; a folder for what it may tell."""
    monkeypatch.setattr(memory, "MACHINE", str(tmp_path / "meminfo"))
    monkeypatch.setattr(memory, "LIMITS", ())
    monkeypatch.delattr(memory.os, "sysconf", raising=False)
    monkeypatch.setitem(sys.modules, "resource", None)
    return tmp_path


def test_the_machine_tells(silent):
    (silent / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    2000 kB\nSwapFree: 1 kB\n")
    assert memory.free_memory() == 2000 * 1024


@pytest.mark.parametrize("text", ["", "MemTotal: 9000 kB\n", "MemAvailable:\n", "MemAvailable: much\n"])
def test_where_nobody_tells_nothing_is_refused(silent, text):
    (silent / "meminfo").write_text(text)
    assert memory.free_memory() == math.inf
    check_fits(1e15)
    with pytest.raises(BadFile, match=r"would take 5\.0 GB of memory, but the limit is 2\.0 GB"):
        check_fits(5e9, 2e9)


@pytest.mark.parametrize("version", [1, 2])
def test_files_kept_at_hand_are_no_taken_memory(silent, monkeypatch, version):
    names = [("memory.max", "memory.current", ""), ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")]
    most, taken, begin = names[2 - version]
    monkeypatch.setattr(memory, "LIMITS", ((str(silent), most, taken, begin),))
    (silent / most).write_text("4000\n")
    (silent / taken).write_text("3900\n")
    assert memory.free_memory() == 100
    (silent / "memory.stat").write_text(
        f"anon 900\ninactive_file 5\nactive_file 6\n{begin}inactive_file 2000\n{begin}active_file 1000\n"
    )
    assert memory.free_memory() == 3100
    (silent / "memory.stat").write_text("nonsense\n")
    assert memory.free_memory() == 100
    (silent / most).write_text("max\n")
    assert memory.free_memory() == math.inf


def test_a_reserve_is_kept(monkeypatch):
    monkeypatch.setattr(arrays, "free_memory", lambda: 10e9)
    check_fits(8.9e9)
    with pytest.raises(BadFile, match=r"would take 9\.5 GB of memory, but 9\.0 GB are free: pass a part of it"):
        check_fits(9.5e9)
