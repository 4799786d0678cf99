"""How much memory there is, so that a file that would not fit is refused before it is expanded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

UNKNOWN = 8e9  # bytes, where no system tells
LIMITS = (  # of the group of processes that this one belongs to: most, taken
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def free_memory() -> float:
    """The bytes that this process can still take: the least of what the machine, its container and its limits say."""
    return max(min(_told(), default=UNKNOWN), 0.0)


def gigabytes(size: float) -> str:
    """A number of bytes for people."""
    return f"{size / 1e9:,.1f} GB"


def _told() -> Iterator[float]:
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        yield 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    with suppress(OSError, ValueError, AttributeError):
        yield float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for most, taken in LIMITS:
        with suppress(OSError, ValueError):  # "max" is no number: there is no limit
            yield float(Path(most).read_text()) - float(Path(taken).read_text())
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        most_here = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most_here != resource.RLIM_INFINITY:
            yield most_here - os.sysconf("SC_PAGE_SIZE") * float(Path("/proc/self/statm").read_text().split()[0])
