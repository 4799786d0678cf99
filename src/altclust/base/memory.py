"""How much memory there is, so that a file that would not fit is refused before it is expanded."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MACHINE = "/proc/meminfo"
LIMITS = (  # of the group of processes that this one belongs to: its folder, most, taken, how its figures begin
    ("/sys/fs/cgroup", "memory.max", "memory.current", ""),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
)


def free_memory() -> float:
    """The bytes that this process can still take: the least of what the machine, its container and its limits say.

    Infinity where none of them says anything: a number that nobody measured would refuse honest files.
    """
    return max(min(_told(), default=math.inf), 0.0)


def gigabytes(size: float) -> str:
    """A number of bytes for people."""
    return f"{size / 1e9:,.1f} GB"


def _told() -> Iterator[float]:
    with suppress(OSError, ValueError, IndexError):
        yield 1024.0 * int(Path(MACHINE).read_text().split("MemAvailable:")[1].split()[0])
    with suppress(OSError, ValueError, AttributeError):
        yield float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for folder, most, taken, begin in LIMITS:
        with suppress(OSError, ValueError):  # "max" is no number: there is no limit
            left = float(Path(folder, most).read_text()) - float(Path(folder, taken).read_text())
            yield left + _cached(Path(folder, "memory.stat"), begin)
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        most_here = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most_here != resource.RLIM_INFINITY:
            yield most_here - os.sysconf("SC_PAGE_SIZE") * float(Path("/proc/self/statm").read_text().split()[0])


def _cached(figures: Path, begin: str) -> float:
    """Bytes of files that the system keeps at hand: they count as taken, and are given up where memory is short."""
    with suppress(OSError, ValueError):
        told = dict(line.split() for line in figures.read_text().splitlines())
        return float(told.get(f"{begin}inactive_file", 0)) + float(told.get(f"{begin}active_file", 0))
    return 0.0
