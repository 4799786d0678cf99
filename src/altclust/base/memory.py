"""Free memory, so that a file that would not fit is refused before it is read."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MACHINE = "/proc/meminfo"
LIMITS = (  # cgroup v2 and v1: folder, file of the limit, file of the usage, prefix in memory.stat
    ("/sys/fs/cgroup", "memory.max", "memory.current", ""),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
)


def free_memory() -> float:
    """The bytes that this process can still allocate: the minimum over the machine, the container and the limits.

    Infinity if none of these can be read: a guessed limit would refuse files that fit.
    """
    return max(min(_limits(), default=math.inf), 0.0)


def gigabytes(size: float) -> str:
    """A number of bytes as text, in GB."""
    return f"{size / 1e9:,.1f} GB"


def _limits() -> Iterator[float]:
    with suppress(OSError, ValueError, IndexError):
        yield 1024.0 * int(Path(MACHINE).read_text().split("MemAvailable:")[1].split()[0])
    with suppress(OSError, ValueError, AttributeError):
        yield float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for folder, most, taken, prefix in LIMITS:
        with suppress(OSError, ValueError):  # "max" is not a number: there is no limit
            left = float(Path(folder, most).read_text()) - float(Path(folder, taken).read_text())
            yield left + _page_cache(Path(folder, "memory.stat"), prefix)
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        most_here = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most_here != resource.RLIM_INFINITY:
            yield most_here - os.sysconf("SC_PAGE_SIZE") * float(Path("/proc/self/statm").read_text().split()[0])


def _page_cache(statistics: Path, prefix: str) -> float:
    """Bytes of the page cache: they count as used, but are freed when memory is needed."""
    with suppress(OSError, ValueError):
        values = dict(line.split() for line in statistics.read_text().splitlines())
        return float(values.get(f"{prefix}inactive_file", 0)) + float(values.get(f"{prefix}active_file", 0))
    return 0.0
